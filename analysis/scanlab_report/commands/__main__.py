"""``scanlab-report``, or ``python -m scanlab_report.commands`` in `analysis/` of the checkout."""

import argparse
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scanlab_report import commands
from scanlab_report.console import INTERRUPTED, Refused, complain, refuse

STATUSES = """exit status: 0 all is well; 1 the command found what it looks for: something slower
(compare), a claim that fails (claims); 2 bad input, which standard error names, and nothing was
written; or the output cannot be written; 130 interrupted"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status. What is refused, and an error of the system, end
    in sentences."""
    try:
        options = command_line().parse_args(arguments)
        return options.command(options)
    except Refused as error:
        return refuse(*error.args)
    except OSError as error:
        return refuse(f"{error.filename}: {error.strerror}" if error.filename else error)
    except KeyboardInterrupt:
        complain("interrupted")
        return INTERRUPTED


class Command(argparse.ArgumentParser):
    """A command, imported only when it is called: its libraries take most of a second."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        name = self.prog.split()[-1].replace("-", "_")
        module = importlib.import_module(f"{commands.__name__}.{name}")
        self.description, self.epilog = module.__doc__, f"example:\n{module.EXAMPLE}"
        module.arguments(self)
        self.set_defaults(command=module.run)
        return super().parse_known_args(args, namespace)


def command_line() -> argparse.ArgumentParser:
    """Every command with the first line of its docstring."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="scanlab-report",
        description="From results to figures, tables and verdicts. Measures nothing.",
        epilog=STATUSES,
        formatter_class=form,
    )
    chosen = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=Command)
    for name in commands.NAMES:
        text = Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8")
        line = text.partition("\n")[0].strip('"')
        chosen.add_parser(name.replace("_", "-"), formatter_class=form, help=line)
    return parser


if __name__ == "__main__":
    sys.exit(main())
