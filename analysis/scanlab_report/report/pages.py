"""The generated parts of pages: each lies between markers, and a page has those of its markers."""

import importlib
import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pandas as pd
from PIL import Image

from scanlab_report import DATA, chapters, markers, typesetting
from scanlab_report.chapters import counts, head_to_head, odd_sizes, standings
from scanlab_report.console import Refused, say
from scanlab_report.data import Data
from scanlab_report.experiments import duration, plan
from scanlab_report.formats import (
    Column,
    Table,
    code,
    enumerated,
    significant,
    size,
    whole,
    with_interval,
)
from scanlab_report.groups import CEILING, OWN
from scanlab_report.numbers import over_vendor
from scanlab_report.pick import Lacking, pick
from scanlab_report.pick import scans as pick_scans
from scanlab_report.shown import FIGURES, Entry, Shown, first_of, footer_line, shown
from scanlab_report.written import one_file, put, write

GALLERY = DATA.parent / "docs" / "gallery"
WIDTH, COLOURS = 700, 64
"""Pixels and colours of a picture in the gallery: all together stay below a megabyte."""
COST_ITEMS = 1 << 16
"""Items for which the cost is counted: more than one tile."""


def ladder(data: Data) -> Shown:
    """One rung per variant with its cost and standing, slowest first: the page reads upward."""
    cases = pick_scans(data, all_of=(CEILING,))
    counted = counts.counts(data)
    usual = counts.usual_counts(pick(counted, mode="inclusive"))
    usual = usual.assign(near=(usual["items"] - COST_ITEMS).abs()).sort_values("near")
    cost = usual.drop_duplicates("variant").set_index("variant")["content"].map(counts.cost)
    stands = standings.standings(data, cases).iloc[::-1]
    stands = stands[[OWN.has(data.variants[variant]) for variant in stands["variant"]]]
    columns = (
        Column("variant", "variant", code, right=False),
        Column("counted_items", "counted at n", lambda v: "—" if pd.isna(v) else size(int(v))),
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
    own = pd.DataFrame(cost.tolist(), index=cost.index).add_prefix("counted_")
    own = own.reindex(columns=[each.key for each in columns if each.key.startswith("counted_")])
    table = stands.join(own, on="variant")
    return shown(data, Table(caption, columns, table), caption, cases, counted)


def recorded(data: Data) -> str:
    """Return the devices of the recorded sessions, and those of the claims."""
    gpus: dict[str, set[int]] = {}
    for file in (DATA / "recorded").glob("*/*/session.json"):
        session = json.loads(file.read_text(encoding="utf-8"))
        if {entry["kind"] for entry in session["files"]} - {"timings", "counts"}:
            gpus.setdefault(session["device"], set()).add(session.get("gpus", 1))
    counts = {device: enumerated(map(str, sorted(own))) for device, own in gpus.items()}
    named = [
        f"{device} ({counts[device]} GPU{'s' * (max(gpus[device]) > 1)})"
        for device in sorted(gpus, key=lambda device: (device != data.first, device))
    ]
    return (
        f"Recorded GPU times are of {enumerated(named)}. Claims, papers and generated pages are of "
        f"{data.first} unless they name another device. No other GPU is recorded."
    )


def gallery(data: Data) -> str:
    """Every figure by question: its sentence, its picture, and the commands that measure it."""
    chapters.load_all()
    made, printed = [], _printed()
    for chapter in chapters.ORDER:
        module = importlib.import_module(f"scanlab_report.chapters.{chapter}")
        figures = [e for e in FIGURES.values() if e.make.__module__ == module.__name__]
        if figures:
            made.append(f"## {(module.__doc__ or '').splitlines()[0].rstrip('.:')}")
        for entry in figures:
            lines = [f"### `{entry.name}`", ""]
            lines += [" ".join(filter(None, (entry.title, printed.get(entry.name)))), ""]
            lines += [f"![figure]({GALLERY.name}/{entry.name}.png)"]
            if commands := [*(steps := plan(entry.measured_by)).commands]:
                commands[0] += f"  # about {duration(steps.seconds)}"
                lines += ["```sh", *commands, "```"]
            made.append("\n".join(lines))
    return "\n\n".join(made)


def _printed() -> dict[str, str]:
    """The number of each figure that a paper has, in the order of its text."""
    pattern = r"\\(?:scan(?:wide)?figure\{(\w+)\}|begin\{figure)"
    return {
        name: f"Figure {number} of the {paper} paper."
        for paper in typesetting.PAPERS
        for number, name in enumerate(re.findall(pattern, typesetting.source_text(paper)), start=1)
    }


def _texts(*makes: Callable[[Data], Shown], of_all: bool = False) -> Callable[[Data], str]:
    """The text of tables or sentences with caption and source, of the first device or `of_all`."""

    def text(data: Data) -> str:
        made = []
        for make in makes:
            part = first_of(Entry(make.__name__, make, of_others=of_all), data)
            repeated = [source.repeated for source in part.sources if source.repeated]
            lines = footer_line([source.on_page() for source in part.sources])
            source = f"Source: {'; '.join([lines, *repeated[:1]])}." if lines else ""
            if isinstance(part.content, str):
                made.append(f"{part.content}\n\n{source}".rstrip())
            else:
                made.append(f"{part.content.markdown()}\n{part.caption} {source}")
        return "\n\n".join(made)

    return text


PARTS: dict[str, Callable[[Data], str]] = {
    "results": _texts(standings.six, head_to_head.score),
    "ladder": _texts(ladder),
    "standings": _texts(standings.short),
    "types": _texts(head_to_head.fastest),
    "losses": _texts(head_to_head.losses),
    "odd_sizes": _texts(odd_sizes.odd_sizes_short),
    "over_vendor": _texts(over_vendor, of_all=True),
    "devices": recorded,
    "gallery": gallery,
}
"""The text between the markers of each name."""


def fault(page: Path) -> str:
    """A fault of the markers of a page; empty if all is well."""
    try:
        text = markers.text_of(page)
        parts = [markers.find(text, name) for name in PARTS if f"<!-- {name}:" in text]
    except Refused as error:
        return str(error)
    return "" if parts else f"it has no generated part: {markers.begin('results')} begins one"


def fill(page: Path, data: Data, drawn: Path) -> list[Path]:
    """Replace the parts and pictures of a page that have data. Return what was written."""
    text = page.read_text(encoding="utf-8")
    for name in [name for name in PARTS if markers.begin(name) in text]:
        try:
            text = markers.replaced(text, name, PARTS[name](data))
            say(f"{page}: {name} replaced")
        except Lacking as error:
            say(f"{page}: {name} is left as it is: no {error}.")
    write(page, text)
    written = [page]
    for link in re.findall(r"\]\(([^)]*\b(?:readme|gallery)/[^)]*\.png)\)", text):
        source, target = drawn / Path(link).name, page.parent / link
        if source.exists():
            with one_file(target) as new:
                put(new, source.read_bytes())
                if target.parent.name == GALLERY.name:
                    _shrink(new)
            written.append(target)
    return written


def _shrink(file: Path) -> None:
    """Make a picture small, with a palette."""
    with Image.open(file) as picture:
        full = picture.convert("RGB")
    height = round(full.height * min(1, WIDTH / full.width))
    small = full.resize((min(WIDTH, full.width), height), Image.Resampling.LANCZOS)
    small.quantize(COLOURS, dither=Image.Dither.NONE).save(file, optimize=True)
