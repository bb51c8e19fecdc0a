"""How scans of one array over several GPUs scale, beside copies, the vendor and bounds."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from scanlab_report import marks, style
from scanlab_report.data import Data, File
from scanlab_report.formats import Table, alike, code, digits, significant, size, whole
from scanlab_report.groups import BEST, STREAM
from scanlab_report.intervals import summarise
from scanlab_report.looks import spare
from scanlab_report.marks import power_of_two
from scanlab_report.pick import Lacking, answering, newest_first, parts, pick
from scanlab_report.shown import Shown, figure, shown, table
from scanlab_report.style import Look
from scanlab_report.tables import MEASURED, RANKS
from scanlab_report.versus import or_lacking, ratios, spans

KIND = ["type", "op", "mode"]
PROBLEM = [*KIND, "ranks", "items", "rows", "inner"]
"""Algorithms that agree in these columns are compared; `items` are those of the whole array."""
SCAN, COPY, READ, VENDOR, TORCH = "scan", "copy_all", "read_all", "nccl_cub", "torch_recurrence"
PLAIN = dict(rows=1, inner=1)
"""An array, and no tensor that is scanned along an axis."""

# -------------------------------------------------------------------------------------- the cases


def several(
    data: Data, enough: Callable[[pd.DataFrame], Any] = len, what: str = "", ranks: int = 0
) -> pd.DataFrame:
    """Return the cases of one device: those measured now, else those of one recorded session with
    `enough`: the one named, or that with most ranks or with the given number of ranks."""
    sessions: dict[Path, list[int]] = {}
    for number in newest_first(data, "distributed"):
        sessions.setdefault(_folder(data.files[number]), []).append(number)

    def fits(folder: Path) -> tuple[bool, bool, bool, int, str]:
        timed = set(pick(data["distributed"], file=sessions[folder])["ranks"])
        most, newest = max(timed), data.files[sessions[folder][0]].date
        return folder.name == data.named, most == ranks, ranks in timed, most, newest

    for folder in sorted(sessions, key=fits, reverse=True):
        numbers = sessions[folder]
        cases = data.once(("several", *numbers), lambda: _session(data, numbers))
        if enough(cases):
            return cases
    raise Lacking(f"times of scans over several ranks{what}")


def _folder(file: File) -> Path:
    """The session: what was measured now is one."""
    return Path() if file.origin == MEASURED else file.path.parent


def _session(data: Data, numbers: Sequence[int]) -> pd.DataFrame:
    """Each case once, and each problem of `best`, warm and in a stream, in its newest file."""
    rows = pick(data["distributed"], file=numbers)
    cases = summarise(answering(data, rows, "distributed"), RANKS)
    place = lambda file: (file.device, file.origin, _folder(file))
    first, every = place(data.files[numbers[0]]), data.every or data
    best = every.rows("scan", lambda file: place(file) == first)
    best = pick(best, variant=BEST, settings="", cache="warm", launch=STREAM)
    if len(best):
        date = best["file"].map(lambda number: (data.files[number].date, number))
        newest = date.groupby([best[c] for c in (*KIND, "items")]).transform("max")
        best = summarise(best[date == newest].assign(ranks=1, **PLAIN), PROBLEM)
        best = best.assign(algorithm=BEST, kind=BEST, on="gpus", **PLAIN)
        cases = pd.concat([cases, best[cases.columns]], ignore_index=True)
    per_rank, rate = cases["items"] / cases["ranks"], cases["bytes"] / cases["median_ns"]
    return cases.assign(items_per_rank=per_rank, gb_per_s=rate)


def scaling(data: Data) -> pd.DataFrame:
    """The cases of a session with scans over several numbers of ranks."""
    enough = lambda cases: pick(cases, kind=SCAN, **PLAIN)["ranks"].nunique() > 1
    return pick(several(data, enough, ", of several ranks"), **PLAIN)


def folding(data: Data) -> pd.DataFrame:
    """The cases of a session with several states per aggregate."""
    return several(data, lambda cases: len(folds(cases)), ", of several states")


def folds(cases: pd.DataFrame) -> pd.DataFrame:
    """The scans that were timed with several `states` per aggregate, all else being equal.
    `tells`: what the GPUs tell each other; `as_ranks`: the number of ranks with as many states."""
    rows, number = compared(cases), r"\bstates=(\d+)\b"
    settings = rows["settings"].str
    rows["states"] = pd.to_numeric(settings.extract(number, expand=False))
    rows["others"] = settings.replace(number, "", regex=True)
    rows["tells"] = settings.extract(r"\btells=(\w+)", expand=False).fillna("")
    rows = rows[rows.groupby([*RANKS[:1], *PROBLEM, "others"])["states"].transform("nunique") > 1]
    rows = rows.assign(as_ranks=(rows["ranks"] * rows["states"]).astype(int))
    return rows.sort_values([*PROBLEM, "algorithm", "tells", "states"], ignore_index=True)


def usual(cases: pd.DataFrame) -> pd.DataFrame:
    """Each algorithm with the settings with which most cases were timed; of equals, the first."""
    counts = cases.groupby(["algorithm", "settings"]).size()
    first = counts.sort_values(ascending=False, kind="stable").reset_index()
    return cases.merge(first.drop_duplicates("algorithm")[["algorithm", "settings"]])


def main_kind(rows: pd.DataFrame) -> pd.DataFrame:
    """Sums of 32-bit integers, inclusive; Lacking if there are none."""
    sums = pick(rows, type="i32", op="plus", mode="inclusive")
    return or_lacking(sums, "sums of 32-bit integers over several ranks")


def compared(cases: pd.DataFrame) -> pd.DataFrame:
    """Return the scans, fewest ranks and items first, with intervals: the share of copies and of
    the 3n bound, and the speed over the vendor, over one rank with as many items per rank
    (`efficiency`), over `best` on one GPU (`speedup`) and over PyTorch (`of_torch`)."""
    rows = pick(cases, kind=SCAN).sort_values([*PROBLEM, "median_ns"], ignore_index=True)
    rows["of_copy"] = _ratios(pick(cases, algorithm=COPY), rows, PROBLEM)
    rows["of_vendor"] = _ratios(pick(cases, algorithm=VENDOR), rows, PROBLEM)
    shape = ["rows", "inner"]
    weak = ["algorithm", "settings", *KIND, *shape, "items_per_rank"]
    rows["efficiency"] = _ratios(pick(rows, ranks=1), rows, weak)
    rows["speedup"] = _ratios(pick(cases, kind=BEST), rows, [*KIND, *shape, "items"])
    rows["of_torch"] = _ratios(pick(cases, algorithm=TORCH), rows, PROBLEM)
    bound = rows[PROBLEM].merge(bounds(cases)[[*PROBLEM, "three_n"]], how="left")["three_n"]
    ends = (bound / rows[f"{name}_ns"] for name in ("median", "high", "low"))
    return rows.assign(of_bound=spans(ends, rows["count"]))


def bounds(cases: pd.DataFrame) -> pd.DataFrame:
    """Copies with the least ns of a scan that moves as much or reads before, too, and of `best`."""
    both = pick(cases, algorithm=COPY).sort_values(PROBLEM)
    for name, own, same in (("read", READ, PROBLEM), ("best", BEST, [*KIND, "items"])):
        times = pick(cases, algorithm=own)[[*same, "median_ns"]]
        both = both.merge(times.rename(columns={"median_ns": f"{name}_ns"}), on=same, how="left")
    return both.assign(two_n=both["median_ns"], three_n=both["median_ns"] + both["read_ns"])


def _ratios(above: pd.DataFrame, below: pd.DataFrame, same: list[str]) -> pd.Series:
    """The ratios of medians of rows that agree in some columns, by the rows below."""
    keys = [rows[same].itertuples(index=False, name=None) for rows in (above, below)]
    samples = dict(zip(keys[0], above["samples"], strict=True))
    return ratios((samples.get(key, np.array([np.nan])) for key in keys[1]), below["samples"])


# ---------------------------------------------------------------------------------- the times

_LOOKS = {
    "peer_look_ahead": Look(style.VERMILLION, "*", "-"),
    "reduce_exchange_scan": Look(style.GREEN, "v", "-"),
    "blocked_peer": Look(style.BLUE, "s", "--", filled=False),
    "scan_exchange_add": Look(style.ORANGE, "D", "-."),
    "mpi_exscan": Look(style.PURPLE, "o", "-"),
    "nccl_cub": Look(style.BLACK, "P", "-"),
    "nccl_thrust": Look(style.BLACK, "X", "--", filled=False),
    "torch_distributed": Look(style.SKY, "^", "--", filled=False),
    "copy_all": Look(style.GREY, "", "-"),
}
LINEAR = Look(style.GREY, "", ":")
TILES = Look(style.BLUE, "o", "--", filled=False)
WIDTH = 1.4
BOUND_LOOKS = {
    "two_n": ("copies, 2n", _LOOKS[COPY], 2.6),
    "three_n": ("reading and copying, 3n", Look(style.GREY, "", "--"), WIDTH),
}


def look(algorithm: str) -> Look:
    """The look of an algorithm; an unknown one gets a spare."""
    return _LOOKS.get(algorithm) or spare(sum(algorithm.encode()))


@figure("ranks_scaling", "ranks_strong")
def ranks_scaling(data: Data) -> Shown:
    """Weak and strong scaling of scans over several GPUs, with the bounds."""
    timed = scaling(data)
    cases = main_kind(usual(timed))
    limits, rows = bounds(cases), compared(cases)
    rates, speedups = marks.rates(rows, 1e3), marks.heights(rows, "speedup").dropna(subset="y")
    copied = {name: limits["bytes"] / limits[name] / 1e3 for name in BOUND_LOOKS}
    faster = {name: limits["best_ns"] / limits[name] for name in BOUND_LOOKS}
    rate, speedup = "throughput of all GPUs, TB/s", "speedup over best on one GPU"
    panels = [("items_per_rank", "items per GPU", rate, rates, limits.assign(**copied))]
    panels += [("items", "items in all", speedup, speedups, limits.assign(**faster))]
    panels = [panel for panel in panels if len(panel[3])]
    drawn, axes = style.figure(style.DOUBLE, 2.7, len(panels))
    for panel, (column, words, height, rows, limits) in zip(axes, panels, strict=True):
        timed_with = rows.groupby(column)["ranks"].nunique()
        items = max(timed_with.index, key=lambda n: (timed_with[n], n))
        rows, limits = (pick(cut, **{column: items}) for cut in (rows, limits))
        numbers, ends = sorted(set(rows["ranks"])), []
        for bound, (name, drawn_as, width) in BOUND_LOOKS.items():
            known, form = limits[limits[bound].notna()], {"linewidth": width, "zorder": 1}
            ends.append(marks.curve(panel, known, "ranks", drawn_as, name, bound, **form))
        for name in dict.fromkeys([*_LOOKS, *sorted(set(rows["algorithm"]))]):
            own = pick(rows, algorithm=name).sort_values("ranks")
            ends.append(marks.curve(panel, own, "ranks", look(name), name))
        if height == speedup:
            line, form = pd.DataFrame({"ranks": numbers, "y": numbers}), {"linewidth": WIDTH}
            ends.append(marks.curve(panel, line, "ranks", LINEAR, "linear", "y", **form, zorder=1))
        marks.ticks_at(panel, numbers)
        panel.set(xlim=(numbers[0] - 0.2, numbers[-1] + 0.2), ylim=(0, None), ylabel=height)
        panel.set(xlabel="GPUs", title=f"{power_of_two(items)} {words}")
        style.margin_legend(panel, ends)
    caption = (
        "Scaling of scans over several GPUs, with copies on all GPUs (2n) and with reading and "
        "then copying (3n), the bound of algorithms that read twice. Bars: 95% intervals."
    )
    return shown(data, drawn, caption, timed)


@table("ranks_scaling", "ranks_types")
def several_gpus(data: Data) -> Shown:
    """Scans of one array over several GPUs."""
    timed = pick(several(data, lambda cases: len(pick(cases, **PLAIN))), **PLAIN)
    rows = compared(usual(timed))
    ratios = {name: parts(rows[name])["ratio"] for name in ("of_copy", "of_vendor")}
    rows = rows.assign(time_us=rows["median_ns"] / 1e3, **ratios)
    columns = [*alike(code, "algorithm"), *alike(str, "type", op="operator")]
    columns += alike(whole, "ranks") + alike(size, items="n")
    columns += alike(digits(4), time_us="µs", gb_per_s="GB/s")
    columns += alike(significant, of_copy="share of copies", of_vendor="speedup")
    caption = (
        "Scans of one array over several ranks: median time of the slowest rank, warm, in a "
        "stream. GB/s counts one read and one write per item. Share of copies: "
        f"`{COPY}`. Speedup: over `{VENDOR}`. A dash: not timed."
    )
    return shown(data, Table(caption, columns, rows), caption, timed)


@table("ranks_axis", "ranks_recurrence")
def sharded_axis(data: Data) -> Shown:
    """Scans along an axis of a tensor that is sharded over several GPUs."""
    if data.every:  # a session of these alone is not complete
        data = replace(data.every, named=data.named)
    timed = several(data, lambda cases: (cases["inner"] > 1).any(), " along an axis")
    timed = pick(timed[timed["inner"] > 1], rows=1)
    rows = compared(usual(timed))
    ratios = {name: parts(rows[name])["ratio"] for name in ("of_copy", "of_bound", "of_torch")}
    rows = rows.assign(time_us=rows["median_ns"] / 1e3, **ratios)
    columns = [*alike(code, "algorithm"), *alike(str, "type", op="operator")]
    columns += alike(whole, "ranks") + alike(size, inner="channels", items_per_rank="n per GPU")
    columns += alike(digits(4), time_us="µs")
    columns += alike(digits(3), of_copy="share of copies", of_bound="3n", of_torch="speedup")
    caption = (
        "Scans along the time axis of tensors (1, time, channels) over several GPUs: median time "
        f"of the slowest rank, warm, in a stream. Share of copies: `{COPY}`. The column 3n: the "
        "time to read and then to copy over that of the scan. Speedup: over "
        f"`{TORCH}`, which writes the states alone. A dash: not timed."
    )
    return shown(data, Table(caption, columns, rows), caption, timed)


@figure("ranks_fold")
def ranks_fold(data: Data) -> Shown:
    """Share of copies of a scan over several GPUs that folds aggregates as if of more GPUs."""
    timed = folding(data)
    rows = folds(main_kind(timed))
    rows = pick(rows, ranks=rows["ranks"].max(), items=rows["items"].max())
    drawn, (axes,) = style.figure(style.COLUMN, 1.4)
    for (name, tells), line in marks.heights(rows, "of_copy").groupby(["algorithm", "tells"]):
        drawn_as = TILES if tells == "tile" else look(name)
        marks.curve(axes, line, "as_ranks", drawn_as, f"GPUs tell of {tells}s")
    marks.ticks_at(axes, rows["as_ranks"], base=2)
    marks.level(axes, 1.0, LINEAR)
    items, gpus = rows[["items_per_rank", "ranks"]].iloc[0].astype(int)
    axes.set(xlabel="GPUs whose aggregates are folded", ylabel="share of copies", ylim=(0, 1.06))
    axes.set_title(f"{power_of_two(items)} items per GPU, {gpus} GPUs")
    axes.legend(loc="lower left")
    caption = (
        "Share of copies that `peer_look_ahead` reaches when it folds as many aggregates as more "
        "GPUs have: right of the leftmost points, one or three zeros follow each aggregate. The "
        "points show the cost of the fold alone, not that of more links. Bars: 95% intervals."
    )
    return shown(data, drawn, caption, timed)
