"""Odd sizes over several processes, another stopwatch, and bits that vary."""

from typing import Any

import pandas as pd

from scanlab_report.chapters.head_to_head import FILES
from scanlab_report.data import Data
from scanlab_report.formats import Table, alike, code, digits, size, whole, with_interval
from scanlab_report.groups import BEST, HEADER, KEY, LOSS, TIE, TYPES, WIN, cub_as_shipped
from scanlab_report.intervals import median_interval
from scanlab_report.pick import newest, origin_first, pick
from scanlab_report.shown import Shown, shown, table
from scanlab_report.tables import ODD_SIZES
from scanlab_report.versus import contests, on_first, or_lacking, outcome, spans


def odd_cases(data: Data) -> pd.DataFrame:
    """The cases of each process of the sweep; arrays are at other addresses in each."""
    lacking = "times of the sweep odd_sizes on a CUDA device"
    usual = lambda rows: pick(rows, settings="")
    cases = on_first(data, "cases", usual, lacking, kinds=[ODD_SIZES])
    return cases.sort_values("file", kind="stable", ignore_index=True)


def over_processes(data: Data, cases: pd.DataFrame, variant: str) -> pd.DataFrame:
    """Return one row per case. `rival`: the CUB as shipped with the least median over processes;
    `ratio`: its time over that of the variant. A process has a single ratio, of medians of its own
    samples, so the interval covers what differs between processes."""
    rows = []
    every = cases.pivot(index=[*KEY, "file"], columns="variant", values="median_ns")
    cubs = [cub for cub in cub_as_shipped(data) if cub in every]
    typical = every.groupby(level=KEY).median().reindex(columns=[variant, *cubs])
    typical = typical.dropna(subset=variant).dropna(subset=cubs, how="all")
    least = typical[cubs].idxmin(axis="columns").to_dict()
    for key, medians in every.groupby(level=KEY):
        if rival := least.get(key):
            ratios = (medians[rival] / medians[variant]).dropna()
            ratio, spread = median_interval(ratios), ratios.max() / ratios.min() - 1
            rows.append((variant, *key, rival, ratio, spread, outcome(ratio)))
    columns = ["variant", *KEY, "rival", "ratio", "spread", "outcome"]
    return pd.DataFrame(rows, columns=columns)


@table(ODD_SIZES)
def odd_sizes(data: Data) -> Shown:
    """best and the header against CUB as shipped at random odd sizes, in several processes."""
    timed = odd_cases(data)
    cases = pd.concat([over_processes(data, timed, v) for v in (BEST, HEADER)], ignore_index=True)
    or_lacking(cases, f"times of {BEST} or {HEADER} beside CUB as shipped in the sweep odd_sizes")
    by_value = lambda ratios: ratios.map(lambda ratio: ratio.value)
    cases = cases.sort_values("ratio", key=by_value, kind="stable", ignore_index=True)
    conditions = [own for _, own in cases.groupby(["variant", "cache", "launch"])]
    rows = [_odd_row("all", own) for own in conditions]
    for own in conditions:
        kinds = own.groupby("type")
        rows += [_odd_row(kind, kinds.get_group(kind)) for kind in TYPES if kind in kinds.groups]
    single = [_odd_row(kind, cases[n : n + 1]) for n, kind in enumerate(cases["type"])]
    columns = [
        *alike(code, "variant"),
        *alike(str, "cache", "launch", "type"),
        *alike(whole, "cases", "won", "equal", "lost"),
        *alike(with_interval, ratio="least × CUB"),
        *alike(size, items="at n"),
        *alike(code, rival="fastest CUB"),
        *alike("{:.1%}".format, "spread"),
    ]
    caption = (
        f"Speed of `{BEST}` and of the header, `{HEADER}`, over the fastest CUB as shipped: "
        f"inclusive sums of {cases['items'].nunique()} random odd sizes, "
        f"{size(cases['items'].min())} to {size(cases['items'].max())}, in "
        f"{max(ratio.count for ratio in cases['ratio'])} processes with arrays at other addresses. "
        "Cases are won or lost if the 95% interval over processes excludes 1. Spread: the largest "
        "change of a ratio from process to process."
    )
    more = ("odd_sizes.csv has a row for each case, too, the least ratio first.",)
    content = Table(caption, columns, pd.DataFrame(rows + single), printed=len(rows), details=more)
    return shown(data, content, caption, timed)


