"""A comparison for people: what it found in sentences, and a table of what differs."""

from __future__ import annotations

import pandas as pd

from scanlab_report.commands.compare.comparison import FASTER, ONLY_A, ONLY_B, SLOWER, TOO_FEW, VERDICTS, Comparison
from scanlab_report.console import count
from scanlab_report.layout.table_formats import Column, Table, code, plain, significant, size, with_interval
from scanlab_report.read.records import Run
from scanlab_report.select.provenance import run_provenance
from scanlab_report.stats.intervals import Interval

_ENVIRONMENT = ("device", "driver", "toolkit", "cccl", "cccl_newest", "compiler", "ecc", "sm_clock_mhz_max", "cpu", "git_commit", "git_dirty",
                "argv")  # fmt: skip
"""What two runs may differ in besides their times."""
_SELF_EVIDENT = frozenset({"variant", "id", "type", "op", "mode"})
"""What names a case and needs no heading."""
_FORMS = {"variant": code, "id": code, "scan": code, "benchmark": code, "case": code, "items": size}


def line(run: Run) -> str:
    """Where a run is from, in one line."""
    return run_provenance(str(run.file), [run], "").line()


def summary(comparison: Comparison) -> list[str]:
    """What was found, in sentences."""
    counts = comparison.cases["verdict"].value_counts()
    both = comparison.both
    found = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if verdict in counts)
    said = [f"{count(len(both), 'case')} in both, B against A: {found}.", *machines(comparison), *comparison.throttling, *comparison.remarks]
    low, high = both["threshold"].min(), both["threshold"].max()
    if low <= high:  # neither is NaN: some are known
        said.append(f"The threshold is {_percent(low)}{f' to {_percent(high)}, the shorter the time, the wider' if high > low else ''}{comparison.origin and f', {comparison.origin}'}.")
    unknown = both[both["threshold"].isna()]
    if len(unknown):
        where = " and ".join(sorted(set(unknown["on"])))
        said.append(f"Of {count(len(unknown), 'case')} on the {where} no noise is on record: they have no threshold and no verdict, so that any of them may be slower. "
                    "--threshold gives them one for now, a pair of runs of one commit (--record-noise) for good.")
    if (both["verdict"] == TOO_FEW).any():
        few = both[both["verdict"] == TOO_FEW]
        said.append(f"Of {count(len(few), 'case')} the repetitions are too few for any verdict (the fewest: "
                    f"{few[['count_a', 'count_b']].min(axis=1).min()}): five a run is the least, and more are needed where the p of "
                    "runs that do not overlap at all is not under 0.05 after the correction.")  # fmt: skip
    p, cases = comparison.lone()
    if p >= 0.05 and cases <= len(both):
        said.append(f"With so few repetitions a single case cannot be told from chance (its corrected p is {significant(p, 2)} at best): "
                    f"{count(cases, 'case')} must differ at once. More repetitions would help.")  # fmt: skip
    return said


def machines(comparison: Comparison) -> list[str]:
    """How far apart the machines are by code that is the same in both, if farther than noise, or that no such code says it."""
    called = comparison.both[comparison.both["verdict"].isin((SLOWER, FASTER))]
    lacking = called["median"].isna().sum() if comparison.a.device == comparison.b.device else 0
    said = [f"For {lacking} of the {count(len(called), 'case')} that {'is' if len(called) == 1 else 'are'} slower or faster no code that is the "
            "same in both was timed beside: whether the machine is the cause cannot be told."] if lacking else []  # fmt: skip
    moved = comparison.moved
    if moved.empty:
        return said
    parts = []
    for column, of in sorted(moved.groupby("column"), key=lambda group: group[0] == "host"):
        longer, shorter = of["ratio"].max() - 1, 1 - of["ratio"].min()
        by = " and ".join(f"up to {_percent(most)} {way}" for most, way in ((longer, "longer"), (shorter, "less")) if most > 0)
        times = " to ".join(dict.fromkeys(significant(time, 2) for time in (of["launch_us"].min(), of["launch_us"].max())))
        where = " on the host" if column == "host" else f" timed {column.replace(' ', ', ')}, at {times} µs a launch"
        parts.append(f"{by} ({', '.join(sorted(set(of['variant'])))}: {count(len(of), 'case')}{where})")
    return [f"The machines differ, or the way of timing: in B, code that is the same in both takes {'; '.join(parts)}. Slower or faster is only what goes beyond that.", *said]


