"""The numbers in the text of the paper on scans, each by the name of its LaTeX macro."""

import statistics
from collections.abc import Callable
from typing import Any

import pandas as pd

from scanlab_report import groups, noise
from scanlab_report.chapters import (
    axes,
    counts,
    hardware,
    ladder,
    odd_sizes,
    ranks,
    segments,
    selections,
)
from scanlab_report.chapters.claims import FAILS, HOLDS, NOT_MEASURED, literature, targets
from scanlab_report.chapters.standings import standings
from scanlab_report.claims.stated import OF_LITERATURE_ON_SCANS, OF_SCANS
from scanlab_report.data import Data
from scanlab_report.formats import latex
from scanlab_report.groups import BEST, CEILING, FLOOR, HEADER, STREAM, TUNED, VENDOR, WIN
from scanlab_report.intervals import ratio_interval, ratio_intervals, summarise
from scanlab_report.numbers import Numbers, known, power
from scanlab_report.pick import answering, caches, floor_ns, line, pick, scans, shares
from scanlab_report.sources import sources
from scanlab_report.tables import CASE
from scanlab_report.versus import against, contests, sure, versus_cub

FEW, SOME, MIDDLE, MOST = 1 << 18, 1 << 20, 1 << 22, 1 << 30
"""Up to FEW items, a stream of warm runs is bound by the host's launches."""
NO_SLOWER = 0.98  # the interval of a ratio of speeds above it: no slower by more than 2 %
SUMS = {"type": "i32", "op": "plus", "mode": "inclusive"}
USUAL = SUMS | {"cache": "cold", "launch": STREAM}
DOUBLING, TREE = "hs_blocked", "hso_blocked"
ABLATIONS: dict[str, tuple[str, Callable[..., int]]] = {
    "StagesTwo": ("2 stages", max),
    "StagesThree": ("3 stages", max),
    "StagesFour": ("4 stages", max),
    "StagesFive": ("5 stages", max),
    "StaticMiddle": ("static tiles", statistics.median_low),
    "Static": ("static tiles", max),
    "StaticSmall": ("static tiles", min),
    "LoadingOne": ("1 tile loading", max),
    "LoadingFour": ("4 tiles loading", max),
    "LoadingAll": ("all tiles loading", max),
    "PdlSmall": ("no PDL", min),
    "LookBack": ("decoupled_lookback", max),
    "LookBackSmall": ("decoupled_lookback", min),
    "AskingSmall": ("states at once", min),
    "ReduceThenScan": ("reduce_then_scan", max),
}
"""The idea, and at which of the sizes, by the end of the name of the macro."""
NARROW: dict[str, dict[str, Any]] = {"Byte": {"type": "i8"}, "Short": {"type": ["i16", "f16"]}}
"""Items of one and of two bytes, by the end of the name of the macro."""


def _last(values: pd.Series) -> Any:
    """The value at the largest size; None if there is none."""
    return values.iloc[-1] if len(values) else None


def _ends(name: str, cases: pd.DataFrame, column: str = "share", **wanted: Any) -> Numbers:
    """The least and the largest share of a copy that some cases have."""
    shares = _of_copy(cases, column, **wanted)
    return {f"{name}Least": shares[0], f"{name}Most": shares[-1]}


def _at_largest(rows: pd.DataFrame, *variants: str) -> tuple[Any, ...]:
    """Return the largest size at which the emulator counted all variants, and its counts."""
    own = pick(rows, variant=variants).pivot(index="items", columns="variant", values="content")
    both = own[list(variants)].dropna()
    return int(both.index[-1]), *both.iloc[-1]


def _of_copy(cases: pd.DataFrame, column: str = "share", **wanted: Any) -> list[float]:
    """The shares of a copy that some cases have, the least first."""
    return sorted(share.value for share in pick(cases, **wanted)[column])


