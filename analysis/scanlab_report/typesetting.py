"""The papers as text and as PDF: latexmk on `paper/*.tex` with what analysis generated for them."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from scanlab_report import DATA
from scanlab_report.console import Refused
from scanlab_report.written import in_place_of

FOLDER = DATA.parent / "paper"
PAPERS = ("scan", "streams")
"""The papers. Each is a source in FOLDER with parts in a folder of the same name."""
WORK = ".latex"
"""The folder within the output in which latexmk keeps its record of what has changed."""
MARGIN = 5.0
"""Points by which a line may exceed the width of its page."""
_COMPLAINT = re.compile(r"^! .*(?:\n(?!!).*){0,2}?l\.\d+ .*|^! .*", re.MULTILINE)
_OVERFULL = re.compile(r"^Overfull \\hbox \(([\d.]+)pt too wide\).*", re.MULTILINE)


def source_text(paper: str) -> str:
    """The source of a paper, each part in the place of its `\\input`."""
    read = lambda name: (FOLDER / f"{name}.tex").read_text(encoding="utf-8")
    return re.sub(rf"\\input\{{({paper}/\w+)\}}", lambda part: read(part[1]), read(paper))


def typeset(paper: str, generated: Path, out: Path) -> list[str]:
    """Write the PDF of a paper once it is whole. Return the lines that run off their page; Refused
    with the first complaint of LaTeX."""
    source, work = FOLDER / f"{paper}.tex", out / WORK / paper
    work.mkdir(parents=True, exist_ok=True)
    link, log = work / "generated", work / f"{paper}.log"
    link.unlink(missing_ok=True)
    link.symlink_to(generated.resolve())
    paths = {name: f"{FOLDER}:" for name in ("TEXINPUTS", "BIBINPUTS")}
    options = ["-norc", "-pdf", "-interaction=nonstopmode", "-halt-on-error"]
    command = ["latexmk", *options, str(source)]
    ended = subprocess.run(command, cwd=work, env=os.environ | paths, capture_output=True)
    text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    if ended.returncode:
        complaint = _COMPLAINT.search(text)
        first = f" ({' '.join(complaint[0][2:].split())})" if complaint else ""
        raise Refused(f"{source}: latexmk failed{first}; {log} says more")
    with in_place_of(out) as new:
        shutil.copyfile(work / f"{paper}.pdf", new / f"{paper}.pdf")
    return [line[0] for line in _OVERFULL.finditer(text) if float(line[1]) > MARGIN]
