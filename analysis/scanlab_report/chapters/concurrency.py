"""Concurrency: small grids side by side, and calls that serialise streams."""

from typing import Any

import numpy as np
import pandas as pd

from scanlab_report import marks, style
from scanlab_report.console import count
from scanlab_report.data import Data
from scanlab_report.formats import Table, alike, text
from scanlab_report.intervals import median_interval
from scanlab_report.pick import Lacking, newest, pick
from scanlab_report.shown import Shown, figure, shown, table

WAVES = 9  # the staircase is drawn so far
_QUEUES = [("o", 6.5, style.ORANGE), ("s", 4.2, style.BLUE), (".", 3.4, style.BLACK)]


def block_times(data: Data) -> pd.DataFrame:
    """Small grids side by side: times in units of one block, and the `total` of blocks."""
    rows = newest(data, "concurrency", "experiments on concurrent kernels")
    medians = pd.DataFrame(map(median_interval, rows["makespan_seconds"]), rows.index)
    seconds = medians.rename(columns={"value": "measured"}).drop(columns="count")
    seconds = seconds.assign(predicted=rows["predicted_seconds"], serial=rows["serial_seconds"])
    total = rows["streams"] * rows["kernels"] * rows["blocks"]
    units = seconds.div(rows["block_seconds"], axis=0)
    return rows.assign(total=total, count=medians["count"], **units)


@figure("concurrency")
def concurrency(data: Data) -> Shown:
    """Makespan of small concurrent kernels against the number of blocks, and by the number of
    hardware work queues."""
    cases = block_times(data)
    stairs = cases[(cases["kernels"] == 1) & (cases["predicted"] <= WAVES)]
    queue = cases[cases["kernels"] > 1]
    if stairs.empty or queue.empty:
        raise Lacking(f"concurrent kernels of up to {WAVES} waves, and of several per stream")
    drawn, (left, right) = style.figure(style.DOUBLE, 2.1, 2, width_ratios=(1.6, 1.0))
    slots = int(stairs["slots"].iloc[0])
    total = np.arange(1, slots * WAVES + 1)
    steps = {"color": style.GREY, "zorder": 1, "label": "⌈blocks / slots⌉"}
    left.plot(total, np.ceil(total / slots), **steps)
    for place, (connections, rows) in enumerate(stairs.groupby("connections")):
        marker, points, colour = _QUEUES[min(place, 2)]
        name, look = count(connections, "hardware work queue"), style.Look(colour, marker, "None")
        form: dict[str, Any] = {"markersize": points, "zorder": 2 + place}
        form["markerfacecolor"] = "none" if place < 2 else colour
        marks.curve(left, rows, "total", look, name, "measured", **form)
    left.set_xticks(np.arange(0, slots * WAVES + 1, slots))
    left.set(ylim=(0, WAVES + 0.6), ylabel="makespan / one block", title="one kernel per stream")
    left.set_xlabel(f"blocks of all streams; {slots} resident slots")
    left.legend(loc="upper left")

    first = queue.sort_values("total").iloc[-1]
    queue = pick(queue, **first[["streams", "kernels", "blocks", "slots"]])
    queue = queue.sort_values("connections")
    places, measured, small = range(len(queue)), queue["measured"], {"fontsize": 7.5, "zorder": 3}
    colours = [_QUEUES[min(place, 2)][2] for place in places]
    right.bar(queue["connections"].astype(str), measured, width=0.55, color=colours, zorder=2)
    marks.error_bars(right, places, measured, queue["low"], queue["high"], style.GREY)
    lines = {"full overlap": queue["predicted"].min(), "no overlap": queue["serial"].max()}
    for name, value in (lines | {"one queue": queue["predicted"].max()}).items():
        marks.level(right, value, style.Look(style.GREY, "None", "--"))
        form = {"ha": "right", "va": "bottom", "color": style.GREY}
        right.text(len(queue) - 0.45, value + 0.12, name, **form, **small)
    for place, value in enumerate(measured):
        form = {"ha": "center", "va": "top", "color": "white" if place else style.BLACK}
        right.text(place, value - 0.15, f"{value:.2f}", **form, **small)
    right.grid(visible=False, axis="x")
    right.set(ylim=(0, 1.15 * max(queue["serial"])), xlabel="hardware work queues")
    right.set_title("{streams} streams × {kernels} kernels × {blocks} blocks".format_map(first))
    caption = (
        "Makespan in durations of one block, of one kernel per stream against the total number of "
        "blocks (left), and of several, issued stream by stream (right). Grey: predictions for one "
        "slot per multiprocessor. Bars: 95% intervals."
    )
    return shown(data, drawn, caption, cases)


_READ = (
    "Source: answer of the teaching material. Device: measured answer; (!) marks a difference. "
    "Yes: trials that answered yes."
)
_ANSWERS = {"stated": "source", "shown": "device", "counted": "yes"}


def _sync_rows(data: Data) -> pd.DataFrame:
    """With the answer of the device as it is `shown`, and how many trials say yes as `counted`."""
    rows = newest(data, "implicit_sync", "experiments on implicit synchronisation")
    answered = rows["answer"].map(lambda answer: isinstance(answer, str))
    yes = rows["yes"].astype(str) + " of " + rows["trials"].astype(str)
    answers = rows["answer"].map(text) + np.where(answered & rows["differs"], " (!)", "")
    return rows.assign(shown=answers, counted=yes.where(answered, ""))


def sync_calls(rows: pd.DataFrame) -> list[str]:
    """Return the calls of some experiments in short, without the words of the column's heading."""
    short = {"behind the kernel, ": "", "^cuda": "", "to the device from": "in, from"}
    short |= {"to the host in": "out, to"}
    return rows["subject"].drop_duplicates().replace(short, regex=True).tolist()


@table("implicit_sync")
def implicit_sync_calls(data: Data) -> Shown:
    """Implicit synchronisation by API calls: blocking of the host, and serialised streams."""
    rows = _sync_rows(data)
    columns = alike(str, "call")
    for who, group in (("host", "blocks the host"), ("streams", "serialises streams")):
        headings = {f"{who}_{key}": heading for key, heading in _ANSWERS.items()}
        columns += alike(text, **headings, group=group)
    asked = rows[rows["asks"] != ""]
    answers = asked.set_index(["subject", "asks"])[[*_ANSWERS]].unstack()
    answers["shown"] = answers["shown"].fillna("—")
    answers.columns = [f"{who}_{key}" for key, who in answers.columns]
    made = answers.reindex(asked["subject"].unique(), columns=[c.key for c in columns])
    made = made.assign(call=sync_calls(asked)).reset_index(drop=True)
    caption = (
        "API calls behind a running kernel: whether they block the host until the kernel ends, and "
        f"whether they serialise kernels of two streams. {_READ} Copies beside non-blocking "
        "streams are of pageable memory, 4 MiB unless stated."
    )
    return shown(data, Table(caption, columns, made), caption, rows)


@table("implicit_sync")
def implicit_sync_questions(data: Data) -> Shown:
    """Implicit synchronisation by launches, events, issue order and hardware work queues."""
    rows = _sync_rows(data)
    columns = alike(str, question="statement", wrap=40) + alike(text, **_ANSWERS)
    subject = "Implicit synchronisation by launches, events, issue order and hardware work queues."
    made, caption = rows[rows["asks"] == ""].reset_index(drop=True), f"{subject} {_READ}"
    return shown(data, Table(caption, columns, made), caption, rows)