def numbers(data: Data) -> Numbers:
    made: Numbers = {}

    with known():  # the device, and the copy and best at the largest size
        cases = scans(data, all_of=(CEILING,))
        stands, cache = standings(data, cases).set_index("variant"), caches(cases)[0]
        (source,), copy = sources(data, cases), stands.loc[CEILING]
        ours = stands[[groups.OWN.has(data.variants[name]) for name in stands.index]]
        best = pick(ours, items=copy["items"]).iloc[0]
        gain = lambda above, below: _last(shares(cases, above, below, cache)["ratio"])
        made |= {
            "scanDevice": latex(source.device),
            "scanDate": latex(source.date),
            "scanCommit": latex(source.revision),
            "scanVersions": latex(", ".join(source.versions)),
            "scanRepetitions": " to ".join(map(str, sorted(set(source.samples or ())))),
            "copyRate": (copy["rate"], 4),
            "copyItems": power(int(copy["items"])),
            "floorTime": (floor_ns(cases, cache) / 1e3, 2),
            "bestRate": best["rate"],
            "bestOfCopy": best["of_memcpy"],
            "bestOfVendor": best["of_cub"],
            "vendorOfCopy": (stands.at[VENDOR, "of_memcpy"], 2),
            "paddingGainLargest": gain(f"{TREE}_padded", TREE),
            "paddingGainReentry": gain("hso_reentry_padded", "hso_reentry"),
            "doublingOverTree": gain(DOUBLING, f"{TREE}_padded"),
        }

    with known():  # counts of the emulator
        every = counts.counts(data)
        trees = pick(every[counts.usual_load(every)], **SUMS, unpadded="hso_block")
        trees = pick(trees, items=trees["items"].max()).drop_duplicates("padding")
        contents = trees.set_index("padding")["content"]
        worst = lambda padding: max(
            step.shared.banks32.max_degree for step in contents[padding].tree_steps()
        )
        in_block, *blocks = _at_largest(counts.usual_counts(every), "hs_block", "hso_block")
        plain = {"type": "i32", "mode": "inclusive", "padding": "none", "load": ("", "halves")}
        n, doubling, tree = _at_largest(pick(every, **plain), DOUBLING, TREE)
        moved = doubling.totals.global_bytes_read + doubling.totals.global_bytes_written
        made |= {
            "degreeItems": power(int(trees["items"].iloc[0])),
            "worstDegreeBare": worst("none"),
            "worstDegreeTwoLevel": worst("two_level"),
            "additionsItems": power(in_block),
            "additionsHillisSteele": blocks[0].totals.operations,
            "additionsWorkEfficient": blocks[1].totals.operations,
            "trafficAllows": (2 * 4 * n / moved, 2),
            "barriersDoubling": doubling.launches[0].barriers,
            "barriersTree": tree.launches[0].barriers,
            "tileDoubling": -(-n // doubling.launches[0].blocks),
            "tileTree": -(-n // tree.launches[0].blocks),
        }

    with known():  # emulator and hardware
        cases, _ = counts.both_counted(data)
        made["hardwareCases"] = len(cases)
        made["hardwareEqual"] = (~cases["differs"]).sum()
        made["hardwareLargestDifference"] = cases["transactions_off"].max()

    with known():  # shares of the copy at the largest size, rung by rung
        cases = ladder.ladder_cases(data)
        cache, largest = caches(cases)[0], ladder.ladder_size(cases)
        over = lambda variant, other=CEILING, settings="", n=largest: _last(
            pick(shares(cases, variant, other, cache, settings), items=n)["ratio"]
        )
        header = "tile=28"  # the header's tile at 2^24 and 2^28 items of 4 bytes on an H200
        made |= {f"rung{v.title().replace('_', '')}": over(v) for v in ladder.SINGLE_PASS} | {
            "rungVendorNewest": over(groups.NEWEST_VENDOR),
            "rungBulkCopy": over(groups.BULK_CEILING),
            "lookAheadOfBulk": over("look_ahead", groups.BULK_CEILING),
            "resetSome": over("look_ahead", HEADER, header, 1 << 24),
            "resetMany": over("look_ahead", HEADER, header),
        }

    with known():  # time without an idea of look_ahead over time with it
        rows = ladder.ablations(data)[1].set_index(["items", "idea"])["ratio"]
        timed = {n for n, _ in rows.index}
        made |= {f"ablation{k}": f"{rows[at(timed), i]:.2f}" for k, (i, at) in ABLATIONS.items()}

    with known():  # look_ahead's form for heavy operators over the other form with the same tile
        heavy = {"variant": "look_ahead", "type": "f32", "op": "log_sum_exp"}
        rows = data.rows("scan", lambda file: file.kind == "cuda")
        cases = summarise(answering(data, pick(rows, **USUAL | heavy)), CASE)
        samples = cases.pivot(index="items", columns="settings", values="samples")
        both = samples[["folding=repeated tile=49", "tile=49"]].dropna()
        gains = ratio_intervals(*(list(both[form]) for form in both))
        made |= {"secondFormSmall": gains[0], "secondFormLarge": gains[-1]}

    with known():  # the fastest tiles of look_ahead
        rows = pick(ladder.by_tile(data)[1], variant="look_ahead")
        fastest = rows.loc[rows.groupby("items")["ratio"].idxmax()].set_index("items")["kib"]
        many = pick(rows, items=rows["items"].max())
        made |= {
            "tileDefault": data.variants["look_ahead"].defaults["tile"],
            "tileSmall": f"{fastest.iloc[0]:g}",
            "tileLarge": f"{fastest.iloc[-1]:g}",
            "tileLargest": f"{many['kib'].iloc[-1]:g}",
            "tileLargestLoses": (100 * (1 - many["ratio"].iloc[-1] / many["ratio"].max()), 2),
        }

    with known():  # items that look_ahead moves, and percent of cycles that its warps wait
        moved = pick(counts.dram_over_items(data)[0], variant="look_ahead").sort_values("items")
        rows = pick(hardware.wait_shares(data)[1], variant="look_ahead")
        rows = rows.sort_values("items").drop_duplicates("role", keep="last").set_index("role")
        made |= {
            "movedLookAhead": _last(moved["moved"]),
            "waitLoad": (100 * rows.at["load", "data"], 2),
            "waitFree": (100 * rows.at["load", "store"], 2),
            "waitReduce": (100 * rows.at["reduce", "data"], 2),
            "waitLookAhead": (100 * rows.at["look ahead", "prefix"], 2),
            "waitScan": (100 * rows.at["scan", "prefix"], 2),
        }

    with known():  # microseconds per graph node, at 2^14 and 2^22 items
        times = ladder.wave_steps(data)[1].set_index(["step", "items"])["us"]
        steps = {"Copy": groups.VECTOR_CEILING, "Meeting": groups.BARRIER_CEILING, "Best": BEST}
        sizes = {"Small": 1 << 14, "Large": ladder.WAVE_LARGEST}
        made |= {"waveFloor": (times[FLOOR].iloc[0], 2)} | {
            f"wave{size}{name}": times[step, n]
            for size, n in sizes.items()
            for name, step in (steps | {"Vendor": "cub"}).items()
        }

    with known():  # best against the fastest CUB: won, tied, lost, and by how much
        rows = versus_cub(data)
        ratio, outcome = rows["ratio"], rows["outcome"]
        (recorded,) = noise.read([data.files[rows["file"].iloc[0]].device])
        timed = rows.assign(on="device", time_us=rows["median_ns"] / 1e3)
        noisy = 1 + noise.thresholds(recorded, "scans", timed)
        certain = sure(rows)
        bound = (rows["cache"] == "warm") & (rows["launch"] == STREAM) & (rows["items"] <= FEW)
        widest = pick(rows, **USUAL).iloc[-1]
        made |= {
            "headToHeadCases": len(rows),
            "headToHeadLeast": ratio.min(),
            "headToHeadWins": (outcome == WIN).sum(),
            "headToHeadTies": (outcome == groups.TIE).sum(),
            "headToHeadLosses": (outcome == groups.LOSS).sum(),
            "headToHeadApart": (rows["samples"].map(max) < rows["samples_rival"].map(min)).sum(),
            "headToHeadNarrow": ((outcome == WIN) & (ratio < noisy)).sum(),
            "headToHeadSureWins": (certain & (ratio > 1)).sum(),
            "headToHeadSureLosses": (certain & (ratio < 1)).sum(),
            "headToHeadNoSlower": (rows["low"] > NO_SLOWER).sum(),
            "headToHeadRivalTuned": (rows["rival"] == TUNED).sum(),
            "headToHeadHostBound": ratio[bound].median(),
            "headToHeadOthers": ratio[~bound].median(),
            "leadItems": power(int(widest["items"])),
            "leadLargest": widest["ratio"],
        }

    with known():  # the pairs of type and operator that the tuned CUB was searched for, and others
        rows, pair = versus_cub(data), ["type", "op"]
        searched = data.rows("scan", lambda file: file.kind == "tuning")
        tuned = pick(searched, variant=data.variants.ids(groups.SHAPES))[pair].drop_duplicates()
        inside = pd.MultiIndex.from_frame(rows[pair]).isin(pd.MultiIndex.from_frame(tuned))
        made |= {
            "headToHeadSearched": inside.sum(),
            "headToHeadSearchedWins": (rows["outcome"][inside] == WIN).sum(),
            "headToHeadSearchedMedian": rows["ratio"][inside].median(),
            "headToHeadUnsearchedMedian": rows["ratio"][~inside].median(),
        }

    with known():  # other libraries, and copies, each in the first file
        first = lambda cases: pick(cases, **USUAL, items=groups.LARGEST).drop_duplicates("variant")
        times, libraries = (
            first(contests(data, python=python)).set_index("variant")["samples"]
            for python in (False, True)
        )
        made["tunedOfCopy"] = (ratio_interval(times[CEILING], times[TUNED]), 2)
        for name in ("thrust_scan", "torch_cumsum", "cupy_cumsum"):
            ratio = ratio_interval(libraries[name], libraries[BEST])
            made[f"{name.partition('_')[0]}OfBest"] = ratio

    with known():  # the lead of best over the toolkit's CUB by two stopwatches, where most apart
        rows = pick(odd_sizes.beside_nvbench(data)[0], **USUAL, items=SOME)
        times = rows.set_index("variant")[["median_ns", "theirs_ns"]]
        made["timerItems"] = power(SOME)
        made["timerLead"], made["timerLeadTheirs"] = times.loc[VENDOR] / times.loc[BEST]

    with known():  # the header against the fastest CUB
        cases = contests(data)
        rows = against(cases, HEADER, data.variants.ids(groups.CUBS))
        some = pick(rows, **USUAL, items=SOME).iloc[0]
        here = pick(cases, **USUAL, items=SOME, file=some["file"]).set_index("variant")
        times = here["median_ns"] / 1e3
        made |= {
            "headerCases": len(rows),
            "headerWins": (rows["outcome"] == WIN).sum(),
            "headerLosses": (rows["outcome"] == groups.LOSS).sum(),
            "headerBelow": (rows["ratio"] < 1).sum(),
            "headerLeast": (rows["ratio"].min(), 2),
            "headerSome": times[HEADER],
            "headerSomeBest": times[BEST],
            "headerSomeVendor": times[some["rival"]],
        }

    with known():  # shares of a copy along rows of the largest tensors, and all cases of rows
        cases = axes.axis_cases(data)
        own = pick(cases, variant=axes.BEST, inner=1)
        rows = pick(cases, **axes.SUMS, inner=1)
        large = pick(rows, octave=rows["octave"].max())
        outcomes = list(axes.standings(rows, axes.described(data, cases))["outcome"].dropna())
        made |= {
            "rowsItems": power(1 << int(large["octave"].iloc[0])),
            **_ends("rows", large, variant=axes.BEST),
            **_ends("rowsSegmented", large, variant="cub_newest_segmented_scan"),
            "rowsByKey": _of_copy(large, variant="cub_axis_by_key")[-1],
            "rowsCases": len(outcomes),
            "rowsWins": outcomes.count(WIN),
            "rowsLosses": outcomes.count(groups.LOSS),
            "rowsSmall": _of_copy(pick(rows, variant=axes.BEST), octave=rows["octave"].min())[0],
        }
        made |= {f"rows{k}": _of_copy(own, **axes.SUMS | v)[0] for k, v in NARROW.items()}
        made |= _ends("rowsTorch", large, variant="torch_cumsum")
        made |= _ends("rowsTriton", large, variant="triton_scan")

    with known():  # the same along columns, and PyTorch's time over that of a flat tensor
        sums = pick(axes.axis_cases(data), **axes.SUMS)
        columns = sums[sums["inner"] > 1]
        own = pick(columns, variant=axes.BEST)
        own = own[own["octave"] >= axes.OCTAVE]
        vectors = own["inner"] % 4 == 0  # lines of whole vectors of 16 bytes
        made |= _ends("columns", own[vectors], variant=axes.BEST)
        if not vectors.all():
            made["columnsApart"] = _of_copy(own[~vectors])[0]
        met = axes.standings(columns, axes.described(data, columns)).dropna(subset="rival")
        made |= {"columnsSome": _of_copy(met)[0], "columnsRival": _of_copy(met, "share_rival")[-1]}
        flat = pick(contests(data, python=True), **axes.SUMS, variant=groups.TORCH)
        flat = flat.drop_duplicates("items").set_index("items")["median_ns"]
        theirs = pick(columns, variant=groups.TORCH)
        items = theirs["items"] * theirs["rows"] * theirs["inner"]
        made["columnsTorchOfFlat"] = (theirs["median_ns"] / items.map(flat)).max()

    for entry, prefix in segments.OURS.items():  # shares of a copy by key, and by offsets
        with known():
            cases = pick(segments.segment_cases(data), entry=entry)
            vendors = axes.described(data, cases).ids(groups.CUBS)
            own = pick(cases, variant=f"{prefix}_best")
            sums = pick(cases, **segments.SUMS)
            large, few = pick(sums, items=sums["items"].max()), pick(sums, items=SOME)
            longer = large[large["segment"] > 1]
            named = _ends("", longer, variant=f"{prefix}_best") | _ends(
                "Vendor", longer, variant=vendors
            )
            named |= {
                "Pairs": _of_copy(large, variant=f"{prefix}_pairs")[-1],
                "Small": _of_copy(few, variant=f"{prefix}_best")[0],
                "SmallVendor": _of_copy(few, variant=vendors)[-1],
                "Widths": _of_copy(own, **segments.SUMS | {"width": [1, 2, 8]})[0],
            }
            named |= {k: _of_copy(own, **segments.SUMS | v)[0] for k, v in NARROW.items()}
            made |= {f"{prefix}s{name}": share for name, share in named.items()}
            made["segmentsItems"] = power(int(large["items"].iloc[0]))
            made["segmentsOnes"] = _of_copy(large, variant="segment_best", segment=1)[0]

    for entry, prefix in selections.OURS.items():  # shares of a copy, and the rivals' ones
        with known():
            rows = selections.standings(data, entry)
            large = pick(rows, items=rows["items"].max())
            made |= {
                "compactedItems": power(int(large["items"].iloc[0])),
                f"{prefix}Cases": len(rows),
            }
            made |= _ends(prefix, large) | _ends(f"{prefix}Rival", large, "share_rival")
            made[f"{prefix}Losses"] = (rows["outcome"] == groups.LOSS).sum()

    with known():  # an empty launch in a stream of warm runs, and best over one as graph nodes
        cases = scans(data, all_of=(FLOOR, BEST), only=(FLOOR, BEST), launches=(STREAM, "graph"))
        rows = line(cases, BEST, cache="warm", launch="graph")
        rows = rows[rows["items"].between(1, FEW)]
        ratios = rows["median_ns"] / floor_ns(cases, "warm", "graph")
        made["floorWarm"] = (floor_ns(cases, "warm") / 1e3, 2)
        made |= {"smallGraphLeast": (ratios.min(), 2), "smallGraphMost": (ratios.max(), 2)}

    with known():  # sums on the most GPUs of the session that answers
        timed = ranks.usual(ranks.scaling(data))
        most = {"algorithm": "peer_look_ahead", "ranks": int(timed["ranks"].max())}
        rows = ranks.compared(timed)
        faster = pick(rows, **SUMS, **most).sort_values("items")
        faster = faster[[gain.value > 0 for gain in faster["speedup"]]].iloc[-1]
        at = lambda items, column, **kind: pick(
            rows, **SUMS | most | {"items_per_rank": items} | kind
        )[column].iloc[0]
        made |= {
            "peersGpus": most["ranks"],
            "peersItems": power(MOST),
            "peersOfCopy": at(MOST, "of_copy"),
            "peersWeak": at(MOST, "efficiency"),
            "peersStrong": faster["speedup"],
            "peersMost": power(int(faster["items"])),
            "peersFew": power(SOME),
            "peersMiddle": power(MIDDLE),
            "peersMiddleOfCopy": (at(MIDDLE, "of_copy"), 2),
            "peersSmall": (at(SOME, "median_ns") / 1e3, 2),
            "peersBlocked": at(MOST, "of_bound", algorithm="reduce_exchange_scan"),
            "peersWide": (at(MOST, "of_copy", type="i64"), 2),
        }

    with known():
        rows = pick(ranks.folds(pick(ranks.folding(data), **SUMS)), items_per_rank=groups.LARGEST)
        for column in ("ranks", "as_ranks"):
            rows = pick(rows, **{column: rows[column].max()})
        rows = rows.set_index("tells")
        made |= {
            "peersFoldGpus": rows.at["chunk", "ranks"],
            "peersFolded": rows.at["chunk", "as_ranks"],
            "peersFoldChunks": (rows.at["chunk", "of_copy"], 2),
            "peersFoldTiles": (rows.at["tile", "of_copy"], 2),
        }

    with known():  # claims and targets that are known and reached, published statements that differ
        reached = targets(data, *OF_SCANS)
        verdicts = [standing.verdict for standing in reached]
        published = [s.verdict for s in literature(data, *OF_LITERATURE_ON_SCANS)]
        made |= {
            "targetsKnown": len(verdicts) - verdicts.count(NOT_MEASURED),
            "targetsReached": verdicts.count(HOLDS),
            "smallOverFloor": next(s.measured for s in reached if s.claim.measure == "floor"),
            "claimsKnown": len(published) - published.count(NOT_MEASURED),
            "claimsFail": published.count(FAILS),
        }
    return made
