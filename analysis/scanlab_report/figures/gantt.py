"""Measured timelines of depth-first and breadth-first issue, by the number of hardware work queues."""

from __future__ import annotations

from matplotlib.figure import Figure

from scanlab_report.layout import style
from scanlab_report.layout.gantt import HOST_INCHES, draw_trace, host_heights, makespan_ms, time_label
from scanlab_report.select.streams_evidence import TraceEvidence, Traces

CAPTION = (
    "Operations of each engine against time, from activity records (CUPTI): H2D copies, kernels, D2H copies. Each bar is one "
    "operation of a chunk; short ones have a minimum width. Concurrent kernels are stacked. Host bars are API calls. Titles give the "
    "makespan of the run shown, the one of median time with tracing. There are no error bars."
)
NEEDS = {"traces": Traces(("depth_first", "breadth_first"))}


def draw(traces: TraceEvidence) -> Figure:
    heights = [0.72 + HOST_INCHES * len(host_heights(trace.calls)) for trace in traces.traces]
    drawn, axes = style.figure(style.COLUMN, 0.35 + sum(heights), 1, len(heights), sharex=True, height_ratios=heights)
    for axis, trace in zip(axes, traces.traces, strict=True):
        draw_trace(axis, trace.rows, f"{trace.title}: {makespan_ms(trace.rows):.2f} ms", calls=trace.calls)
    axes[-1].set_xlim(left=0)
    axes[-1].set_xlabel(time_label(traces.traces[-1].about))
    return drawn


def details(traces: TraceEvidence) -> str:
    """How the work is cut, where it is cut alike."""
    cuts = {(about["chunks"], about["streams"]) for about in (trace.about for trace in traces.traces) if {"chunks", "streams"} <= set(about)}
    return " ".join(f"Arrays have {chunks} chunks in {streams} streams." for chunks, streams in cuts) if len(cuts) == 1 else ""
