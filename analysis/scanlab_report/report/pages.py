"""The generated parts of pages: each lies between markers, and a page has those of its markers."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure
from PIL import Image

from scanlab_report import DATA, chapters, markers, typesetting
from scanlab_report.chapters import counts, head_to_head, odd_sizes, rivals, standings
from scanlab_report.console import say
from scanlab_report.data import Data
from scanlab_report.experiments import GPUS, duration, plan
from scanlab_report.formats import Column, Table, code, significant, size, whole, with_interval
from scanlab_report.groups import CEILING, OWN
from scanlab_report.numbers import ranks
from scanlab_report.pick import Lacking, pick
from scanlab_report.pick import scans as pick_scans
from scanlab_report.shown import FIGURES, TABLES, Entry, Shown, first_of, footer_line, shown
from scanlab_report.written import one_file, put, write

GALLERY = "gallery"
WIDTH, COLOURS = 700, 32
"""Pixels and colours of a picture in the gallery: all together stay below a megabyte."""
COST_ITEMS = 1 << 16
"""Items for which the cost is counted: more than one tile, so that the cost of tiles together
shows."""

# ------------------------------------------------------------------------------ parts of pages


def ladder(data: Data) -> Shown:
    """One rung per variant with its cost and standing, slowest first: the page reads upward."""
    cases = pick_scans(data, all_of=(CEILING,))
    counted = counts.counts(data)
    usual = counts.usual_counts(pick(counted, mode="inclusive"))
    usual = usual.assign(near=(usual["items"] - COST_ITEMS).abs()).sort_values("near")
    cost = usual.drop_duplicates("variant").set_index("variant")["content"]
    rows = []
    for row in standings.standings(data, cases).iloc[::-1].itertuples():
        if not OWN.has(data.variants[row.variant]):
            continue
        totals = counts.cost(cost[row.variant]) if row.variant in cost else {}
        rows.append(row._asdict() | {f"counted_{name}": value for name, value in totals.items()})
    columns = (
        Column("variant", "variant", code, right=False),
        Column("counted_items", "counted at n", lambda v: "—" if pd.isna(v) else size(v)),
        Column("counted_operations", "additions", whole),
        Column("counted_barriers", "barriers", whole),
        Column("counted_global_bytes_per_item", "bytes/item", significant),
        Column("counted_worst_degree", "worst conflict", whole),
        Column("items", "timed at n", size),
        Column("median_us", "time, µs", partial(significant, digits=4)),
        Column("of_memcpy", "× memcpy", with_interval),
        Column("of_cub", "× CUB", with_interval),
    )
    caption = (
        "Inclusive sums of 32-bit integers. The left part has the cost that the SIMT emulator "
        "counts at n, with the degree of the worst bank conflict. The right part has measured "
        "times; ratios are speeds over a device copy and over the fastest CUB, so 1 is as fast."
    )
    table = pd.DataFrame(rows, columns=[column.key for column in columns])
    return shown(data, Table(caption, columns, table), caption, cases, counted)


def recorded(data: Data) -> Shown:
    """Return the devices of the recorded sessions, and those of the claims."""
    gpus: dict[str, set[int]] = {}
    for file in sorted((DATA / "recorded").glob("*/*/session.json")):
        session = json.loads(file.read_text(encoding="utf-8"))
        if {entry["kind"] for entry in session["files"]} - {"timings", "counts"}:
            gpus.setdefault(session["device"], set()).add(session.get("gpus", 1))
    first = data.first
    named = [
        f"{device} ({_listed(map(str, sorted(gpus[device])))} GPU{'s' * (max(gpus[device]) > 1)})"
        for device in sorted(gpus, key=lambda device: (device != first, device))
    ]
    text = (
        f"Recorded GPU times are of {_listed(named)}. Claims, papers and generated pages are of "
        f"{first} unless they name another device. No other GPU is recorded."
    )
    return Shown(text, "")


NEWER = "compute capability 9.0 and later"
"""The words in a variant's limits that name a device it needs."""
_SHOWN = re.compile(r"\\scan(?:wide|page)?(?:figure|table)(?:\[\w+\])?\{(\w+)\}")


