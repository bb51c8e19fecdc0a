"""Compare two results files case by case: faster or slower, beyond chance and beyond the noise between runs.

A case is slower in B under two conditions. The Mann-Whitney test tells the two runs apart: p is under 0.05 after the
correction of Benjamini and Hochberg for the number of cases. The 95% interval of the ratio of medians lies wholly beyond a threshold.
The threshold is the noise between two runs of the same code, on the device and for times as short. The option --record-noise
records that noise; without a record the threshold is 10%, and the page says so.
Devices of one model differ, too. Unchanged code in both files (memcpy, CUB, Thrust) shows by how much; the page begins with it,
and no smaller difference counts.
Files of nvbench (--json, better --jsonbin) or of Google Benchmark (--benchmark_out) are compared likewise. Files without samples
are compared by their means, and the page says so; the threshold is then 10% by default. Repeated runs are samples: name the files
of all runs of A, and those of B behind --with. A case that cannot be used is left out, and the page names it with the reason.
Cases without a threshold, or with too few repetitions, are counted on the page and not judged.
Exit status 0: nothing is known to be slower; 1: something is, or failed in B alone; 2: bad input.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from scanlab_report import place
from scanlab_report.console import FOUND, SOUND, count, refuse, say
from scanlab_report.read import noise
from scanlab_report.written import in_place_of, unwritable

_VENDOR = ("driver", "toolkit", "cccl", "cccl_newest")
"""Where these agree, so does the vendor's code."""

EXAMPLE = """  scanlab-report compare before.json after.json --out comparison
  scanlab-report compare run1.json run2.json --record-noise data/noise/nvidia-h200.json    # one commit, timed twice
  scanlab-report compare before.nvbench.json after.nvbench.json --threshold 0.02       # two files of nvbench
  scanlab-report compare before*.json --with after*.json                               # several runs of Google Benchmark a side"""


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("files", type=Path, nargs="+", metavar="FILE", help="A and B: results to compare with, and results to judge, of scanlab, nvbench or Google Benchmark, plain or .gz")
    add("--with", dest="b", type=Path, nargs="+", metavar="FILE", help="B, of one file or more; the files before are then all A (several are of nvbench or Google Benchmark alone)")
    add("--threshold", type=_fraction, metavar="X", help="ignore differences up to this fraction: 0.05 (default: the recorded noise, else 0.1)")
    add("--out", type=Path, metavar="DIR", help="write compare.md, .csv, .pdf and .png to DIR (default: print the page)")
    add("--record-noise", type=Path, metavar="FILE", help="add the differences of A and B to FILE, for two runs of one commit or of the vendor's code")


def run(options: argparse.Namespace) -> int:
    from scanlab_report.commands.compare import comparison, foreign

    a, b = (options.files, options.b) if options.b else (options.files[:1], options.files[1:])
    if not options.b and len(b) != 1:
        return refuse(f"{count(len(options.files), 'file')} given: name A and B, or several files a side as A1 A2 --with B1 B2")
    try:
        theirs = foreign.read(a, b)
        if not theirs and len(a) + len(b) > 2:
            return refuse("several files a side are for nvbench and Google Benchmark: time more repetitions with scanlab bench, and compare two files")
        if theirs and options.record_noise:
            return refuse(f"--record-noise is for results of scanlab: those of {theirs[0].kind} do not say of which commit they are")
        found = foreign.paired(*theirs) if theirs else comparison.paired(comparison.read(a[0]), comparison.read(b[0]))
        if options.record_noise:
            return _record(found, options.record_noise)
        default = lambda: (foreign.THRESHOLD, foreign.ORIGIN) if theirs else _thresholds(found)
        found = comparison.judged(found, *(default() if options.threshold is None else (options.threshold, "as given")))
        if options.out and (reason := unwritable(options.out)):
            return refuse(f"{options.out}: cannot be written to: {reason}")
        page = _page(found, options.out)
    except comparison.Refused as error:
        return refuse(*error.args)
    except noise.NoiseError as error:
        return refuse(error)
    say(page)
    return FOUND if len(found.of(comparison.SLOWER)) or found.broken else SOUND


def _fraction(text: str) -> float:
    value = float(text)
    if not math.isfinite(value) or value < 0:
        raise ValueError(text)
    return value


_fraction.__name__ = "fraction"  # what argparse calls it where it is none


def _thresholds(found):
    """For each case the larger threshold of the two devices, and where they are from, in words."""
    import numpy as np

    devices = noise.read(sorted({found.a.device, found.b.device}))
    where = "as far as runs of one code on record lie apart"
    if "device" in set(found.both["on"]) and (unknown := [of.device for of in devices if not of.knows(found.kind)]):
        where = (f"a default or more, since too few cases of one code timed twice are on record for {found.kind} on {' and '.join(unknown)}: "
                 "time one commit twice and --record-noise, or give --threshold")  # fmt: skip
    return np.maximum.reduce([of.thresholds(found.kind, found.both) for of in devices]), where


def _record(found, file: Path) -> int:
    from scanlab_report.select.variants import VENDOR_CODE

    a, b = found.a, found.b
    both, of = found.both.dropna(subset=["low"]), "all"
    if a.device != b.device or any(a.context.get(key) != b.context.get(key) for key in _VENDOR):
        return refuse(f"{a.file} and {b.file} are not of one device, driver, toolkit and CCCL, so their differences are more than noise")
    if (a.date, a.context.get("argv")) == (b.date, b.context.get("argv")):
        return refuse(f"{a.file} and {b.file} began at the same time, {a.date}, by the same command: they are one run")
    if a.commit != b.commit or not a.commit or a.dirty or b.dirty:
        of = "vendor"
        both = both[both["variant"].isin(found.about.ids(*VENDOR_CODE))] if "variant" in both else both.iloc[:0]
    if both.empty:
        return refuse(f"{a.file} and {b.file} have no case of the same code (one clean commit, or the vendor's) with five repetitions in each")
    about = [{"file": place(of.file), "date": of.date, "git_commit": of.commit} for of in (a, b)]
    pair = noise.pair(found.kind, of, about[0], about[1], both)
    noise.add(file, a.device, pair)
    for row in pair["thresholds"]:
        say(f"{row['on']}, {row['time']}: {100 * row['threshold']:.1f}% ({count(row['cases'], 'case')})")
    return SOUND


def _page(found, out: Path | None) -> str:
    """What is printed; with ``out`` also written, with the figure and every case, none before all are there."""
    from scanlab_report.commands.compare import page as comparison_page

    if out is None:
        return comparison_page.markdown(found)
    from scanlab_report.commands.compare import figure as comparison_figure  # half a second, which the page alone does not take
    from scanlab_report.layout import style

    with in_place_of(out) as new:
        with style.sheet():
            style.save(comparison_figure.figure(found), [new / f"compare{suffix}" for suffix in (".pdf", ".png")])
        (new / "compare.md").write_text(comparison_page.markdown(found), encoding="utf-8")
        (new / "compare.csv").write_text(comparison_page.csv(found), encoding="utf-8")
    return "\n".join([*comparison_page.summary(found), f"Written: {out / 'compare.md'}, .csv, .pdf, .png"])
