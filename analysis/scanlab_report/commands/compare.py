"""Compare two results files case by case: faster or slower, beyond chance and beyond the noise
between runs.

A case is slower in B under two conditions. The Mann-Whitney test tells the two runs apart: p is
under 0.05 after the correction of Benjamini and Hochberg for the number of cases. The 95% interval
of the ratio of medians lies wholly beyond a threshold. The threshold is the noise between two runs
of the same code, on the device and for times as short. The option --record-noise records that
noise; without a record the threshold is 10%, and the page says so. Devices of one model differ,
too. Unchanged code in both files (memcpy, CUB, Thrust) shows by how much; the page begins with it,
and no smaller difference counts. Files of nvbench (--json, better --jsonbin) or of Google Benchmark
(--benchmark_out) are compared likewise. Files without samples are compared by their means, and the
page says so; the threshold is then 10% by default. Repeated runs are samples: name the files of all
runs of A, and those of B behind --with. A case that cannot be used is left out, and the page names
it with the reason. Cases without a threshold, or with too few repetitions, are counted on the page
and not judged. Exit status 0: nothing is known to be slower; 1: something is, or failed in B alone;
2: bad input.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scanlab_report import place
from scanlab_report.console import FOUND, SOUND, count, refuse, say
from scanlab_report.written import in_place_of, unwritable

if TYPE_CHECKING:  # pandas and SciPy are not loaded to print a help text
    from scanlab_report.comparison import Comparison

EXAMPLE = """  scanlab-report compare before.json after.json --out comparison
  scanlab-report compare run1.json run2.json --record-noise data/noise/nvidia-h200.json
  scanlab-report compare before.nvbench.json after.nvbench.json --threshold 0.02
  scanlab-report compare before*.json --with after*.json    # several runs of Google Benchmark"""
_VENDOR = ("driver", "toolkit", "cccl", "cccl_newest")
"""If these fields agree, the vendor's code is the same."""


def _fraction(text: str) -> float:
    value = float(text)
    if not math.isfinite(value) or value < 0:
        raise ValueError(text)
    return value


_fraction.__name__ = "fraction"  # argparse names it so where it is none


def arguments(parser: argparse.ArgumentParser) -> None:
    files = (
        "A and B: results to compare with, and results to judge, of scanlab, nvbench or "
        "Google Benchmark, plain or .gz"
    )
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help=files)
    others = (
        "B, of one file or more; the files before are then all A (several are of nvbench "
        "or Google Benchmark alone)"
    )
    parser.add_argument("--with", dest="b", type=Path, nargs="+", metavar="FILE", help=others)
    threshold = (
        "ignore differences up to this fraction: 0.05 (default: the recorded noise, else 0.1)"
    )
    parser.add_argument("--threshold", type=_fraction, metavar="X", help=threshold)
    out = "write compare.md, .csv, .pdf and .png to DIR (default: print the page)"
    parser.add_argument("--out", type=Path, metavar="DIR", help=out)
    record = (
        "add the differences of A and B to FILE, for two runs of one commit or of the vendor's code"
    )
    parser.add_argument("--record-noise", type=Path, metavar="FILE", help=record)


def run(options: argparse.Namespace) -> int:
    a, b = (options.files, options.b) if options.b else (options.files[:1], options.files[1:])
    if not options.b and len(b) != 1:
        return refuse(
            f"{count(len(options.files), 'file')} given: name A and B, or several files a "
            f"side as A1 A2 --with B1 B2"
        )

    from scanlab_report import comparison, noise
    from scanlab_report.comparison_page import page
    from scanlab_report.comparison_sides import sides

    try:
        compared = comparison.paired(*sides(a, b))
        if options.record_noise:
            return _record(compared, options.record_noise)
        thresholds, origin = options.threshold, "as given"
        if thresholds is None:
            thresholds, origin = _thresholds(compared)
        compared = comparison.judged(compared, thresholds, origin)
        if options.out and (reason := unwritable(options.out)):
            return refuse(f"{options.out}: cannot be written to: {reason}")
        say(_written(compared, options.out) if options.out else page(compared))
    except (comparison.Refused, noise.NoiseError) as error:
        return refuse(*error.args)
    return FOUND if len(compared.with_verdict(comparison.SLOWER)) or compared.broken else SOUND


