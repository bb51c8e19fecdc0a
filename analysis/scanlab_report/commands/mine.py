"""Write one page on one variant: its verification, and its speed beside a copy and beside CUB.

The page is VARIANT.md with one figure per timed type. Missing measurements are named, with the
command for each.
"""

import argparse
import contextlib
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from scanlab_report import opened
from scanlab_report.console import SOUND, refuse, say
from scanlab_report.data import Ask, Data
from scanlab_report.formats import Column, Table, significant, size, with_interval
from scanlab_report.groups import BEST, CEILING, CUBS, KEY, NEWEST_VENDOR, TYPES, VENDOR
from scanlab_report.pick import Lacking, pick
from scanlab_report.shown import draw, footer_line
from scanlab_report.sources import sources
from scanlab_report.versus import against, contests
from scanlab_report.written import in_place_of

EXAMPLE = """  scanlab-report mine my_scan results/mine.json results/verify.jsonl
  scanlab-report mine best"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("variant", metavar="VARIANT", help="id of the variant")
    opened.add_paths(parser)
    out = "write the page and its figures to FOLDER (default: a folder named after the variant)"
    parser.add_argument("--out", type=Path, metavar="FOLDER", help=out)


def run(options: argparse.Namespace) -> int:
    variant = options.variant
    data = opened.opened(options.paths or [opened.RECORDED])
    opened.refuse_others(data)
    if variant not in {*_checks(data)["variant"], *data["scan"]["variant"]}:
        return refuse(f"nothing was measured of {variant}. To time it: {_bench(variant)}")
    stem = re.sub(r"[^\w-]+", "_", variant)  # a file's name cannot hold every letter
    out = options.out or Path(stem)
    with in_place_of(out) as made:
        about = data.variants[variant]
        parts = [f"# {variant}", f"{about.title or about.label}.", "## Verification"]
        parts += [*_verified(variant, data), "## Throughput", *_timed(variant, data, made)]
        (made / f"{stem}.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
        written = sorted(path.name for path in made.iterdir())
    say(f"Written: {', '.join(str(out / name) for name in written)}")
    return SOUND


def _bench(variant: str) -> str:
    ids = ",".join(dict.fromkeys((variant, "memcpy", "cub*")))
    return f"`build/cuda/scanlab bench --variant '{ids}' --out results/mine.json`"


def _checks(data: Data, **wanted: str) -> pd.DataFrame:
    """The checks against the oracle."""
    return pick(data["checks"], check="verify", **wanted)


def _verified(variant: str, data: Data) -> Iterator[str]:
    """Yield a sentence per verification, the newest first."""
    by_file = dict(iter(_checks(data, variant=variant).groupby("file")))
    for number in sorted(by_file, key=lambda n: (data.files[n].date, -n), reverse=True):
        file, checks = data.files[number], by_file[number]
        outcomes = ("passed", "failed", "skipped")
        passed, failed, skipped = (pick(checks, outcome=outcome) for outcome in outcomes)
        where = {"simt": "the SIMT emulator", "host": "the host"}
        on = where.get(file.context["backend"], file.context.get("device"))
        verdict = "**Not verified**" if passed.empty else "**Verified**"
        sentences = [
            f"{verdict if failed.empty else '**Wrong**'}: {len(passed)} checks passed, "
            f"{len(failed)} failed, {len(skipped)} skipped; "
            f"types {', '.join(sorted(set(passed['type'])))}.",
            f"On {on}, seed {file.context.get('seed', 'unknown')}, "
            f"commit {file.revision or 'unknown'}, {file.date[:10]}.",
        ]
        for e in failed[:1].itertuples():
            case = f"{e.type} {e.op} {e.mode}, {e.items} items"
            sentences.append(f"The first that failed: {case}: {e.reason}.")
        if file.context["interrupted"]:
            sentences.append("It was interrupted: not all checks were made.")
        yield " ".join(sentences)
    if not by_file:
        program = f"build/{'cpu' if data.variants[variant].on_host else 'cuda'}/scanlab"
        command = f"verify --variant {shlex.quote(variant)} --json results/verify.jsonl"
        yield f"Not verified in these results. To verify it: `{program} {command}`"


def _timed(variant: str, data: Data, out: Path) -> Iterator[str]:
    """Yield a figure and a table per type, of sums if they were timed, and where they are from."""
    try:
        cases = contests(data, variant)
    except Lacking:
        lacking = "Not timed with default settings on a GPU in these results"
        yield f"{lacking}. To time it: {_bench(variant)}"
        return
    own = pick(cases, variant=variant).drop_duplicates(KEY)
    own = pick(own, op=min(own["op"], key=lambda name: (name != "plus", name)))
    throughput = opened.registered("figure")["throughput"]
    for kind in sorted(set(own["type"]), key=TYPES.index):
        yield f"### {kind} {own['op'].iloc[0]}"
        asked = Ask((variant, BEST, VENDOR, NEWEST_VENDOR), kind, own["op"].iloc[0])
        with contextlib.suppress(Lacking):  # of inclusive scans from a stream, beside a copy
            draw(throughput, data.asking(asked), [out / f"throughput_{kind}.png"])
            yield f"![Throughput of {variant}, {kind}](throughput_{kind}.png)"
        yield _table(variant, data, cases, pick(own, type=kind))
    (source,) = sources(data, own)
    yield f"{footer_line([source])}; {source.repeated}."
    verified = {data.files[n].revision for n in _checks(data, variant=variant)["file"]} - {""}
    if verified and verified.isdisjoint(source.commits):
        other = "**The code that was verified is not the code that was timed**"
        yield f"{other}: commit {', '.join(sorted(verified))} was verified."


def _table(variant: str, data: Data, cases: pd.DataFrame, own: pd.DataFrame) -> str:
    """Times beside the copy and the fastest CUB by size, of the usual scans if they were timed."""
    for column, usual in (("mode", "inclusive"), ("cache", "cold"), ("launch", "stream")):
        values = set(own[column])
        own = pick(own, **{column: usual if usual in values else min(values)})
    rows = own.assign(us=own["median_ns"] / 1e3, rate=own["bytes"] / own["median_ns"])
    for name, rivals in (("copy", [CEILING]), ("cub", data.variants.ids(CUBS))):
        both = against(cases, variant, rivals)[[*KEY, "interval", "rival"]]
        both = both.rename(columns={"interval": f"over_{name}", "rival": name})
        rows = rows.merge(both, how="left", on=KEY)
    columns = (
        Column("items", "n", size),
        Column("us", "time, µs", lambda value: significant(value, 4)),
        Column("rate", "GB/s", significant),
        Column("over_copy", "× memcpy", with_interval),
        Column("over_cub", "× CUB", with_interval),
        Column("cub", "fastest CUB", lambda v: v if isinstance(v, str) else "—", right=False),
    )
    first = rows.iloc[0]
    caption = (
        f"{first['mode'].capitalize()} scans, {first['cache']} cache, launched in a "
        f"{first['launch']}: median time, throughput counting 2n items, and the times of a device "
        "copy and of the fastest CUB over its own, with 95% intervals in brackets."
    )
    table = Table(caption, columns, rows.sort_values("items", ignore_index=True))
    return f"{caption}\n\n{table.markdown()}".strip()
