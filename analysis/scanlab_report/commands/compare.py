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
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from scanlab_report import place
from scanlab_report.console import FOUND, SOUND, count, refuse, say
from scanlab_report.written import in_place_of, unwritable

if TYPE_CHECKING:  # pandas and SciPy are not loaded to print a help text
    import pandas as pd
    from matplotlib.figure import Figure

    from scanlab_report.comparison import Comparison
    from scanlab_report.data import File
    from scanlab_report.formats import Table

EXAMPLE = """  scanlab-report compare before.json after.json --out comparison
  scanlab-report compare run1.json run2.json --record-noise data/noise/nvidia-h200.json    # one commit, timed twice
  scanlab-report compare before.nvbench.json after.nvbench.json --threshold 0.02       # two files of nvbench
  scanlab-report compare before*.json --with after*.json                               # several runs of Google Benchmark a side"""
_VENDOR = ("driver", "toolkit", "cccl", "cccl_newest")
"""Where these agree, so does the vendor's code."""
_DEFAULT = ("a default: two runs of one program differ, too, and nobody has said by how much; time one program twice, "
            "compare the two, and give what they differ by as --threshold")  # fmt: skip
_ENVIRONMENT = ("device", "driver", "toolkit", "cccl", "cccl_newest", "compiler", "ecc", "sm_clock_mhz_max", "cpu",
                "git_commit", "git_dirty", "argv")  # fmt: skip
"""Two runs may differ in these besides their times."""
_SELF_EVIDENT = frozenset({"variant", "id", "type", "op", "mode"})
"""Columns that name a case and need no heading."""
_STEP = 10**0.25
"""The band of a figure is drawn in steps of time, four a decade."""


def _fraction(text: str) -> float:
    value = float(text)
    if not math.isfinite(value) or value < 0:
        raise ValueError(text)
    return value


_fraction.__name__ = "fraction"  # argparse names it so where it is none


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("files", type=Path, nargs="+", metavar="FILE", help="A and B: results to compare with, and results to judge, of scanlab, nvbench or Google Benchmark, plain or .gz")
    add("--with", dest="b", type=Path, nargs="+", metavar="FILE", help="B, of one file or more; the files before are then all A (several are of nvbench or Google Benchmark alone)")
    add("--threshold", type=_fraction, metavar="X", help="ignore differences up to this fraction: 0.05 (default: the recorded noise, else 0.1)")
    add("--out", type=Path, metavar="DIR", help="write compare.md, .csv, .pdf and .png to DIR (default: print the page)")
    add("--record-noise", type=Path, metavar="FILE", help="add the differences of A and B to FILE, for two runs of one commit or of the vendor's code")


def run(options: argparse.Namespace) -> int:
    a, b = (options.files, options.b) if options.b else (options.files[:1], options.files[1:])
    if not options.b and len(b) != 1:
        return refuse(f"{count(len(options.files), 'file')} given: name A and B, or several files a side as A1 A2 --with B1 B2")

    from scanlab_report import comparison, comparison_sides, noise

    try:
        sides = comparison_sides.sides(a, b)
        if not sides[0].own and options.record_noise:
            return refuse(f"--record-noise is for results of scanlab: those of {sides[0].kind} do not say of which commit they are")
        compared = comparison.paired(*sides)
        if options.record_noise:
            return _record(compared, options.record_noise)
        if options.threshold is not None:
            thresholds, origin = options.threshold, "as given"
        else:
            thresholds, origin = _thresholds(compared) if sides[0].own else (noise.DEFAULT, _DEFAULT)
        compared = comparison.judged(compared, thresholds, origin)
        if options.out and (reason := unwritable(options.out)):
            return refuse(f"{options.out}: cannot be written to: {reason}")
        say(_written(compared, options.out) if options.out else page(compared))
    except (comparison.Refused, noise.NoiseError) as error:
        return refuse(*error.args)
    return FOUND if len(compared.of(comparison.SLOWER)) or compared.broken else SOUND


def _thresholds(compared: Comparison):
    """For each case the larger threshold of the two devices, and where they are from, in words."""
    import numpy as np

    from scanlab_report import noise

    devices = sorted({compared.a.device, compared.b.device})
    pairs, both = noise.read(devices), compared.both
    unknown = [device for device, of in zip(devices, pairs, strict=True) if not noise.knows(of, compared.kind)]
    origin = "as far as runs of one code on record lie apart"
    if "device" in set(both["on"]) and unknown:
        origin = (f"a default or more, since too few cases of one code timed twice are on record for {compared.kind} on {' and '.join(unknown)}: "
                  "time one commit twice and --record-noise, or give --threshold")  # fmt: skip
    return np.maximum.reduce([noise.thresholds(of, compared.kind, both) for of in pairs]), origin