def _thresholds(compared: Comparison) -> tuple[Any, str]:
    """For each case the larger threshold of the two devices, and where they are from, in words."""
    import numpy as np

    from scanlab_report import noise

    if "program" in compared.a.context:
        return noise.DEFAULT, (
            "a default: two runs of one program differ, too, and nobody has said by how much; time "
            "one program twice, compare the two, and give what they differ by as --threshold"
        )
    devices = sorted({compared.a.device, compared.b.device})
    pairs, kind, both = noise.read(devices), compared.kind, compared.both
    unknown = [
        device
        for device, recorded in zip(devices, pairs, strict=True)
        if not noise.knows(recorded, kind)
    ]
    origin = "as far as runs of one code on record lie apart"
    if "device" in set(both["on"]) and unknown:
        origin = (
            "a default or more, since too few cases of one code timed twice are on record "
            f"for {kind} on {' and '.join(unknown)}: "
            "time one commit twice and --record-noise, or give --threshold"
        )
    known = [noise.thresholds(recorded, kind, both) for recorded in pairs]
    return np.maximum.reduce(known), origin


def _record(compared: Comparison, file: Path) -> int:
    from scanlab_report import noise
    from scanlab_report.groups import VENDOR_CODE

    a, b = compared.a, compared.b
    if "program" in a.context:
        return refuse(
            f"--record-noise is for results of scanlab: those of {compared.kind} do "
            "not say of which commit they are"
        )
    both, which = compared.both.dropna(subset=["low"]), "all"
    if a.device != b.device or any(a.context.get(key) != b.context.get(key) for key in _VENDOR):
        return refuse(
            f"{a.path} and {b.path} are not of one device, driver, toolkit and CCCL, so "
            "their differences are more than noise"
        )
    if (a.date, a.context.get("argv")) == (b.date, b.context.get("argv")):
        return refuse(
            f"{a.path} and {b.path} began at the same time, {a.date}, by the same command: "
            "they are one run"
        )
    if a.commit != b.commit or not a.commit or a.dirty or b.dirty:
        which, vendor = "vendor", compared.about.ids(*VENDOR_CODE)
        both = both[both["variant"].isin(vendor)] if "variant" in both else both[:0]
    if both.empty:
        return refuse(
            f"{a.path} and {b.path} have no case of the same code (one clean commit, or "
            "the vendor's) with five repetitions in each"
        )
    before, after = (
        {"file": place(run.path), "date": run.date, "git_commit": run.commit} for run in (a, b)
    )
    pair = noise.pair(compared.kind, which, before, after, both)
    noise.add(file, a.device, pair)
    for row in pair["thresholds"]:
        cases = count(row["cases"], "case")
        say(f"{row['on']}, {row['time']}: {100 * row['threshold']:.1f}% ({cases})")
    return SOUND


def _written(compared: Comparison, out: Path) -> str:
    """Write the page, the figure and every case, none before all are made. Return the summary."""
    from scanlab_report import style  # matplotlib takes half a second, which the page does not
    from scanlab_report.comparison_page import figure, page, summary

    with in_place_of(out) as new:
        with style.sheet():
            style.save(figure(compared), [new / f"compare{suffix}" for suffix in (".pdf", ".png")])
        (new / "compare.md").write_text(page(compared), encoding="utf-8")
        compared.cases.to_csv(new / "compare.csv", index=False)
    return "\n".join([*summary(compared), f"Written: {out / 'compare.md'}, .csv, .pdf, .png"])
