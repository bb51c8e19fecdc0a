"""Write one page on one variant: its verification, and its speed alone, beside a copy and beside CUB.

The page is VARIANT.md with one figure per timed type, and VARIANT.pdf, 3.5 inches wide, for a paper. Missing measurements are
named, with the command for each.
"""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from scanlab_report import opened
from scanlab_report.console import SOUND, count, refuse, say
from scanlab_report.written import in_place_of, unwritable

if TYPE_CHECKING:  # pandas is not loaded to print a help text
    import pandas as pd

    from scanlab_report.data import Data, Verification

EXAMPLE = """  scanlab-report mine my_scan results/mine.json results/verify.jsonl --out results/my_scan
  scanlab-report mine best"""
_MANY = 24
"""Sizes in a table; of more those at powers of two are enough."""


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("variant", metavar="VARIANT", help="id of the variant")
    add("paths", nargs="*", default=[], type=Path, metavar="PATH", help="result files and folders (default: the recorded data)")
    add("--out", type=Path, metavar="FOLDER", help="write the page and its figures to FOLDER (default: a folder named after the variant)")


def run(options: argparse.Namespace) -> int:
    variant = options.variant
    try:
        data = opened.opened(options.paths or [opened.RECORDED])
        if len(data["other"]) and data["scan"].empty:
            file = data.files[data["other"]["file"].iloc[0]]
            raise opened.Refused(f"{file.path}: has results of {file.context['program']}: `scanlab-report compare` and `scanlab-report build` read them")
        verified = {name for verification in data.verifications for name in verification.variants}
        known = {*data["scan"]["variant"], *data["counts"]["variant"], *verified}
        if variant not in known:
            raise opened.Refused(f"nothing was measured of {variant}{opened.nearest(variant, known)}. To time it: {_bench(variant)}")
    except opened.Refused as error:
        return refuse(*error.args)
    stem = re.sub(r"[^\w-]+", "_", variant)  # a name of a variant may hold letters that one of a file may not
    out = options.out or Path(stem)
    if reason := unwritable(out):
        return refuse(f"{out}: cannot be written to: {reason}")
    given = "".join(f" {shlex.quote(str(path))}" for path in options.paths)
    with in_place_of(out) as made:
        (made / f"{stem}.md").write_text(page(variant, data, made, stem, given), encoding="utf-8")
        written = sorted(path.name for path in made.iterdir())
    say(f"Written: {', '.join(str(out / name) for name in written)}")
    return SOUND


def _bench(variant: str, type_name: str = "", op: str = "") -> str:
    from scanlab_report.experiments import bench

    return bench((variant, "memcpy", "cub*"), type_name, op)


def page(variant: str, data: Data, out: Path, stem: str, given: str) -> str:
    """The whole page, in Markdown; its figures go to a folder. `given`: the paths, in commands."""
    about = data.variants[variant]
    parts = [f"# {variant}", f"{about.title or about.label}.", "## Verification", *_verified(variant, data),
             *_timed(variant, data, out, stem, given)]  # fmt: skip
    if not about.on_host:  # neither the emulator nor a GPU runs code of the host
        parts += ["## Bank conflicts, counted by the emulator", _counted(variant, data, stem),
                  "## Bank conflicts, counted by the hardware", _conflicts(variant, data),
                  "## Bytes of device memory, counted by the hardware", _traffic(variant, data)]  # fmt: skip
    return "\n\n".join(part.strip() for part in parts) + "\n"


# -------------------------------------------------------------------------------------- verified


def _commit(verification: Verification) -> str:
    commit = str(verification.context.get("git_commit", ""))[:9] or "unknown"
    return f"commit {commit}" + "+" * (str(verification.context.get("git_dirty")) == "true")


def _verified(variant: str, data: Data) -> Iterator[str]:
    """A sentence per backend and code, the newest first: all verifications of it together."""
    alike: dict[tuple[str, ...], list[Verification]] = {}
    for of in sorted(data.verifications, key=lambda of: str(of.context.get("date", "")), reverse=True):
        if (checks := of.variants.get(variant)) and checks.passed + checks.failed:
            alike.setdefault((str(of.context["backend"]), str(of.context.get("device", "")), _commit(of)), []).append(of)
    for verifications in alike.values():
        yield _verdict(variant, verifications)
    if not alike:
        program = f"build/{'cpu' if data.variants[variant].on_host else 'cuda'}/scanlab"
        yield f"Not verified in these results. To verify it: `{program} verify --variant {shlex.quote(variant)} --json results/verify.jsonl`"