def _record(compared: Comparison, file: Path) -> int:
    from scanlab_report import noise
    from scanlab_report.groups import VENDOR_CODE

    a, b = compared.a, compared.b
    both, of = compared.both.dropna(subset=["low"]), "all"
    if a.device != b.device or any(a.context.get(key) != b.context.get(key) for key in _VENDOR):
        return refuse(f"{a.path} and {b.path} are not of one device, driver, toolkit and CCCL, so their differences are more than noise")
    if (a.date, a.context.get("argv")) == (b.date, b.context.get("argv")):
        return refuse(f"{a.path} and {b.path} began at the same time, {a.date}, by the same command: they are one run")
    if a.commit != b.commit or not a.commit or a.dirty or b.dirty:
        of = "vendor"
        both = both[both["variant"].isin(compared.about.ids(*VENDOR_CODE))] if "variant" in both else both[:0]
    if both.empty:
        return refuse(f"{a.path} and {b.path} have no case of the same code (one clean commit, or the vendor's) with five repetitions in each")
    about = [{"file": place(run.path), "date": run.date, "git_commit": run.commit} for run in (a, b)]
    pair = noise.pair(compared.kind, of, about[0], about[1], both)
    noise.add(file, a.device, pair)
    for row in pair["thresholds"]:
        say(f"{row['on']}, {row['time']}: {100 * row['threshold']:.1f}% ({count(row['cases'], 'case')})")
    return SOUND


def _written(compared: Comparison, out: Path) -> str:
    """Writes the page, the figure and every case, none before all are there; the summary."""
    from scanlab_report import (
        style,  # matplotlib takes half a second, which the page alone does not
    )

    with in_place_of(out) as new:
        with style.sheet():
            style.save(figure(compared), [new / f"compare{suffix}" for suffix in (".pdf", ".png")])
        (new / "compare.md").write_text(page(compared), encoding="utf-8")
        compared.cases.to_csv(new / "compare.csv", index=False)
    return "\n".join([*summary(compared), f"Written: {out / 'compare.md'}, .csv, .pdf, .png"])


# --------------------------------------------------------------------------------------- the page


def _from(run: File) -> str:
    """Where a run is from, in one line."""
    from scanlab_report.sources import source_of

    return source_of([run], origin="").line()


def _percent(fraction: float) -> str:
    from scanlab_report.formats import significant

    return f"{significant(100 * fraction, 2)}%"


def summary(compared: Comparison) -> list[str]:
    """The outcome, in sentences."""
    from scanlab_report.comparison import TOO_FEW, VERDICTS, lone
    from scanlab_report.formats import significant

    counts, both = compared.cases["verdict"].value_counts(), compared.both
    outcome = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if verdict in counts)
    told = [f"{count(len(both), 'case')} in both, B against A: {outcome}.", *machines(compared), *compared.remarks]
    low, high = both["threshold"].min(), both["threshold"].max()
    if low <= high:  # neither is NaN: some are known
        wider = f" to {_percent(high)}, the shorter the time, the wider" if high > low else ""
        told.append(f"The threshold is {_percent(low)}{wider}{compared.origin and f', {compared.origin}'}.")
    unknown = both[both["threshold"].isna()]
    if len(unknown):
        where = " and ".join(sorted(set(unknown["on"])))
        told.append(f"Of {count(len(unknown), 'case')} on the {where} no noise is on record: they have no threshold and no verdict, so that any of them may be slower. "
                    "--threshold gives them one for now, a pair of runs of one commit (--record-noise) for good.")  # fmt: skip
    few = both[both["verdict"] == TOO_FEW]
    if len(few):
        told.append(f"Of {count(len(few), 'case')} the repetitions are too few for any verdict (the fewest: "
                    f"{int(few[['count_a', 'count_b']].min(axis=1).min())}): five a run is the least, and more are needed where the p of "
                    "runs that do not overlap at all is not under 0.05 after the correction.")  # fmt: skip
    p, cases = lone(compared)
    if p >= 0.05 and cases <= len(both):
        told.append(f"With so few repetitions a single case cannot be told from chance (its corrected p is {significant(p, 2)} at best): "
                    f"{count(cases, 'case')} must differ at once. More repetitions would help.")  # fmt: skip
    return told


