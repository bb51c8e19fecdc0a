"""Every document that the programs write, described once.

Reading goes through these structs; ``scanlab-report schema`` writes a JSON Schema of each.
"""

from __future__ import annotations

from typing import Any

from scanlab_report.schema import (
    counts,
    implicit_sync,
    kept,
    printed,
    results,
    simulator,
    timelines,
    verification,
)

DOCUMENTS: dict[str, Any] = {
    "results": results.Results,
    "ranges": results.Ranges,
    "nvbench": results.Stopwatch,
    "verification": verification.VerificationLine,
    "explain": counts.Explanation,
    "trace": timelines.Trace,
    "ranks-trace": timelines.RanksTrace,
    "implicit_sync": implicit_sync.ImplicitSync,
    "concurrency": implicit_sync.Concurrency,
    "device": simulator.Profile,
    "calibration": simulator.Calibration,
    "simulation-sweep": simulator.Sweep,
    "comparison": simulator.Comparison,
    "advice": simulator.Advice,
    "advice-against": simulator.Against,
    "session": kept.Session,
    "noise": kept.Noise,
    "tuning": kept.Tuned,
    "stream-scan-state": kept.StreamScanState,
    "export": kept.TidyTables,
    "list": printed.List,
    "info": printed.Info,
    "streams-list": printed.StreamsList,
    "streams-check": printed.StreamsCheck,
}
"""The struct of each schema, by the name of the schema without its number."""
