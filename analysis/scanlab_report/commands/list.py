"""List each figure and table of the report: its content, its needs, and the command that measures
them, with its time.

Seconds are those of an H200. The commands are steps of tools/record, which measures into a folder
and goes on where it was stopped.
"""

import argparse

from scanlab_report.console import SOUND, say
from scanlab_report.experiments import duration, plan
from scanlab_report.opened import registered

EXAMPLE = "  scanlab-report list"


def arguments(parser: argparse.ArgumentParser) -> None:
    """It has none."""


def run(options: argparse.Namespace) -> int:
    parts = []
    for kind in ("figure", "table"):
        for name, entry in registered(kind).items():
            steps, needs = plan(entry.measured_by), entry.needs()
            lines = [f"{kind} {name}", f"  {entry.title}"] + [f"  needs    {needs}"] * bool(needs)
            lines += [f"  measure  {command}" for command in steps.commands]
            if steps.commands:
                lines.append(f"  takes    about {duration(steps.seconds)}")
            if entry.follows:
                lines.append(f"  follows  {', '.join(f'--{option}' for option in entry.follows)}")
            parts.append("\n".join(lines))
    say("\n\n".join(parts))
    return SOUND
