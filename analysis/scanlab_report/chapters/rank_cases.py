"""Scans over several GPUs: which session answers, bounds, and looks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from scanlab_report import marks, style
from scanlab_report.data import Data, File
from scanlab_report.groups import BEST, STREAM
from scanlab_report.intervals import Interval, ratio_intervals, summarise
from scanlab_report.looks import spare
from scanlab_report.pick import Lacking, answering, newest_first, pick
from scanlab_report.style import End, Look
from scanlab_report.tables import MEASURED, RANKS

PROBLEM = RANKS[2:]
"""Algorithms that agree in these columns are compared; `items` are those of the whole array."""
KIND = ["type", "op", "mode"]
SCAN, COPY, READ, VENDOR = "scan", "copy_all", "read_all", "nccl_cub"
CHUNK, STATES = "chunk", "states"
"""Settings: tiles per chunk, and states per aggregate."""


def several(data: Data, over: str = "", ranks: int = 0) -> pd.DataFrame:
    """Return the cases of one device: those measured now, else those of one recorded session. The
    session is the one named, or the one with most ranks or with the given number of ranks. `best`
    on one GPU is an algorithm and a kind of its own.

    over: what must vary in the session. Other sessions are passed over, even a named one.
    """
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
        if not over or varies(cases, over):
            return cases
    raise Lacking(f"times of scans over several ranks{f', of several {over}' * bool(over)}")


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
        best = summarise(best[date == newest].assign(ranks=1), PROBLEM)
        best = best.assign(algorithm=BEST, kind=BEST, on="gpus")
        cases = pd.concat([cases, best[cases.columns]], ignore_index=True)
    per_rank, rate = cases["items"] / cases["ranks"], cases["bytes"] / cases["median_ns"]
    return cases.assign(items_per_rank=per_rank, gb_per_s=rate)


def varies(cases: pd.DataFrame, over: str) -> bool:
    """Return whether scans were timed with several values of `over`: ranks, CHUNK or STATES."""
    if over == "ranks":
        return pick(cases, kind=SCAN)[over].nunique() > 1
    return not varied(cases, over).empty


def varied(cases: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the scans that were timed with several values of a setting, all else being equal. The
    column named after the setting has the value; `tells` states what the GPUs tell each other."""
    scans = pick(cases, kind=SCAN).copy()
    settings, number = scans["settings"].str, rf"\b{name}=(\d+)\b"
    scans[name] = settings.extract(number, expand=False)
    scans["others"] = settings.replace(number, "", regex=True)
    scans["tells"] = settings.extract(r"\btells=(\w+)", expand=False).fillna("")
    scans = scans.dropna(subset=[name]).astype({name: int})
    enough = scans.groupby(["algorithm", *PROBLEM, "others"])[name].transform("nunique") > 1
    return scans[enough].sort_values([*PROBLEM, "algorithm", "tells", name], ignore_index=True)


def usual(cases: pd.DataFrame) -> pd.DataFrame:
    """Return each algorithm with the settings with which most cases were timed; of equals, the
    first."""
    counts = cases.groupby(["algorithm", "settings"]).size()
    first = counts.sort_values(ascending=False, kind="stable").reset_index()
    return cases.merge(first.drop_duplicates("algorithm")[["algorithm", "settings"]])


def main_kind(rows: pd.DataFrame) -> pd.DataFrame:
    """Sums of 32-bit integers, inclusive; Lacking if there are none."""
    sums = pick(rows, type="i32", op="plus", mode="inclusive")
    if sums.empty:
        raise Lacking("sums of 32-bit integers over several ranks")
    return sums


def compared(cases: pd.DataFrame) -> pd.DataFrame:
    """Return the scans, fewest ranks and items first, with intervals, unknown where nothing was
    timed: the share of copies (`of_copy`), the speed over the vendor (`of_vendor`), and the share
    of the 3n bound (`of_bound`). The interval of `of_bound` is that of the scan alone."""
    rows = pick(cases, kind=SCAN).sort_values([*PROBLEM, "median_ns"], ignore_index=True)
    for column, rival in (("of_copy", COPY), ("of_vendor", VENDOR)):
        rows[column] = _ratios(pick(cases, algorithm=rival), rows, PROBLEM)
    bound = rows[PROBLEM].merge(bounds(cases)[[*PROBLEM, "three_n"]], how="left")["three_n"]
    ends = [bound / rows[f"{name}_ns"] for name in ("median", "high", "low")]
    shares = map(Interval, *ends, rows["count"])
    return rows.assign(of_bound=pd.Series([*shares], dtype=object))


