"""Concurrency: small grids side by side, and calls that serialise streams."""

from typing import Any

import numpy as np
import pandas as pd

from scanlab_report import marks, style
from scanlab_report.console import count
from scanlab_report.data import Data
from scanlab_report.formats import Column, Table, alike, text
from scanlab_report.intervals import median_interval
from scanlab_report.pick import Lacking, newest, newest_first, pick
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
    "Each source: its answer. NVIDIA: that of its documentation today; —: undocumented, not to be "
    "relied upon. Devices: measured answer; (!) marks a difference from the sources."
)


def _answers(data: Data, calls: bool) -> tuple[pd.DataFrame, list[Column], str, list[pd.DataFrame]]:
    """Experiments with the answers of NVIDIA and, in columns, of each device; the drivers of
    those, and what was measured on them."""
    rows = newest(data, "implicit_sync", "experiments on implicit synchronisation")
    rows = rows[(rows["asks"] != "") == calls].reset_index(drop=True)
    made, columns = rows.fillna({"stated": "", "documented": "—"}), alike(str, documented="NVIDIA")
    drivers, measured = [], []
    for device in data.devices:
        numbers = newest_first(data.on(device), "implicit_sync")
        own = pick(data["implicit_sync"], file=numbers[:1])
        if own.empty:
            continue
        measured.append(own)
        own = own.set_index("name").reindex(rows["name"]).reset_index()
        name = device.removeprefix("NVIDIA ").split()[0]
        made[device] = own["answer"].map(text) + np.where(own["differs"].eq(True), " (!)", "")
        columns += alike(str, **{device: name}, group="devices")
        driver = data.files[numbers[0]].context.get("driver", "unknown")
        drivers.append(f"{name}: driver {driver}")
    return made, columns, "; ".join(drivers), measured


def sync_calls(rows: pd.DataFrame) -> list[str]:
    """Return the calls of some experiments in short, without the words of the column's heading."""
    short = {"behind the kernel, ": "", "^cuda": "", "to the device from": "in, from"}
    short |= {"to the host in": "out, to"}
    return rows["subject"].drop_duplicates().replace(short, regex=True).tolist()


@table("implicit_sync", of_all=True)
def implicit_sync_calls(data: Data) -> Shown:
    """Implicit synchronisation by API calls: blocking of the host, and serialised streams."""
    rows, columns, drivers, measured = _answers(data, calls=True)
    works = rows["works"].explode().dropna().unique()
    for work in works:
        rows[work] = rows["stated"].where([work in own for own in rows["works"]], "")
    of_sources = {work: work.split(",")[0] for work in works}
    columns = alike(str, **of_sources, group="sources", wrap=5) + columns
    of = {asks: own.set_index("subject") for asks, own in rows.groupby("asks")}
    made = pd.DataFrame({"call": sync_calls(rows)}, index=rows["subject"].unique())
    for key in (column.key for column in columns):
        host, streams = (
            of[asks][key].reindex(made.index).replace("", None).fillna("·")
            for asks in ("host", "streams")
        )
        made[key] = (host + " / " + streams).replace({"· / ·": "", "— / —": "—"})
    caption = (
        "API calls behind a running kernel: whether they block the host until the kernel ends / "
        "whether they serialise kernels of two streams; ·: not said. Copies beside non-blocking "
        f"streams are of pageable memory, 4 MiB unless stated. {_READ} {drivers}."
    )
    return shown(data, Table(caption, alike(str, "call") + columns, made), caption, *measured)


@table("implicit_sync", of_all=True)
def implicit_sync_questions(data: Data) -> Shown:
    """Implicit synchronisation by launches, events, issue order and hardware work queues."""
    rows, answers, drivers, measured = _answers(data, calls=False)
    rows["said_by"] = rows["works"].map(lambda works: works[0].split(",")[0] if works else "")
    said = alike(str, said_by="source", stated="its answer")
    columns = alike(str, question="statement", wrap=26) + said + answers
    subject = "Implicit synchronisation by launches, events, issue order and hardware work queues."
    caption = f"{subject} {_READ} {drivers}."
    return shown(data, Table(caption, columns, rows), caption, *measured)
