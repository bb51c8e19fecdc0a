"""Write one page on one variant: its verification, and its speed alone, beside a copy and beside
CUB.

The page is VARIANT.md with one figure per timed type, and VARIANT.pdf, 3.5 inches wide, for a
paper. Missing measurements are named, with the command for each.
"""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from scanlab_report import opened
from scanlab_report.console import SOUND, refuse, say
from scanlab_report.written import in_place_of, unwritable

if TYPE_CHECKING:  # pandas is not loaded to print a help text
    from scanlab_report.data import Data, Verification

EXAMPLE = """  scanlab-report mine my_scan results/mine.json results/verify.jsonl
  scanlab-report mine best"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("variant", metavar="VARIANT", help="id of the variant")
    opened.add_paths(parser)
    out = "write the page and its figures to FOLDER (default: a folder named after the variant)"
    parser.add_argument("--out", type=Path, metavar="FOLDER", help=out)


def run(options: argparse.Namespace) -> int:
    from scanlab_report.own_times import bench_command

    variant = options.variant
    try:
        data = opened.opened(options.paths or [opened.RECORDED])
        opened.refuse_others(data)
        verified = {name for verification in data.verifications for name in verification.variants}
        known = {*data["scan"]["variant"], *data["counts"]["variant"], *verified}
        if variant not in known:
            raise opened.Refused(
                f"nothing was measured of {variant}. To time it: {bench_command(variant)}"
            )
    except opened.Refused as error:
        return refuse(*error.args)
    stem = re.sub(r"[^\w-]+", "_", variant)  # a file's name cannot hold every letter
    out = options.out or Path(stem)
    if reason := unwritable(out):
        return refuse(f"{out}: cannot be written to: {reason}")
    given = "".join(f" {shlex.quote(str(path))}" for path in options.paths)
    with in_place_of(out) as made:
        (made / f"{stem}.md").write_text(page(variant, data, made, stem, given), encoding="utf-8")
        written = sorted(path.name for path in made.iterdir())
    say(f"Written: {', '.join(str(out / name) for name in written)}")
    return SOUND


def page(variant: str, data: Data, out: Path, stem: str, given: str) -> str:
    """Return the whole page, in Markdown. Its figures go to a folder. `given`: the paths, as
    commands name them."""
    from scanlab_report.own_counts import (
        bytes_in_hardware,
        conflicts_in_hardware,
        counted_by_emulator,
    )
    from scanlab_report.own_times import timed_part

    about = data.variants[variant]
    parts = [
        f"# {variant}",
        f"{about.title or about.label}.",
        "## Verification",
        *_verified(variant, data),
        *timed_part(variant, data, out, stem, given),
    ]
    if not about.on_host:  # neither the emulator nor a GPU runs code of the host
        parts += [
            "## Bank conflicts, counted by the emulator",
            counted_by_emulator(variant, data, stem),
            "## Bank conflicts, counted by the hardware",
            conflicts_in_hardware(variant, data),
            "## Bytes of device memory, counted by the hardware",
            bytes_in_hardware(variant, data),
        ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


# -------------------------------------------------------------------------------------- verified


def _commit(verification: Verification) -> str:
    commit = str(verification.context.get("git_commit", ""))[:9] or "unknown"
    return f"commit {commit}" + "+" * (str(verification.context.get("git_dirty")) == "true")


def _verified(variant: str, data: Data) -> Iterator[str]:
    """Yield a sentence per backend and code, the newest first. All verifications of the same code
    share a sentence."""
    alike: dict[tuple[str, ...], list[Verification]] = {}
    date = lambda verification: str(verification.context.get("date", ""))
    for verification in sorted(data.verifications, key=date, reverse=True):
        checks, context = verification.variants.get(variant), verification.context
        if checks and checks.passed + checks.failed:
            key = str(context["backend"]), str(context.get("device", "")), _commit(verification)
            alike.setdefault(key, []).append(verification)
    for verifications in alike.values():
        yield _verdict(variant, verifications)
    if not alike:
        program = f"build/{'cpu' if data.variants[variant].on_host else 'cuda'}/scanlab"
        yield (
            f"Not verified in these results. To verify it: `{program} verify --variant "
            f"{shlex.quote(variant)} --json results/verify.jsonl`"
        )


def _verdict(variant: str, verifications: list[Verification]) -> str:
    from scanlab_report.formats import whole

    newest, checks = verifications[0], [each.variants[variant] for each in verifications]
    context = newest.context
    where = {
        "cuda": context.get("device"),
        "simt": "the SIMT emulator",
        "host": context.get("cpu") or "the host",
    }[str(context["backend"])]
    seeds = sorted({str(each.context.get("seed") or "unknown") for each in verifications})
    day = str(context.get("date", ""))[:10]
    by = f"On {where}, seed {', '.join(seeds)}, {_commit(newest)}, {day}."
    passed, failed, skipped = (
        whole(sum(getattr(check, what) for check in checks))
        for what in ("passed", "failed", "skipped")
    )
    numbers = f"{passed} checks passed, {failed} failed, {skipped} skipped"
    if wrong := next((check.wrong for check in checks if check.failed), ""):
        return f"**Wrong**: {numbers}. {by} The first that failed: {wrong}."
    types = ", ".join(sorted({name for check in checks for name in check.types}))
    interrupted = any(each.interrupted for each in verifications)
    broken_off = " It was interrupted: not all checks were made." * interrupted
    return f"**Verified**: {numbers}; types {types}. {by}{broken_off}"
