"""``python -m baselines.python``: times prefix sums of PyTorch, CuPy, JAX, cuda.compute, Triton.

Libraries that are not installed are left out. Every result is verified against numpy before it is
timed, and once more after the last timed run. Results go to a single file that ``scanlab-report``
reads with those of ``scanlab bench``.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from baselines.python import libraries, provenance, scans, session
from baselines.python.device import Clock
from baselines.python.protocol import FEW_REPETITIONS, REPETITIONS, Plan

DONE, FAILED, BAD_INPUT, NO_DEVICE, LACKS_MEMORY, INTERRUPTED = 0, 1, 2, 3, 4, 130
"""The exit statuses of the table in docs/CLI.md."""

_MOST_ITEMS = 2**40


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit status."""
    ids = [library.id for library in libraries.KNOWN]
    parser = make_parser("baselines.python", __doc__, list(scans.TYPES), "2^10:2^28:x4")
    parser.add_argument("--library", type=_words(ids), default=ids, help="choose libraries")
    options = parser.parse_args(arguments)
    os.environ.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")  # numbers are those of nvidia-smi
    if status := prepare_output(options):
        return status
    usable, missing = libraries.load(options.library)
    for name, reason in missing.items():
        say(f"left out {name}: {reason}")
    if not usable:
        return complain(NO_DEVICE, "none of the libraries is here and can use a GPU")
    plan = make_plan(options)
    context = provenance.context(plan, "baselines.python")
    for library in usable:
        context |= library.versions()
        context["variants"][library.id] = library.about()
    context["missing"] = "; ".join(f"{name}: {reason}" for name, reason in missing.items())
    bench = session.Bench(plan, usable, say, Clock().sm_mhz)
    return measure(bench, context, options.out)


def prepare_output(options: argparse.Namespace) -> int:
    """Make the folder of the results file; return a status, of failure if it cannot be written."""
    out = options.out
    if out.exists() and not options.force:
        lack = "is there already; choose another name, or give --force to replace it"
        return complain(BAD_INPUT, f"{out} {lack}")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        _part_of(out).touch()
        _part_of(out).unlink()
    except OSError as error:
        return complain(BAD_INPUT, f"cannot write to {out}: {error.strerror}")
    return DONE


def make_plan(options: argparse.Namespace) -> Plan:
    return Plan(options.type, options.items, options.seed, options.repetitions)


def measure(bench: session.Bench, context: dict[str, Any], out: Path, leads: bool = True) -> int:
    """Run the session and keep its results, however it ends; return the exit status.

    One process of several leads: it writes and speaks.
    """

    def write() -> None:
        """Write another file and rename it, so that an interruption leaves a whole one."""
        if leads:
            text = json.dumps({"context": context, "benchmarks": bench.entries}, indent=1)
            _part_of(out).write_text(f"{text}\n", encoding="utf-8")
            _part_of(out).replace(out)

    try:
        for _ in bench.run():
            write()
    except KeyboardInterrupt:  # all processes have it from the terminal
        write()
        if leads:
            complain(INTERRUPTED, f"interrupted; finished cases are in {out}")
        return INTERRUPTED
    if leads:
        counts = f"{bench.failed} cases failed, {bench.out_of_memory} without memory"
        say(f"{len(bench.entries)} entries, {counts}: {out}")
    return FAILED if bench.failed else LACKS_MEMORY if bench.out_of_memory else DONE


def _part_of(out: Path) -> Path:
    return out.with_name(out.name + ".part")


def parse_items(text: str) -> list[int]:
    """Parse ``1000``, ``2^20``, or a range ``2^10:2^28:x4``; several with commas between."""
    sizes: set[int] = set()
    for word in text.split(","):
        first, *rest = word.split(":")
        sizes.add(size := _count(first))
        if rest:
            if len(rest) != 2 or not re.fullmatch(r"x([2-9]|\d{2,})", rest[1]):
                raise argparse.ArgumentTypeError(
                    f"'{word}' is not a range; write FIRST:LAST:xFACTOR, as in 2^10:2^28:x4"
                )
            while (size := size * int(rest[1][1:])) <= _count(rest[0]):
                sizes.add(size)
    return sorted(sizes)


def _count(text: str) -> int:
    if match := re.fullmatch(r"(\d{1,13})(?:\^(\d{1,2}))?", text):
        count = int(match[1]) ** int(match[2] or 1)
        if 1 <= count <= _MOST_ITEMS:
            return count
    raise argparse.ArgumentTypeError(
        f"'{text}' is not a number of items, 1 to 2^40; write 1000 or 2^20"
    )


def _words(known: Sequence[str]) -> Callable[[str], list[str]]:
    def parse(text: str) -> list[str]:
        for word in text.split(","):
            if word not in known:
                raise argparse.ArgumentTypeError(f"there is no '{word}'; known: {', '.join(known)}")
        return text.split(",")

    return parse


def positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"takes a number of at least 1, not '{text}'")
    return int(text)


def make_parser(
    module: str, about: str | None, types: list[str], items: str
) -> argparse.ArgumentParser:
    """The options that all programs here have, named as those of the harness."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {module}",
        description=(about or "").split("\n\n", 1)[0],
        epilog=f"example, from the repository root: python -m {module} --out results/python.json",
    )
    add, known = parser.add_argument, _words(list(scans.TYPES))
    add("--out", type=Path, required=True, metavar="FILE", help="write results to FILE")
    add("--force", action="store_true", help="replace that file")
    several = f"choose types, with commas between (default {','.join(types)})"
    add("--type", type=known, default=types, metavar="TYPE", help=several)
    sizes = f"choose numbers of items (default {items})"
    add("--items", type=parse_items, default=items, metavar="LIST", help=sizes)
    usual = f"default {REPETITIONS}; {FEW_REPETITIONS} if a run takes above a second"
    samples = f"take N samples per case, interleaved at random ({usual})"
    add("--repetitions", type=positive, metavar="N", help=samples)
    add("--seed", type=positive, default=1, metavar="N", help="choose the inputs (default 1)")
    return parser


def say(sentence: str) -> None:
    print(sentence, flush=True)


def complain(status: int, sentence: str) -> int:
    print(f"baselines.python: {sentence}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