def machines(compared: Comparison) -> list[str]:
    """How far apart the machines are by code that is the same in both, if farther than noise, or that no such code shows it."""
    from scanlab_report.comparison import FASTER, SLOWER, moved
    from scanlab_report.formats import significant

    called = compared.both[compared.both["verdict"].isin((SLOWER, FASTER))]
    lacking = called["median"].isna().sum() if compared.a.device == compared.b.device else 0
    told = [f"For {lacking} of the {count(len(called), 'case')} that {'is' if len(called) == 1 else 'are'} slower or faster no code that is the "
            "same in both was timed beside: whether the machine is the cause cannot be told."] if lacking else []  # fmt: skip
    parts = []
    for column, of in sorted(moved(compared).groupby("column"), key=lambda group: group[0] == "host"):
        longer, shorter = of["ratio"].max() - 1, 1 - of["ratio"].min()
        by = " and ".join(f"up to {_percent(most)} {way}" for most, way in ((longer, "longer"), (shorter, "less")) if most > 0)
        times = " to ".join(dict.fromkeys(significant(end, 2) for end in (of["launch_us"].min(), of["launch_us"].max())))
        where = " on the host" if column == "host" else f" timed {column.replace(' ', ', ')}, at {times} µs a launch"
        parts.append(f"{by} ({', '.join(sorted(set(of['variant'])))}: {count(len(of), 'case')}{where})")
    if not parts:
        return told
    return [f"The machines differ, or the way of timing: in B, code that is the same in both takes {'; '.join(parts)}. Slower or faster is only what goes beyond that.", *told]


def table(compared: Comparison) -> Table:
    """The cases that are slower or faster, the largest change first."""
    import pandas as pd

    from scanlab_report.comparison import FASTER, SLOWER
    from scanlab_report.formats import (
        Column,
        Table,
        code,
        significant,
        size,
        with_interval,
    )
    from scanlab_report.intervals import Interval

    forms = dict.fromkeys(("variant", "id", "scan", "benchmark", "case"), code) | {"items": size}
    rows = pd.concat([compared.of(SLOWER), compared.of(FASTER)])
    names = [name for name in compared.case if name in ("variant", "id", "benchmark", "case") or rows[name].nunique() > 1] or compared.case[:1]
    for side in ("a", "b"):
        rows[f"median_{side}_us"] = rows[f"median_{side}_ns"] / 1e3
    ends = (rows[name] for name in ("ratio", "low", "high"))
    rows["ratio"] = [Interval(*of) for of in zip(*ends, rows[["count_a", "count_b"]].min(axis=1), strict=True)]
    rows["unchanged"] = [f"{significant(least)} to {significant(most)}" if pd.notna(least) else "—" for least, most in zip(rows["least"], rows["most"], strict=True)]
    beside = bool(compared.cases["unchanged"].any())
    small = lambda p: "< 0.000001" if p < 1e-6 else significant(p, 2)
    return Table(
        "Cases that are slower or faster in B than in A: medians, and the ratio of B to A with its 95% interval."
        + (" The last column is the ratio of unchanged code, timed alike and for about as long." if beside else ""),
        (
            Column("verdict", "B is", right=False),
            *(Column(name, name, forms.get(name, str), right=name == "items") for name in names),
            *((Column("by", "by", right=False),) if "by" in rows else ()),
            Column("median_a_us", "A, µs", significant), Column("median_b_us", "B, µs", significant),
            Column("ratio", "B / A", with_interval), Column("p_corrected", "p, corrected", small),
            Column("threshold", "threshold", _percent),
            *((Column("unchanged", "B / A of unchanged code"),) if beside else ()),
        ),
        rows,
    )  # fmt: skip


def page(compared: Comparison) -> str:
    """The whole page, in Markdown."""
    from scanlab_report.comparison import FASTER, ONLY_A, ONLY_B, SLOWER
    from scanlab_report.formats import code, plain

    runs = (("A", compared.a), ("B", compared.b))
    parts = ["# B against A", "\\\n".join(f"{side}: {code(run.path)}: {plain(_from(run))}" for side, run in runs), " ".join(summary(compared))]
    of = [(key, *(str(run.context.get(key, "")) for _, run in runs)) for key in _ENVIRONMENT]
    if different := [f"- {key}: {code(a) or 'unknown'} (A), {code(b) or 'unknown'} (B)" for key, a, b in of if a != b]:
        parts.append("Not the same in both:\n\n" + "\n".join(different))
    if len(compared.of(SLOWER)) or len(compared.of(FASTER)):
        parts.append(table(compared).markdown().strip())
    for verdict, heading in ((ONLY_A, "Only in A"), (ONLY_B, "Only in B")):
        if len(rows := compared.of(verdict)):
            parts.append(f"## {heading}\n\n" + "\n".join(listed(rows, compared.case)))
    return "\n\n".join(parts) + "\n"


