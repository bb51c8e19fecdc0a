"""Compare two results files case by case: faster or slower, beyond chance and beyond the noise
between runs.

A case is slower in B if the Mann-Whitney test, corrected for the number of cases, tells the two
runs apart, and the 95% interval of the ratio of medians lies wholly beyond a threshold: the noise
between two runs of the same code (--record-noise), or 10%. Where unchanged code in both files
(memcpy, CUB, Thrust) differs by more, no smaller difference counts. Files of nvbench (--json,
better --jsonbin) and of Google Benchmark (--benchmark_out) are compared likewise, without samples
by their means. Repeated runs are samples: name the files of all runs of A, and those of B behind
--with. Exit status 0: nothing is known to be slower; 1: something is, or failed in B alone; 2: bad
input.
"""

import argparse
import math
from pathlib import Path
from typing import Any

import numpy as np

from scanlab_report import comparison, comparison_page, noise, place
from scanlab_report.comparison import Comparison
from scanlab_report.console import FOUND, SOUND, count, refuse, say
from scanlab_report.written import in_place_of

EXAMPLE = """  scanlab-report compare before.json after.json --out comparison
  scanlab-report compare run1.json run2.json --record-noise data/noise/nvidia-h200.json
  scanlab-report compare before.nvbench.json after.nvbench.json --threshold 0.02
  scanlab-report compare before*.json --with after*.json    # several runs of Google Benchmark"""


def _fraction(text: str) -> float:
    if not 0 <= float(text) < math.inf:
        raise ValueError(text)
    return float(text)


def arguments(parser: argparse.ArgumentParser) -> None:
    files = "A and B: results of scanlab, nvbench or Google Benchmark, plain or .gz"
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help=files)
    others = "B, of one file or more; the files before are then all A"
    parser.add_argument("--with", dest="b", type=Path, nargs="+", metavar="FILE", help=others)
    threshold = "ignore differences up to this fraction (default: the recorded noise, else 0.1)"
    parser.add_argument("--threshold", type=_fraction, metavar="X", help=threshold)
    out = "write compare.md and compare.csv to DIR (default: print the page)"
    parser.add_argument("--out", type=Path, metavar="DIR", help=out)
    record = "add the differences of A and B, two runs of one code, to FILE"
    parser.add_argument("--record-noise", type=Path, metavar="FILE", help=record)


def run(options: argparse.Namespace) -> int:
    a, b = (options.files, options.b) if options.b else (options.files[:1], options.files[1:])
    if not options.b and len(b) != 1:
        given = count(len(options.files), "file")
        return refuse(f"{given} given: name A and B, or several files a side as A1 A2 --with B1 B2")
    try:
        compared = comparison.paired(*comparison.sides(a, b))
        if options.record_noise:
            return _record(compared, options.record_noise)
        thresholds, origin = options.threshold, "as given"
        if thresholds is None:
            thresholds, origin = _thresholds(compared)
        compared = comparison.judged(compared, thresholds, origin)
        say(_written(compared, options.out) if options.out else comparison_page.page(compared))
    except (comparison.Refused, noise.NoiseError) as error:
        return refuse(*error.args)
    slower = len(compared.with_verdict(comparison.SLOWER)) + len(compared.broken)
    return FOUND if slower else SOUND


def _thresholds(compared: Comparison) -> tuple[Any, str]:
    """For each case the larger threshold of the two devices, and where they are from, in words."""
    if "program" in compared.a.file.context:
        return noise.DEFAULT, "a default: time one program twice to know the noise"
    pairs = noise.read(sorted({compared.a.file.device, compared.b.file.device}))
    kind, cases = compared.a.kind, compared.cases
    origin = "as far as runs of one code on record lie apart"
    if "device" in set(cases["on"]) and not all(noise.knows(known, kind) for known in pairs):
        origin = f"a default or more, since too few {kind} of one code timed twice are on record"
    return np.maximum.reduce([noise.thresholds(known, kind, cases) for known in pairs]), origin


def _record(compared: Comparison, file: Path) -> int:
    """Add the pair of runs to a file of noise, if they are two runs of the same code."""
    a, b, kind = compared.a.file, compared.b.file, compared.a.kind
    both, which = compared.cases.dropna(subset=["low"]), "all"
    if a.commit != b.commit or not a.commit or a.dirty or b.dirty:
        which, names = "vendor", both.get("variant", both["on"])
        both = both[names.isin(comparison.vendors(a, b))]
    same = lambda *keys: all(a.context.get(key) == b.context.get(key) for key in keys)
    alike = a.device == b.device and same(*comparison.VENDOR_KEYS) and "program" not in a.context
    if both.empty or not alike or same("date", "argv"):
        wanted = "two runs of one code on one device, driver, toolkit and CCCL, repeated five times"
        return refuse(f"--record-noise: {a.path} and {b.path} are not {wanted}")
    before, after = (
        {"file": place(run.path), "date": run.date, "git_commit": run.commit} for run in (a, b)
    )
    pair = noise.pair(kind, which, before, after, both)
    noise.add(file, a.device, pair)
    for row in pair["thresholds"]:
        cases = count(row["cases"], "case")
        say(f"{row['on']}, {row['time']}: {100 * row['threshold']:.1f}% ({cases})")
    return SOUND


def _written(compared: Comparison, out: Path) -> str:
    """Write the page and every case, none before all are made. Return the summary."""
    with in_place_of(out) as new:
        (new / "compare.md").write_text(comparison_page.page(compared), encoding="utf-8")
        compared.every.to_csv(new / "compare.csv", index=False)
    written = f"Written: {out / 'compare.md'}, .csv"
    return "\n".join([*comparison_page.summary(compared), written])
