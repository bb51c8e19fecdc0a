"""Scanlab's analysis: reads results, never measures, and writes the figures and tables of the report."""

from pathlib import Path

DATA = Path(__file__).resolve().parents[1] / "data"
"""The data of this checkout: what is published, recorded and known of devices."""
