"""Build figures, tables, the interactive page, the two papers as PDF, and the generated parts of pages, from results.

Unreadable or impossible input is named, and then nothing is written: the files of an earlier build stay. Unchanged parts are
not built again. The papers need latexmk; where LaTeX fails the last PDF stays, and the status is 1. They speak of the recorded session of one
GPU, that of paper/claims.toml: with results that were measured on a GPU now they are left out.
Files of nvbench (--json, better --jsonbin) or of Google Benchmark (--benchmark_out) give figures/distributions, figures/time_by_axis
and tables/medians. They are built alone, without files of Scanlab.
"""

from __future__ import annotations

import argparse
import contextlib
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from scanlab_report import DATA
from scanlab_report.console import FOUND, SOUND, complain, count, missing, refuse, say
from scanlab_report.documents import typesetting
from scanlab_report.written import in_place_of, unwritable

EXAMPLE = """  scanlab-report build results/run --recorded data/recorded --out out
  scanlab-report build before.nvbench.json after.nvbench.json --out figures      # of nvbench, side by side"""


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("results", nargs="*", type=Path, metavar="RESULTS", help="folders or files of results measured now")
    add("--recorded", action="append", type=Path, default=[], metavar="DIR", help="use these recorded runs where RESULTS have none; repeatable")
    add("--session", default="", metavar="NAME", help="use this recorded session, by its folder's name (default: the newest complete one of each device)")
    add("--device", default="", metavar="NAME", help="show this GPU alone, by its name in the results (default: a part of each figure for every GPU)")
    add("--published", type=Path, default=DATA / "published", metavar="DIR", help="read the tables of the literature from DIR (default: data/published)")
    add("--out", type=Path, required=True, metavar="DIR", help="write figures/, tables/, cases.csv, report.html and the papers to DIR")
    add("--paper", type=Path, metavar="DIR", help="write the parts that the papers include to DIR, as in paper/generated")
    add("--no-pdf", action="store_true", help="do not typeset the papers")
    add("--page", dest="pages", action="append", type=Path, default=[], metavar="FILE", help="replace each generated part between the markers of this page; repeatable")


