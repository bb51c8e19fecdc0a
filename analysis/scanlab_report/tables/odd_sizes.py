"""best and the header against CUB as shipped at random odd sizes, in several processes."""

from __future__ import annotations

from typing import Any

import pandas as pd

from scanlab_report.derive.head_to_head import TYPES
from scanlab_report.derive.odd_sizes import over_processes
from scanlab_report.layout.table_formats import Column, Table, code, records, size, whole, with_interval
from scanlab_report.select.evidence import LOSS, TIE, WIN, TableEvidence
from scanlab_report.select.timings import OddSizes
from scanlab_report.select.variants import BEST, HEADER

NEEDS = {"timed": OddSizes()}
CONDITIONS = ["variant", "cache", "launch"]


def lacks(timed: TableEvidence) -> str:
    return "" if any(len(over_processes(timed, variant)) for variant in (BEST, HEADER)) else f"times of {BEST} or {HEADER} beside CUB as shipped in the sweep odd_sizes"


def build(timed: TableEvidence) -> Table:
    """A row for all types, one for each, and in the CSV alone one for each case, the least ratio first."""
    cases = pd.concat([over_processes(timed, variant) for variant in (BEST, HEADER)], ignore_index=True)
    cases = cases.sort_values("ratio", key=lambda ratios: ratios.map(lambda ratio: ratio.value), kind="stable")
    conditions = [part for _, part in cases.groupby(CONDITIONS)]
    rows = [_row("all", part) for part in conditions]
    rows += [_row(kind, part[part["type"] == kind]) for part in conditions for kind in TYPES if (part["type"] == kind).any()]
    single = [_row(cases["type"].iloc[place], cases.iloc[[place]]) for place in range(len(cases))]
    processes = sorted({ratio.count for ratio in cases["ratio"]})
    return Table(
        caption=f"Speed of `{BEST}` and of the header, `{HEADER}`, over the fastest CUB as shipped. Inclusive sums of {cases['items'].nunique()} random odd sizes, "
        f"{size(cases['items'].min())} to {size(cases['items'].max())}; {' or '.join(map(str, processes))} processes with arrays at other addresses. "
        "Cases are won or lost if the 95% interval over processes excludes 1. Spread: the largest change of a ratio from process to process.",
        columns=(
            Column("variant", "variant", code, right=False),
            Column("cache", "cache", right=False),
            Column("launch", "launch", right=False),
            Column("type", "type", right=False),
            *(Column(name, name, whole) for name in ("cases", "won", "equal", "lost")),
            Column("ratio", "least × CUB", with_interval),
            Column("items", "at n", size),
            Column("rival", "fastest CUB", code, right=False),
            Column("spread", "spread", lambda part: f"{100 * part:.1f}%"),
        ),
        rows=records(rows + single),
        printed=len(rows),
        details=("odd_sizes.csv has a row for each case, too, the least ratio first.",),
    )  # fmt: skip


def short(timed: TableEvidence) -> Table:
    """The rows for all types alone."""
    table = build(timed)
    return Table(table.caption, table.columns, table.rows[table.rows["type"] == "all"])


def _row(kind: str, cases: pd.DataFrame) -> dict[str, Any]:
    """Some cases, the least ratio first."""
    least, outcomes = cases.iloc[0], list(cases["outcome"])
    counts = {name: outcomes.count(outcome) for name, outcome in (("won", WIN), ("equal", TIE), ("lost", LOSS))}
    return {name: least[name] for name in (*CONDITIONS, "ratio", "items", "rival")} | {"type": kind, "cases": len(cases), **counts, "spread": cases["spread"].max()}
