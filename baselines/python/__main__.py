"""``python -m baselines.python``: times prefix sums of PyTorch, CuPy, JAX, cuda.compute, Triton.

Libraries that are not installed are left out. Every result is verified against numpy before it is
timed, and once more after the last timed run. Results go to a single file that ``scanlab-report``
reads with those of ``scanlab bench``.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from baselines.python import libraries, provenance, scans, session
from baselines.python.device import Clock
from baselines.python.protocol import Plan, Shape

DONE, FAILED, BAD_INPUT, NO_DEVICE, LACKS_MEMORY, INTERRUPTED = 0, 1, 2, 3, 4, 130
"""The exit statuses of the table in docs/CLI.md."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit status."""
    parser = make_parser("baselines.python", __doc__, "2^10:2^28:x4", shapes=True)
    options = parser.parse_args(arguments)
    types = ["f32"] if options.shapes else list(scans.TYPES)
    plan = Plan(types, options.items, shapes=options.shapes)
    return time_libraries("baselines.python", libraries.KNOWN, session.Bench, plan, options)


def time_libraries(
    module: str,
    known: Sequence[type[libraries.Library]],
    bench: type[session.Bench],
    plan: Plan,
    options: argparse.Namespace,
) -> int:
    """Time those of the libraries that are here, by a plan; return the exit status."""
    os.environ.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")  # numbers are those of nvidia-smi
    if status := prepare_output(options):
        return status
    usable, missing = [], {}
    for library in known:
        try:
            usable.append(library())
        except Exception as error:  # an import may raise anything, and so may a driver
            missing[library.id] = libraries.first_line(error)
            say(f"left out {library.id}: {missing[library.id]}")
    if not usable:
        return complain(NO_DEVICE, "none of the libraries is here and can use a GPU")
    context = provenance.context(plan, module)
    for library in usable:
        context |= library.versions()
        context["variants"][library.id] = library.about()
    context["missing"] = "; ".join(f"{name}: {reason}" for name, reason in missing.items())
    return measure(bench(plan, usable, say, Clock().sm_mhz), context, options.out)


def prepare_output(options: argparse.Namespace) -> int:
    """Make the folder of the results file; return a status, of failure if it cannot be written."""
    out = options.out
    if out.exists() and not options.force:
        return complain(BAD_INPUT, f"{out} is there already; --force replaces it")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        _part_of(out).touch()
        _part_of(out).unlink()
    except OSError as error:
        return complain(BAD_INPUT, f"cannot write to {out}: {error.strerror}")
    return DONE


def measure(bench: session.Bench, context: dict[str, Any], out: Path, leads: bool = True) -> int:
    """Run the session and write its results after each size; return the exit status.

    One process of several leads: it writes and speaks.
    """

    try:
        for _ in bench.run():
            if leads:
                write(out, context, bench.entries)
    except KeyboardInterrupt:
        return complain(INTERRUPTED, f"interrupted: the sizes before this one are in {out}")
    if leads:
        counts = f"{bench.failed} cases failed, {bench.out_of_memory} without memory"
        say(f"{len(bench.entries)} entries, {counts}: {out}")
    return FAILED if bench.failed else LACKS_MEMORY if bench.out_of_memory else DONE


def write(out: Path, context: dict[str, Any], entries: list[dict[str, Any]]) -> None:
    """Write a results file by another name first, so that an interruption leaves a whole one."""
    text = json.dumps({"context": context, "benchmarks": entries}, indent=1)
    _part_of(out).write_text(f"{text}\n", encoding="utf-8")
    _part_of(out).replace(out)


def _part_of(out: Path) -> Path:
    return out.with_name(out.name + ".part")


def parse_items(text: str) -> list[int]:
    """Parse ``2^20``, or a range ``2^10:2^28:x4``."""
    words = re.fullmatch(r"2\^(\d|[123]\d|40)(?::2\^(\d|[123]\d|40):x([2-9]|[1-9]\d))?", text)
    if not words:
        raise argparse.ArgumentTypeError(f"'{text}' is not 2^20 or 2^10:2^28:x4, up to 2^40")
    first, last, factor = (int(word or 0) for word in words.groups())
    sizes = [2**first]
    while factor and sizes[-1] * factor <= 2**last:
        sizes.append(sizes[-1] * factor)
    return sizes


def parse_shapes(text: str) -> list[Shape]:
    """Parse ``8388608x32,1x8388608x32``: shapes of rows x axis, or of rows x axis x inner."""
    words = text.split(",")
    right = all(re.fullmatch(r"[1-9]\d{0,12}(x[1-9]\d{0,12}){1,2}", word) for word in words)
    shapes = [Shape(*map(int, word.split("x"))) for word in words if right]
    if not right or max(map(math.prod, shapes)) > 2**40:
        raise argparse.ArgumentTypeError(f"'{text}' is not 256x32,1x256x32, up to 2^40 items each")
    return shapes


def make_parser(
    module: str, about: str | None, items: str, shapes: bool = False
) -> argparse.ArgumentParser:
    """The options that all programs here have, named as those of the harness, and ``--shapes``."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {module}", description=(about or "").split("\n\n", 1)[0]
    )
    add = parser.add_argument
    add("--out", type=Path, required=True, metavar="FILE", help="write results to FILE")
    add("--force", action="store_true", help="replace that file")
    add = parser.add_mutually_exclusive_group().add_argument
    sizes = f"choose numbers of items (default {items})"
    add("--items", type=parse_items, default=items, metavar="RANGE", help=sizes)
    if shapes:
        tensors = (
            "scan f32 along the axis of tensors of rows x axis x inner items (default inner 1)"
        )
        add("--shapes", type=parse_shapes, default=[], metavar="LIST", help=tensors)
    return parser


def say(sentence: str) -> None:
    print(sentence, flush=True)


def complain(status: int, sentence: str) -> int:
    print(f"baselines.python: {sentence}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
