"""Write one page on one variant: its verification, and its speed beside a copy and beside CUB.

The page is VARIANT.md with one figure per timed type. Missing measurements are named, with the
command for each.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from scanlab_report import opened
from scanlab_report.console import SOUND, refuse, say
from scanlab_report.written import in_place_of, unwritable

if TYPE_CHECKING:  # pandas is not loaded to print a help text
    import pandas as pd

    from scanlab_report.data import Data, Verification

EXAMPLE = """  scanlab-report mine my_scan results/mine.json results/verify.jsonl
  scanlab-report mine best"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("variant", metavar="VARIANT", help="id of the variant")
    opened.add_paths(parser)
    out = "write the page and its figures to FOLDER (default: a folder named after the variant)"
    parser.add_argument("--out", type=Path, metavar="FOLDER", help=out)


def run(options: argparse.Namespace) -> int:
    variant = options.variant
    try:
        data = opened.opened(options.paths or [opened.RECORDED])
        opened.refuse_others(data)
    except opened.Refused as error:
        return refuse(*error.args)
    verified = {name for verification in data.verifications for name in verification.variants}
    if variant not in verified | {*data["scan"]["variant"]}:
        return refuse(f"nothing was measured of {variant}. To time it: {_bench(variant)}")
    stem = re.sub(r"[^\w-]+", "_", variant)  # a file's name cannot hold every letter
    out = options.out or Path(stem)
    if reason := unwritable(out):
        return refuse(f"{out}: cannot be written to: {reason}")
    with in_place_of(out) as made:
        (made / f"{stem}.md").write_text(page(variant, data, made), encoding="utf-8")
        written = sorted(path.name for path in made.iterdir())
    say(f"Written: {', '.join(str(out / name) for name in written)}")
    return SOUND


