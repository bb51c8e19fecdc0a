"""``scanlab-report``, or ``python -m scanlab_report.commands`` in `analysis/` of the checkout."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import cache

from scanlab_report import commands
from scanlab_report.console import INTERRUPTED, complain, refuse
from scanlab_report.modules import modules

STATUSES = """exit status: 0 all is well; 1 the command found what it looks for: something slower
(compare), a claim that fails (claims); 2 bad input, which standard error names, and nothing was
written; or the output cannot be written; 130 interrupted"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status. A file that cannot be written or read ends in a
    sentence, whatever the command; so does Ctrl-C."""
    try:
        options = command_line().parse_args(arguments)
        return options.command(options)
    except OSError as error:
        return refuse(f"{error.filename}: {error.strerror}" if error.filename else error)
    except KeyboardInterrupt:
        complain("interrupted")
        return INTERRUPTED


@cache
def command_line() -> argparse.ArgumentParser:
    """Every command with its arguments."""
    parser = argparse.ArgumentParser(
        prog="scanlab-report",
        description="From results to figures, tables and verdicts. Measures nothing.",
        epilog=STATUSES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    chosen = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, module in modules(commands):
        command = chosen.add_parser(
            name.replace("_", "-"),
            help=(module.__doc__ or "").partition("\n")[0],
            description=module.__doc__,
            epilog=f"example:\n{module.EXAMPLE}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.arguments(command)
        command.set_defaults(command=module.run)
    return parser


if __name__ == "__main__":
    sys.exit(main())
