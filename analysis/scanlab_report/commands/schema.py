"""Write a JSON Schema of every document, with the meaning and unit of each field.

The schemas are made from the structs of schema, through which everything is read.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from scanlab_report.console import SOUND, count, say
from scanlab_report.written import write

EXAMPLE = """  scanlab-report schema --out schema"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="write the schemas to this folder"
    )


def run(options: argparse.Namespace) -> int:
    import msgspec

    from scanlab_report.schema import DOCUMENTS

    options.out.mkdir(parents=True, exist_ok=True)
    for name, struct in DOCUMENTS.items():
        schema = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
        text = json.dumps(schema | msgspec.json.schema(struct), indent=1, ensure_ascii=False)
        write(options.out / f"{name}.schema.json", text + "\n")
    say(f"Written: {count(len(DOCUMENTS), 'schema')} in {options.out}")
    return SOUND
