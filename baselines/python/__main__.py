"""``python -m baselines.python``: times the prefix sums of PyTorch, CuPy, JAX, cuda.compute and Triton, whichever are here.

Every result is verified against numpy before it is timed, and once more after the last timed run. Results go to a single
file that ``scanlab-report`` reads beside those of ``scanlab bench``.
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

DONE, FAILED, BAD_INPUT, NO_DEVICE, LACKS_MEMORY, INTERRUPTED = 0, 1, 2, 3, 4, 130
"""The exit statuses of the README's table."""

_IDS = ("torch_cumsum", "cupy_cumsum", "jax_cumsum", "cuda_compute", "triton_scan")
_TYPES = ("i8", "i16", "i32", "i64", "f16", "f32", "f64")
_MOST_ITEMS = 2**40


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit status."""
    options = _parser().parse_args(arguments)
    os.environ.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")  # nvidia-smi's numbers are then the libraries'
    if options.out.exists() and not options.force:
        return _complain(BAD_INPUT, f"{options.out} is there already; choose another name, or give --force to replace it")
    try:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.touch()
    except OSError as error:
        return _complain(BAD_INPUT, f"cannot write to {options.out}: {error.strerror}")
    try:
        from baselines.python import clock, libraries, provenance, session
    except ImportError as error:
        options.out.unlink()
        return _complain(BAD_INPUT, f"the array library that results are verified with is missing: {error}")

    usable, missing = [], {}
    for library in libraries.available(options.library):
        if isinstance(library, libraries.Library):
            usable.append(library)
        else:
            missing[library[0]] = library[1]
            _say(f"left out {library[0]}: {library[1]}")
    if not usable:
        options.out.unlink()
        return _complain(NO_DEVICE, "none of the libraries is here and can use a GPU")
    plan = session.Plan(options.type, options.items, options.rounds, options.seed, options.width / 100, options.cap)
    context = provenance.context(plan.seed, plan.rounds, plan.width, plan.cap_seconds)
    for library in usable:
        context |= library.versions()
        context["variants"][library.id] = library.about()
    context["missing"] = "; ".join(f"{name}: {why}" for name, why in missing.items())
    return measure(session.Bench(plan, usable, _say, clock.ClockReader().sm_mhz), context, options.out)


def measure(session: Any, context: dict[str, Any], out: Path, leads: bool = True) -> int:
    """Runs the session and keeps what it has, however it ends; returns the exit status. ``leads``: of several processes, one writes and speaks."""
    try:
        for _ in session.run():
            if leads:
                _write(out, context, session.entries)
    except KeyboardInterrupt:  # all processes have it from the terminal
        if leads:
            _write(out, context, session.entries)
            _complain(INTERRUPTED, f"interrupted; what was finished is in {out}")
        return INTERRUPTED
    if leads:
        _say(f"{len(session.entries)} entries, {session.failed} cases failed, {session.out_of_memory} without memory: {out}")
    return FAILED if session.failed else LACKS_MEMORY if session.out_of_memory else DONE


def _write(out: Path, context: dict[str, str], entries: list[dict[str, Any]]) -> None:
    """Write by way of another file, so that an interruption leaves a whole one."""
    part = out.with_name(out.name + ".part")
    part.write_text(json.dumps({"context": context, "benchmarks": entries}, indent=1) + "\n", encoding="utf-8")
    part.replace(out)


def parse_items(text: str) -> list[int]:
    """``1000``, ``2^20``, or a range ``2^10:2^28:x4``; several with commas between. Raises ArgumentTypeError."""
    sizes: set[int] = set()
    for word in text.split(","):
        first, *rest = word.split(":")
        sizes.add(size := _count(first))
        if rest:
            if len(rest) != 2 or not re.fullmatch(r"x([2-9]|\d{2,})", rest[1]):
                raise argparse.ArgumentTypeError(f"'{word}' is not a range; write FIRST:LAST:xFACTOR, as in 2^10:2^28:x4")
            while (size := size * int(rest[1][1:])) <= _count(rest[0]):
                sizes.add(size)
    return sorted(sizes)


def _count(text: str) -> int:
    if match := re.fullmatch(r"(\d{1,13})(?:\^(\d{1,2}))?", text):
        count = int(match[1]) ** int(match[2] or 1)
        if 1 <= count <= _MOST_ITEMS:
            return count
    raise argparse.ArgumentTypeError(f"'{text}' is not a number of items, 1 to 2^40; write 1000 or 2^20")


def _words(known: Sequence[str]) -> Callable[[str], list[str]]:
    def parse(text: str) -> list[str]:
        for word in text.split(","):
            if word not in known:
                raise argparse.ArgumentTypeError(f"there is no '{word}'; known: {', '.join(known)}")
        return text.split(",")

    return parse


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"takes a number of at least 1, not '{text}'")
    return int(text)


def _amount(text: str) -> float:
    if not re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text):
        raise argparse.ArgumentTypeError(f"takes a number of at least 0, not '{text}'")
    return float(text)


def _seconds(text: str) -> float:
    if not (seconds := _amount(text)):
        raise argparse.ArgumentTypeError(f"takes a number of seconds above 0, not '{text}'")
    return seconds


def add_loop_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of every command that times, as those of the harness have them."""
    add = parser.add_argument
    add("--rounds", type=_positive, default=10, metavar="N", help="take at most N samples per case (default 10)")
    add("--width", type=_amount, default=1.0, metavar="PERCENT", help="stop a case whose median is known to this, either way, with 95 %% (default 1; 0: all rounds)")
    add("--cap", type=_seconds, default=10.0, metavar="SECONDS", help="after this wall time give a case no more than 5 samples (default 10)")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m baselines.python", description=__doc__.split("\n\n", 1)[0],
        epilog="example, from the repository root: python -m baselines.python --out results/python.json")  # fmt: skip
    parser.add_argument("--out", type=Path, required=True, help="the results file")
    parser.add_argument("--force", action="store_true", help="replace that file")
    parser.add_argument("--library", type=_words(_IDS), default=list(_IDS), help="only these, with commas between")
    parser.add_argument("--type", type=_words(_TYPES), default=list(_TYPES), help="only these, with commas between")
    parser.add_argument("--items", type=parse_items, default=parse_items("2^10:2^28:x4"), help="default 2^10:2^28:x4")
    add_loop_options(parser)
    parser.add_argument("--seed", type=int, default=1, help="of the input (default 1)")
    return parser


def _say(sentence: str) -> None:
    print(sentence, flush=True)


def _complain(status: int, sentence: str) -> int:
    print(f"baselines.python: {sentence}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
