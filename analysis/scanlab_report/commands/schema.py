"""Write the JSON Schema of every document, and the tables of data/README.md.

Both are made from the structs of read/documents, through which everything is read. Nothing else writes them.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from scanlab_report import DATA
from scanlab_report.console import SOUND, count, refuse, say
from scanlab_report.written import write

EXAMPLE = """  scanlab-report schema --data data"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, default=DATA, metavar="DIR", help="write to the folder with README.md and schema/ (default: data/ of this checkout)")


def run(options: argparse.Namespace) -> int:
    from scanlab_report.documents import reference
    from scanlab_report.documents.markers import MarkerError

    try:
        texts = reference.written(options.data)
    except MarkerError as error:
        return refuse(f"{options.data / 'README.md'}: {error}")
    for file, text in texts.items():
        write(file, text)
    say(f"Written: {count(len(texts), 'file')} in {options.data}")
    return SOUND
