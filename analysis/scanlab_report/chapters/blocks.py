"""Scans in the registers of a block or a warp: cost, cycles of one, throughput of many."""

import pandas as pd

from scanlab_report import marks, style
from scanlab_report.chapters.axes import described
from scanlab_report.data import Data
from scanlab_report.formats import Table, alike, code, significant, whole, with_interval
from scanlab_report.groups import LOSS, TIE, WIN
from scanlab_report.intervals import summarise
from scanlab_report.looks import look
from scanlab_report.pick import answering, pick
from scanlab_report.shown import Shown, figure, shown, table
from scanlab_report.tables import CASES
from scanlab_report.versus import on_first, or_lacking, outcome, ratios

BARE = "block_copy"
"""The kernel of all block scans, without a scan."""
SHAPE = ["entry", "type", "op", "per_thread", "arrangement", "threads"]
"""The columns that name what is scanned."""
DRAWN = {
    "block_hillis_steele": "Hillis–Steele",
    "block_tree": "tree",
    "block_tree_padded": "tree, padded",
    "block_raking": "raking",
    "block_shuffle": "shuffles",
    "block_best": "best",
    "block_best lane": "best, by lane",
    "cub_block_scan raking": "CUB, raking",
    "cub_block_scan raking_memoize": "CUB, raking, memoized",
    "cub_block_scan warp_scans": "CUB, warp scans",
    BARE: "no scan",
}


DEFAULTS = {"items_per_thread": "4", "arrangement": "blocked", "scans": "1"}


def _names(data: Data, rows: pd.DataFrame) -> list[str]:
    """Each variant with what is chosen of it; the algorithm of CUB is always named."""
    names = []
    for variant, settings in zip(rows["variant"], rows["settings"], strict=True):
        of_cub = {"algorithm": "raking"} if variant.endswith("_block_scan") else {}
        chosen = of_cub | data.settings[settings]
        names.append(" ".join([variant, *(v for key, v in chosen.items() if key not in DEFAULTS)]))
    return names


def block_cases(data: Data) -> pd.DataFrame:
    """Return the cases of one device, with the columns of SHAPE, `name` (the variant with its
    algorithm or padding), `scans_per_ns` of the device, `cycles` and `cycle_samples`."""
    every, case = data.every or data, CASES["block_scan"]  # a session of these is not complete

    def make() -> pd.DataFrame:
        lacking = "timings of block scans on a CUDA device"
        rows = on_first(every, "block_scan", lambda rows: rows, lacking)
        rows = answering(every, rows, "block_scan")
        cases, cycles = summarise(rows, case), summarise(rows.assign(ns=rows["cycles"]), case)
        chosen = pd.DataFrame([DEFAULTS | every.settings[own] for own in cases["settings"]])
        cases["arrangement"], cases["name"] = chosen["arrangement"], _names(every, cases)
        cases["scans"] = chosen["scans"].astype(int)
        cases["per_thread"] = chosen["items_per_thread"].astype(int)
        cases["threads"] = cases["items"] // cases["per_thread"]
        cases["scans_per_ns"] = cases["rows"] * cases["scans"] / cases["median_ns"]
        cases = cases.assign(cycles=cycles["median_ns"], cycle_samples=cycles["samples"])
        return cases[cases["scans"] > 1]

    return data.once("block_cases", make)


def usual(data: Data) -> pd.DataFrame:
    """The cases of blocks whose threads hold 4 neighbouring i32 items each, to be summed."""
    kept = {"type": "i32", "op": "plus", "per_thread": 4, "arrangement": "blocked"}
    return pick(block_cases(data), entry="block_scan", **kept)


@figure("block_scans")
def block_scans(data: Data) -> Shown:
    """Cycles of one scan in the registers of a block, and items per nanosecond of many, against the
    threads of a block."""
    cases = usual(data)
    about = described(data, cases)
    drawn, (left, right) = style.figure(style.DOUBLE, 2.7, 2)
    cases = cases.assign(items_per_ns=cases["scans_per_ns"] * cases["items"])
    for panel, column in ((left, "cycles"), (right, "items_per_ns")):
        for name, label in DRAWN.items():
            rows = pick(cases, name=name)
            rows = rows[rows["threads"] & (rows["threads"] - 1) == 0].sort_values("threads")
            if len(rows):
                drawn_as = look(name.split()[0], about)
                width = {"linewidth": 2.2} if name in ("block_best", BARE) else {}
                dashes = {"warp_scans": "--", "raking_memoize": ":", "lane": "--"}
                line = {"linestyle": dashes.get(name.split()[-1], drawn_as.line)}
                form = drawn_as.plot() | width | line
                panel.plot(rows["threads"], rows[column], label=label, **form)
        panel.set_xscale("log", base=2)
        marks.ticks_at(panel, (32, 64, 128, 256, 512, 1024), base=2)
        panel.set_xlabel("threads of a block")
    left.set_yscale("log")
    left.set_ylabel("cycles of one scan")
    scans = pick(cases[cases["name"] != BARE], name=list(DRAWN))
    right.set_ylim(0, 1.15 * scans["items_per_ns"].max())
    right.set_ylabel("items per ns, whole device")
    style.legend(drawn, left, columns=5)
    caption = (
        "Inclusive sums of 4 i32 items a thread, in the registers of a block, against its threads. "
        "Left: cycles of one block alone, from a barrier until its last warp has its results: the "
        "fewest of 32 blocks, with the code in the cache. Right: items per nanosecond of blocks "
        "that fill the device and scan 256 times between a load and a store. No scan: the same "
        "kernel without one, which bounds all."
    )
    return shown(data, drawn, caption, cases)


