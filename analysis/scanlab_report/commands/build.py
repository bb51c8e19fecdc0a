"""Build figures, tables, the interactive page, the two papers as PDF, and the generated parts of
pages, from results.

Unreadable or impossible input is named, and then nothing is written: the files of an earlier build
stay. The papers need latexmk; where LaTeX fails the last PDF stays, and the status is 1. They speak
of the recorded session of one GPU: with results that were measured on a GPU now they are left out.
Files of nvbench (--json, better --jsonbin) or of Google Benchmark (--benchmark_out) give
figures/distributions, figures/time_by_axis and tables/medians. They are built alone, without files
of Scanlab.
"""

from __future__ import annotations

import argparse
import contextlib
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from scanlab_report import opened
from scanlab_report.console import FOUND, SOUND, complain, count, missing, refuse, say
from scanlab_report.written import in_place_of, unwritable

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
    opened.add_published(parser)
    what = "write figures/, tables/, cases.csv, report.html and the papers to DIR"
    add("--out", required=True, help=what, **folder)
    parts = "write the parts that the papers include to DIR, as in paper/generated"
    add("--paper", help=parts, **folder)
    add("--no-pdf", action="store_true", help="do not typeset the papers")
    part = "replace each generated part between the markers of this page; repeatable"
    add("--page", dest="pages", type=Path, metavar="FILE", help=part, **several)


def run(options: argparse.Namespace) -> int:
    """Read, check and draw. The output replaces the last build only when all is drawn."""
    started = time.monotonic()
    if wrong := _wrong_before_work(options):
        return refuse(*wrong)

    from scanlab_report import typesetting  # pandas is not loaded to refuse an argument

    try:
        data = opened.opened(options.results, options.session, options.published, options.recorded)
        if reason := _of_others(data, options):
            raise opened.Refused(reason)
        data = opened.on_device(data, options.device)
    except opened.Refused as error:
        nothing = str(error).startswith("nothing to read")
        several = len(error.args) > 1 or (": " in str(error) and not nothing)
        return refuse(*error.args, *[f"{options.out}: nothing was written"] * several)
    pdf = not options.no_pdf and typesetting.latexmk() is not None
    if pdf and not options.paper:
        options.paper = options.out / typesetting.WORK / "parts"
    _announce(data)

    from scanlab_report.report import Report, pages
    from scanlab_report.tables import MEASURED

    written: list[Path] = []
    stale: list[Path] = []
    in_paper = in_place_of(options.paper) if options.paper else contextlib.nullcontext()
    with in_paper as paper, in_place_of(options.out) as out:
        report = Report(data, out, paper, say)
        report.build()
        for made, folder in ((out, options.out), (paper, options.paper)):
            if made:
                files = (file for file in made.rglob("*") if file.is_file())
                written += [folder / file.relative_to(made) for file in files]
                stale += [folder / file for file in report.files() if not (made / file).exists()]
    for file in set(stale) - set(written):
        file.unlink(missing_ok=True)
    for page in options.pages:
        written += pages.fill(page, data, options.out / "figures")
    timed = {n for table in ("scan", "schedule") for n in data[table]["file"]}
    measured = any(data.files[n].origin == MEASURED and data.files[n].kind == "cuda" for n in timed)
    status = SOUND
    if pdf and measured:
        say(
            "the papers speak of the recorded session, and are left out beside what a GPU was "
            "measured to do: build --recorded data/recorded has them"
        )
    elif pdf:
        status = _typeset(options, written)
    elif not options.no_pdf:
        say(
            "the papers are left out: there is no latexmk here; ./reproduce says which packages to "
            "install"
        )
    seconds = time.monotonic() - started
    say(f"{count(len(written), 'file')} written to {options.out} in {seconds:.1f} s")
    return status


def _of_others(data, options: argparse.Namespace) -> str:
    """Return why files of another program cannot be built as asked; empty if they can, or if there
    are none. No paper speaks of them."""
    if not (others := list(dict.fromkeys(data["other"]["file"]))):
        return ""
    file = data.files[others[0]]
    first = f"{file.path} is of {file.context['program']}"
    own = [data.files[number].path for number in data.numbers() if number not in others]
    if own := [*own, *(verification.file for verification in data.verifications)]:
        alone = "build each alone, into a folder of its own"
        return f"{first} and {own[0]} is Scanlab's own: {alone}"
    options.no_pdf = True
    own_alone = ("recorded", "device", "session", "paper", "pages")
    given = [f"--{name.rstrip('s')}" for name in own_alone if getattr(options, name)]
    names = ", ".join(given)
    return names and f"{names}: of Scanlab's results alone, and {first}"


def _announce(data) -> None:
    """Say what was read, and what is unusual about it."""
    if len(others := data["other"]):
        timed = others[others["skipped"] == ""]
        say(
            f"read {count(sum(map(len, timed['samples'])), 'sample')} of "
            f"{count(len(timed), 'case')} of {count(others['file'].nunique(), 'file')}"
        )
        if untimed := len(others) - len(timed):
            say(f"{count(untimed, 'case')} without a time: see tables/medians.md")
        return

    from scanlab_report.chapters import counts

    files = len(set(data["scan"]["file"]))
    say(
        f"read {count(len(data['scan']), 'repetition')} of {count(files, 'file')} of timings, "
        f"{count(len(data['counts']), 'explanation')}, "
        f"{count(len(data['counters']), 'launch', 'launches')} with counters"
    )
    if skipped := len(data["skipped"]):
        say(f"{count(skipped, 'case')} not timed by the harness: see tables/skipped.md")
    for row in data["counts"].itertuples():
        for fault in row.content.faults:
            path = data.files[row.file].path
            say(f"{path}: the emulator found a fault: {fault.kind} at {fault.where}")
    for sentence in counts.disagreements(data):
        say(sentence)


def _typeset(options: argparse.Namespace, written: list[Path]) -> int:
    """Typeset the papers as PDF, and add them to the written files. FOUND if LaTeX fails, or if a
    line runs off its page."""
    from scanlab_report import typesetting

    status = SOUND
    with ThreadPoolExecutor() as pool:
        begun = {
            paper: pool.submit(typesetting.typeset, paper, options.paper, options.out)
            for paper in typesetting.PAPERS
        }
    for paper, work in begun.items():
        target = options.out / f"{paper}.pdf"
        try:
            wide = work.result()
        except typesetting.TypesettingError as error:
            complain(error)
            if target.exists():
                complain(f"{target} is that of an earlier build")
            status = FOUND
            continue
        written.append(target)
        for line in wide:
            complain(f"{target}: the paper runs off its page: {line}")
            status = FOUND
        say(f"paper {target.name}: {target.stat().st_size / 1e6:.1f} MB")
    return status


def _wrong_before_work(options: argparse.Namespace) -> list[str]:
    """Return the faults of the arguments that would make the work useless, in sentences."""
    from scanlab_report.claims import stated

    wrong = missing([*options.results, *options.recorded, options.published])
    if not options.results and not options.recorded:
        wrong.append("nothing to read: give RESULTS or --recorded")
    for folder in filter(None, (options.out, options.paper)):
        if reason := unwritable(folder):
            wrong.append(f"{folder}: cannot be written to: {reason}")
    try:
        stated.read()
    except stated.ClaimsError as error:
        wrong.append(str(error))
    if options.pages:
        from scanlab_report import markers
        from scanlab_report.report import pages

        for page in options.pages:
            try:
                pages.parts_of(page)
            except markers.MarkerError as error:
                wrong.append(f"{page}: {error}")
    return wrong
