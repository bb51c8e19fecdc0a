"""List each figure and table of the report: its content, its needs, and the command that measures them, with its time.

Seconds are those of an H200. The commands are steps of tools/record, which measures into a folder and goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from scanlab_report.console import SOUND, say

EXAMPLE = """  scanlab-report list
  scanlab-report list --json"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="as JSON: one object per figure and table")


def run(options: argparse.Namespace) -> int:
    from scanlab_report import figures, tables
    from scanlab_report.modules import modules

    entries = [_entry(kind, name, module) for kind, package in (("figure", figures), ("table", tables)) for name, module in modules(package)]
    say(json.dumps(entries, indent=2, ensure_ascii=False) if options.json else "\n\n".join("\n".join(_lines(entry)) for entry in entries))
    return SOUND


def _entry(kind: str, name: str, module: ModuleType) -> dict[str, Any]:
    """All that the module and its needs say of themselves."""
    from scanlab_report.select.experiments import plan

    measured = plan(module.NEEDS)
    return {"kind": kind, "name": name, "shows": (module.__doc__ or "").partition("\n")[0],
            "needs": [need.asked() for need in module.NEEDS.values() if not getattr(need, "optional", False)],
            "follows": list(getattr(module, "FOLLOWS", ())), **measured._asdict()}  # fmt: skip


def _lines(entry: dict[str, Any]) -> Iterator[str]:
    from scanlab_report.select.experiments import duration

    yield f"{entry['kind']} {entry['name']}"
    yield f"  {entry['shows']}"
    for need in dict.fromkeys(entry["needs"]):
        yield f"  needs    {need}"
    for command in entry["commands"]:
        yield f"  measure  {command}"
    if entry["commands"]:
        yield f"  takes    about {duration(entry['seconds'])}"
    if entry["follows"]:
        yield f"  follows  {', '.join(f'--{option}' for option in entry['follows'])}"
