"""Write a JSON Schema of every document that is read, with the meaning and unit of each field.

A schema has the fields that the analysis uses; a document may have more.
"""

import argparse
import json
from pathlib import Path

import msgspec

from scanlab_report.console import SOUND, say
from scanlab_report.schema import DOCUMENTS
from scanlab_report.written import in_place_of, put

EXAMPLE = """  scanlab-report schema --out schema"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="write the schemas to this folder"
    )


def run(options: argparse.Namespace) -> int:
    with in_place_of(options.out) as made:
        for struct in DOCUMENTS.values():
            schema = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
            text = json.dumps(schema | msgspec.json.schema(struct), indent=1, ensure_ascii=False)
            text = text.replace('"default": NaN', '"default": null')  # the value of what is absent
            put(made / f"{struct.__name__}.schema.json", text + "\n")
    say(f"Written: {len(DOCUMENTS)} schemas in {options.out}")
    return SOUND
