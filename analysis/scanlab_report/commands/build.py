"""Build figures, tables, the interactive page, the two papers as PDF, and the generated parts of
pages, from results.

Unreadable or impossible input is named, and then nothing is written: the files of an earlier build
stay. The papers need latexmk; where LaTeX fails the last PDF stays, and the status is 1. They speak
of the recorded session of one GPU: with results that were measured on a GPU now they are left out.
Files of nvbench (--json, better --jsonbin) or of Google Benchmark (--benchmark_out) give
figures/distributions, figures/time_by_axis and tables/medians. They are built alone, without files
of Scanlab.
"""

import argparse
import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scanlab_report import opened, typesetting
from scanlab_report.chapters import counts
from scanlab_report.claims import stated
from scanlab_report.console import FOUND, SOUND, Refused, complain, count, missing, refuse, say
from scanlab_report.data import Data
from scanlab_report.report import outdated, pages, write_report
from scanlab_report.tables import MEASURED
from scanlab_report.written import in_place_of

EXAMPLE = """  scanlab-report build results/run --recorded data/recorded --out out
  scanlab-report build before.nvbench.json after.nvbench.json --out figures      # side by side"""


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    folder: dict[str, Any] = {"type": Path, "metavar": "DIR"}
    several: dict[str, Any] = {"action": "append", "default": []}
    now = "folders or files of results measured now"
    add("results", nargs="*", type=Path, metavar="RESULTS", help=now)
    where = "use these recorded runs where RESULTS have none; repeatable"
    add("--recorded", help=where, **several, **folder)
    opened.add_session(parser)
    opened.add_device(parser, "a part of each figure for every GPU")
    what = "write figures/, tables/, cases.csv, report.html and the papers to DIR"
    add("--out", required=True, help=what, **folder)
    parts = "write the parts that the papers include to DIR, as in paper/generated"
    add("--paper", help=parts, **folder)
    add("--no-pdf", action="store_true", help="do not typeset the papers")
    part = "replace each generated part between the markers of this page; repeatable"
    add("--page", dest="pages", type=Path, metavar="FILE", help=part, **several)


def run(options: argparse.Namespace) -> int:
    """Read, check and draw. The output replaces the last build only when all is drawn."""
    if wrong := [*_wrong_before_work(options)]:
        return refuse(*wrong)
    data = opened.opened(options.results, options.session, options.recorded)
    _refuse_mixed(data)
    data = opened.on_device(data, options.device)
    _announce(data)
    if not options.no_pdf and (no_papers := _no_papers(data)):
        say(f"the papers are left out: {no_papers}")
        options.no_pdf = True
    if not options.no_pdf:
        options.paper = options.paper or options.out / typesetting.WORK / "parts"
    written = _write(data, options)
    for page in options.pages:
        written += pages.fill(page, data, options.out / "figures")
    faults = []
    for paper in () if options.no_pdf else typesetting.PAPERS:
        target = options.out / f"{paper}.pdf"
        try:
            wide = typesetting.typeset(paper, options.paper, options.out)
            written.append(target)
            faults += [f"{target}: the paper runs off its page: {line}" for line in wide]
        except Refused as error:
            faults.append(f"{error}; {target} is not of this build")
    for fault in faults:
        complain(fault)
    say(f"{count(len(written), 'file')} written to {options.out}")
    return FOUND if faults else SOUND


def _wrong_before_work(options: argparse.Namespace) -> Iterator[str]:
    """Yield the faults of the arguments that would make the work useless, in sentences."""
    yield from missing([*options.results, *options.recorded])
    if not options.results and not options.recorded:
        yield "nothing to read: give RESULTS or --recorded"
    try:
        stated.read()
    except Refused as error:
        yield str(error)
    yield from (f"{page}: {fault}" for page in options.pages if (fault := pages.fault(page)))


def _refuse_mixed(data: Data) -> None:
    """Refuse files of another program beside those of Scanlab."""
    others = set(data["other"]["file"])
    own = [data.files[number].path for number in data.numbers() if number not in others]
    if others and own:
        file = data.files[min(others)]
        both = f"{file.path} is of {file.context['program']} and {own[0]} is Scanlab's own"
        raise Refused(f"{both}: build each alone")


def _announce(data: Data) -> None:
    """Say what was read, what of it has no time, and what the emulator found wrong."""
    say(f"read {count(len(data.files), 'file')}")
    untimed = len(data["skipped"]) + int((data["other"]["skipped"] != "").sum())
    if untimed:
        say(f"{count(untimed, 'case')} without a time: see tables/skipped.md or tables/medians.md")
    faults = [
        f"{data.files[row.file].path}: the emulator found a fault: {fault.kind} at {fault.where}"
        for row in data["counts"].itertuples()
        for fault in row.content.faults
    ]
    if wrong := [*faults, *counts.disagreements(data)]:
        say("; ".join(wrong))


def _no_papers(data: Data) -> str:
    """Return why the papers cannot be typeset; empty if they can."""
    files = [data.files[n] for table in ("scan", "schedule") for n in set(data[table]["file"])]
    now = [file for file in files if file.origin == MEASURED and file.kind == "cuda"]
    if now or len(data["other"]):
        return "they speak of the recorded session, not of what was measured now"
    without = "there is no latexmk here; ./reproduce names the packages"
    return "" if shutil.which("latexmk") else without


def _write(data: Data, options: argparse.Namespace) -> list[Path]:
    """Write the report in place of an earlier one, and return its files."""
    in_paper = in_place_of(options.paper) if options.paper else contextlib.nullcontext()
    written: list[Path] = []
    stale: list[Path] = []
    with in_paper as paper, in_place_of(options.out) as out:
        write_report(data, out, paper)
        for made, folder in ((out, options.out), (paper, options.paper)):
            if made:
                files = [file for file in made.rglob("*") if file.is_file()]
                written += [folder / file.relative_to(made) for file in files]
                stale += outdated(folder, made)
    for file in stale:
        file.unlink(missing_ok=True)
    return written
