"""Scanlab's fastest scans beside the vendor's and all others, case by case."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, LogNorm

from scanlab_report import groups, style
from scanlab_report.chapters.standings import python_notes
from scanlab_report.data import Data
from scanlab_report.formats import Table, alike, code, digits, size, text, with_interval
from scanlab_report.groups import BEST, BULK_CEILING, CEILING, CUBS, LOSS, TIE, TUNED, TYPES, WIN
from scanlab_report.looks import ordered
from scanlab_report.pick import floor_ns, net_share, pick
from scanlab_report.shown import Shown, figure, shown, table
from scanlab_report.versus import against, contests, decided, or_lacking, pairs, versus_cub

FILES = tuple(f"head_to_head_{name}" for name in (*TYPES, "operators"))
"""The experiments that time cases head to head."""
WAYS = ("cold, stream", "cold, graph", "warm, stream", "warm, graph")
"""Cache state and kind of launch of the cases that have a panel."""
SMALL, LARGE_BYTES = 1 << 20, 1 << 30
NARROW = ("CUB adds sums of i8 and i16 in 32 bits, and `best` in 8 and 16 bits.",)
"""This note stands wherever a ratio of such sums stands."""
SUMS = [(kind, "plus") for kind in TYPES]
COPIES = {CEILING: "memcpy", BULK_CEILING: "bulk", groups.BARRIER_CEILING: "wave"}


def type_op_rows(rows: pd.DataFrame) -> list[tuple[str, str]]:
    """Types and operators of some cases, types in their order, `plus` before other operators."""
    present = set(zip(rows["type"], rows["op"], strict=True))
    return sorted(present, key=lambda pair: (TYPES.index(pair[0]), pair[1] != "plus", pair[1]))


@figure(*FILES)
def head_to_head(data: Data) -> Shown:
    """Speedup of best over the fastest CUB by type, operator and size: darker is faster, a dot is a
    tie, a cross a loss."""
    cells = pick(decided(versus_cub(data)), mode="inclusive")
    cells = cells.assign(way=cells["cache"] + ", " + cells["launch"])
    cells = cells[cells["way"].isin(WAYS) & (cells["items"] > 0)]
    or_lacking(cells, "such timings of arrays, cold or warm, by stream or graph")
    cells["octave"] = np.floor(np.log2(cells["items"].astype(float))).astype(int)
    cells["severity"] = cells["outcome"].map({LOSS: 0, TIE: 1, WIN: 2})
    cells = cells.sort_values(["severity", "ratio"], kind="stable")
    cells = cells.drop_duplicates(["type", "op", "way", "octave"])
    rows, ways = type_op_rows(cells), [way for way in WAYS if way in set(cells["way"])]
    height = 0.95 + 0.092 * max(len(rows), 8)
    drawn, axes = style.figure(style.DOUBLE, height, len(ways), sharey=True)
    octaves = range(int(cells["octave"].min()), int(cells["octave"].max()) + 1)
    for panel, way in zip(axes, ways, strict=True):
        image = _octaves(panel, pick(cells, way=way), rows, octaves)
        panel.set_title(way)
    axes[0].set_yticks(range(len(rows)), [f"{kind} {op}" for kind, op in rows], fontsize=5.6)
    bar = drawn.colorbar(image, ax=axes, shrink=0.8, aspect=30, pad=0.01, extend="max")
    bar.set_ticks([1, 1.25, 1.5, 2, 3], labels=["1", "1.25", "1.5", "2", "3"])
    bar.ax.minorticks_off()
    bar.set_label("× CUB")
    caption = (
        "Speedup of `best` over the fastest CUB for inclusive scans, by type, operator and array "
        "size; one panel per cache state and kind of launch. Each cell shows the worst case of its "
        "octave of sizes; darker is faster. Dot: the 95% interval contains 1; cross: CUB is "
        "faster."
    )
    return shown(data, drawn, caption, contests(data))


_BLUES = LinearSegmentedColormap.from_list("blues", colormaps["Blues"](np.linspace(0.08, 0.95, 64)))


def _octaves(panel: Axes, cells: pd.DataFrame, rows: list[tuple[str, str]], octaves: range) -> Any:
    grid = np.full((len(rows), len(octaves)), np.nan)
    height = [rows.index(key) for key in zip(cells["type"], cells["op"], strict=True)]
    cells = cells.assign(height=height)
    grid[height, cells["octave"] - octaves.start] = cells["ratio"].clip(lower=1.0)
    x, y = np.arange(octaves.start, octaves.stop + 1) - 0.5, np.arange(len(rows) + 1) - 0.5
    shades = {"cmap": _BLUES, "norm": LogNorm(1, 3.0), "linewidth": 0, "rasterized": True}
    image = panel.pcolormesh(x, y, grid, **shades)
    marked = {TIE: (style.BLACK, ".", 1.6), LOSS: (style.VERMILLION, "x", 3.2)}
    for which, (colour, marker, width) in marked.items():
        own, form = pick(cells, outcome=which), {"markersize": width, "markeredgewidth": 1.0}
        look = style.Look(colour, marker, "none").plot()
        panel.plot(own["octave"], own["height"], **look | form)
    for boundary in [i for i in range(1, len(rows)) if rows[i][0] != rows[i - 1][0]]:
        panel.axhline(boundary - 0.5, color="white", linewidth=1.2)
    panel.set_ylim(len(rows) - 0.5, -0.5)
    panel.grid(visible=False)
    powers = [k for k in octaves if k % 4 == 0]
    panel.set_xticks(powers, [f"$2^{{{k}}}$" for k in powers])
    panel.set_xlabel("items $n$")
    return image


@table(*FILES)
def losses(data: Data) -> Shown:
    """Cases that best lost to CUB, the worst first."""
    rows, printed = decided(versus_cub(data)), 8
    lost = pick(rows, outcome=LOSS).sort_values("ratio", kind="stable", ignore_index=True)
    chosen = [str(choice or "") for choice in lost["choice"]]
    lost = lost.assign(chosen=chosen).rename(columns={"interval": "times_cub"})
    columns = [*alike(str, "type", "op", "mode"), *alike(size, items="n")]
    columns += alike(str, "cache", "launch") + alike(with_interval, times_cub="× CUB")
    columns += alike(code, rival="fastest CUB") + alike(text, chosen="best chose")
    beyond = f" The worst {printed} are printed; losses.csv has all cases." * (len(lost) > printed)
    caption = (
        "Cases that `best` lost to the fastest CUB scan, by the 95% interval of the ratio: "
        f"{len(lost)} of {len(rows)}. × CUB is the speedup of `best`.{beyond}"
    )
    return shown(data, Table(caption, columns, lost, printed=printed), caption, contests(data))


# -------------------------------------------------------------------------- at two sizes


def at_two_sizes(
    data: Data, cases: pd.DataFrame, scanned: Iterable[tuple[str, str]]
) -> pd.DataFrame:
    """`beside_rivals` of cold inclusive scans from a stream, at `two_sizes`."""
    usual = pick(cases, mode="inclusive", cache="cold", launch="stream")
    every = [pick(usual, type=kind, op=op) for kind, op in scanned]
    made = [beside_rivals(data, own, n) for own in every for n in two_sizes(data, own)]
    columns = ["type", "op", "items", "time_us", "chosen", "fastest_cub", "of_cub"]
    return pd.DataFrame(made, columns=[*columns, *(f"of_{v}" for v in _others(data))])


def _others(data: Data) -> list[str]:
    return [*COPIES, *data.variants.ids(groups.RIVALS)]


def two_sizes(data: Data, here: pd.DataFrame) -> list[int]:
    """2^20, and the largest size of 1 GiB or more with best beside CUB, and the copy if any."""
    sizes = list(pairs(here, BEST, [*data.variants.ids(CUBS), CEILING])["items"])
    bytes_of = here.groupby("items")["bytes"].first()
    large = [n for n in sizes if bytes_of[n] >= 2 * LARGE_BYTES]
    copied = set(pairs(here, BEST, [CEILING])["items"])
    return [n for n in sizes if n == SMALL] + ([n for n in large if n in copied] or large)[-1:]


def beside_rivals(data: Data, here: pd.DataFrame, items: int) -> dict[str, Any]:
    """Best beside copies and all rivals, from one file; rivals that it lacks are from another."""
    here, cubs = pick(here, items=items), data.variants.ids(CUBS)
    matches = (pairs(here, BEST, rivals) for rivals in ([BULK_CEILING], [CEILING], cubs))
    match = next(m.iloc[0] for m in matches if len(m))
    times = here.pivot(index="place", columns="variant", values="median_ns")
    theirs = times.loc[match["place"]].fillna(times.bfill().iloc[0]).reindex(_others(data))
    versus = (against(rows, BEST, cubs) for rows in (pick(here, file=match["file"]), here))
    found = (own.iloc[0][["rival", "interval"]] for own in versus if len(own))
    row = {**match[["type", "op", "items"]], "time_us": match["median_ns"] / 1e3}
    row["chosen"] = match["choice"].variant if match["choice"] else "—"
    row["fastest_cub"], row["of_cub"] = next(found, (None, None))
    return row | (theirs / match["median_ns"]).add_prefix("of_").to_dict()


@table(*FILES, "python")
def rivals(data: Data) -> Shown:
    """Speedup of best over every other scan, by type, at two sizes."""
    versus_cub(data)  # Lacking if no case has CUB beside best
    cases, about = contests(data, python=True), data.variants
    rows = at_two_sizes(data, cases, SUMS)
    others = [v for v in ordered(about.ids(groups.RIVALS), about) if rows[f"of_{v}"].notna().any()]
    short = {"CUB": "toolkit", "deterministic": "determ."}
    last = {v: about[v].label.split(", ")[-1] for v in others}
    group = {v: "× CUB" if CUBS.has(about[v]) else "× others" for v in others}
    columns = [*alike(str, "type"), *alike(size, items="n"), *alike(str, "chosen")]
    columns += alike(digits(4), time_us="µs")
    copies = {f"of_{copy}": heading for copy, heading in COPIES.items()}
    columns += alike(digits(3), **copies, net="net", group="share of")
    own = rows["time_us"] * 1e3
    rows["net"] = net_share(own * rows[[*copies]].min(axis=1), own, floor_ns(cases, "cold"))
    for v in others:
        columns += alike(digits(3), **{f"of_{v}": short.get(last[v], last[v])}, group=group[v])
    caption = (
        "Time of `best`, its speed as a share of copies, and its speedup over other scans. "
        f"Inclusive sums, cold cache, stream launches, at {size(SMALL)} items and at the largest "
        "size of 1 GiB or more. Wave is a copy with a grid-wide barrier. Net: the fastest "
        "copy and `best`, each less an empty launch."
    )
    notes = NARROW + python_notes(cases["variant"], about)
    return shown(data, Table(caption, columns, rows, notes), caption, cases)


def fastest(data: Data) -> Shown:
    """Sums of every type at the large size, against the copy and the fastest CUB."""
    versus_cub(data)
    cases = contests(data)
    rows = at_two_sizes(data, cases, SUMS)
    rows = rows[rows["items"] != SMALL].reset_index(drop=True)
    columns = [
        *alike(str, "type"),
        *alike(size, items="n"),
        *alike(lambda v: digits(3)(v / 1e3), time_us="best, ms"),
        *alike(lambda v: "—" if pd.isna(v) else f"{v:.2f}", of_memcpy="× memcpy"),
        *alike(lambda v: "—" if v is None else f"{v.value:.2f}", of_cub="× CUB"),
        *alike(lambda v: f"`{v}`" if v else "—", fastest_cub="fastest CUB", left=True),
    ]
    caption = (
        "`best` beside the fastest CUB scan, per type: inclusive sums, cold cache, stream "
        "launches. Ratios are speeds."
    )
    return shown(data, Table(caption, columns, rows, NARROW), caption, cases)


def score(data: Data) -> Shown:
    """In how many cases best is faster than CUB as shipped, and in shapes tuned on the device."""
    versus_cub(data)
    cases = contests(data)
    rivals = {"the fastest scan of CUB as shipped": groups.cub_as_shipped(data)}
    if TUNED in set(cases["variant"]):
        named = data.variants[TUNED].title.partition(", tuned on ")[2]
        here = named == data.files[cases["file"].iloc[0]].device
        device = "the device" if here else f"another device, {named}"
        rivals[f"CUB with shapes tuned on {device} (`{TUNED}`)"] = [TUNED]
    sentences = []
    for what, cubs in rivals.items():
        outcomes = list(decided(against(cases, BEST, cubs))["outcome"])
        won, tied, lost = map(outcomes.count, (WIN, TIE, LOSS))
        sentences.append(
            f"Against {what}, `best` is faster in {won} of {len(outcomes)} cases, equal in {tied} "
            f"and slower in {lost}."
        )
    sentences += [
        *NARROW,
        "A compared case is a type, operator, mode, size, cache state and launch.",
        "A case counts as faster or slower only if the 95% interval of its ratio excludes 1.",
    ]
    return shown(data, " ".join(sentences), "", cases)


@table(*FILES)
def operators(data: Data) -> Shown:
    """Speedup of best over the fastest CUB scan for every type and operator, at two sizes."""
    cases, key = contests(data), ["type", "op"]
    made = at_two_sizes(data, cases, type_op_rows(versus_cub(data)))
    rows, small = made[key].drop_duplicates(), made["items"] == SMALL
    for name, own in (("small", made[small]), ("large", made[~small])):
        rows = rows.join(own.set_index(key).add_suffix(f"_{name}"), on=key)
    rows = rows.rename(columns={"items_large": "items"}).reset_index(drop=True)
    short = lambda id_: text(id_).replace(groups.VENDOR, "toolkit").removeprefix("cub_")
    columns = alike(str, "type", "op")
    for where, group in (("small", size(SMALL)), ("large", "largest")):
        columns += alike(size, items="n", group=group) if where == "large" else []
        columns += alike(digits(4), **{f"time_us_{where}": "µs"}, group=group)
        columns += alike(digits(2), **{f"of_memcpy_{where}": "memcpy"}, group=group)
        columns += alike(with_interval, **{f"of_cub_{where}": "× CUB"}, group=group)
        columns += alike(short, **{f"fastest_cub_{where}": "fastest CUB"}, group=group, left=True)
    rows = rows.reindex(columns=[column.key for column in columns])
    caption = (
        f"Speed of `best` for every type and operator, at {size(SMALL)} items and at the largest "
        "size of 1 GiB or more: time, share of memcpy, and speedup over the fastest CUB scan with "
        "its 95% interval; toolkit is `cub_device_scan`. Inclusive scans, cold cache, stream "
        "launches. Items of affine, arg_max, complex_multiply and segmented_plus have two parts, "
        "those of matrix_2x2 four."
    )
    return shown(data, Table(caption, columns, rows), caption, cases)
