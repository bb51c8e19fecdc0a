"""Write one page on one variant: its verification, and its speed alone, beside a copy and beside CUB.

The page is VARIANT.md with one figure per timed type, and VARIANT.pdf, 3.5 inches wide, for a paper. Missing measurements are
named, with the command for each.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from scanlab_report import DATA
from scanlab_report.console import SOUND, missing, refuse, say
from scanlab_report.written import in_place_of, unwritable

EXAMPLE = """  scanlab-report mine my_scan results/mine.json results/verify.jsonl --out results/my_scan
  scanlab-report mine best"""


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("variant", metavar="VARIANT", help="id of the variant")
    add("paths", nargs="*", default=[], type=Path, metavar="PATH", help="result files and folders (default: the recorded data)")
    add("--out", type=Path, metavar="FOLDER", help="write the page and its figures to FOLDER (default: a folder named after the variant)")


def run(options: argparse.Namespace) -> int:
    paths = options.paths or [DATA / "recorded"]
    if wrong := missing(paths):
        return refuse(*wrong)

    from scanlab_report.claims import stated
    from scanlab_report.commands.figure.asked import nearest
    from scanlab_report.commands.mine.page import Page
    from scanlab_report.select.experiments import bench
    from scanlab_report.select.opened import Unreadable, opened

    try:
        results, publications = opened(paths, stated.device())
    except Unreadable as error:
        return refuse(*error.args)
    known = {*results.timings["variant"], *(e.variant for e in results.explanations), *(name for of in results.verifications for name in of.of)}
    if options.variant not in known:
        return refuse(f"nothing was measured of {options.variant}{nearest(options.variant, known)}. To time it: {bench((options.variant, 'memcpy', 'cub*'))}")
    page = Page(options.variant, results, publications, Path(), options.paths)
    out = options.out or Path(page.stem)
    if reason := unwritable(out):
        return refuse(f"{out}: cannot be written to: {reason}")
    with in_place_of(out) as made:
        (made / f"{page.stem}.md").write_text(replace(page, out=made).text(), encoding="utf-8")
        written = sorted(path.name for path in made.iterdir())
    say(f"Written: {', '.join(str(out / name) for name in written)}")
    return SOUND
