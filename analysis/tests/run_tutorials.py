"""Runs the commands of a tutorial, and compares what they print with what the page shows.

usage: run_tutorials.py SCANLAB PAGE...

A block fenced as ``sh`` holds commands, one a line; a block fenced as ``text`` behind it is the
output of its only command, in which a line `…` stands for any lines, and `…` within a line for the
rest. A comment says what else to expect: `status N`, or `needs a GPU`: such a command is run
without one and must say that. Commands that install and build are left out. A block fenced as
``toml`` that begins with the comment `# NAME.toml` is such a file, there for all commands.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

BLOCKS = re.compile(
    r"^( *)```sh\n(.*?)^\1```\n(?:\s*^\1```text\n(.*?)^\1```\n)?", re.MULTILINE | re.DOTALL
)
FILES = re.compile(r"^```toml\n(# (\w+\.toml)\b.*?)^```\n", re.MULTILINE | re.DOTALL)
BUILDS = re.compile(r"\./check\b|scanlab=|cmake --|sudo ")
ONLY_ON_A_GPU = "there is no variant"  # a build without CUDA lacks those without an emulator form


def wrong(scanlab: str, line: str, shown: str | None, folder: str) -> str:
    """Why the outcome of a command is wrong; empty if it is right."""
    on_a_gpu, environment = "needs a GPU" in line, os.environ | {"scanlab": scanlab}
    status = re.search(r"#.*\bstatus (\d+)", line)
    expected = 3 if on_a_gpu else int(status[1]) if status else 0
    if on_a_gpu:
        environment["CUDA_VISIBLE_DEVICES"] = ""
    words = ["bash", "-c", line]
    ran = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)
    if ran.returncode != expected and not (on_a_gpu and ONLY_ON_A_GPU in ran.stderr):
        return f"ends with status {ran.returncode}, not {expected}: {ran.stderr}"
    printed = "".join(text.rstrip() + "\n" for text in ran.stdout.splitlines())
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == "…" else re.escape(line).replace("…", ".*") + r"\n"
        for line in (shown or "").splitlines()
    )
    if shown is not None and not re.fullmatch(pattern, printed):
        return f"prints\n{printed}and not, as the page shows,\n{shown}"
    return ""


def check(scanlab: str, page: str) -> int:
    """Runs all commands of a page, and counts them; ends the program at the first that does
    something else."""
    count, text = 0, Path(page).read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        for body, name in FILES.findall(text):
            (Path(folder) / name).write_text(body, encoding="utf-8")
        for indent, block, output in BLOCKS.findall(text):
            lines = [line.strip() for line in block.splitlines() if not BUILDS.match(line.strip())]
            shown = output.replace("\n" + indent, "\n") if output else None
            if shown and len(lines) != 1:
                sys.exit(f"{page}: an output stands behind {len(lines)} commands: {lines}")
            for line in lines:
                if fault := wrong(scanlab, line, shown, folder):
                    sys.exit(f"{page}: {line}\n{fault}")
            count += len(lines)
    print(f"{page}: {count} commands do what the page says")
    return count


if __name__ == "__main__":
    if not sum([check(sys.argv[1], page) for page in sys.argv[2:]]):
        sys.exit(f"{' '.join(sys.argv[2:])}: no commands")
