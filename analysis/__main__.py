"""``python -m analysis``: from results to figures, tables and the numbers of the paper.

Exit status 0: everything that the data allows was written. 2: something in the input or the arguments was wrong; it
was said on standard error, and whatever was sound was still analysed.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

SOUND, BAD_INPUT = 0, 2

EXAMPLE = """example, from the repository root:
  python -m analysis --recorded data/recorded --published data/published --out out --paper paper/generated"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Reads, checks, draws, writes; returns the exit status."""
    started = time.monotonic()
    options = _parser().parse_args(arguments)
    wrong = _wrong_before_work(options)
    if wrong:
        for sentence in wrong:
            _complain(sentence)
        return BAD_INPUT

    from analysis import published, results  # matplotlib and pandas are not loaded to refuse an argument
    from analysis.page import write_page
    from analysis.report import Report
    from analysis.tables import costs

    read = results.read(options.results, options.recorded)
    publications = published.read(options.published, read.problems)
    _say(f"read {_count(len(read.timings), 'repetition')} of {_count(len(read.runs), 'file')} of timings, "
         f"{_count(len(read.explanations), 'explanation')}, {_count(len(read.counters), 'launch', 'launches')} with "
         f"counters")  # fmt: skip
    if len(read.skipped):
        _say(f"{_count(len(read.skipped), 'case')} not timed by the harness: see tables/skipped.md")
    for explanation in read.explanations:
        for fault in explanation.faults:
            _say(f"{explanation.file}: the executor found a fault: {fault.get('kind')} at {fault.get('where')}")
    for sentence in costs.disagreements(read.explanations):
        _say(sentence)
    report = Report(read, publications, options.out, options.paper, _say)
    report.build()
    report.written += write_page(read, publications, options.out / "report.html")
    _pages(options, read, publications)
    for problem in read.problems:
        _complain(str(problem))
    _say(f"{_count(len(report.written), 'file')} in {time.monotonic() - started:.1f} s: {options.out}")
    return BAD_INPUT if read.problems else SOUND


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m analysis", description="Figures and tables from results; measures nothing.",
        epilog=EXAMPLE, formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    add = parser.add_argument
    add("--results", nargs="+", type=Path, default=[], metavar="DIR", help="results measured now: folders or files")
    add("--recorded", nargs="+", type=Path, default=[], metavar="DIR", help="recorded runs, used where --results lack")
    add("--published", type=Path, default=Path("data/published"), metavar="DIR", help="tables of the literature")
    add("--out", type=Path, required=True, metavar="DIR", help="where figures/, tables/ and cases.csv are written")
    add("--paper", type=Path, metavar="DIR", help="also write what the paper includes, e.g. paper/generated")
    add("--readme", type=Path, metavar="FILE", help="replace the results table between this page's markers")
    add("--ladder", type=Path, metavar="FILE", help="replace the ladder between this page's markers")
    return parser


def _wrong_before_work(options: argparse.Namespace) -> list[str]:
    """Everything about the arguments that would make the work useless, in sentences."""
    from analysis import markers

    wrong = [f"{path}: no such file or folder" for path in (*options.results, *options.recorded) if not path.exists()]
    if not options.results and not options.recorded:
        wrong.append("nothing to read: give --results or --recorded")
    for folder in filter(None, (options.out, options.paper)):
        if reason := _unwritable(folder):
            wrong.append(f"{folder}: cannot be written to: {reason}")
    for page, name in ((options.readme, "results"), (options.ladder, "ladder")):
        if page is None:
            continue
        try:
            markers.check(page, name)
        except markers.MarkerError as error:
            wrong.append(f"{page}: {error}")
    return wrong


def _unwritable(folder: Path) -> str:
    """Makes the folder and its parts, writes a file in each, and says what hinders; empty if nothing does."""
    try:
        for part in (folder, folder / "figures", folder / "tables"):
            part.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=part):
                pass
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _pages(options: argparse.Namespace, read, publications) -> None:
    """Replaces the generated parts of the README and of the variants' page."""
    from analysis import ladder, markers
    from analysis.evidence import gather
    from analysis.report import footer_line
    from analysis.tables import rivals, summary

    # The first table of a page must be; a further one is there if the data tell of it.
    for page, name, tables in (
        (options.readme, "results", ((summary.NEEDS, summary.short), (rivals.FASTEST_NEEDS, rivals.fastest))),
        (options.ladder, "ladder", ((ladder.NEEDS, ladder.build),)),
    ):  # fmt: skip
        if page is None:
            continue
        parts = []
        for needs, build in tables:
            gathered = gather(needs, read, publications)
            if gathered.reasons:
                left = "has its first table alone" if parts else "is left as it is"
                _say(f"{page} {left}: {' and '.join(gathered.reasons)}.")
                break
            table = build(**gathered.found)
            repeated = next((p.repeated for p in gathered.provenances if p.repeated), "")
            parts.append(f"{table.markdown()}\n{table.caption} {footer_line(gathered.provenances)}; {repeated}.")
        if not parts:
            continue
        text = "\n\n".join(parts)
        page.write_text(markers.replaced(page.read_text(encoding="utf-8"), name, text), encoding="utf-8")
        _copy_figures_of(page, options.out / "figures")
        _say(f"{page}: {name} replaced")


def _copy_figures_of(page: Path, drawn: Path) -> None:
    """Brings the page's own pictures (links to ``…/readme/NAME.png``) up to date with the figures just drawn."""
    for link in re.findall(r"\]\(([^)]*readme/[^)]*\.png)\)", page.read_text(encoding="utf-8")):
        if (drawn / Path(link).name).exists():
            (page.parent / link).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(drawn / Path(link).name, page.parent / link)


def _count(number: int, singular: str, plural: str = "") -> str:
    return f"{number} {singular if number == 1 else plural or singular + 's'}"


def _say(sentence: str) -> None:
    print(sentence, flush=True)


def _complain(sentence: str) -> None:
    print(f"error: {sentence}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