def run(options: argparse.Namespace) -> int:
    """Reads, checks, draws, and only when all is drawn puts it where the last build is."""
    started = time.monotonic()
    if wrong := _wrong_before_work(options):
        return refuse(*wrong)

    from scanlab_report.claims import stated as claims  # matplotlib and pandas are not loaded to refuse an argument
    from scanlab_report.read import published, results, streams
    from scanlab_report.read.foreign import kinds
    from scanlab_report.select import drift

    theirs, own, problems = kinds.sorted_out(options.results)
    if theirs and own:
        return refuse(f"{theirs[0].run.file} is of {theirs[0].kind} and {own[0]} is Scanlab's own: build each alone, into a folder of its own")
    if theirs or any(isinstance(of, kinds.Misread) for of in problems):
        from scanlab_report.commands.build import foreign

        return refuse(*problems, f"{options.out}: nothing was written") if problems else foreign.build(theirs, options)
    pdf = not options.no_pdf and typesetting.latexmk() is not None
    if pdf and not options.paper:
        options.paper = options.out / typesetting.WORK / "parts"
    from scanlab_report.commands.build.report import Report
    from scanlab_report.read.records import MEASURED
    from scanlab_report.select.opened import Unreadable, apart, nothing_among, on
    from scanlab_report.select.sessions import NoSession, chosen
    from scanlab_report.tables import costs

    options.results, more = apart(options.results)
    options.recorded = list(dict.fromkeys([*options.recorded, *more]))
    read = results.read(options.results, options.recorded, claims.device())
    publications = published.read(options.published, read.problems)
    if read.problems:
        return refuse(*read.problems, f"{options.out}: nothing was written")
    if read.empty:
        return refuse(nothing_among([*options.results, *options.recorded]))
    try:
        read = on(chosen(read, options.session), options.device)
    except (NoSession, Unreadable) as error:
        return refuse(error)
    say(f"read {count(len(read.timings), 'repetition')} of {count(len(read.runs), 'file')} of timings, "
        f"{count(len(read.explanations), 'explanation')}, {count(len(read.counters), 'launch', 'launches')} with "
        f"counters")  # fmt: skip
    if len(read.skipped):
        say(f"{count(len(read.skipped), 'case')} not timed by the harness: see tables/skipped.md")
    if sessions := drift.Sessions().find(read, publications):
        for sentence in filter(None, (session.throttling() for session in sessions.sessions)):
            say(sentence)
    for explanation in read.explanations:
        for fault in explanation.content.faults:
            say(f"{explanation.file}: the emulator found a fault: {fault.kind} at {fault.where}")
    for sentence in costs.disagreements(read.explanations):
        say(sentence)
    if options.paper:
        options.paper.mkdir(parents=True, exist_ok=True)
    with in_place_of(options.paper) if options.paper else contextlib.nullcontext() as paper, in_place_of(options.out) as out:
        report = Report(read, publications, out, paper, say)
        report.build()
    for folder in filter(None, (options.out, options.paper)):
        _remove(folder / name for name in report.left_out)
    if options.paper:
        _remove(options.paper / name for name in report.not_in_paper)
    written = [options.paper / file.relative_to(paper) if paper and file.is_relative_to(paper) else options.out / file.relative_to(out)
               for file in report.written]  # fmt: skip
    written += _pages(options, read, publications)
    measured = [run for run in (*read.runs, *(of.run for of in read.streams if of.kind == streams.SCHEDULES)) if run.origin == MEASURED and run.kind == "cuda"]
    status = _typeset(options, written) if pdf and not measured else SOUND
    if pdf and measured:
        say("the papers speak of the recorded session, and are left out beside what a GPU was measured to do: build --recorded data/recorded has them")
    if not pdf and not options.no_pdf:
        say("the papers are left out: there is no latexmk here; ./reproduce says which packages to install")
    say(f"{count(len(written), 'file')} written to {options.out} in {time.monotonic() - started:.1f} s")
    return status


def _typeset(options: argparse.Namespace, written: list[Path]) -> int:
    """The papers as PDF, which are added to what was written; FOUND if LaTeX fails, or a line runs off its page."""
    status = SOUND
    with ThreadPoolExecutor() as pool:
        begun = {paper: pool.submit(typesetting.typeset, paper, options.paper, options.out) for paper in typesetting.PAPERS}
    for paper, of in begun.items():
        target = options.out / f"{paper}.pdf"
        try:
            wide = of.result()
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


def _remove(stale: Iterable[Path]) -> None:
    for path in stale:
        path.unlink(missing_ok=True)


def _wrong_before_work(options: argparse.Namespace) -> list[str]:
    """Everything about the arguments that would make the work useless, in sentences."""
    from scanlab_report.claims import stated as claims
    from scanlab_report.documents import markers

    wrong = missing([*options.results, *options.recorded, options.published])
    if not options.results and not options.recorded:
        wrong.append("nothing to read: give RESULTS or --recorded")
    for folder in filter(None, (options.out, options.paper)):
        if reason := unwritable(folder):
            wrong.append(f"{folder}: cannot be written to: {reason}")
    try:
        claims.read()
    except claims.ClaimsError as error:
        wrong.append(str(error))
    if options.pages:
        from scanlab_report.commands.build import pages

        for page in options.pages:
            try:
                pages.parts_of(page)
            except markers.MarkerError as error:
                wrong.append(f"{page}: {error}")
    return wrong


def _pages(options: argparse.Namespace, read, publications) -> list[Path]:
    """Replaces the generated parts of pages; which of them there are, with their pictures."""
    if not options.pages:
        return []
    from scanlab_report.commands.build import pages

    return [file for page in options.pages for file in pages.fill(page, read, publications, options.out / "figures")]
