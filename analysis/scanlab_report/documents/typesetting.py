"""The report as PDF: latexmk on paper/scanlab.tex with what analysis generated for it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from scanlab_report import DATA
from scanlab_report.written import in_place_of

SOURCE = DATA.parent / "paper" / "scanlab.tex"
WORK = ".latex"
"""The folder within the output in which latexmk works, and keeps its record of what has changed."""
MARGIN = 5.0
"""Points by which a line may be too wide for its page."""


class TypesettingError(RuntimeError):
    """LaTeX failed: its first complaint, and where all of them are."""


def latexmk() -> str | None:
    """The program, if there is one."""
    return shutil.which("latexmk")


def typeset(generated: Path, out: Path) -> list[str]:
    """Writes the PDF to ``out`` once it is whole, so that a failure leaves the last one; says which lines run off their page.

    ``generated`` is what the source knows as ``generated/``.
    """
    work = out / WORK
    work.mkdir(exist_ok=True)
    link = work / "generated"
    link.unlink(missing_ok=True)
    link.symlink_to(generated.resolve())
    paths = {name: f"{SOURCE.parent}:" for name in ("TEXINPUTS", "BIBINPUTS")}
    ended = subprocess.run([latexmk() or "latexmk", "-norc", "-pdf", "-interaction=nonstopmode", "-halt-on-error", str(SOURCE)],
                           cwd=work, env=os.environ | paths, capture_output=True, text=True, errors="replace")  # fmt: skip
    log = work / f"{SOURCE.stem}.log"
    said = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ended.stdout + ended.stderr
    if ended.returncode:
        complaint = re.search(r"^! .*", said, re.MULTILINE)
        raise TypesettingError(f"{SOURCE}: latexmk failed{f' ({complaint[0][2:]})' if complaint else ''}; {log} says more")
    with in_place_of(out) as new:
        shutil.copyfile(work / f"{SOURCE.stem}.pdf", new / f"{SOURCE.stem}.pdf")
    overfull = re.finditer(r"^Overfull \\hbox \(([\d.]+)pt too wide\).*", said, re.MULTILINE)
    return [line[0] for line in overfull if float(line[1]) > MARGIN]