def bounds(cases: pd.DataFrame) -> pd.DataFrame:
    """Return the copies by problem, with the least nanoseconds of a scan that moves as much
    (`two_n`), and of a scan that reads the array before (`three_n`, NaN if reading was not timed).
    """
    read = pick(cases, algorithm=READ)[[*PROBLEM, "median_ns"]]
    copies = pick(cases, algorithm=COPY).sort_values(PROBLEM)
    both = copies.merge(read, on=PROBLEM, how="left", suffixes=("", "_read"))
    return both.assign(two_n=both["median_ns"], three_n=both["median_ns"] + both["median_ns_read"])


def weak(cases: pd.DataFrame) -> pd.DataFrame:
    """Return the scans on several ranks that were timed on one rank with as many items per rank.
    `efficiency` is the time on one rank over that on all, an interval."""
    rows = pick(cases, kind=SCAN)
    same = ["algorithm", "settings", *KIND, "items_per_rank"]
    several_ = rows[rows["ranks"] > 1]
    return _known(several_.assign(efficiency=_ratios(pick(rows, ranks=1), several_, same)))


def strong(cases: pd.DataFrame) -> pd.DataFrame:
    """Return the scans for which `best` was timed on one GPU with the same total number of items.
    `speedup` is the time of `best` over theirs, an interval."""
    rows = pick(cases, kind=SCAN)
    return _known(rows.assign(speedup=_ratios(pick(cases, kind=BEST), rows, [*KIND, "items"])))


def _known(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows whose last column is known."""
    return rows[rows.iloc[:, -1].map(lambda ratio: ratio.value == ratio.value).astype(bool)]


def strong_bounds(cases: pd.DataFrame) -> pd.DataFrame:
    """Return the time of `best` on one GPU over each of `bounds`, by problem."""
    same = [*KIND, "items"]
    best = pick(cases, kind=BEST)[[*same, "median_ns"]]
    rows = bounds(cases).merge(best, on=same, suffixes=("", "_best"))
    return rows.assign(**{name: rows["median_ns_best"] / rows[name] for name in BOUND_LOOKS})


def _ratios(above: pd.DataFrame, below: pd.DataFrame, same: list[str]) -> pd.Series:
    """The ratios of medians of rows that agree in some columns, by the rows below."""
    keys = [rows[same].itertuples(index=False, name=None) for rows in (above, below)]
    samples = dict(zip(keys[0], above["samples"], strict=True))
    over = [samples.get(key, np.array([np.nan])) for key in keys[1]]
    return pd.Series(ratio_intervals(over, list(below["samples"])), below.index, dtype=object)


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
COPY_WIDTH, WIDTH = 2.6, 1.4
BOUND_LOOKS = {
    "two_n": ("copies, 2n", _LOOKS[COPY], COPY_WIDTH),
    "three_n": ("reading and copying, 3n", Look(style.GREY, "", "--"), WIDTH),
}


def look(algorithm: str, tells: str = "") -> Look:
    """The look of an algorithm whose GPUs tell each other this; an unknown one gets a spare."""
    if tells == "tile":
        return Look(style.BLUE, "o", "--", filled=False)
    return _LOOKS.get(algorithm) or spare(sum(algorithm.encode()))


def ordered(algorithms: Iterable[str]) -> list[str]:
    """Algorithms in the order of their looks, others behind them by id."""
    timed = set(algorithms)
    return [*(id_ for id_ in _LOOKS if id_ in timed), *sorted(timed - set(_LOOKS))]


def scans_of(panel: Axes, rows: pd.DataFrame, limits: pd.DataFrame, x: str) -> list[End | None]:
    """A line per bound, and one per scan; their ends."""
    ends = []
    for column, (name, drawn_as, width) in BOUND_LOOKS.items():
        known = limits[limits[column].notna()]
        ends.append(marks.curve(panel, known, x, drawn_as, name, column, linewidth=width, zorder=1))
    for name in ordered(rows["algorithm"]):
        own = pick(rows, algorithm=name).sort_values(x)
        ends.append(marks.curve(panel, own, x, look(name), name))
    return ends
