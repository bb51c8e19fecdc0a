"""How scans of one array over several GPUs scale, beside copies, the vendor and bounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from scanlab_report import style
from scanlab_report.chapters.kernels import stack_shares, wait_kinds, wait_rows, wait_shares
from scanlab_report.data import MEASURED, RANKS, Data, File
from scanlab_report.formats import Column, Table, code, significant, size
from scanlab_report.intervals import Interval, median_interval, ratio_intervals, summarise
from scanlab_report.looks import spare
from scanlab_report.pick import BEST, STREAM, Lacking, answering, newest_first, parts, pick
from scanlab_report.shown import Shown, figure, shown, table
from scanlab_report.style import End, Look

PROBLEM = RANKS[2:]
"""What algorithms that are compared have in common; `items` are those of the whole array."""
KIND = ["type", "op", "mode"]
SCAN, COPY, READ, VENDOR = "scan", "copy_all", "read_all", "nccl_cub"
FLOORS = {"launch_all": "empty kernels", "nccl_all_gather": "NCCL all-gather"}
CHUNK, STATES = "chunk", "states"
"""Settings: tiles per chunk, and states per aggregate."""

# ------------------------------------------------------------------------------ which session

_OVER = {"": "", "ranks": " with 1 rank and with more", "items": " of several sizes",
         VENDOR: ", CUB with NCCL among them", CHUNK: " with several chunk sizes",
         STATES: " with several states per aggregate"}  # fmt: skip


def several(data: Data, over: str = "", ranks: int = 0) -> pd.DataFrame:
    """The cases of one device: measured now, else of one recorded session, the one named or with
    most ranks, or with so many. `best` on one GPU is an algorithm and a kind of its own.

    over: what must vary in the session; others are passed over, a named one too."""
    for numbers in _sessions(data, ranks):
        cases = data.once(("several", *numbers), lambda: _session(data, numbers))
        if not over or varies(cases, over):
            return cases
    raise Lacking(f"times of scans over several ranks{_OVER[over]}")


def _sessions(data: Data, ranks: int) -> list[list[int]]:
    """The files of each session, the newest first; the session that answers best first."""
    sessions: dict[Path, list[int]] = {}
    for number in newest_first(data, "distributed"):
        sessions.setdefault(_folder(data.files[number]), []).append(number)

    def fits(folder: Path) -> tuple[bool, bool, bool, int, str]:
        timed = set(pick(data["distributed"], file=sessions[folder])["ranks"])
        most, newest = max(timed), data.files[sessions[folder][0]].date
        return folder.name == data.named, most == ranks, ranks in timed, most, newest

    return [sessions[folder] for folder in sorted(sessions, key=fits, reverse=True)]


def _folder(file: File) -> Path:
    """The session: what was measured now is one."""
    return Path() if file.origin == MEASURED else file.path.parent


def _session(data: Data, numbers: Sequence[int]) -> pd.DataFrame:
    """Each case once, and each problem of `best`, warm and in a stream, in its newest file."""
    rows = pick(data["distributed"], file=numbers)
    cases = summarise(answering(data, rows, "distributed"), RANKS)
    first = data.files[numbers[0]]

    def place(file: File) -> tuple[str, str, Path]:
        return file.device, file.origin, _folder(file)

    best = (data.every or data).rows("scan", lambda file: place(file) == place(first))
    best = pick(best, variant=BEST, settings="", cache="warm", launch=STREAM)
    if len(best):
        oldest_first = sorted(set(best["file"]), key=lambda n: (data.files[n].date, n))
        age = best["file"].map(oldest_first.index)
        newest = age.groupby([best[c] for c in (*KIND, "items")]).transform("max")
        best = summarise(best[age == newest].assign(ranks=1), PROBLEM)
        best = best.assign(algorithm=BEST, kind=BEST, on="gpus")
        cases = pd.concat([cases, best[cases.columns]], ignore_index=True)
    return cases.assign(items_per_rank=cases["items"] / cases["ranks"],
                        gb_per_s=cases["bytes"] / cases["median_ns"])  # fmt: skip


def varies(cases: pd.DataFrame, over: str) -> bool:
    """Whether a scan was timed with several of these, all else being equal: ranks (1 and more),
    items, CHUNK or STATES; of VENDOR, whether it was timed."""
    if over == VENDOR:
        return VENDOR in set(cases["algorithm"])
    if over in (CHUNK, STATES):
        return not varied(cases, over).empty
    scans = pick(cases, kind=SCAN)
    if over == "items":
        return bool((scans.groupby(RANKS[:-1])["items"].nunique() > 1).any())
    ranks = scans.groupby(RANKS[:5])["ranks"]
    return bool(((ranks.min() == 1) & (ranks.max() > 1)).any())


def varied(cases: pd.DataFrame, name: str) -> pd.DataFrame:
    """The scans of which several numbers of a setting were timed, all else being equal: the number
    under its name, and in `tells` what GPUs tell each other."""
    scans = pick(cases, kind=SCAN).copy()
    settings, number = scans["settings"].str, rf"\b{name}=(\d+)\b"
    scans[name] = settings.extract(number, expand=False)
    scans["others"] = settings.replace(number, "", regex=True)
    scans["tells"] = settings.extract(r"\btells=(\w+)", expand=False).fillna("")
    scans = scans.dropna(subset=[name]).astype({name: int})
    enough = scans.groupby(["algorithm", *PROBLEM, "others"])[name].transform("nunique") > 1
    return scans[enough].sort_values([*PROBLEM, "algorithm", "tells", name], ignore_index=True)


def usual(cases: pd.DataFrame) -> pd.DataFrame:
    """Each algorithm with the settings with which most cases were timed, of equals the first."""
    counts = cases.groupby(["algorithm", "settings"]).size()
    first = counts.sort_values(ascending=False, kind="stable").reset_index()
    return cases.merge(first.drop_duplicates("algorithm")[["algorithm", "settings"]])


def main_kind(rows: pd.DataFrame) -> pd.DataFrame:
    """Sums of 32-bit integers, inclusive; without any, the type, operator and mode of most."""
    sums = pick(rows, type="i32", op="plus", mode="inclusive")
    if len(sums):
        return sums
    most = rows[rows["kind"] != BEST].groupby(KIND).size().idxmax()
    return pick(rows, **dict(zip(KIND, most, strict=True)))


# ---------------------------------------------------------------------------- what is computed


def compared(cases: pd.DataFrame) -> pd.DataFrame:
    """The scans, fewest ranks and items first, with intervals, unknown where nothing was timed:
    the share of copies (`of_copy`), the speed over the vendor (`of_vendor`), and the share of the
    3n bound (`of_bound`), whose interval is that of the scan alone."""
    rows = pick(cases, kind=SCAN).sort_values([*PROBLEM, "median_ns"], ignore_index=True)
    for column, rival in (("of_copy", COPY), ("of_vendor", VENDOR)):
        rows[column] = _ratios(pick(cases, algorithm=rival), rows, PROBLEM)
    bound = rows[PROBLEM].merge(bounds(cases)[[*PROBLEM, "three_n"]], how="left")["three_n"]
    ours = map(median_interval, rows["samples"])
    shares = [Interval(ns / m.value, ns / m.high, ns / m.low, m.count)
              for ns, m in zip(bound, ours, strict=True)]  # fmt: skip
    return rows.assign(of_bound=pd.Series(shares, dtype=object))


def bounds(cases: pd.DataFrame) -> pd.DataFrame:
    """Copies by problem, with the least nanoseconds of a scan that moves as much (`two_n`), and of
    one that reads the array before (`three_n`, NaN where reading was not timed)."""
    read = pick(cases, algorithm=READ)[[*PROBLEM, "median_ns"]]
    copies = pick(cases, algorithm=COPY).sort_values(PROBLEM)
    both = copies.merge(read, on=PROBLEM, how="left", suffixes=("", "_read"))
    return both.assign(two_n=both["median_ns"], three_n=both["median_ns"] + both["median_ns_read"])


def weak(cases: pd.DataFrame, kind: str = SCAN) -> pd.DataFrame:
    """Algorithms on several ranks that were timed on one with as many items per rank: `efficiency`,
    the time on one rank over that on all, an interval."""
    rows = pick(cases, kind=kind)
    same = ["algorithm", "settings", *KIND, "items_per_rank"]
    return _known(rows[rows["ranks"] > 1], "efficiency", pick(rows, ranks=1), same)


def strong(cases: pd.DataFrame) -> pd.DataFrame:
    """Scans that `best` was timed for on one GPU with as many items in all: `speedup`, the time of
    `best` over theirs, an interval."""
    rows = pick(cases, kind=SCAN)
    return _known(rows, "speedup", pick(cases, kind=BEST), [*KIND, "items"])


def strong_bounds(cases: pd.DataFrame) -> pd.DataFrame:
    """By problem, the time of `best` on one GPU over each of `bounds`."""
    same = [*KIND, "items"]
    best = pick(cases, kind=BEST)[[*same, "median_ns"]]
    rows = bounds(cases).merge(best, on=same, suffixes=("", "_best"))
    return rows.assign(**{name: rows["median_ns_best"] / rows[name] for name in _BOUNDS})


def _known(rows: pd.DataFrame, column: str, above: pd.DataFrame, same: list[str]) -> pd.DataFrame:
    """The rows that others agree with, and the ratios in a column."""
    ratios = _ratios(above, rows, same)
    return rows.assign(**{column: ratios})[ratios.map(lambda r: r.value == r.value).astype(bool)]


def _ratios(above: pd.DataFrame, below: pd.DataFrame, same: list[str]) -> pd.Series:
    """The ratios of medians of rows that agree in some columns, by the rows below."""
    keys = [rows[same].itertuples(index=False, name=None) for rows in (above, below)]
    samples = dict(zip(keys[0], above["samples"], strict=True))
    over = [samples.get(key, np.array([np.nan])) for key in keys[1]]
    return pd.Series(ratio_intervals(over, list(below["samples"])), below.index, dtype=object)


# --------------------------------------------------------------------------------- how it looks

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
    "launch_all": Look(style.GREY, "", ":"),
    "nccl_all_gather": Look(style.GREY, "", "-."),
}
LINEAR = Look(style.GREY, "", ":")
COPY_WIDTH, WIDTH = 2.6, 1.4
_BOUNDS = {"two_n": ("copies, 2n", _LOOKS[COPY], COPY_WIDTH),
           "three_n": ("reading and copying, 3n", Look(style.GREY, "", "--"), WIDTH)}  # fmt: skip


def look(algorithm: str, tells: str = "") -> Look:
    """The look of an algorithm whose GPUs tell each other this; an unknown one gets a spare."""
    if tells == "tile":
        return Look(style.BLUE, "o", "--", filled=False)
    return _LOOKS.get(algorithm) or spare(sum(algorithm.encode()))


def ordered(algorithms: Iterable[str]) -> list[str]:
    """Algorithms in the order of their looks, others behind them by id."""
    known = list(_LOOKS)
    return sorted(set(algorithms), key=lambda id_: (known.index(id_) if id_ in known else 99, id_))


def _rates(rows: pd.DataFrame) -> pd.DataFrame:
    """With the throughput in TB/s as `y`, `low` and `high`."""
    moved = rows["bytes"] / 1e3
    return rows.assign(y=moved / rows["median_ns"], low=moved / rows["high_ns"],
                       high=moved / rows["low_ns"])  # fmt: skip


def _heights(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """With intervals as `y`, `low` and `high`."""
    return rows.assign(**parts(rows[column])).rename(columns={"ratio": "y"})


def _line(panel: Axes, rows: pd.DataFrame, x: str, drawn_as: Look, label: str) -> End:
    panel.plot(rows[x], rows["y"], label=label, zorder=2, **drawn_as.plot())
    style.error_bars(panel, rows[x], rows["y"], rows["low"], rows["high"], drawn_as.colour)
    return End(label, drawn_as, float(rows[x].iloc[-1]), float(rows["y"].iloc[-1]))


def _scans(panel: Axes, rows: pd.DataFrame, limits: pd.DataFrame, x: str) -> list[End]:
    """A line per bound, and one per scan; their ends."""
    ends = []
    for column, (name, drawn_as, width) in _BOUNDS.items():
        known = limits[limits[column].notna()]
        if len(known):
            panel.plot(known[x], known[column], linewidth=width, zorder=1, **drawn_as.plot())
            last = known.iloc[-1]
            ends.append(End(name, drawn_as, float(last[x]), float(last[column]), width))
    for name in ordered(rows["algorithm"]):
        own = pick(rows, algorithm=name).sort_values(x)
        ends.append(_line(panel, own, x, look(name), name))
    return ends


def _ticks(panel: Axes, numbers: Iterable[int]) -> None:
    """A tick at each of some numbers, and no others."""
    panel.xaxis.set_major_locator(FixedLocator(sorted({float(n) for n in numbers})))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


# ------------------------------------------------------------------------------------- scaling


@figure("ranks_scaling", "ranks_strong")
def ranks_scaling(data: Data) -> Shown:
    """Weak and strong scaling of scans over several GPUs, with the bounds."""
    timed = several(data, "ranks")
    cases = main_kind(usual(timed))
    limits = bounds(cases)
    rates = {name: limits["bytes"] / limits[name] / 1e3 for name in _BOUNDS}
    panels = [("items_per_rank", "items per GPU", "throughput of all GPUs, TB/s",
               _rates(pick(cases, kind=SCAN)), limits.assign(**rates)),
              ("items", "items in all", "speedup over best on one GPU",
               _heights(strong(cases), "speedup"), strong_bounds(cases))]  # fmt: skip
    panels = [panel for panel in panels if len(panel[3])]
    drawn, axes = style.figure(style.DOUBLE, 2.7, len(panels))
    for panel, (column, words, label, rows, limits) in zip(axes, panels, strict=True):
        timed_with = rows.groupby(column)["ranks"].nunique()
        items = max(timed_with.index, key=lambda n: (timed_with[n], n))
        rows, limits = (pick(cut, **{column: items}) for cut in (rows, limits))
        numbers = sorted(set(rows["ranks"]))
        panel.set_xlim(numbers[0] - 0.2, numbers[-1] + 0.2)
        _ticks(panel, numbers)
        panel.set_xlabel("GPUs" if (rows["on"] == "gpus").all() else "ranks")
        ends = []
        if column == "items":
            panel.plot(numbers, numbers, linewidth=WIDTH, zorder=1, **LINEAR.plot())
            ends = [End("linear", LINEAR, float(numbers[-1]), float(numbers[-1]), WIDTH)]
        ends += _scans(panel, rows, limits, "ranks")
        panel.set_ylim(bottom=0)
        panel.set_ylabel(label)
        panel.set_title(f"{style.power_of_two(items)} {words}")
        style.margin_legend(panel, ends)
    return shown(
        data, drawn,
        "Scaling of scans over several GPUs. Left: throughput over all GPUs at equal items per "
        "GPU. Right: speedup over `best` on one GPU at equal items in all. Thick: copies on all "
        "GPUs (2n). Dashed: reading and then copying (3n), the bound of `blocked_peer`, "
        "`reduce_exchange_scan` and `nccl_*`. `scan_exchange_add` moves 4n. Dotted: linear. "
        "`one_gpu`: `best` on one. Bars: 95% intervals.",
        timed,
    )  # fmt: skip


@figure("ranks_scaling")
def ranks_time(data: Data) -> Shown:
    """Time of scans over several GPUs against items per GPU, with the floors."""
    timed = several(data, "items")
    cases = main_kind(usual(timed))
    cases = cases[cases["kind"] != BEST]
    sizes = pick(cases, kind=SCAN).groupby("ranks")["items"].nunique()
    ranks = max(sizes.index, key=lambda ranks: (sizes[ranks] > 1, ranks))
    cases = pick(cases, ranks=ranks)
    drawn, (axes,) = style.figure(style.DOUBLE, 2.9)
    axes.set_yscale("log")
    style.items_axis(axes, cases["items_per_rank"])
    style.decade_axis(axes.yaxis)
    rows, limits = pick(cases, kind=SCAN), bounds(cases)
    rows = rows.assign(y=rows["median_ns"] / 1e3, low=rows["low_ns"] / 1e3,
                       high=rows["high_ns"] / 1e3)  # fmt: skip
    limits = limits.assign(**{name: limits[name] / 1e3 for name in _BOUNDS})
    ends = _scans(axes, rows, limits, "items_per_rank")
    for name, words in FLOORS.items():
        floor = pick(cases, algorithm=name)["median_ns"].median() / 1e3
        if floor == floor:  # timed, at several sizes, which do not matter
            axes.axhline(floor, linewidth=WIDTH, **look(name).plot())
            words = f"{words}, {floor:.1f} µs"
            ends.append(End(words, look(name), axes.get_xlim()[1], floor, WIDTH))
    gpus = "GPU" if (cases["on"] == "gpus").all() else "rank"
    axes.set_xlabel(f"items per {gpus}")
    axes.set_ylabel("time, µs")
    axes.set_title(f"{ranks} {gpus}s")
    style.margin_legend(axes, ends)
    return shown(
        data, drawn,
        "Time of a scan of one array against items per GPU, on the most GPUs that were timed, "
        "warm, in a stream. Thick: copies on all GPUs. Dashed: reading and then copying. "
        "Horizontal: an empty kernel on every GPU, and an NCCL all-gather of 8 bytes per GPU, the "
        "floors of a launch and of an exchange. Bars: 95% intervals.",
        timed,
    )  # fmt: skip


@table("ranks_scaling", "ranks_types")
def several_gpus(data: Data) -> Shown:
    """Scans of one array over several GPUs."""
    timed = several(data)
    rows = compared(usual(timed))
    ratios = {name: parts(rows[name])["ratio"] for name in ("of_copy", "of_vendor")}
    rows = rows.assign(time_us=rows["median_ns"] / 1e3, **ratios)
    digits = lambda value: significant(value, 4)
    columns = (
        Column("algorithm", "algorithm", code, right=False), Column("type", "type", right=False),
        Column("op", "operator", right=False), Column("ranks", "ranks"),
        Column("items", "n", size), Column("time_us", "µs", digits),
        Column("gb_per_s", "GB/s", digits), Column("of_copy", "share of copies", significant),
        Column("of_vendor", "speedup", significant),
    )  # fmt: skip
    caption = (
        "Scans of one array over several ranks. Time is the median of the slowest rank, warm, in a "
        "stream. GB/s counts one read and one write per item, over all ranks. Share of copies: "
        f"`{COPY}`, a copy on every GPU at once. Speedup: over `{VENDOR}`, CUB and NCCL. A dash: "
        "not timed."
    )
    return shown(data, Table(caption, columns, rows), caption, timed)


# -------------------------------------------------------------------------------- its settings


@figure("ranks_chunk")
def ranks_chunk(data: Data) -> Shown:
    """Throughput of scans over several GPUs against the size of the chunks that are dealt out."""
    timed = several(data, CHUNK)
    cases = main_kind(timed)
    rows = varied(cases, CHUNK)
    gpus = rows["ranks"].max()
    rows = _rates(pick(rows, ranks=gpus))
    sizes = sorted(set(rows["items"]))
    sizes = sorted({sizes[0], sizes[len(sizes) // 2], sizes[-1]})
    drawn, axes = style.figure(style.DOUBLE, 2.3, len(sizes))
    for panel, items in zip(axes, sizes, strict=True):
        own = pick(rows, items=items)
        for rate in _rates(pick(cases, algorithm=COPY, ranks=gpus, items=items))["y"]:
            panel.axhline(rate, linewidth=COPY_WIDTH, zorder=1, label="copies, 2n",
                          **look(COPY).plot())  # fmt: skip
        for (name, tells), line in own.groupby(["algorithm", "tells"]):
            label = f"{name}, GPUs tell of {tells}s" if tells in ("tile", "chunk") else name
            _line(panel, line, CHUNK, look(name, tells), label)
        panel.set_xscale("log", base=2)
        _ticks(panel, own[CHUNK])
        panel.set_ylim(0, 1.06 * panel.dataLim.y1)
        panel.set_title(f"{style.power_of_two(items / gpus)} items per GPU, {gpus} GPUs")
        panel.set_xlabel("tiles per chunk")
    axes[0].set_ylabel("throughput of all GPUs, TB/s")
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=4,
                 borderpad=0)  # fmt: skip
    return shown(
        data, drawn,
        "Throughput of a scan over several GPUs against the size of the chunks that are dealt out, "
        "one panel per number of items per GPU. Thick: copies on all GPUs. GPUs tell each other "
        "the aggregate of each tile, or of each chunk. Aggregates of tiles arrive earlier; "
        "aggregates of chunks are fewer. Bars: 95% intervals.",
        timed,
    )  # fmt: skip


def folds(cases: pd.DataFrame) -> pd.DataFrame:
    """The scans of which several states per aggregate were timed, and in `as_ranks` the ranks that
    have as many states."""
    rows = varied(compared(cases), STATES)
    return rows.assign(as_ranks=rows["ranks"] * rows[STATES])


@figure("ranks_fold")
def ranks_fold(data: Data) -> Shown:
    """Share of copies of a scan over several GPUs that folds as many aggregates as more GPUs have."""
    timed = several(data, STATES)
    rows = folds(main_kind(timed))
    rows = pick(rows, ranks=rows["ranks"].max(), items=rows["items"].max())
    drawn, (axes,) = style.figure(style.COLUMN, 1.4)
    for (name, tells), line in _heights(rows, "of_copy").groupby(["algorithm", "tells"]):
        _line(axes, line, "as_ranks", look(name, tells), f"GPUs tell of {tells}s")
    axes.axhline(1.0, **LINEAR.plot())
    axes.set_xscale("log", base=2)
    _ticks(axes, rows["as_ranks"])
    axes.set_ylim(0, 1.06)
    items, gpus = rows[["items_per_rank", "ranks"]].iloc[0].astype(int)
    axes.set_title(f"{style.power_of_two(items)} items per GPU, {gpus} GPUs")
    axes.set_xlabel("GPUs whose aggregates are folded")
    axes.set_ylabel("share of copies")
    axes.legend(loc="lower left")
    return shown(
        data, drawn,
        "Share of copies that `peer_look_ahead` reaches when it folds as many aggregates as more "
        "GPUs have. Leftmost: the GPUs that were timed. Right of them, one or three zeros follow "
        "each aggregate. The points show the cost of the fold alone, not that of more links. Bars: "
        "95% intervals.",
        timed,
    )  # fmt: skip


# ---------------------------------------------------------------------------------- single runs

_NCCL = "NCCL kernels"
_COLOURS = {"kernels": style.VERMILLION, _NCCL: style.BLUE, "copies": style.SKY,
            "memsets": style.GREY}  # fmt: skip
_LEAST, _LETTER = 0.004, 0.0145
"""Width of a bar at least, and that of a letter in one, as parts of the axis."""


@figure("ranks_trace")
def ranks_timeline(data: Data) -> Shown:
    """Timelines of scans over several GPUs: what each GPU did in one run."""
    spans = rank_spans(data)
    rows = main_kind(spans)
    algorithms, sizes = ordered(rows["algorithm"]), sorted(set(rows["items"]))
    sizes = sorted({sizes[0], sizes[-1]})
    ranks = int(rows["ranks"].max())
    height = 0.5 + len(algorithms) * (0.42 + 0.13 * ranks)
    drawn, axes = style.figure(style.DOUBLE, height, len(sizes), len(algorithms), sharex="col",
                               sharey=True)  # fmt: skip
    for place, panel in enumerate(axes):
        algorithm, items = algorithms[place // len(sizes)], sizes[place % len(sizes)]
        runs = {name: median_run(own) for name, own in pick(rows, items=items).groupby("algorithm")}
        panel.set_xlim(0, 1.02 * max(own["end_us"].max() for own in runs.values()))
        took = "not traced"
        if algorithm in runs:
            _bars(panel, runs[algorithm])
            took = f"{runs[algorithm]['end_us'].max():.1f} µs"
        panel.set_yticks(range(ranks), [f"GPU {rank}" for rank in range(ranks)])
        panel.set_ylim(ranks - 0.5, -0.5)
        panel.tick_params(axis="y", length=0)
        panel.grid(visible=False, axis="y")
        per_gpu = style.power_of_two(items / ranks)
        panel.set_title(f"{algorithm}, {per_gpu} items per GPU: {took}", pad=2)
        if place // len(sizes) == len(algorithms) - 1:
            panel.set_xlabel("time, µs")
    handles = [Patch(color=colour, label=kind) for kind, colour in _COLOURS.items()
               if (rows["coloured"] == kind).any()]  # fmt: skip
    drawn.legend(handles=handles, loc="outside upper right", ncols=len(handles), borderpad=0)
    return shown(
        data, drawn,
        "Kernels and copies of each GPU in one run of a scan over several GPUs, by CUPTI. Time 0 "
        "is the first start on any GPU. Titles give the time to the last end; the run shown has "
        "the median of it. Short bars are widened. Clocks of two GPUs agree to within "
        "microseconds. There are no error bars.",
        spans,
    )  # fmt: skip


def rank_spans(data: Data) -> pd.DataFrame:
    """What each GPU did, in the file of most GPUs, the newest of several; measured now comes before
    recorded. `coloured`: the kind by which it is coloured; `count`: how often its case ran."""
    most = data["rank_spans"].groupby("file")["ranks"].max().to_dict()
    if not most:
        raise Lacking("timelines of scans over several GPUs")

    def fits(number: int) -> tuple[bool, bool, int, str]:
        file = data.files[number]
        named = file.path.parent.name == data.named
        return file.origin == MEASURED, named, most[number], file.date

    rows = pick(data["rank_spans"], file=max(most, key=fits))
    kinds = rows["kind"].map({"kernel": "kernels", "copy": "copies", "memset": "memsets"})
    kinds = kinds.mask(rows["name"].str.startswith("nccl"), _NCCL)
    return rows.assign(coloured=kinds, count=rows.groupby(RANKS)["run"].transform("nunique"))


def median_run(rows: pd.DataFrame) -> pd.DataFrame:
    """Among the runs of a case the one of median length, the shorter of two."""
    case = pick(rows, settings=rows["settings"].iloc[0])
    lengths = case.groupby("run")["end_us"].max().sort_values(kind="stable")
    return pick(case, run=lengths.index[(len(lengths) - 1) // 2])


def _bars(panel: Axes, rows: pd.DataFrame) -> None:
    """A bar for each activity, with its name where there is room."""
    whole = panel.get_xlim()[1]
    for row in rows.itertuples():
        width = row.end_us - row.start_us
        panel.broken_barh([(row.start_us, max(width, _LEAST * whole))], (row.rank - 0.38, 0.76),
                          facecolor=_COLOURS[row.coloured], edgecolor="white", linewidth=0.3,
                          zorder=2)  # fmt: skip
        if row.name and width > (len(row.name) + 1) * _LETTER * whole:
            panel.text(row.start_us + width / 2, row.rank, row.name, parse_math=False, ha="center",
                       va="center_baseline", fontsize=5.5, color="white", zorder=3)  # fmt: skip


@figure("ranks_cycles")
def ranks_waits(data: Data) -> Shown:
    """Stall cycles of each warp role on each of several GPUs by cause."""
    waits = wait_rows(data, several=True)
    for column in ("ranks", "items"):
        waits = pick(waits, **{column: waits[column].max()})
    rows = wait_shares(waits)
    for column in ("variant", "type"):
        rows = pick(rows, **{column: rows[column].iloc[0]})
    roles, ranks = list(dict.fromkeys(rows["role"])), sorted(set(rows["rank"]))
    drawn, axes = style.figure(style.DOUBLE, 0.85 + 0.17 * len(ranks), len(roles), sharey=True)
    for panel, role in zip(axes, roles, strict=True):
        own = pick(rows, role=role).sort_values("rank")
        stack_shares(panel, own["rank"].astype(float), own, wait_kinds(rows))
        panel.set_yticks(ranks, [f"GPU {rank:g}" for rank in ranks])
        panel.set_title(role)
        panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    variant, items = rows[["variant", "items"]].iloc[0]
    whole = f"{variant}, {style.power_of_two(items)} items in all"
    axes[len(roles) // 2].set_xlabel(f"share of cycles, {whole}")
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=6,
                 columnspacing=0.8, handlelength=1.4, borderpad=0)  # fmt: skip
    return shown(
        data, drawn,
        "Stall cycles of each warp role on each GPU, as shares of all cycles of the role there. "
        "The role tell stores aggregates on the other GPUs. Causes are those of prefix_wait; "
        "prefix includes waits for other GPUs. Clocks of an instrumented kernel, over one run of "
        "the largest array, so no bars.",
        waits,
    )  # fmt: skip
