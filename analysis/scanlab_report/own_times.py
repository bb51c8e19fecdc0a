"""One variant on its page: its times beside copies and CUB."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from scanlab_report import opened
from scanlab_report.console import count
from scanlab_report.data import Ask, Data
from scanlab_report.formats import Column, Table, code, significant, size, with_interval
from scanlab_report.groups import ANY_TYPE, BEST, CEILING, CUBS, KEY, NEWEST_VENDOR, VENDOR
from scanlab_report.intervals import Interval
from scanlab_report.pick import Lacking, power_of_two, scan_words
from scanlab_report.shown import draw, footer_line
from scanlab_report.sources import sources
from scanlab_report.versus import against, contests

_MANY = 24
"""Sizes in a table; of more those at powers of two are enough."""


def bench_command(variant: str, type_name: str = "", op: str = "") -> str:
    from scanlab_report.experiments import bench

    return bench((variant, "memcpy", "cub*"), type_name, op)


def timed_part(variant: str, data: Data, out: Path, stem: str, given: str) -> Iterator[str]:
    try:
        cases = contests(data, variant)
    except Lacking:
        yield "## Throughput"
        timed = data["scan"].loc[data["scan"]["variant"] == variant, "settings"]
        if len(timed) and data.variants[variant].on_host:
            yield (
                f"Timed on a host alone, whose times are not on this page. To have them in a "
                f"table: `scanlab-report export{given} --out tidy`"
            )
            return
        settings = " and with ".join(sorted(set(timed) - {""}))
        why = "Not timed on a GPU in these results"
        if settings:
            why = f"Timed with {settings} alone, and this page is of default settings"
        yield f"{why}. To time it: `{bench_command(variant)}`"
        return
    own = cases[cases["variant"] == variant].drop_duplicates(KEY)
    order = {name: place for place, name in enumerate(ANY_TYPE)}
    scanned = sorted(
        set(zip(own["type"], own["op"], strict=True)),
        key=lambda pair: (pair[1] != "plus", pair[1], order.get(pair[0], len(order))),
    )
    (first, op), cubs = scanned[0], data.variants.ids(CUBS)
    for type_name in (kind for kind, each_op in scanned if each_op == op):
        yield f"## Throughput, {type_name}" + f", {op}" * (op != "plus")
        here = own[(own["type"] == type_name) & (own["op"] == op)]
        yield _figure(variant, data, here, out, stem)
        yield _table(variant, cases, here, cubs)
    (source,) = sources(data, own)
    yield f"{footer_line([source])}; {source.repeated}."
    checked = [v.context for v in data.verifications if variant in v.variants]
    verified = {str(context.get("git_commit", ""))[:9] for context in checked}
    if verified and verified.isdisjoint(commit[:9] for commit in source.commits):
        wrong = "**The code that was verified is not the code that was timed**: commit"
        yield f"{wrong} {', '.join(sorted(verified))} was verified."
    if others := list(dict.fromkeys(other for _, other in scanned if other != op)):
        yield (
            f"Also timed with {', '.join(others)}: `scanlab-report figure throughput{given} "
            f"--variants {shlex.quote(variant)} --op {others[0]}`"
        )
    if against(cases[cases["op"] == op], variant, cubs).empty:
        yield f"No CUB was timed beside it. To time both: `{bench_command(variant, first, op)}`"


def _table(variant: str, cases: pd.DataFrame, own: pd.DataFrame, cubs: list[str]) -> str:
    order = {"mode": "inclusive", "cache": "cold", "launch": "stream"}
    for column, preferred in order.items():
        values = set(own[column])
        own = own[own[column] == (preferred if preferred in values else min(values))]
    own, others = own.sort_values("items"), 0
    powers = own[power_of_two(own["items"])]
    if len(own) > _MANY and len(powers):
        own, others = powers, len(own) - len(powers)
    numbers = (own[name] for name in ("bytes", "median_ns", "high_ns", "low_ns", "count"))
    rates = [
        Interval(moved / middle, moved / high, moved / low, number)
        for moved, middle, high, low, number in zip(*numbers, strict=True)
    ]
    rows = own.assign(rate=rates, us=own["median_ns"] / 1e3)
    for name, rivals in (("copy", [CEILING]), ("cub", cubs)):
        both = against(cases, variant, rivals)[[*KEY, "interval", "rival"]]
        both = both.rename(columns={"interval": f"of_{name}", "rival": name})
        rows = rows.merge(both, how="left", on=KEY)
    first = rows.iloc[0]
    ratio = lambda value: with_interval(value if isinstance(value, Interval) else None)
    rival = lambda value: code(value) if isinstance(value, str) else "—"
    columns = (
        Column("items", "n", size),
        Column("us", "time, µs", lambda value: significant(value, 4)),
        Column("rate", "GB/s", with_interval),
        Column("of_copy", "× memcpy", ratio),
        Column("of_cub", "× CUB", ratio),
        Column("cub", "fastest CUB", rival, right=False),
    )
    about = f"{first['mode']} {scan_words(first['op'])}, {first['cache']} cache, launched in a "
    caption = (
        f"{about}{first['launch']}".capitalize()
        + ": median time, throughput counting 2n items, and the times of a device copy "
        "(memcpy, of many items the ceiling) and of the fastest CUB over its own, with 95% "
        "intervals in brackets."
    )
    are = "is" if others == 1 else "are"
    left_out = f"{count(others, 'size')} that {are} no power of two {are} left out."
    table = Table(caption, columns, rows).markdown()
    return f"{caption}\n\n{table}" + (f"\n\n{left_out}" if others else "")


def _figure(variant: str, data: Data, own: pd.DataFrame, out: Path, stem: str) -> str:
    """Throughput beside the copy and CUB; of the first type also as PDF for a paper."""
    type_name, op = own["type"].iloc[0], own["op"].iloc[0]
    references = [name for name in (BEST, VENDOR, NEWEST_VENDOR) if name != variant]
    asked = data.asking(Ask((variant, *references), type_name, op))
    pairs = zip(own["mode"], own["launch"], strict=True)
    ways = sorted({f"{mode} ones launched in a {launch}" for mode, launch in pairs})
    name, paper = f"throughput_{type_name}.png", out / f"{stem}.pdf"
    entry = opened.registered("figure")["throughput"]
    reason = "it is of inclusive scans launched in a stream, and these results have "
    reason += " and ".join(ways)  # who sees times below would not know why they do not count
    if drawn := "inclusive ones launched in a stream" in ways:
        try:
            draw(entry, asked, [out / name])
        except Lacking as error:
            drawn, reason = False, f"no {error}"
    if not drawn:
        return f"No figure: {reason}. To measure it: `{bench_command(variant, type_name, op)}`"
    picture = f"![Throughput of {variant}, {type_name}]({name})"
    if paper.exists():
        return picture
    draw(entry, asked, [paper], "ieee-column")
    return f"{picture}\n\n[{paper.name}]({paper.name}) is the same for a column of a paper."
