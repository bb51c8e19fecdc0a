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

from scanlab_report import comparison, noise, place
from scanlab_report.comparison import FASTER, SLOWER, TOO_FEW, VERDICTS, Comparison, smallest_p
from scanlab_report.console import FOUND, SOUND, count, refuse, say
from scanlab_report.formats import Column, Table, code, plain, significant, size, with_interval
from scanlab_report.intervals import SIGNIFICANT, Interval
from scanlab_report.sources import source_of
from scanlab_report.written import in_place_of

EXAMPLE = """  scanlab-report compare before.json after.json --out comparison
  scanlab-report compare run1.json run2.json --record-noise data/noise/nvidia-h200.json
  scanlab-report compare before.nvbench.json after.nvbench.json --threshold 0.02
  scanlab-report compare before*.json --with after*.json    # several runs of Google Benchmark"""

_ENVIRONMENT = "device driver toolkit cccl cccl_newest compiler ecc sm_clock_mhz_max cpu git_commit"
"""Two runs may differ in these besides their times."""
_CODE = ("variant", "id", "scan", "benchmark", "case")
"""Columns whose values are names of code."""


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
    compared = comparison.paired(*comparison.sides(a, b))
    if options.record_noise:
        return _record(compared, options.record_noise)
    thresholds, origin = options.threshold, "as given"
    if thresholds is None:
        thresholds, origin = _thresholds(compared)
    compared = comparison.judged(compared, thresholds, origin)
    say(_written(compared, options.out) if options.out else page(compared))
    slower = len(compared.with_verdict(SLOWER)) + len(compared.broken)
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
        (new / "compare.md").write_text(page(compared), encoding="utf-8")
        compared.every.to_csv(new / "compare.csv", index=False)
    written = f"Written: {out / 'compare.md'}, .csv"
    return "\n".join([*summary(compared), written])


# ------------------------------------------------------------------------------------ the page


def summary(compared: Comparison) -> list[str]:
    """The outcome, in sentences."""
    counts, cases = compared.every["verdict"].value_counts(), compared.cases
    outcome = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if verdict in counts)
    sentences = [f"{count(len(cases), 'case')} in both, B against A: {outcome}."]
    for what, rows in (
        ("**Wrong in B**, with a time in A", compared.broken),
        ("Without a time in A", compared.a.untimed),
        ("Without a time in B", compared.b.untimed),
    ):
        if len(rows):
            some = rows.drop_duplicates("reason").head(3).itertuples()
            such_as = "; ".join(f"{code(row.name)} ({plain(row.reason)})" for row in some)
            sentences.append(f"{what}: {count(len(rows), 'case')}, such as {such_as}.")
    if len(same := cases[cases["unchanged"]]):
        ends = " to ".join(significant(end) for end in same["ratio"].agg(["min", "max"]))
        named = ", ".join(map(code, sorted(set(same["variant"]))))
        sentences.append(
            f"Code that is the same in both ({named}) takes {ends} times as long in B: only what "
            "goes beyond such code, timed alike, is slower or faster."
        )
    elif "variant" in cases:
        sentences.append("No code is the same in both: whether a machine is the cause is unknown.")
    if by_means := int((cases["by"] == comparison.MEANS).sum()):
        missing = f"A file has no samples of {count(by_means, 'case')}"
        sentences.append(f"{missing}: their means are compared, by Welch's test.")
    low, high = 100 * cases["threshold"].min(), 100 * cases["threshold"].max()
    if low <= high:  # neither is NaN: some are known
        sentences.append(f"The threshold is {low:.2g}% to {high:.2g}%, {compared.origin}.")
    if unknown := int(cases["threshold"].isna().sum()):
        sentences.append(
            f"For {count(unknown, 'case')} no noise is on record, so that any of them may be "
            "slower: give --threshold."
        )
    least = len(cases) * smallest_p(cases).min(initial=1)
    if TOO_FEW in counts:
        sentences.append("Repetitions that are too few allow no verdict.")
    elif least >= SIGNIFICANT:
        sentences.append(
            "With so few repetitions a single case cannot be told from chance: "
            f"{int(least / SIGNIFICANT) + 1} cases must differ at once."
        )
    return sentences


def table(compared: Comparison) -> Table:
    """The cases that are slower or faster, the largest change first."""
    forms = dict.fromkeys(_CODE, code) | {"items": size}
    rows = compared.with_verdict(SLOWER, FASTER)
    named = [name for name in compared.a.case if name in _CODE or rows[name].nunique() > 1]
    ratios = zip(rows["ratio"], rows["low"], rows["high"], rows["count_a"], strict=True)
    rows = rows.assign(
        ratio=[Interval(*values) for values in ratios],
        median_a_us=rows["median_a_ns"] / 1e3,
        median_b_us=rows["median_b_ns"] / 1e3,
    )
    columns = [
        Column("verdict", "B is", right=False),
        *(Column(name, name, forms.get(name, str), right=name == "items") for name in named),
        Column("median_a_us", "A, µs", significant),
        Column("median_b_us", "B, µs", significant),
        Column("ratio", "B / A", with_interval),
        Column("p_corrected", "p, corrected", "{:.2g}".format),
    ]
    return Table("", columns, rows)


def sources(compared: Comparison) -> list[str]:
    """Path, device, date and commit of A and of B."""
    files = {"A": compared.a.file, "B": compared.b.file}
    line = lambda file: source_of([file], origin="").line()
    return [f"{side}: {file.path}: {line(file)}" for side, file in files.items()]


def page(compared: Comparison) -> str:
    """The whole page, in Markdown."""
    parts = ["# B against A", *map(plain, sources(compared)), " ".join(summary(compared))]
    for key in _ENVIRONMENT.split():
        a, b = (str(side.file.context.get(key, "unknown")) for side in (compared.a, compared.b))
        if a != b:
            parts.append(f"Not the same in both: {key} {code(a)} (A), {code(b)} (B).")
    if len((changes := table(compared)).rows):
        parts.append(changes.markdown().strip())
    return "\n\n".join(parts) + "\n"
