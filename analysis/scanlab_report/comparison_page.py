"""The page of a comparison: its outcome in sentences, machines, a table, lists, a figure."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from scanlab_report.comparison import (
    FASTER,
    NEITHER,
    NO_THRESHOLD,
    ONLY_A,
    ONLY_B,
    SLOWER,
    TOO_FEW,
    VERDICTS,
    Comparison,
    lone,
    moved,
)
from scanlab_report.console import count
from scanlab_report.data import File
from scanlab_report.formats import Column, Table, code, plain, significant, size, with_interval
from scanlab_report.intervals import Interval
from scanlab_report.sources import source_of

if TYPE_CHECKING:  # matplotlib takes half a second, which the page alone does not
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ENVIRONMENT = ["device", "driver", "toolkit", "cccl", "cccl_newest", "compiler", "ecc"]
_ENVIRONMENT += ["sm_clock_mhz_max", "cpu", "git_commit", "git_dirty", "argv"]
"""Two runs may differ in these besides their times."""
_CODE = ("variant", "id", "scan", "benchmark", "case")
"""Columns whose values are names of code."""
_STEP = 10**0.25
"""The band of a figure is drawn in steps of time, four per decade."""


def _from(run: File) -> str:
    """Where a run is from, in one line."""
    return source_of([run], origin="").line()


def _percent(fraction: float) -> str:
    return f"{significant(100 * fraction, 2)}%"


def summary(compared: Comparison) -> list[str]:
    """The outcome, in sentences."""
    counts, both = compared.cases["verdict"].value_counts(), compared.both
    outcome = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if verdict in counts)
    sentences = [f"{count(len(both), 'case')} in both, B against A: {outcome}."]
    sentences += [*machines(compared), *compared.remarks]
    low, high = both["threshold"].min(), both["threshold"].max()
    if low <= high:  # neither is NaN: some are known
        wider = f" to {_percent(high)}, the shorter the time, the wider" if high > low else ""
        origin = f", {compared.origin}" if compared.origin else ""
        sentences.append(f"The threshold is {_percent(low)}{wider}{origin}.")
    unknown = both[both["threshold"].isna()]
    if len(unknown):
        where = " and ".join(sorted(set(unknown["on"])))
        sentences.append(
            f"Of {count(len(unknown), 'case')} on the {where} no noise is on record: they "
            "have no threshold and no verdict, so that any of them may be slower. "
            "--threshold gives them one for now, a pair of runs of one commit "
            "(--record-noise) for good."
        )
    few = both[both["verdict"] == TOO_FEW]
    if len(few):
        fewest = int(few[["count_a", "count_b"]].min(axis=None))
        sentences.append(
            f"Of {count(len(few), 'case')} the repetitions are too few for any verdict "
            f"(the fewest: {fewest}): five a run is the least, and more are needed where the p of "
            "runs that do not overlap at all is not under 0.05 after the correction."
        )
    p, cases = lone(compared)
    if p >= 0.05 and cases <= len(both):
        sentences.append(
            "With so few repetitions a single case cannot be told from chance (its "
            f"corrected p is {significant(p, 2)} at best): "
            f"{count(cases, 'case')} must differ at once. More repetitions would help."
        )
    return sentences


def machines(compared: Comparison) -> list[str]:
    """Return sentences on how far apart the machines are. Code that is the same in both runs shows
    it, if it differs by more than noise; a sentence states if there is no such code."""
    sentences, parts, rows = [], [], moved(compared)
    for (on_host, column), group in rows.groupby([rows["column"] == "host", "column"]):
        ends = (group["ratio"].max() - 1, "longer"), (1 - group["ratio"].min(), "less")
        by = " and ".join(f"up to {_percent(most)} {way}" for most, way in ends if most > 0)
        times = [significant(end, 2) for end in group["launch_us"].agg(["min", "max"])]
        at = f"at {' to '.join(dict.fromkeys(times))} µs a launch"
        where = "on the host" if on_host else f"timed {column.replace(' ', ', ')}, {at}"
        variants = ", ".join(sorted(set(group["variant"])))
        parts.append(f"{by} ({variants}: {count(len(group), 'case')} {where})")
    if parts:
        sentences.append(
            "The machines differ, or the way of timing: in B, code that is the same in both takes "
            f"{'; '.join(parts)}. Slower or faster is only what goes beyond that."
        )
    called = compared.with_verdict(SLOWER, FASTER)
    lacking = called["median"].isna().sum() if compared.a.device == compared.b.device else 0
    if lacking:
        sentences.append(
            f"For {lacking} of the {count(len(called), 'case')} that "
            f"{'is' if len(called) == 1 else 'are'} slower or faster no code that is the "
            "same in both was timed beside: whether the machine is the cause cannot be told."
        )
    return sentences


def table(compared: Comparison) -> Table:
    """The cases that are slower or faster, the largest change first."""
    forms = dict.fromkeys(_CODE, code) | {"items": size}
    rows = compared.with_verdict(SLOWER, FASTER)
    apart = [name for name in compared.case if name in _CODE or rows[name].nunique() > 1]
    fewest = rows[["count_a", "count_b"]].min(axis=1)
    ratios = zip(rows["ratio"], rows["low"], rows["high"], fewest, strict=True)
    unchanged = [
        f"{significant(least)} to {significant(most)}" if pd.notna(least) else "—"
        for least, most in zip(rows["least"], rows["most"], strict=True)
    ]
    rows = rows.assign(
        ratio=[Interval(*values) for values in ratios],
        median_a_us=rows["median_a_ns"] / 1e3,
        median_b_us=rows["median_b_ns"] / 1e3,
        unchanged=unchanged,
    )
    small = lambda p: "< 0.000001" if p < 1e-6 else significant(p, 2)
    columns = [
        Column("verdict", "B is", right=False),
        *(Column(name, name, forms.get(name, str), right=name == "items") for name in apart),
        *[Column("by", "by", right=False)] * ("program" in compared.a.context),
        Column("median_a_us", "A, µs", significant),
        Column("median_b_us", "B, µs", significant),
        Column("ratio", "B / A", with_interval),
        Column("p_corrected", "p, corrected", small),
        Column("threshold", "threshold", _percent),
        Column("unchanged", "B / A of unchanged code"),
    ]
    caption = (
        "Cases that are slower or faster in B than in A: medians, and the ratio of B to A "
        "with its 95% interval."
    )
    if compared.cases["unchanged"].any():
        caption += (
            " The last column is the ratio of unchanged code, timed alike and for about as long."
        )
    else:
        columns.pop()
    return Table(caption, columns, rows)


def page(compared: Comparison) -> str:
    """The whole page, in Markdown."""
    runs = (("A", compared.a), ("B", compared.b))
    parts = [
        "# B against A",
        "\\\n".join(f"{side}: {code(run.path)}: {plain(_from(run))}" for side, run in runs),
        " ".join(summary(compared)),
    ]
    stated = {key: [str(run.context.get(key, "")) for _, run in runs] for key in _ENVIRONMENT}
    if different := [
        f"- {key}: {code(a) or 'unknown'} (A), {code(b) or 'unknown'} (B)"
        for key, (a, b) in stated.items()
        if a != b
    ]:
        parts.append("Not the same in both:\n\n" + "\n".join(different))
    if len((changes := table(compared)).rows):
        parts.append(changes.markdown().strip())
    for verdict, heading in ((ONLY_A, "Only in A"), (ONLY_B, "Only in B")):
        if len(rows := compared.with_verdict(verdict)):
            parts.append(f"## {heading}\n\n" + "\n".join(listed(rows, compared.case)))
    return "\n\n".join(parts) + "\n"


def listed(rows: pd.DataFrame, case: list[str]) -> list[str]:
    """List the cases of one file. Cases that differ in size alone share a line; the CSV has every
    single case."""
    by = [name for name in case if name not in ("items", "bytes")]
    forms = {"benchmark": code, "case": code, "device": "on device {}".format}
    lines = []
    for key, group in rows.groupby(by, sort=by != case):
        words = [
            forms.get(name, str if isinstance(value, str) else f"{name} {{}}".format)(value)
            for name, value in zip(by, key, strict=True)
            if value not in ("", 0)
        ]
        line = f"- {' '.join(words)}"
        if by != case:
            bare = "bytes" in group and not group["items"].any()
            form = "{:,} bytes".format if bare else size
            sizes = [form(value) for value in sorted(group["bytes" if bare else "items"])]
            several = f"{len(sizes)} sizes, {sizes[0]} to {sizes[-1]}"
            line += f": {several if len(sizes) > 1 else sizes[0]}"
        lines.append(line)
    return lines


def figure(compared: Comparison) -> Figure:
    """Draw the ratio of every case of both runs against its time, with a band of the ratios that
    are neither slower nor faster. One panel per column."""
    from scanlab_report import marks, style  # matplotlib takes half a second

    looks = {
        NEITHER: (style.GREY, ".", 2.0),
        TOO_FEW: (style.GREY, "x", 2.5),
        NO_THRESHOLD: (style.ORANGE, "+", 3.0),
        FASTER: (style.BLUE, "v", 4.0),
        SLOWER: (style.VERMILLION, "^", 4.0),
    }
    both = compared.both
    columns = sorted(set(both["column"]))
    lines = max(1, -(-len(columns) // 2))  # one, empty, where no case is in both
    across = 1 if len(columns) == 1 else 2
    drawn, axes = style.figure(style.DOUBLE, 0.5 + 1.7 * lines, across, lines)
    for panel, column in zip(axes, columns, strict=False):
        cases = both[both["column"] == column]
        for step, band in cases.groupby(np.floor(np.log(cases["time_us"]) / np.log(_STEP))):
            ends = band["faster_below"].min(), band["slower_above"].max()
            panel.fill_between(
                [_STEP**step, _STEP ** (step + 1)], *ends, color="#EEEEEE", linewidth=0
            )
        for verdict, (colour, marker, width) in looks.items():
            rows = cases[cases["verdict"] == verdict]
            if verdict in (FASTER, SLOWER):
                ends = rows["low"], rows["high"]
                marks.error_bars(panel, rows["time_us"], rows["ratio"], *ends, colour)
            look = {"marker": marker, "markersize": width, "color": colour, "markeredgewidth": 0.5}
            _points(panel, rows, verdict, **look)
        same = cases[cases["unchanged"].astype(bool)]
        ring = {"marker": "o", "markersize": 3.5, "color": style.GREEN, "markeredgewidth": 0.4}
        _points(panel, same, "the same code", markerfacecolor="none", **ring)
        panel.axhline(1, color=style.BLACK, linewidth=0.6)
        panel.set_title(column.replace(" ", ", "), pad=10)  # above the legend
        panel.set_xscale("log")
        marks.decade_axis(panel.xaxis)
        spaces = {"borderaxespad": 0.1, "borderpad": 0.1, "columnspacing": 0.8}
        spaces |= {"handlelength": 0.8, "handletextpad": 0.3}
        panel.legend(loc="lower left", bbox_to_anchor=(0, 1), fontsize=5.5, ncols=6, **spaces)
    for panel in axes[len(columns) :]:
        panel.set_visible(False)
    for panel in axes[max(0, len(columns) - 2) : len(columns)]:
        panel.set_xlabel("time in the faster run, µs")
    for panel in axes[::2]:
        panel.set_ylabel("time of B over A")
    if wrapped := textwrap.wrap(" ".join(machines(compared)), 150):
        drawn.set_size_inches(style.DOUBLE, drawn.get_size_inches()[1] + 0.13 * len(wrapped))
        drawn.suptitle("\n".join(wrapped), fontsize=7.5, x=0.01, ha="left")
    style.footer(drawn, [f"A: {_from(compared.a)}", f"B: {_from(compared.b)}"])
    return drawn


def _points(panel: Axes, rows: pd.DataFrame, name: str, **look: Any) -> None:
    if len(rows):
        label = f"{name}: {len(rows)}"
        panel.plot(rows["time_us"], rows["ratio"], linestyle="none", label=label, **look)
