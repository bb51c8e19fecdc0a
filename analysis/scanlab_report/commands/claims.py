"""Check claims, published statements and open targets against results.

Three tables say which claims of Scanlab hold, which statements of the literature agree with the
data, and which targets are open. An entry of paper/claims/ says how its value is computed from
which cases. Exit status 0: no claim of Scanlab fails; 1: one fails; 2: bad input.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from scanlab_report import CLAIMS, markers, opened
from scanlab_report.console import FOUND, SOUND, missing, refuse, say
from scanlab_report.written import write

EXAMPLE = """  scanlab-report claims results/run
  scanlab-report claims data/recorded results/scenarios --page docs/CLAIMS.md"""
MARKER = "claims"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "results",
        nargs="+",
        type=Path,
        metavar="RESULTS",
        help="folders or files; new results precede recorded ones",
    )
    add(
        "--claims",
        type=Path,
        default=CLAIMS,
        metavar="PATH",
        help="read claims of your own from this file or folder, in the form of paper/claims/",
    )
    opened.add_session(parser)
    opened.add_published(parser)
    add("--page", type=Path, metavar="FILE", help="replace the tables between this page's markers")


def run(options: argparse.Namespace) -> int:
    from scanlab_report.claims import stated

    wrong, page = missing([*options.results, options.published]), options.page
    try:
        claims = stated.read(options.claims)
        if page:
            markers.find(markers.text_of(page), MARKER)
    except stated.ClaimsError as error:
        wrong.append(str(error))
    except markers.MarkerError as error:
        wrong.append(f"{page}: {error}")
    if wrong:
        return refuse(*wrong)

    from scanlab_report.chapters.claims import sections
    from scanlab_report.claims.checked import all_sources, check
    from scanlab_report.claims.standing import FAILS

    device = stated.device(options.claims)
    try:
        data = opened.opened(options.results, options.session, options.published, first=device)
    except opened.Refused as error:
        return refuse(*error.args)
    standings = check(claims, data, device)
    text, sources = sections(standings), all_sources(standings)
    say(text)
    if sources:
        say(f"\nSources: {'; '.join(source.line() for source in sources)}.")
    if page and not sources:
        say(f"{page} is left as it is: no results that any claim speaks of.")
    elif page:
        lines = "\n".join(f"- {source.on_page().line()}" for source in sources)
        made = f"{text}\n\nSources:\n\n{lines}"
        write(page, markers.replaced(page.read_text(encoding="utf-8"), MARKER, made))
        say(f"{page}: {MARKER} replaced")
    failed = any(s.claim.kind == stated.CLAIM and s.verdict == FAILS for s in standings)
    return FOUND if failed else SOUND
