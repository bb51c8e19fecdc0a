"""The generated parts of pages: each lies between markers, and a page has those of which it has the markers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image  # matplotlib needs it, too

from scanlab_report import figures
from scanlab_report.commands.build import devices
from scanlab_report.commands.build.report import footer_line
from scanlab_report.console import say
from scanlab_report.documents import ladder, markers, ranks_macros, typesetting
from scanlab_report.layout.table_formats import Table
from scanlab_report.modules import modules
from scanlab_report.select.experiments import GPUS, duration, plan
from scanlab_report.select.needs import gather
from scanlab_report.select.ranks_evidence import RanksEvidence
from scanlab_report.tables import losses, odd_sizes, rivals, summary
from scanlab_report.written import one_file, put, write


class Part(NamedTuple):
    """The needs of a part, and its maker: a table, or sentences. ``without`` makes sentences where the data lack it."""

    needs: Mapping[str, Any]
    build: Callable[..., Table | str]
    without: Callable[[], str] | None = None


PARTS: dict[str, tuple[Part, ...]] = {
    "results": (Part(summary.NEEDS, summary.six), Part(rivals.FASTEST_NEEDS, rivals.score)),
    "ladder": (Part(ladder.NEEDS, ladder.build),),
    "standings": (Part(summary.NEEDS, summary.short),),
    "types": (Part(rivals.FASTEST_NEEDS, rivals.fastest),),
    "losses": (Part(losses.NEEDS, losses.build),),
    "over_vendor": (Part(ranks_macros.VENDOR_NEEDS, ranks_macros.over_vendor, partial(ranks_macros.over_vendor, None)),),
    "devices": (Part({}, devices.recorded),),
    "older_devices": (Part(devices.NEEDS, devices.of_older),),
    "odd_sizes": (Part(odd_sizes.NEEDS, odd_sizes.short),),
}
"""By the name of the markers."""
GALLERY = "gallery"
WIDTH, COLOURS = 700, 32
"""Of a picture in the gallery, pixels and colours: all of them together stay below a megabyte."""


def parts_of(page: Path) -> list[str]:
    """Which parts a page has; MarkerError if it has none, or not both markers of one."""
    try:
        text = page.read_text(encoding="utf-8")
    except OSError as error:
        raise markers.MarkerError(f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise markers.MarkerError(f"is not UTF-8 text ({error})") from None
    named = [name for name in (*PARTS, GALLERY) if markers.begin(name) in text or markers.end(name) in text]
    for name in named:
        markers.find(text, name)
    if not named:
        raise markers.MarkerError(f"it has no generated part; the markers of one are {markers.begin('results')} and {markers.end('results')}")
    return named


def fill(page: Path, read, publications, drawn: Path) -> list[Path]:
    """Replaces the parts of a page, from results and the folder of figures just drawn; which files were written."""
    written: list[Path] = []
    for name in parts_of(page):
        text = _gallery(page, drawn, read, publications) if name == GALLERY else _tables(page, name, read, publications)
        if text:
            write(page, markers.replaced(page.read_text(encoding="utf-8"), name, text))
            say(f"{page}: {name} replaced")
            written = [page]
    return written + _pictures(page, drawn) if written else []


def _tables(page: Path, name: str, read, publications) -> str:
    """The tables of a part, each with its caption and where its numbers come from; empty if the data do not tell of the first."""
    found: list[str] = []
    for part in PARTS[name]:
        gathered = gather(part.needs, read, publications)
        if gathered.reasons and part.without:
            found.append(part.without())
            continue
        if gathered.reasons:
            left = "has its first table alone" if found else "is left as it is"
            say(f"{page}: {name} {left}: {' and '.join(gathered.reasons)}.")
            break
        made = part.build(**gathered.found)
        repeated = next((p.repeated for p in gathered.provenances if p.repeated), "")
        source = "; ".join(filter(None, (footer_line([of.of_checkout() for of in gathered.provenances]), repeated)))
        found.append(made + f"\n\nSource: {source}." * bool(source) if isinstance(made, str) else f"{made.markdown()}\n{made.caption} Source: {source}.")
    return "\n\n".join(found)


def _gallery(page: Path, drawn: Path, read, publications) -> str:
    """Every figure that was drawn, and those that were before: a sentence, a picture, and the commands that make its data."""
    found = []
    printed = _printed()
    for name, module in modules(figures):
        if not (drawn / f"{name}.png").exists() and not _picture(page, name).exists():
            say(f"{page}: {name} is not in the gallery: it was not drawn")
            continue
        sentence = " ".join(filter(None, ((module.__doc__ or "").partition("\n")[0], printed.get(name))))
        measured = plan(module.NEEDS, _gpus(module.NEEDS, read, publications))
        commands = list(measured.commands)
        commands[:1] = [f"{command}  # about {duration(measured.seconds)}" for command in commands[:1]]
        block = "".join(f"{line}\n" for line in ("```sh", *commands, "```")) if commands else ""
        found.append(f"### `{name}`\n\n{sentence}\n\n![figure]({GALLERY}/{name}.png)\n{block}".rstrip())
    return "\n\n".join(found)


def _gpus(needs: Mapping[str, Any], read, publications) -> int:
    """How many GPUs a figure shows, if it is of several."""
    timed = gather(needs, read, publications).found.get("timed") if "timed" in needs else None
    return int(timed.cases["ranks"].max()) if isinstance(timed, RanksEvidence) else GPUS


def _printed() -> dict[str, str]:
    """Of figures that a paper has: which one, since its figures are numbered in the order of its text."""
    said = {}
    for paper in typesetting.PAPERS:
        for number, name in enumerate(re.findall(r"\\(?:scan(?:wide)?figure\{(\w+)\}|begin\{figure)", typesetting.source_text(paper)), start=1):
            said[name] = f"Figure {number} of the {paper} paper."
    return said


def _picture(page: Path, name: str) -> Path:
    return page.parent / GALLERY / f"{name}.png"


def _pictures(page: Path, drawn: Path) -> list[Path]:
    """Brings the page's own pictures up to date with the figures just drawn; which they are.

    Links to ``…/readme/NAME.png`` are copies, those to ``gallery/NAME.png`` small ones.
    """
    made = []
    for link in re.findall(rf"\]\(([^)]*(?:readme|{GALLERY})/[^)]*\.png)\)", page.read_text(encoding="utf-8")):
        source, target = drawn / Path(link).name, page.parent / link
        if not source.exists():
            continue
        with one_file(target) as new:
            if target.parent.name == GALLERY:
                shrink(source, new)
            else:
                put(new, source.read_bytes())
        made.append(target)
    return made


def shrink(source: Path, target: Path) -> None:
    """A small copy of a picture, with a palette."""
    with Image.open(source) as picture:
        whole = picture.convert("RGB")
        height = round(whole.height * min(1, WIDTH / whole.width))
        small = whole.resize((min(WIDTH, whole.width), height), Image.Resampling.LANCZOS)
        small.quantize(COLOURS, dither=Image.Dither.NONE).save(target, optimize=True)
