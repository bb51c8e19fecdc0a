"""Check claims, published statements and open targets against results.

Three tables say which claims of Scanlab hold, which statements of the literature agree with the
data, and which targets are open. An entry of paper/claims/ says how its value is computed from
which cases. Exit status 0: no claim of Scanlab fails; 1: one fails; 2: bad input.
"""

import argparse
from pathlib import Path

from scanlab_report import markers, opened
from scanlab_report.chapters.claims import FAILS, all_sources, check, sections
from scanlab_report.claims import stated
from scanlab_report.console import FOUND, SOUND, Refused, refuse, say
from scanlab_report.written import write

EXAMPLE = """  scanlab-report claims results/run
  scanlab-report claims data/recorded results/scenarios --page docs/CLAIMS.md"""
MARKER = "claims"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    what = "folders or files; new results precede recorded ones"
    add("results", nargs="+", type=Path, metavar="RESULTS", help=what)
    opened.add_session(parser)
    add("--page", type=Path, metavar="FILE", help="replace the tables between this page's markers")


def run(options: argparse.Namespace) -> int:
    page = options.page
    claims = stated.read()
    try:
        before = markers.replaced(markers.text_of(page), MARKER, "") if page else ""
    except Refused as error:
        return refuse(f"{page}: {error}")
    standings = check(claims, opened.opened(options.results, options.session))
    text, sources = sections(standings), all_sources(standings)
    say(text)
    say(f"\nSources: {'; '.join(source.line() for source in sources) or 'none'}.")
    if page and not sources:
        say(f"{page} is left as it is: no results that any claim speaks of.")
    elif page:
        lines = "\n".join(f"- {source.on_page().line()}" for source in sources)
        write(page, markers.replaced(before, MARKER, f"{text}\n\nSources:\n\n{lines}"))
        say(f"{page}: {MARKER} replaced")
    failed = any(s.claim.kind == stated.CLAIM and s.verdict == FAILS for s in standings)
    return FOUND if failed else SOUND
