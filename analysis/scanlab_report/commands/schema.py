"""Write a JSON Schema of every document that is read, with the meaning and unit of each field.

A schema has the fields that the analysis uses; a document may have more.
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

    from scanlab_report.schema import counts, kept, results
    from scanlab_report.schema import documents as own

    structs = [results.Results, results.Ranges, results.Stopwatch, kept.Session, kept.Noise]
    structs += [own.VerificationLine, counts.Explanation, own.Trace, own.RanksTrace]
    structs += [own.ImplicitSync, own.Concurrency, own.Comparison, own.Against]
    options.out.mkdir(parents=True, exist_ok=True)
    for struct in structs:
        schema = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
        text = json.dumps(schema | msgspec.json.schema(struct), indent=1, ensure_ascii=False)
        text = text.replace('"default": NaN', '"default": null')  # the value of what is absent
        write(options.out / f"{struct.__name__}.schema.json", text + "\n")
    say(f"Written: {count(len(structs), 'schema')} in {options.out}")
    return SOUND
