"""Throughput against array size, cold and warm, beside a device copy."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure

from scanlab_report.layout import style
from scanlab_report.layout.looks import look, of_hosts
from scanlab_report.read.records import ideal_bytes
from scanlab_report.select.evidence import HostEvidence, TimingEvidence
from scanlab_report.select.timings import ANY_TYPE, Hosts, Timings
from scanlab_report.select.variants import CEILING, FLOOR, HOST

CAPTION = (
    "Throughput of an inclusive {scan} of {items} against array size, counting 2n items moved, stream launches. Cold: L2 "
    "flush before each run; warm: none. The thick line is a device copy, the reference of large scans. {One variant of each "
    "kind is shown. CPUs are timed warm only and stand in both panels. |}Bars: 95% intervals."
)
NEEDS = {"timings": Timings(ANY_TYPE, all_of=(CEILING,)), "hosts": Hosts()}
FOLLOWS = ("variants", "type", "op")


def details(timings: TimingEvidence, hosts: HostEvidence) -> str:
    """Whose cores the CPU's are, and that another session has other times of them."""
    return f"The CPU beside the GPU is {timings.host}; its times differ by session." if any(_shown(timings, name) for name in timings.about.ids(HOST)) else ""


def draw(timings: TimingEvidence, hosts: HostEvidence) -> Figure:
    caches = timings.caches()[:2]
    drawn, axes = style.figure(style.DOUBLE, 3.0, len(caches), sharey=True)
    names = [v for v in timings.variants() if v != FLOOR and _shown(timings, v)]
    items = timings.cases.loc[timings.cases["variant"].isin(names), "items"]
    ends: list[style.End] = []
    for panel, cache in zip(axes, caches, strict=True):
        panel.set_yscale("log")
        style.items_axis(panel, items)
        style.decade_axis(panel.yaxis)
        panel.set_title(f"{cache} cache")
        of = [end for name in names if (end := line(panel, timings, name, cache, look(name, timings.about)))]
        for machine, of_host in zip(hosts.machines, itertools.cycle(of_hosts(timings.about))):
            of += [replace(end, label=f"CPU: {machine.host}") for name in machine.variants()
                     if _shown(machine, name) and (end := line(panel, machine, name, cache, of_host))]  # fmt: skip
        ends = of + [end for end in ends if end.label not in {other.label for other in of}]
    axes[0].set_ylabel("throughput, GB/s of 2$n$ items")
    style.margin_legend(axes[-1], ends)
    return drawn


def _shown(timings: TimingEvidence, name: str) -> bool:
    return name in timings.variants() and (timings.about[name].overview or name in timings.named)


def line(panel, timings: TimingEvidence, name: str, cache: str, drawn_as: style.Look) -> style.End | None:
    about, rows = timings.about[name], timings.series(name, cache=cache)
    if rows.empty and about.on_host:
        rows = timings.series(name)
    if rows.empty:
        return None
    n = rows["items"].to_numpy()
    moved = np.array([ideal_bytes(t, o, i) for t, o, i in zip(rows["type"], rows["op"], n, strict=True)], dtype=float)
    rate = moved / rows["median_ns"].to_numpy()  # bytes a nanosecond are GB/s
    width = 2.6 if name == CEILING else 1.0
    panel.plot(n, rate, linewidth=width, zorder=1 if name == CEILING else 1.8 if about.origin == "baseline" else 2, **drawn_as.plot())
    if len(n) == 1 and name == CEILING:  # a line of one point is none
        panel.axhline(rate[0], linewidth=width, zorder=1, **drawn_as.plot())
    style.error_bars(panel, n, rate, moved / rows["high_ns"], moved / rows["low_ns"], drawn_as.colour)
    label = "memcpy (a copy)" if name == CEILING else about.label
    return style.End(label, drawn_as, float(n[-1]), float(rate[-1]), width)
