"""The page of a comparison: its outcome in sentences, machines, a table, lists, a figure."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

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
    from matplotlib.figure import Figure

_ENVIRONMENT = (
    "device",
    "driver",
    "toolkit",
    "cccl",
    "cccl_newest",
    "compiler",
    "ecc",
    "sm_clock_mhz_max",
    "cpu",
    "git_commit",
    "git_dirty",
    "argv",
)
"""Two runs may differ in these besides their times."""


_SELF_EVIDENT = frozenset({"variant", "id", "type", "op", "mode"})
"""Columns that name a case and need no heading."""


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
    sentences = [
        f"{count(len(both), 'case')} in both, B against A: {outcome}.",
        *machines(compared),
        *compared.remarks,
    ]
    low, high = both["threshold"].min(), both["threshold"].max()
    if low <= high:  # neither is NaN: some are known
        wider = f" to {_percent(high)}, the shorter the time, the wider" if high > low else ""
        sentences.append(
            f"The threshold is {_percent(low)}{wider}{compared.origin and f', {compared.origin}'}."
        )
    unknown = both[both["threshold"].isna()]
    if len(unknown):
        where = " and ".join(sorted(set(unknown["on"])))
        sentences.append(
            f"Of {count(len(unknown), 'case')} on the {where} no noise is on record: they "
            f"have no threshold and no verdict, so that any of them may be slower. "
            "--threshold gives them one for now, a pair of runs of one commit "
            "(--record-noise) for good."
        )
    few = both[both["verdict"] == TOO_FEW]
    if len(few):
        sentences.append(
            f"Of {count(len(few), 'case')} the repetitions are too few for any verdict "
            f"(the fewest: "
            f"{int(few[['count_a', 'count_b']].min(axis=1).min())}): five a run is the "
            f"least, and more are needed where the p of "
            "runs that do not overlap at all is not under 0.05 after the correction."
        )
    p, cases = lone(compared)
    if p >= 0.05 and cases <= len(both):
        sentences.append(
            f"With so few repetitions a single case cannot be told from chance (its "
            f"corrected p is {significant(p, 2)} at best): "
            f"{count(cases, 'case')} must differ at once. More repetitions would help."
        )
    return sentences


def machines(compared: Comparison) -> list[str]:
    """Return sentences on how far apart the machines are. Code that is the same in both runs shows
    it, if it differs by more than noise; a sentence states if there is no such code."""
    called = compared.both[compared.both["verdict"].isin((SLOWER, FASTER))]
    lacking = called["median"].isna().sum() if compared.a.device == compared.b.device else 0
    sentences = (
        [
            f"For {lacking} of the {count(len(called), 'case')} that "
            f"{'is' if len(called) == 1 else 'are'} slower or faster no code that is the "
            "same in both was timed beside: whether the machine is the cause cannot be told."
        ]
        if lacking
        else []
    )
    parts = []
    for column, rows in sorted(
        moved(compared).groupby("column"), key=lambda group: group[0] == "host"
    ):
        longer, shorter = rows["ratio"].max() - 1, 1 - rows["ratio"].min()
        by = " and ".join(
            f"up to {_percent(most)} {way}"
            for most, way in ((longer, "longer"), (shorter, "less"))
            if most > 0
        )
        times = " to ".join(
            dict.fromkeys(
                significant(end, 2) for end in (rows["launch_us"].min(), rows["launch_us"].max())
            )
        )
        where = (
            " on the host"
            if column == "host"
            else f" timed {column.replace(' ', ', ')}, at {times} µs a launch"
        )
        parts.append(
            f"{by} ({', '.join(sorted(set(rows['variant'])))}: {count(len(rows), 'case')}{where})"
        )
    if not parts:
        return sentences
    return [
        (
            f"The machines differ, or the way of timing: in B, code that is the same in both "
            f"takes {'; '.join(parts)}. Slower or faster is only what goes beyond that."
        ),
        *sentences,
    ]


def table(compared: Comparison) -> Table:
    """The cases that are slower or faster, the largest change first."""

    forms = dict.fromkeys(("variant", "id", "scan", "benchmark", "case"), code) | {"items": size}
    rows = pd.concat([compared.with_verdict(SLOWER), compared.with_verdict(FASTER)])
    names = [
        name
        for name in compared.case
        if name in ("variant", "id", "benchmark", "case") or rows[name].nunique() > 1
    ] or compared.case[:1]
    for side in ("a", "b"):
        rows[f"median_{side}_us"] = rows[f"median_{side}_ns"] / 1e3
    ends = (rows[name] for name in ("ratio", "low", "high"))
    rows["ratio"] = [
        Interval(*values)
        for values in zip(*ends, rows[["count_a", "count_b"]].min(axis=1), strict=True)
    ]
    rows["unchanged"] = [
        f"{significant(least)} to {significant(most)}" if pd.notna(least) else "—"
        for least, most in zip(rows["least"], rows["most"], strict=True)
    ]
    any_unchanged = bool(compared.cases["unchanged"].any())
    small = lambda p: "< 0.000001" if p < 1e-6 else significant(p, 2)
    return Table(
        (
            "Cases that are slower or faster in B than in A: medians, and the ratio of B to A "
            "with its 95% interval."
        )
        + (
            " The last column is the ratio of unchanged code, timed alike and for about as long."
            if any_unchanged
            else ""
        ),
        (
            Column("verdict", "B is", right=False),
            *(Column(name, name, forms.get(name, str), right=name == "items") for name in names),
            *((Column("by", "by", right=False),) if "by" in rows else ()),
            Column("median_a_us", "A, µs", significant),
            Column("median_b_us", "B, µs", significant),
            Column("ratio", "B / A", with_interval),
            Column("p_corrected", "p, corrected", small),
            Column("threshold", "threshold", _percent),
            *((Column("unchanged", "B / A of unchanged code"),) if any_unchanged else ()),
        ),
        rows,
    )


def page(compared: Comparison) -> str:
    """The whole page, in Markdown."""
    runs = (("A", compared.a), ("B", compared.b))
    parts = [
        "# B against A",
        "\\\n".join(f"{side}: {code(run.path)}: {plain(_from(run))}" for side, run in runs),
        " ".join(summary(compared)),
    ]
    environment = [
        (key, *(str(run.context.get(key, "")) for _, run in runs)) for key in _ENVIRONMENT
    ]
    if different := [
        f"- {key}: {code(a) or 'unknown'} (A), {code(b) or 'unknown'} (B)"
        for key, a, b in environment
        if a != b
    ]:
        parts.append("Not the same in both:\n\n" + "\n".join(different))
    if len(compared.with_verdict(SLOWER)) or len(compared.with_verdict(FASTER)):
        parts.append(table(compared).markdown().strip())
    for verdict, heading in ((ONLY_A, "Only in A"), (ONLY_B, "Only in B")):
        if len(rows := compared.with_verdict(verdict)):
            parts.append(f"## {heading}\n\n" + "\n".join(listed(rows, compared.case)))
    return "\n\n".join(parts) + "\n"


def listed(rows: pd.DataFrame, case: list[str]) -> list[str]:
    """List the cases of one file. Cases that differ in size alone share a line; the CSV has every
    single case."""
    if "items" not in rows:
        return [
            "- "
            + " ".join(
                filter(
                    None,
                    (code(row.benchmark), code(row.case), row.device and f"on device {row.device}"),
                )
            )
            for row in rows.itertuples()
        ]
    by = [name for name in case if name not in ("items", "bytes")]
    lines = []
    for key, group in rows.groupby(by, sort=True):
        column, form = (
            ("bytes", lambda value: f"{value:,} bytes")
            if not group["items"].any() and "bytes" in group
            else ("items", size)
        )
        sizes = sorted(group[column])
        words = [
            str(value) if name in _SELF_EVIDENT or isinstance(value, str) else f"{name} {value}"
            for name, value in zip(by, key, strict=True)
            if value not in ("", 0)
        ]
        lines.append(
            f"- {' '.join(words)}: "
            + (
                form(sizes[0])
                if len(sizes) == 1
                else f"{len(sizes)} sizes, {form(sizes[0])} to {form(sizes[-1])}"
            )
        )
    return lines


def figure(compared: Comparison) -> Figure:
    """Draw the ratio of every case of both runs against its time, with a band of the ratios that
    are neither slower nor faster. One panel per column."""
    from scanlab_report import style  # matplotlib takes half a second

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
    drawn, axes = style.figure(
        style.DOUBLE, 0.5 + 1.7 * lines, 1 if len(columns) == 1 else 2, lines
    )
    for panel, column in zip(axes, columns, strict=False):
        cases = both[both["column"] == column]
        for step, band in cases.groupby(np.floor(np.log(cases["time_us"]) / np.log(_STEP))):
            panel.fill_between(
                [_STEP**step, _STEP ** (step + 1)],
                band["faster_below"].min(),
                band["slower_above"].max(),
                color="#EEEEEE",
                linewidth=0,
            )
        for verdict, (colour, marker, width) in looks.items():
            rows = cases[cases["verdict"] == verdict]
            if verdict in (FASTER, SLOWER):
                style.error_bars(
                    panel, rows["time_us"], rows["ratio"], rows["low"], rows["high"], colour
                )
            if len(rows):
                panel.plot(
                    rows["time_us"],
                    rows["ratio"],
                    linestyle="none",
                    marker=marker,
                    markersize=width,
                    color=colour,
                    markeredgewidth=0.5,
                    label=f"{verdict}: {len(rows)}",
                )
        if len(same := cases[cases["unchanged"].astype(bool)]):
            panel.plot(
                same["time_us"],
                same["ratio"],
                linestyle="none",
                marker="o",
                markersize=3.5,
                color=style.GREEN,
                markerfacecolor="none",
                markeredgewidth=0.4,
                label=f"the same code: {len(same)}",
            )
        panel.axhline(1, color=style.BLACK, linewidth=0.6)
        panel.set_title(column.replace(" ", ", "), pad=10)  # above the legend
        panel.set_xscale("log")
        style.decade_axis(panel.xaxis)
        panel.legend(
            loc="lower left",
            bbox_to_anchor=(0, 1),
            fontsize=5.5,
            borderaxespad=0.1,
            borderpad=0.1,
            handlelength=0.8,
            handletextpad=0.3,
            columnspacing=0.8,
            ncols=6,
        )
    for panel in axes[len(columns) :]:
        panel.set_visible(False)
    for panel in axes[max(0, len(columns) - 2) : len(columns)]:
        panel.set_xlabel("time in the faster run, µs")
    for panel in axes[::2]:
        panel.set_ylabel("time of B over A")
    if wrapped := textwrap.wrap(" ".join(machines(compared)), 150):
        drawn.set_size_inches(style.DOUBLE, drawn.get_size_inches()[1] + 0.13 * len(wrapped))
        drawn.suptitle("\n".join(wrapped), fontsize=7.5, x=0.01, ha="left")
    style.footer(
        drawn, [f"{side}: {_from(run)}" for side, run in (("A", compared.a), ("B", compared.b))]
    )
    return drawn