def against_cub(cases: pd.DataFrame) -> pd.DataFrame:
    """The fastest of ours and of a library per SHAPE, in time and, apart, in cycles."""
    theirs = cases["variant"].str.startswith(("cub_", "cooperative"))
    sides = {"ours": cases[~theirs & (cases["variant"] != BARE)], "theirs": cases[theirs]}
    made = []
    quantities = ("time", "median_ns", "samples"), ("cycles", "cycles", "cycle_samples")
    for what, value, samples in quantities:
        fastest = (
            rows.sort_values(value, kind="stable").drop_duplicates(SHAPE).set_index(SHAPE)
            for rows in sides.values()
        )
        ours, others = (rows[["name", samples]] for rows in fastest)
        both = ours.merge(others, on=SHAPE, suffixes=("_ours", "_theirs")).sort_index()
        ratio = ratios(both.pop(f"{samples}_theirs"), both.pop(f"{samples}_ours"))
        both = both.rename(columns=lambda name: name.removeprefix("name_"))
        made.append(both.assign(ratio=ratio, outcome=ratio.map(outcome)).add_prefix(f"{what}_"))
    return pd.concat(made, axis=1).reset_index()


@table("block_scans")
def block_scan_rivals(data: Data) -> Shown:
    """Our fastest block and warp scans against the fastest of CUB and of cooperative groups."""
    cases, rows = block_cases(data), []
    every = or_lacking(against_cub(cases), "timings of our block scans beside those of CUB")
    for shape, own in every.groupby(SHAPE[:-1]):
        row = dict(zip(SHAPE, shape, strict=False))
        for what in ("time", "cycles"):
            outcomes, lost = list(own[f"{what}_outcome"]), own[own[f"{what}_outcome"] == LOSS]
            row |= {f"{what}_{name}": outcomes.count(name) for name in (WIN, TIE, LOSS)}
            row[f"{what}_least"] = min(own[f"{what}_ratio"], key=lambda ratio: ratio.value)
            row[f"{what}_at"] = ", ".join(map(str, lost["threads"])) or "—"
        rows.append(row)
    columns = [*alike(code, entry="primitive"), *alike(str, "type", op="operator")]
    columns += alike(whole, per_thread="items per thread") + alike(str, arrangement="items")
    for what, group in (("time", "many scans"), ("cycles", "cycles of one")):
        columns += alike(
            whole, **{f"{what}_{name}": name for name in (WIN, TIE, LOSS)}, group=group
        )
        columns += alike(with_interval, **{f"{what}_least": "least × theirs"}, group=group)
        columns += alike(str, **{f"{what}_at": "lost at threads"}, group=group, wrap=6)
    caption = (
        "Our block and warp scans against the fastest of `cub::BlockScan`, `cub::WarpScan` and "
        "cooperative groups at the same threads and items: their time and their cycles over ours. "
        "A case is won or lost if the 95% interval excludes 1. No instruction folds a warp of "
        "floats or of affine maps: there CUB and ours run the same algorithms, and are near level."
    )
    return shown(data, Table(caption, columns, pd.DataFrame(rows)), caption, cases)


@table("block_scans", "explain", "block_counters")
def block_scan_cost(data: Data) -> Shown:
    """Cost of a scan of 1024 integers by 256 threads: counted by emulator and ncu, and measured."""
    cases = pick(usual(data), items=1024).set_index("name")
    counted = pick(data["counts"], primitive="block_scan", type="i32", items=1024)
    padding = " " + counted["padding"].replace(("none", "two_level"), "")
    totals = [content.totals for content in counted["content"]]
    emulator = pd.DataFrame(
        {
            "operations": [own.operations for own in totals],
            "barriers": [own.barriers for own in totals],
            "degree": [own.banks32.max_degree for own in totals],
            "requests": [own.shared_requests for own in totals],
        },
        (counted["variant"] + padding).str.strip(),
    )
    counters = pick((data.every or data)["block_counters"], type="i32", items=1024)
    sums = counters.assign(name=_names(data, counters)).groupby("name").sum(numeric_only=True)
    for what in ("wavefronts", "conflicts"):
        sums[what] = sums.filter(regex=f"^shared_.*_{what}$").sum(axis=1)
    counts = emulator[~emulator.index.duplicated(keep="last")].join(
        sums[["wavefronts", "conflicts"]], how="outer"
    )
    cases = cases.assign(newest=cases.index.str.startswith("cub_newest"))
    cases = cases.sort_values(["newest", "median_ns"])
    rows = cases.join(counts.reindex(cases.index).dropna(axis=1, how="all"))
    rows = rows.assign(scans_per_us=1e3 * rows["scans_per_ns"]).reset_index()
    columns = [
        *alike(code, name="scan"),
        *alike(
            whole, "operations", "barriers", "requests", degree="worst conflict", group="emulator"
        ),
        *alike(whole, "wavefronts", "conflicts", group="ncu"),
        *alike(whole, "registers", shared_bytes="shared, bytes", cycles="cycles of one"),
        *alike(significant, scans_per_us="scans per µs"),
    ]
    caption = (
        "Cost of an inclusive sum of 1024 i32 items by a block of 256 threads: counted by the SIMT "
        "emulator, by ncu in shared memory, and measured, alone and over the whole device. The "
        "worst conflict is the most wavefronts of one request; `32` limits the registers."
    )
    columns = [column for column in columns if column.key in rows]  # of what was counted
    content = Table(caption, columns, rows, printed=int((~rows["newest"]).sum()))
    return shown(data, content, caption, rows, counters)