def older(data: Data) -> Shown:
    """Return the figures and tables of the papers that have no data if everything is refused that
    needs compute capability 9.0."""
    limits = {id_: about.limits for id_, about in data.variants.items()}
    for number in data.numbers():
        algorithms = data.files[number].context.get("algorithms", {})
        limits |= {id_: about.get("limits", "") for id_, about in algorithms.items()}
    refused = sorted(id_ for id_, text in limits.items() if NEWER in text.split("; "))
    tables = {
        name: rows[~rows["algorithm" if "algorithm" in rows else "variant"].isin(refused)]
        for name, rows in data.tables.items()
        if {"algorithm", "variant"} & set(rows) and name not in ("counts", "nvbench")
    }
    every = data.every and replace(data.every, tables=data.every.tables | tables)
    left = replace(data, tables=data.tables | tables, every=every)
    text = "".join(map(typesetting.source_text, typesetting.PAPERS))
    known = FIGURES | TABLES
    lacking = [
        name
        for name in dict.fromkeys(_SHOWN.findall(text))
        if name in known and _lacks(name, left) and not _lacks(name, data)
    ]
    code_ = lambda names: _listed(f"`{name}`" for name in names)
    sentence = (
        f"Below compute capability 9.0, these figures and tables of the papers have no "
        f"data: {code_(lacking)}. The others lack {code_(refused)} alone."
    )
    return Shown(sentence, "")


def _lacks(name: str, data: Data) -> bool:
    from scanlab_report import style

    try:
        with style.sheet():
            made = first_of((FIGURES | TABLES)[name], data)
    except Lacking:
        return True
    if isinstance(made.content, Figure):
        style.close(made.content)
    return False


def _listed(names: Iterable[str]) -> str:
    *before, last = [*names] or ["none"]
    return f"{', '.join(before)} and {last}" if before else last


def _part(make: Callable[[Data], Shown], of_all: bool = False) -> Entry:
    return Entry(make.__name__, make, of_others=of_all)


PARTS = {
    "results": (_part(standings.six), _part(rivals.score)),
    "ladder": (_part(ladder),),
    "standings": (_part(standings.short),),
    "types": (_part(rivals.fastest),),
    "losses": (_part(head_to_head.losses),),
    "over_vendor": (_part(ranks.over_vendor, of_all=True),),
    "devices": (_part(recorded, of_all=True),),
    "older_devices": (_part(older, of_all=True),),
    "odd_sizes": (_part(odd_sizes.odd_sizes_short),),
}
"""The tables or sentences that stand between markers, by the name of the markers: of the first
device that has them, or of all devices."""

# ------------------------------------------------------------------------------------- filling


def parts_of(page: Path) -> list[str]:
    """Return the parts that a page has. MarkerError if it has none, or only a single marker of a
    part."""
    text = markers.text_of(page)
    named = [
        name
        for name in (*PARTS, GALLERY)
        if markers.begin(name) in text or markers.end(name) in text
    ]
    for name in named:
        markers.find(text, name)
    if not named:
        wanted = f"{markers.begin('results')} and {markers.end('results')}"
        raise markers.MarkerError(f"it has no generated part; the markers of one are {wanted}")
    return named


def fill(page: Path, data: Data, drawn: Path) -> list[Path]:
    """Replace the parts of a page, from data and the folder of figures just drawn. Return the files
    that were written."""
    written: list[Path] = []
    for name in parts_of(page):
        text = _gallery(page, drawn, data) if name == GALLERY else _tables(page, name, data)
        if text:
            write(page, markers.replaced(page.read_text(encoding="utf-8"), name, text))
            say(f"{page}: {name} replaced")
            written = [page]
    return written + _pictures(page, drawn) if written else []