def page(variant: str, data: Data, out: Path) -> str:
    """Return the whole page, in Markdown. Its figures go to a folder."""
    about = data.variants[variant]
    parts = [f"# {variant}", f"{about.title or about.label}.", "## Verification"]
    parts += [*_verified(variant, data), *_timed(variant, data, out)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _bench(variant: str) -> str:
    from scanlab_report.experiments import bench

    return f"`{bench((variant, 'memcpy', 'cub*'))}`"


def _verified(variant: str, data: Data) -> Iterator[str]:
    """Yield a sentence per verification, the newest first."""
    date = lambda verification: str(verification.context.get("date", ""))
    verifications = [v for v in data.verifications if variant in v.variants]
    for verification in sorted(verifications, key=date, reverse=True):
        yield _verdict(variant, verification)
    if not verifications:
        program = f"build/{'cpu' if data.variants[variant].on_host else 'cuda'}/scanlab"
        command = f"verify --variant {shlex.quote(variant)} --json results/verify.jsonl"
        yield f"Not verified in these results. To verify it: `{program} {command}`"


def _verdict(variant: str, verification: Verification) -> str:
    checks, context = verification.variants[variant], verification.context
    where = {"simt": "the SIMT emulator", "host": "the host"}
    device = where.get(str(context["backend"]), context.get("device"))
    numbers = f"{checks.passed} checks passed, {checks.failed} failed, {checks.skipped} skipped"
    by = (
        f"On {device}, seed {context.get('seed') or 'unknown'}, commit {_commit(context)}, "
        f"{str(context.get('date', ''))[:10]}."
    )
    if checks.failed:
        return f"**Wrong**: {numbers}. {by} The first that failed: {checks.wrong}."
    if not checks.passed:
        return f"Not verified: {numbers}. {by}"
    interrupted = " It was interrupted: not all checks were made." * verification.interrupted
    return f"**Verified**: {numbers}; types {', '.join(checks.types)}. {by}{interrupted}"


def _commit(context: object) -> str:
    return str(context.get("git_commit", ""))[:9] or "unknown"


def _timed(variant: str, data: Data, out: Path) -> Iterator[str]:
    """Yield the parts on the first operator of the variant, sums if they were timed: a figure and a
    table per type, and where they are from."""
    from scanlab_report.data import Ask
    from scanlab_report.groups import BEST, KEY, NEWEST_VENDOR, TYPES, VENDOR
    from scanlab_report.pick import Lacking, pick
    from scanlab_report.shown import draw, footer_line
    from scanlab_report.sources import sources
    from scanlab_report.versus import contests

    try:
        cases = contests(data, variant)
    except Lacking:
        lacking = "Not timed with default settings on a GPU in these results"
        yield f"## Throughput\n\n{lacking}. To time it: {_bench(variant)}"
        return
    own = pick(cases, variant=variant).drop_duplicates(KEY)
    op = min(own["op"], key=lambda name: (name != "plus", name))
    own = pick(own, op=op)
    throughput = opened.registered("figure")["throughput"]
    beside = (variant, *(name for name in (BEST, VENDOR, NEWEST_VENDOR) if name != variant))
    for kind in sorted(set(own["type"]), key=TYPES.index):
        yield f"## Throughput, {kind} {op}"
        picture = out / f"throughput_{kind}.png"
        with contextlib.suppress(
            Lacking
        ):  # a figure has inclusive scans from a stream beside a copy
            draw(throughput, data.asking(Ask(beside, kind, op)), [picture])
            yield f"![Throughput of {variant}, {kind}]({picture.name})"
        yield _table(variant, data, cases, pick(own, type=kind))
    (source,) = sources(data, own)
    yield f"{footer_line([source])}; {source.repeated}."
    verified = {_commit(v.context) for v in data.verifications if variant in v.variants}
    if verified and verified.isdisjoint(commit[:9] for commit in source.commits):
        yield (
            "**The code that was verified is not the code that was timed**: commit "
            f"{', '.join(sorted(verified))} was verified."
        )


def _table(variant: str, data: Data, cases: pd.DataFrame, own: pd.DataFrame) -> str:
    """Times beside the copy and the fastest CUB by size, cold inclusive scans from a stream if they
    were timed."""
    from scanlab_report.formats import Column, Table, significant, size, with_interval
    from scanlab_report.groups import CEILING, CUBS, KEY
    from scanlab_report.intervals import Interval
    from scanlab_report.pick import pick
    from scanlab_report.versus import against

    for column, usual in (("mode", "inclusive"), ("cache", "cold"), ("launch", "stream")):
        values = set(own[column])
        own = pick(own, **{column: usual if usual in values else min(values)})
    rates = [
        Interval(row.bytes / row.median_ns, row.bytes / row.high_ns, row.bytes / row.low_ns, 0)
        for row in own.itertuples()
    ]
    rows = own.assign(rate=rates, us=own["median_ns"] / 1e3).sort_values("items")
    for name, rivals in (("copy", [CEILING]), ("cub", data.variants.ids(CUBS))):
        both = against(cases, variant, rivals)[[*KEY, "interval", "rival"]]
        both = both.rename(columns={"interval": f"over_{name}", "rival": name})
        rows = rows.merge(both, how="left", on=KEY)
    ratio = lambda value: with_interval(value if isinstance(value, Interval) else None)
    columns = (
        Column("items", "n", size),
        Column("us", "time, µs", lambda value: significant(value, 4)),
        Column("rate", "GB/s", with_interval),
        Column("over_copy", "× memcpy", ratio),
        Column("over_cub", "× CUB", ratio),
        Column("cub", "fastest CUB", lambda v: v if isinstance(v, str) else "—", right=False),
    )
    first = rows.iloc[0]
    caption = (
        f"{first['mode'].capitalize()} scans, {first['cache']} cache, launched in a "
        f"{first['launch']}: median time, throughput counting 2n items, and the times of a device "
        "copy and of the fastest CUB over its own, with 95% intervals in brackets."
    )
    return f"{caption}\n\n{Table(caption, columns, rows).markdown()}"