def _verdict(variant: str, verifications: list[Verification]) -> str:
    from scanlab_report.formats import whole

    checks, context = [of.variants[variant] for of in verifications], verifications[0].context
    where = {"cuda": context.get("device"), "simt": "the SIMT emulator", "host": context.get("cpu") or "the host"}[str(context["backend"])]
    seeds = ", ".join(sorted({str(of.context.get("seed") or "unknown") for of in verifications}))
    by = f"On {where}, seed {seeds}, {_commit(verifications[0])}, {str(context.get('date', ''))[:10]}."
    passed, failed, skipped = (sum(getattr(of, what) for of in checks) for what in ("passed", "failed", "skipped"))
    numbers = f"{whole(passed)} checks passed, {whole(failed)} failed, {whole(skipped)} skipped"
    if failed:
        return f"**Wrong**: {numbers}. {by} The first that failed: {next(of.wrong for of in checks if of.wrong)}."
    broken_off = " It was interrupted: not all checks were made." if any(of.interrupted for of in verifications) else ""
    return f"**Verified**: {numbers}; types {', '.join(sorted({name for of in checks for name in of.types}))}. {by}{broken_off}"


# ----------------------------------------------------------------------------------------- timed


def _timed(variant: str, data: Data, out: Path, stem: str, given: str) -> Iterator[str]:
    from scanlab_report.groups import ANY_TYPE, CUBS, KEY
    from scanlab_report.pick import Lacking
    from scanlab_report.shown import footer_line
    from scanlab_report.sources import sources
    from scanlab_report.versus import against, contests

    try:
        cases = contests(data, variant)
    except Lacking:
        yield "## Throughput"
        timed = data["scan"].loc[data["scan"]["variant"] == variant, "settings"]
        if len(timed) and data.variants[variant].on_host:
            yield f"Timed on a host alone, whose times are not on this page. To have them in a table: `scanlab-report export{given} --out tidy`"
            return
        settings = " and with ".join(sorted(set(timed) - {""}))
        why = f"Timed with {settings} alone, and this page is of default settings" if settings else "Not timed on a GPU in these results"
        yield f"{why}. To time it: `{_bench(variant)}`"
        return
    own = cases[cases["variant"] == variant].drop_duplicates(KEY)
    order = {name: place for place, name in enumerate(ANY_TYPE)}
    scanned = sorted(set(zip(own["type"], own["op"], strict=True)), key=lambda of: (of[1] != "plus", of[1], order.get(of[0], len(order))))
    (first, op), cubs = scanned[0], data.variants.ids(CUBS)
    for type_name in (kind for kind, of in scanned if of == op):
        yield f"## Throughput, {type_name}" + f", {op}" * (op != "plus")
        here = own[(own["type"] == type_name) & (own["op"] == op)]
        yield _figure(variant, data, here, out, stem)
        yield _table(variant, cases, here, cubs)
    (source,) = sources(data, own)
    yield f"{footer_line([source])}; {source.repeated}."
    verified = {str(of.context.get("git_commit", ""))[:9] for of in data.verifications if variant in of.variants}
    if verified and verified.isdisjoint(commit[:9] for commit in source.commits):
        yield f"**The code that was verified is not the code that was timed**: commit {', '.join(sorted(verified))} was verified."
    if others := list(dict.fromkeys(other for _, other in scanned if other != op)):
        yield f"Also timed with {', '.join(others)}: `scanlab-report figure throughput{given} --variants {shlex.quote(variant)} --op {others[0]}`"
    if against(cases[cases["op"] == op], variant, cubs).empty:
        yield f"No CUB was timed beside it. To time both: `{_bench(variant, first, op)}`"


