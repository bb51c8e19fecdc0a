"""``scanlab-report``, or ``python -m scanlab_report.commands`` in `analysis/` of the checkout."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import cache

from scanlab_report import commands
from scanlab_report.modules import modules

STATUSES = """exit status: 0 all is well; 1 the command found what it looks for: something slower (compare), a claim that fails
(claims); 2 bad input: it was said on standard error, and nothing was written"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns its exit status."""
    options = command_line().parse_args(arguments)
    return options.command(options)


@cache
def command_line() -> argparse.ArgumentParser:
    """Every command with its arguments."""
    parser = argparse.ArgumentParser(prog="scanlab-report", description="From results to figures, tables and verdicts. Measures nothing.",
                                     epilog=STATUSES, formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    chosen = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, module in modules(commands):
        help_, _, description = (module.__doc__ or "").partition("\n")
        command = chosen.add_parser(name.replace("_", "-"), help=help_, description=help_ + description,
                                    epilog=f"example:\n{module.EXAMPLE}",
                                    formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
        module.arguments(command)
        command.set_defaults(command=module.run)
    return parser


if __name__ == "__main__":
    sys.exit(main())
