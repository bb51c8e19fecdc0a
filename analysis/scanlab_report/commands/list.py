"""List each figure and table of the report: its content, its needs, and the command that measures
them, with its time.

Seconds are those of an H200. The commands are steps of tools/record, which measures into a folder
and goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from scanlab_report.console import SOUND, say

EXAMPLE = """  scanlab-report list
  scanlab-report list --json"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--json", action="store_true", help="as JSON: one object per figure and table"
    )


def run(options: argparse.Namespace) -> int:
    from scanlab_report.experiments import plan
    from scanlab_report.opened import registered

    entries = [
        {
            "kind": kind,
            "name": name,
            "shows": entry.title,
            "needs": [need] if (need := entry.needs()) else [],
            "follows": list(entry.follows),
            **plan(entry.measured_by)._asdict(),
        }
        for kind in ("figure", "table")
        for name, entry in registered(kind).items()
    ]
    say(
        json.dumps(entries, indent=2, ensure_ascii=False)
        if options.json
        else "\n\n".join(map(_lines, entries))
    )
    return SOUND


def _lines(entry: dict[str, Any]) -> str:
    from scanlab_report.experiments import duration

    lines = [f"{entry['kind']} {entry['name']}", f"  {entry['shows']}"]
    lines += [f"  needs    {need}" for need in entry["needs"]]
    lines += [f"  measure  {command}" for command in entry["commands"]]
    if entry["commands"]:
        lines.append(f"  takes    about {duration(entry['seconds'])}")
    if entry["follows"]:
        lines.append(f"  follows  {', '.join(f'--{option}' for option in entry['follows'])}")
    return "\n".join(lines)
