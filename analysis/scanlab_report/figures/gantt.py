"""Measured timelines: depth-first and breadth-first, with the default number of hardware work queues and with one."""

from __future__ import annotations

from matplotlib.figure import Figure

from scanlab_report.layout import style
from scanlab_report.layout.gantt import HOST_INCHES, draw_trace, host_heights, makespan_ms, time_label
from scanlab_report.select.streams_evidence import TraceEvidence, Traces

CAPTION = (
    "What each engine did when, from activity records of single runs: copies to the device, kernels, copies to the host. Each bar is "
    "an operation of one chunk; kernels are drawn at least as wide as a line. Host: its calls, in the colour of the engine that they "
    "give work to. The times are those from the first start to the last "
    "end of one run, that of median time while records were collected, so there are no error bars."
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