def differences(comparison: Comparison) -> list[str]:
    """What else is not the same in the two runs."""
    of = [(key, *(str(run.context.get(key, "")) for run in (comparison.a, comparison.b))) for key in _ENVIRONMENT]
    return [f"{key}: {code(a) or 'unknown'} (A), {code(b) or 'unknown'} (B)" for key, a, b in of if a != b]


def table(comparison: Comparison) -> Table:
    """What is slower or faster, the largest change first."""
    rows = pd.concat([comparison.of(SLOWER), comparison.of(FASTER)])
    shown = [name for name in comparison.case if name in ("variant", "id", "benchmark", "case") or rows[name].nunique() > 1] or comparison.case[:1]
    for side in ("a", "b"):
        rows[f"median_{side}_us"] = rows[f"median_{side}_ns"] / 1e3
    rows["ratio"] = [Interval(*of) for of in zip(rows["ratio"], rows["low"], rows["high"], rows[["count_a", "count_b"]].min(axis=1), strict=True)]
    rows["unchanged"] = [f"{significant(least)} to {significant(most)}" if pd.notna(least) else "—" for least, most in zip(rows["least"], rows["most"], strict=True)]
    beside = bool(comparison.cases["unchanged"].any())
    return Table(
        caption="Cases that are slower or faster in B than in A: medians, and the ratio of B to A with its 95% interval."
                + (" The last column is the ratio of unchanged code, timed alike and for about as long." if beside else ""),
        columns=(
            Column("verdict", "B is", right=False),
            *(Column(name, name, _FORMS.get(name, str), right=name == "items") for name in shown),
            *((Column("by", "by", right=False),) if "by" in rows else ()),
            Column("median_a_us", "A, µs", significant),
            Column("median_b_us", "B, µs", significant),
            Column("ratio", "B / A", with_interval),
            Column("p_corrected", "p, corrected", _small),
            Column("threshold", "threshold", _percent),
            *((Column("unchanged", "B / A of unchanged code", lambda text: text),) if beside else ()),
        ),
        rows=rows,
    )


def markdown(comparison: Comparison) -> str:
    """The whole page."""
    parts = ["# B against A", "\\\n".join(f"{side}: {code(run.file)}: {plain(line(run))}" for side, run in (("A", comparison.a), ("B", comparison.b))),
             " ".join(summary(comparison))]  # fmt: skip
    if different := differences(comparison):
        parts.append("Not the same in both:\n\n" + "\n".join(f"- {text}" for text in different))
    if len(comparison.of(SLOWER)) or len(comparison.of(FASTER)):
        parts.append(table(comparison).markdown().strip())
    for verdict in (ONLY_A, ONLY_B):
        if len(rows := comparison.of(verdict)):
            parts.append(f"## {verdict.capitalize().replace(' a', ' A').replace(' b', ' B')}\n\n{_listed(rows, comparison.case)}")
    return "\n\n".join(parts) + "\n"


def _listed(rows: pd.DataFrame, case: list[str]) -> str:
    """Cases of one file, those that differ in their size alone on one line; every single one is in the CSV."""
    if "items" not in rows:
        return "\n".join("- " + " ".join(filter(None, (code(of.benchmark), code(of.case), of.device and f"on device {of.device}"))) for of in rows.itertuples())
    by = [name for name in case if name not in ("items", "bytes")]
    lines = []
    for key, of in rows.groupby(by, sort=True):
        measured, form = ("bytes", lambda value: f"{value:,} bytes") if not of["items"].any() and "bytes" in of else ("items", size)
        sizes = sorted(of[measured])
        said = [str(value) if name in _SELF_EVIDENT or isinstance(value, str) else f"{name} {value}" for name, value in zip(by, key, strict=True) if value not in ("", 0)]
        lines.append(f"- {' '.join(said)}: " + (form(sizes[0]) if len(sizes) == 1 else f"{len(sizes)} sizes, {form(sizes[0])} to {form(sizes[-1])}"))
    return "\n".join(lines)


def csv(comparison: Comparison) -> str:
    """One row a case of either run; times in nanoseconds, ratios and the threshold as fractions."""
    return comparison.cases.to_csv(index=False)


def _small(p: float) -> str:
    """Of hundreds of samples the p has hundreds of zeros, which say nothing more."""
    return "< 0.000001" if p < 1e-6 else significant(p, 2)


def _percent(fraction: float) -> str:
    return f"{significant(100 * fraction, 2)}%"