def odd_sizes_short(data: Data) -> Shown:
    """The rows for all types alone."""
    made = odd_sizes(data)
    rows = pick(made.content.rows, type="all")
    return Shown(Table(made.caption, made.content.columns, rows), made.caption, made.sources)


def _odd_row(kind: str, cases: pd.DataFrame) -> dict[str, Any]:
    """Some cases, the least ratio first."""
    least, outcomes = cases.iloc[0], list(cases["outcome"])
    row = {**least[["variant", "cache", "launch", "ratio", "items", "rival"]]}
    row |= {"type": kind, "cases": len(cases), "spread": cases["spread"].max()}
    names = {"won": WIN, "equal": TIE, "lost": LOSS}
    return row | {name: outcomes.count(which) for name, which in names.items()}


# ------------------------------------------------------------------- another stopwatch, and bits


def beside_nvbench(data: Data) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """The cases that nvbench timed as well, with its time over ours as `ratio`; both sources."""
    cases, theirs = contests(data), newest(data, "nvbench", "times of nvbench")
    ours = pick(cases, op="plus", mode="inclusive").drop_duplicates(["variant", *KEY])
    columns = ["variant", "type", "items", "cache", "launch"]
    both = theirs[[*columns, "ns"]].merge(ours, on=columns).rename(columns={"ns": "theirs_ns"})
    # The interval is that of our median, since nvbench gives none of its own.
    ends = (both["theirs_ns"] / both[f"{end}_ns"] for end in ("median", "high", "low"))
    return both.assign(ratio=spans(ends, both["count"])), cases, theirs


@table(*FILES, "nvbench")
def stopwatch(data: Data) -> Shown:
    """Times of the same scans by scanlab bench and by NVIDIA's nvbench."""
    both, cases, theirs = beside_nvbench(data)
    order = ["launch", "variant", "type", "items"]
    rows = both.sort_values(order, ascending=[False, True, True, True], ignore_index=True)
    rows = rows.assign(
        timed=rows["launch"].map({"stream": "one by one, cold", "batch": "in batches"}),
        ratio=[ratio.value for ratio in rows["ratio"]],
        ours_us=rows["median_ns"] / 1e3,
        theirs_us=rows["theirs_ns"] / 1e3,
    )
    columns = [*alike(str, "timed"), *alike(code, "variant"), *alike(str, "type")]
    columns += alike(size, items="n")
    times = {"ours_us": "scanlab, µs", "theirs_us": "nvbench, µs"}
    columns += alike(digits(4), **times, ratio="nvbench / scanlab")
    caption = (
        "Times of the same calls by `scanlab bench` and by nvbench, NVIDIA's benchmark library: "
        "inclusive sums, and copies of as many items. One by one: medians after an L2 flush, by "
        "reads in scanlab and by writes in nvbench. In batches: runs enqueued behind a waiting "
        "kernel: all in scanlab, the first two in nvbench, which gives the mean."
    )
    return shown(data, Table(caption, columns, rows), caption, cases, theirs)


@table("repeat")
def bits(data: Data) -> Shown:
    """Cases whose bits vary between runs on the same input."""
    rows = origin_first(data, data["repeats"], "repeated runs of verify")
    is_scan = [data.variants[variant].kind == "scan" for variant in rows["variant"]]
    every, words = rows[is_scan], lambda values: ", ".join(sorted(set(values)))
    varied = every[every["varying"] > 0]
    where = (varied["type"] + " " + varied["op"]).groupby(varied["variant"]).agg(words)
    how = {"types": ("type", words), "cases": ("cases", "sum"), "varying": ("varying", "sum")}
    made = every.groupby("variant").agg(**how, runs=("runs", "min")).reset_index()
    made["where"] = made["variant"].map(where).fillna("nowhere")
    columns = [*alike(code, "variant"), *alike(str, "types")]
    columns += alike(whole, "cases", runs="runs per case", varying="cases that varied")
    columns += alike(str, "where", wrap=26)
    caption = (
        "Repeated runs on the same input, of cases whose results round: the number of cases whose "
        "bits varied between runs (`scanlab verify --repeat`)."
    )
    return shown(data, Table(caption, columns, made), caption, rows)
