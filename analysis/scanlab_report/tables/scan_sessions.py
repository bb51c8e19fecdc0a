"""Drift, outliers and clocks of each results file of scans."""

from __future__ import annotations

from scanlab_report.read.records import SCANS
from scanlab_report.select.drift import Sessions
from scanlab_report.tables import sessions

NEEDS = {"sessions": Sessions(kinds=(SCANS,))}
build = sessions.build