def listed(rows: pd.DataFrame, case: list[str]) -> list[str]:
    """Cases of one file, those that differ in their size alone on one line; every single one is in the CSV."""
    from scanlab_report.formats import code, size

    if "items" not in rows:
        return ["- " + " ".join(filter(None, (code(of.benchmark), code(of.case), of.device and f"on device {of.device}"))) for of in rows.itertuples()]
    by = [name for name in case if name not in ("items", "bytes")]
    lines = []
    for key, of in rows.groupby(by, sort=True):
        column, form = ("bytes", lambda value: f"{value:,} bytes") if not of["items"].any() and "bytes" in of else ("items", size)
        sizes = sorted(of[column])
        words = [str(value) if name in _SELF_EVIDENT or isinstance(value, str) else f"{name} {value}" for name, value in zip(by, key, strict=True) if value not in ("", 0)]
        lines.append(f"- {' '.join(words)}: " + (form(sizes[0]) if len(sizes) == 1 else f"{len(sizes)} sizes, {form(sizes[0])} to {form(sizes[-1])}"))
    return lines


def figure(compared: Comparison) -> Figure:
    """Every case of both runs by its time: the ratio, and as a band the ratios that are neither slower nor faster; a panel a column."""
    import numpy as np

    from scanlab_report import style
    from scanlab_report.comparison import FASTER, NEITHER, NO_THRESHOLD, SLOWER, TOO_FEW

    looks = {NEITHER: (style.GREY, ".", 2.0), TOO_FEW: (style.GREY, "x", 2.5), NO_THRESHOLD: (style.ORANGE, "+", 3.0),
             FASTER: (style.BLUE, "v", 4.0), SLOWER: (style.VERMILLION, "^", 4.0)}  # fmt: skip
    both = compared.both
    columns = sorted(set(both["column"]))
    lines = max(1, -(-len(columns) // 2))  # one, empty, where no case is in both
    drawn, axes = style.figure(style.DOUBLE, 0.5 + 1.7 * lines, 1 if len(columns) == 1 else 2, lines)
    for panel, column in zip(axes, columns, strict=False):
        of = both[both["column"] == column]
        for step, band in of.groupby(np.floor(np.log(of["time_us"]) / np.log(_STEP))):
            panel.fill_between([_STEP**step, _STEP ** (step + 1)], band["faster_below"].min(), band["slower_above"].max(), color="#EEEEEE", linewidth=0)
        for verdict, (colour, marker, width) in looks.items():
            rows = of[of["verdict"] == verdict]
            if verdict in (FASTER, SLOWER):
                style.error_bars(panel, rows["time_us"], rows["ratio"], rows["low"], rows["high"], colour)
            if len(rows):
                panel.plot(rows["time_us"], rows["ratio"], linestyle="none", marker=marker, markersize=width, color=colour,
                           markeredgewidth=0.5, label=f"{verdict}: {len(rows)}")  # fmt: skip
        if len(same := of[of["unchanged"].astype(bool)]):
            panel.plot(same["time_us"], same["ratio"], linestyle="none", marker="o", markersize=3.5, color=style.GREEN, markerfacecolor="none",
                       markeredgewidth=0.4, label=f"the same code: {len(same)}")  # fmt: skip
        panel.axhline(1, color=style.BLACK, linewidth=0.6)
        panel.set_title(column.replace(" ", ", "), pad=10)  # above the legend
        panel.set_xscale("log")
        style.decade_axis(panel.xaxis)
        panel.legend(loc="lower left", bbox_to_anchor=(0, 1), fontsize=5.5, borderaxespad=0.1, borderpad=0.1, handlelength=0.8,
                     handletextpad=0.3, columnspacing=0.8, ncols=6)  # fmt: skip
    for panel in axes[len(columns) :]:
        panel.set_visible(False)
    for panel in axes[max(0, len(columns) - 2) : len(columns)]:
        panel.set_xlabel("time in the faster run, µs")
    for panel in axes[::2]:
        panel.set_ylabel("time of B over A")
    if told := textwrap.wrap(" ".join(machines(compared)), 150):
        drawn.set_size_inches(style.DOUBLE, drawn.get_size_inches()[1] + 0.13 * len(told))
        drawn.suptitle("\n".join(told), fontsize=7.5, x=0.01, ha="left")
    style.footer(drawn, [f"{side}: {_from(run)}" for side, run in (("A", compared.a), ("B", compared.b))])
    return drawn