def _tables(page: Path, name: str, data: Data) -> str:
    """The tables of a part with caption and source; empty if the data lack the first."""
    made: list[str] = []
    for entry in PARTS[name]:
        try:
            part = first_of(entry, data)
        except Lacking as error:
            left = "has its first table alone" if made else "is left as it is"
            say(f"{page}: {name} {left}: no {error}.")
            break
        repeated = next((source.repeated for source in part.sources if source.repeated), "")
        lines = footer_line([source.on_page() for source in part.sources])
        source = "; ".join(filter(None, (lines, repeated)))
        if isinstance(part.content, str):
            made.append(part.content + f"\n\nSource: {source}." * bool(source))
        else:
            made.append(f"{part.content.markdown()}\n{part.caption} Source: {source}.")
    return "\n\n".join(made)


def _gallery(page: Path, drawn: Path, data: Data) -> str:
    """Every figure by question: its sentence, its picture, and the commands that measure it."""
    made, printed = [], _printed()
    ranks_ = data["distributed"]["ranks"]
    gpus = int(ranks_.max()) if len(ranks_) else GPUS
    for chapter in chapters.ORDER:
        module = importlib.import_module(f"scanlab_report.chapters.{chapter}")
        figures = [e for e in FIGURES.values() if e.make.__module__ == module.__name__]
        if figures:
            made.append(f"## {(module.__doc__ or '').splitlines()[0].rstrip('.:')}")
        for entry in figures:
            name = entry.name
            if not (drawn / f"{name}.png").exists() and not _picture(page, name).exists():
                say(f"{page}: {name} is not in the gallery: it was not drawn")
                continue
            sentence = " ".join(filter(None, (entry.title, printed.get(name))))
            steps = plan(entry.measured_by, gpus)
            commands = list(steps.commands)
            commands[:1] = [f"{line}  # about {duration(steps.seconds)}" for line in commands[:1]]
            block = "\n".join(["```sh", *commands, "```"]) if commands else ""
            made.append(
                f"### `{name}`\n\n{sentence}\n\n![figure]({GALLERY}/{name}.png)\n{block}".rstrip()
            )
    return "\n\n".join(made)


def _printed() -> dict[str, str]:
    """The number of each figure that a paper has, in the order of its text."""
    made = {}
    pattern = r"\\(?:scan(?:wide)?figure\{(\w+)\}|begin\{figure)"
    for paper in typesetting.PAPERS:
        names = re.findall(pattern, typesetting.source_text(paper))
        for number, name in enumerate(names, start=1):
            made[name] = f"Figure {number} of the {paper} paper."
    return made


def _picture(page: Path, name: str) -> Path:
    return page.parent / GALLERY / f"{name}.png"


def _pictures(page: Path, drawn: Path) -> list[Path]:
    """Bring the page's own pictures up to date with the figures just drawn: links to
    `…/readme/NAME.png` are copies, those to `gallery/NAME.png` small ones."""
    made = []
    links = rf"\]\(([^)]*(?:readme|{GALLERY})/[^)]*\.png)\)"
    for link in re.findall(links, page.read_text(encoding="utf-8")):
        source, target = drawn / Path(link).name, page.parent / link
        if source.exists():
            with one_file(target) as new:
                if target.parent.name == GALLERY:
                    _shrink(source, new)
                else:
                    put(new, source.read_bytes())
            made.append(target)
    return made


def _shrink(source: Path, target: Path) -> None:
    """A small copy of a picture, with a palette."""
    with Image.open(source) as picture:
        full = picture.convert("RGB")
        height = round(full.height * min(1, WIDTH / full.width))
        small = full.resize((min(WIDTH, full.width), height), Image.Resampling.LANCZOS)
        small.quantize(COLOURS, dither=Image.Dither.NONE).save(target, optimize=True)
