"""The papers as text, and as PDF: latexmk on paper/*.tex with what analysis generated for them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from scanlab_report import DATA
from scanlab_report.written import in_place_of

FOLDER = DATA.parent / "paper"
PAPERS = ("scan", "streams")
"""Each is a source in FOLDER with parts in a folder of its name, and a PDF beside the figures."""
WORK = ".latex"
"""The folder within the output in which latexmk works, in one for each paper, and keeps its record of what has changed."""
MARGIN = 5.0
"""Points by which a line may be too wide for its page."""


class TypesettingError(RuntimeError):
    """LaTeX failed: its first complaint, and where all of them are."""


def source_text(paper: str) -> str:
    """The source of one of PAPERS, each part in the place of its ``\\input``."""
    source = (FOLDER / f"{paper}.tex").read_text(encoding="utf-8")
    return re.sub(rf"\\input\{{({paper}/\w+)\}}", lambda part: (FOLDER / f"{part[1]}.tex").read_text(encoding="utf-8"), source)


def latexmk() -> str | None:
    """The program, if there is one."""
    return shutil.which("latexmk")


def typeset(paper: str, generated: Path, out: Path) -> list[str]:
    """Writes the PDF of one of PAPERS to ``out`` once it is whole, so that a failure leaves the last one; says which lines run off their page.

    ``generated`` is what the source knows as ``generated/``.
    """
    source = FOLDER / f"{paper}.tex"
    work = out / WORK / paper
    work.mkdir(parents=True, exist_ok=True)
    link = work / "generated"
    link.unlink(missing_ok=True)
    link.symlink_to(generated.resolve())
    paths = {name: f"{FOLDER}:" for name in ("TEXINPUTS", "BIBINPUTS")}
    ended = subprocess.run([latexmk() or "latexmk", "-norc", "-pdf", "-interaction=nonstopmode", "-halt-on-error", str(source)],
                           cwd=work, env=os.environ | paths, capture_output=True, text=True, errors="replace")  # fmt: skip
    log = work / f"{paper}.log"
    said = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ended.stdout + ended.stderr
    if ended.returncode:
        complaint = re.search(r"^! .*(?:\n(?!!).*){0,2}?l\.\d+ .*|^! .*", said, re.MULTILINE)
        first = " ".join(complaint[0][2:].split()) if complaint else ""
        raise TypesettingError(f"{source}: latexmk failed{f' ({first})' if first else ''}; {_lacking(paper, generated)}{log} says more")
    with in_place_of(out) as new:
        shutil.copyfile(work / f"{paper}.pdf", new / f"{paper}.pdf")
    overfull = re.finditer(r"^Overfull \\hbox \(([\d.]+)pt too wide\).*", said, re.MULTILINE)
    return [line[0] for line in overfull if float(line[1]) > MARGIN]


def _lacking(paper: str, generated: Path) -> str:
    """Numbers of the text that the data do not give, if there are any: a paper is of the recorded session."""
    from scanlab_report.documents.macros import NAMES

    file = generated / "macros.tex"
    defined = set(re.findall(r"\\newcommand\{\\(\w+)\}", file.read_text(encoding="utf-8"))) if file.exists() else set()
    lacking = NAMES.keys() & set(re.findall(r"\\(\w+)", source_text(paper))) - defined
    return f"these data lack {len(lacking)} numbers of its text, which --recorded data/recorded has (--no-pdf: no papers); " if lacking else ""
