"""Check the claims of paper/claims.toml against results: holds, fails, not measured.

A claim states its source, the figure that shows it, how it is computed from which cases, and by how much it may be missed.
Exit status 0: none fails; 1: one fails; 2: bad input.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from scanlab_report import CLAIMS, DATA
from scanlab_report.console import FOUND, SOUND, count, missing, refuse, say
from scanlab_report.documents import markers
from scanlab_report.written import write

if TYPE_CHECKING:  # pandas and SciPy are not loaded to print a help text
    from scanlab_report.claims.standing import Standing

EXAMPLE = """  scanlab-report claims results/run
  scanlab-report claims data/recorded results/scenarios --page docs/CLAIMS.md"""
MARKER = "claims"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("results", nargs="+", type=Path, metavar="RESULTS", help="folders or files; new results precede recorded ones")
    add("--claims", type=Path, default=CLAIMS, metavar="FILE", help="read claims of your own, in the form of paper/claims.toml")
    add("--session", default="", metavar="NAME", help="use this recorded session, by its folder's name (default: the newest complete one of each device)")
    add("--published", type=Path, default=DATA / "published", metavar="DIR", help="read the tables of the literature from DIR (default: data/published)")
    add("--page", type=Path, metavar="FILE", help="replace the tables between this page's markers")


def run(options: argparse.Namespace) -> int:
    from scanlab_report.claims import stated as claims_file

    wrong = missing([*options.results, options.published])
    try:
        claims = claims_file.read(options.claims)
        if options.page:
            markers.check(options.page, MARKER)
    except claims_file.ClaimsError as error:
        wrong.append(str(error))
    except markers.MarkerError as error:
        wrong.append(f"{options.page}: {error}")
    if wrong:
        return refuse(*wrong)

    from scanlab_report.claims import checked as claims_checked
    from scanlab_report.claims.standing import FAILS, HOLDS, VERDICTS
    from scanlab_report.select.opened import Unreadable, opened
    from scanlab_report.tables.claims import table

    try:
        read, publications = opened(options.results, claims_file.device(options.claims), options.session, options.published)
    except Unreadable as error:
        return refuse(*error.args)
    on = claims_file.device(options.claims)
    checked = claims_checked.check(claims, read, publications, on)
    about = f", on {on}" if on else ""
    printed = table(checked, f"Claims of Scanlab (for `best` unless another variant is named{about}) and of the literature")
    say(printed.markdown())
    verdicts = [one.verdict for one in checked]
    plural = {HOLDS: "hold", FAILS: "fail"}
    counts = ", ".join(f"{number} {verdict if number == 1 else plural.get(verdict, verdict)}" for verdict in VERDICTS.values() if (number := verdicts.count(verdict)))
    if unsure := sum(one.unsure for one in checked):
        counts += f"; {unsure} by the median only"
    say(f"{count(len(checked), 'claim')}: {counts}.")
    provenances = claims_checked.provenances(checked)
    if provenances:
        say(f"Sources: {'; '.join(of.line() for of in provenances)}.")
    if options.page:
        if not provenances:
            say(f"{options.page} is left as it is: no {claims_checked.Claims(claims).asked()}.")
        else:
            sources = "\n".join(f"- {of.of_checkout().line()}" for of in provenances)
            text = f"{count(len(checked), 'claim')}: {counts}.\n\n{_grouped(checked)}\n\nSources:\n\n{sources}"
            write(options.page, markers.replaced(options.page.read_text(encoding="utf-8"), MARKER, text))
            say(f"{options.page}: {MARKER} replaced")
    return FOUND if FAILS in verdicts else SOUND


def _grouped(checked: Sequence[Standing]) -> str:
    """The claims by their subject, a table for each: by whether a claim is ours, and its measure. The rest comes last."""
    from scanlab_report.claims.stated import OF_MODELS, OF_RANKS, OF_SCANS, OF_STREAMS, OURS
    from scanlab_report.tables.claims import table

    groups = (
        ("Scans of Scanlab", {(True, of) for of in OF_SCANS}),
        ("Schedules, tracing, and scans larger than the device", {(True, of) for of in OF_STREAMS}),
        ("Several GPUs", {(True, of) for of in OF_RANKS}),
        ("Models: the SIMT emulator and the engine model", {(True, of) for of in OF_MODELS}),
        ("The literature on scans", {(False, of) for of in (*OF_SCANS, "speedup", "traffic")}),
        ("The literature on schedules", {(False, "order"), *((False, of) for of in OF_STREAMS)}),
        ("The documentation on implicit synchronisation", {(False, "implicit_sync")}),
        ("Others", None),
    )  # fmt: skip
    found, rest = [], list(checked)
    for heading, kinds in groups:
        of_group = [one for one in rest if kinds is None or (one.claim.source == OURS, one.claim.measure) in kinds]
        rest = [one for one in rest if one not in of_group]
        if of_group:
            found.append(f"### {heading}\n\n{table(of_group, '').markdown().replace('| wanted |', '| target |').strip()}")
    return "\n\n".join(found)