def _table(variant: str, cases: pd.DataFrame, own: pd.DataFrame, cubs: list[str]) -> str:
    from scanlab_report.formats import (
        Column,
        Table,
        code,
        significant,
        size,
        with_interval,
    )
    from scanlab_report.groups import CEILING, KEY
    from scanlab_report.intervals import Interval
    from scanlab_report.pick import power_of_two, scan_words
    from scanlab_report.versus import against

    order = {"mode": "inclusive", "cache": "cold", "launch": "stream"}
    for column, preferred in order.items():
        values = set(own[column])
        own = own[own[column] == (preferred if preferred in values else min(values))]
    own, others = own.sort_values("items"), 0
    powers = own[power_of_two(own["items"])]
    if len(own) > _MANY and len(powers):
        own, others = powers, len(own) - len(powers)
    rows = own.assign(rate=[Interval(moved / middle, moved / high, moved / low, number) for moved, middle, high, low, number in zip(
        own["bytes"], own["median_ns"], own["high_ns"], own["low_ns"], own["count"], strict=True)], us=own["median_ns"] / 1e3)  # fmt: skip
    for name, rivals in (("copy", [CEILING]), ("cub", cubs)):
        both = against(cases, variant, rivals)[[*KEY, "interval", "rival"]].rename(columns={"interval": f"of_{name}", "rival": name})
        rows = rows.merge(both, how="left", on=KEY)
    of = rows.iloc[0]
    ratio = lambda value: with_interval(value if isinstance(value, Interval) else None)
    table = Table(
        f"{of['mode']} {scan_words(of['op'])}, {of['cache']} cache, launched in a {of['launch']}".capitalize()
        + ": median time, throughput counting 2n items, and the times of a device copy (memcpy, of many items the ceiling) and of the "
        "fastest CUB over its own, with 95% intervals in brackets.",
        (Column("items", "n", size), Column("us", "time, µs", lambda value: significant(value, 4)), Column("rate", "GB/s", with_interval),
         Column("of_copy", "× memcpy", ratio), Column("of_cub", "× CUB", ratio),
         Column("cub", "fastest CUB", lambda value: code(value) if isinstance(value, str) else "—", right=False)),
        rows,
    )  # fmt: skip
    are = "is" if others == 1 else "are"
    left_out = f"\n\n{count(others, 'size')} that {are} no power of two {are} left out." if others else ""
    return f"{table.caption}\n\n{table.markdown()}{left_out}"


def _figure(variant: str, data: Data, own: pd.DataFrame, out: Path, stem: str) -> str:
    """Throughput beside the copy and CUB; of the first type also as PDF for a paper."""
    from scanlab_report.data import Ask
    from scanlab_report.groups import BEST, NEWEST_VENDOR, VENDOR
    from scanlab_report.pick import Lacking
    from scanlab_report.shown import draw

    type_name, op = own["type"].iloc[0], own["op"].iloc[0]
    asked = data.asking(Ask((variant, *(name for name in (BEST, VENDOR, NEWEST_VENDOR) if name != variant)), type_name, op))
    ways = {f"{mode} ones launched in a {launch}" for mode, launch in zip(own["mode"], own["launch"], strict=True)}
    name, entry, paper = f"throughput_{type_name}.png", opened.registered("figure")["throughput"], out / f"{stem}.pdf"
    try:
        if "inclusive ones launched in a stream" not in ways:  # who sees times below would not know why they do not count
            raise Lacking("")
        draw(entry, asked, [out / name])
    except Lacking as error:
        reason = f"no {error}" if str(error) else f"it is of inclusive scans launched in a stream, and these results have {' and '.join(sorted(ways))}"
        return f"No figure: {reason}. To measure it: `{_bench(variant, type_name, op)}`"
    picture = f"![Throughput of {variant}, {type_name}]({name})"
    if paper.exists():
        return picture
    draw(entry, asked, [paper], "ieee-column")
    return f"{picture}\n\n[{paper.name}]({paper.name}) is the same for a column of a paper."


# --------------------------------------------------------------------------------------- counted


def _page_table(data: Data, head: str, table: Callable, rows: pd.DataFrame, drawn: pd.DataFrame) -> str:
    from scanlab_report.shown import footer_line
    from scanlab_report.sources import sources

    return f"{head}\n\n{table('', rows).markdown()}\n{footer_line(sources(data, drawn))}"


def _counted(variant: str, data: Data, stem: str) -> str:
    from scanlab_report.chapters.counts import counts
    from scanlab_report.formats import Column, Table, significant, size, whole
    from scanlab_report.pick import pick
    from scanlab_report.tables import changed

    every = pick(data["counts"], variant=variant)
    if every.empty:
        return f"Not counted in these results. To count them: `build/cpu/scanlab explain {shlex.quote(variant)} --json > results/{stem}.json`"
    used, defaults = counts(data, (variant,), op=every["op"].iloc[0]), data.variants[variant].defaults
    rows = used[[not changed(of.parameters, defaults) for of in used["content"]]].sort_values("mode", kind="stable")
    rows = rows.drop_duplicates(["type", "items"], keep="last").sort_values(["type", "items"])
    totals = [of.totals for of in rows["content"]]
    banks = {name: [getattr(of.banks32, field) if of.shared_requests else None for of in totals] for name, field in (("mean", "mean_degree"), ("worst", "max_degree"))}
    rows = rows.assign(requests=[of.shared_requests for of in totals], **banks)
    table = lambda caption, rows: Table(caption, (
        Column("type", "type", right=False), Column("items", "n", size), Column("requests", "shared-memory requests", whole),
        Column("mean", "transactions per request", significant), Column("worst", "worst", whole)), rows)  # fmt: skip
    return _page_table(data, "Of 32 banks; 1 transaction per request is free of conflicts.", table, rows, used)


def _by_hardware(variant: str, what: str, file: str, items: str) -> str:
    plain = re.sub(r"[^\w*]", "", variant)
    counted = f"tools/count {what} build/cuda/scanlab results/{file}.csv --variant {plain} --items {items}"
    return f"Not counted in these results. To count them: `{counted}`"


def _launches(variant: str, data: Data, table: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The launches of the variant, and all that were counted with them: now, else recorded."""
    from scanlab_report.chapters.hardware import origin_first
    from scanlab_report.pick import Lacking

    try:
        launches = origin_first(data, table, table)
    except Lacking:
        launches = data[table][:0]
    return launches[launches["variant"] == variant], launches


def _conflicts(variant: str, data: Data) -> str:
    from scanlab_report.formats import Column, Table, size, whole

    rows, launches = _launches(variant, data, "counters")
    for setting, default in data.variants[variant].defaults.items():
        if setting in rows:
            rows = rows[rows[setting].isna() | (rows[setting] == default)]
    if rows.empty:
        return _by_hardware(variant, "conflicts", "bank_conflicts", "2048")
    case = [name for name in ("type", "op", "mode", "items") if name in rows]
    counted = {f"shared_{way}_{column}": f"{way} {word}" for column, word in (("wavefronts", "transactions"), ("conflicts", "conflicts")) for way in ("load", "store")}
    table = lambda caption, rows: Table(caption, [
        *(Column(name, "n" if name == "items" else name, size if name == "items" else str, right=name == "items") for name in case),
        *(Column(key, name, whole) for key, name in counted.items())], rows)  # fmt: skip
    summed = rows.groupby(case, as_index=False, dropna=False)[list(counted)].sum()
    return _page_table(data, "Of shared memory, over all launches of one scan.", table, summed, launches)


def _traffic(variant: str, data: Data) -> str:
    from scanlab_report.formats import Column, Table, significant, size
    from scanlab_report.tables import ELEMENT_BYTES

    rows, launches = _launches(variant, data, "traffic")
    rows = rows[rows["settings"] == ""]
    if rows.empty:
        return _by_hardware(variant, "traffic", "dram_bytes", "2^18:2^28:x4")
    summed = rows.groupby(["type", "op", "items"], as_index=False)[["dram_bytes_read", "dram_bytes_written"]].sum()
    timed = data["scan"].drop_duplicates("op")  # whose bytes state how many elements an item has
    elements = {op: moved // (2 * items * ELEMENT_BYTES[kind]) for op, kind, items, moved in
                zip(*(timed[name] for name in ("op", "type", "items", "bytes")), strict=True) if items}  # fmt: skip
    once = [n * ELEMENT_BYTES[kind] * elements.get(op, 1) for kind, op, n in zip(summed["type"], summed["op"], summed["items"], strict=True)]
    summed = summed.assign(read=summed["dram_bytes_read"] / once, written=summed["dram_bytes_written"] / once)
    table = lambda caption, rows: Table(caption, (
        Column("type", "type", right=False), Column("op", "operator", right=False), Column("items", "n", size),
        Column("read", "read", significant), Column("written", "written", significant)), rows)  # fmt: skip
    return _page_table(data, "Over the bytes of n items: a scan that reads and writes once has 1 and 1.", table, summed, launches)
