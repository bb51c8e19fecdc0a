"""The numbers in the paper's text, as LaTeX macros, so that none is typed by hand."""

from __future__ import annotations

from scanlab_report.documents import ranks_macros, rival_macros, scan_macros, session_macros, streams_macros
from scanlab_report.read.published import Publication
from scanlab_report.read.records import Results
from scanlab_report.select.needs import gather

NAMES = {
    "scanDevice": "name of the device",
    "scanDate": "day of the run",
    "scanCommit": "commit of the code that ran",
    "scanVersions": "driver, toolkit and libraries of the vendor",
    "scanRepetitions": "repetitions behind each median",
    "copyRate": "device copy at the largest size, GB/s",
    "copyItems": "largest size at which all scans are set side by side, as a power of two",
    "floorTime": "empty launch, microseconds",
    "bestRate": "its throughput, GB/s",
    "bestOfCopy": "its share of the copy",
    "bestOfVendor": "its speed relative to the fastest CUB",
    "vendorOfCopy": "share of the copy that the toolkit's CUB has at the largest size",
    "paddingGainLargest": "hso_blocked over hso_blocked_padded at the largest size",
    "paddingGainReentry": "the same of hso_reentry",
    "worstDegreeBare": "worst degree in the unpadded tree, 32 banks",
    "worstDegreeTwoLevel": "worst degree with two-level padding, 32 banks",
    "degreeItems": "size at which the degrees were counted, as a power of two",
    "additionsHillisSteele": "additions of hs_block as counted",
    "additionsWorkEfficient": "additions of hso_block at the same size as counted",
    "additionsItems": "that size, as a power of two",
    "doublingOverTree": "hso_blocked_padded over hs_blocked at the largest size",
    "trafficAllows": "share of the copy that the bytes moved by hs_blocked would allow",
    "barriersDoubling": "barriers of hs_blocked a tile",
    "barriersTree": "barriers of hso_blocked a tile",
    "tileDoubling": "items a tile of hs_blocked",
    "tileTree": "items a tile of hso_blocked",
    "hardwareCases": "cases counted by both the emulator and the hardware",
    "hardwareEqual": "those in which transactions and conflicts are equal",
    "hardwareLargestDifference": "largest difference in wavefronts, in percent of the hardware's",
    "rungWarpShuffle": "share of the copy at the largest size: warp_shuffle",
    "rungReduceThenScan": "the same of reduce_then_scan",
    "rungDecoupledLookback": "the same of decoupled_lookback",
    "rungLookAhead": "the same of look_ahead",
    "rungBest": "the same of best",
    "rungVendorNewest": "the same of the newest CUB",
    "rungBulkCopy": "the same of the copy kernel by bulk copies",
    "lookAheadOfBulk": "speed of look_ahead relative to that copy kernel",
    "headToHeadCases": "cases in which best and CUB were both timed",
    "headToHeadWins": "those that best won against the fastest CUB, by the interval",
    "headToHeadTies": "those that neither won",
    "headToHeadLosses": "those that best lost",
    "headToHeadLeast": "least ratio of them all: CUB's time over best's",
    "targetsKnown": "rows of the targets that the data tell of",
    "targetsReached": "those that are reached",
    "smallOverFloor": "best over an empty launch, i32, up to 2^18 in a stream: the farthest",
    "tileDefault": "default tile of look_ahead, KiB",
    "tileSmall": "fastest tile of look_ahead at 2^20, KiB",
    "tileLarge": "fastest tile of look_ahead at the largest size swept, KiB",
    "tileLargest": "largest tile of look_ahead, KiB",
    "tileLargestLoses": "by how much its speed is less than the fastest tile's at the largest size swept, percent",
    "ablationStagesTwo": "time with a ring of 2 stages over that of look_ahead, at the largest size of the experiments",
    "ablationStagesThree": "the same with a ring of 3 stages",
    "ablationStagesFour": "the same with a ring of 4 stages",
    "ablationStagesFive": "the same with a ring of 5 stages",
    "ablationLoadingOne": "time with 1 tile in flight over that of look_ahead, at the largest size of the experiments",
    "ablationLoadingFour": "time with 4 tiles in flight over that of look_ahead, at the largest size of the experiments",
    "ablationLoadingAll": "the same with all tiles in flight for which a stage is free",
    "ablationStatic": "time with static tile assignment over that of look_ahead, at the largest size of the experiments",
    "ablationStaticSmall": "the same at the smallest",
    "ablationStaticMiddle": "the same at the size between",
    "ablationPdlSmall": "the same at the smallest",
    "ablationAskingSmall": "time with all states asked for at once at the smallest size, where the kernel does so anyhow",
    "secondFormSmall": "time of look_ahead's first form over that of its second at the smallest size, log_sum_exp of f32, equal tile",
    "secondFormLarge": "the same at the largest",
    "resetSome": "time of the header over that of look_ahead with the same tile, 2^24 items, cold",
    "resetMany": "the same at copyItems",
    "ablationLookBack": "time of decoupled_lookback over that of look_ahead, at the largest size of the experiments",
    "ablationLookBackSmall": "the same at the smallest",
    "ablationReduceThenScan": "time of reduce_then_scan over that of look_ahead, at the largest size of the experiments",
    "movedLookAhead": "DRAM bytes of look_ahead over those of its input, largest size",
    "waitLoad": "share of cycles, in percent, that look_ahead's load warp waits for what it loads, largest size",
    "waitFree": "the same for stages whose results have to be stored first",
    "waitReduce": "the same of the reduce warps, for data",
    "waitLookAhead": "the same of the look-ahead warp, for aggregates",
    "waitScan": "the same of the scan warps, for the prefix",
    "waveFloor": "an empty node of a graph, microseconds",
    "waveSmallCopy": "copy_vector as a node at 2^14 items, microseconds",
    "waveSmallMeeting": "the same of copy_one_wave",
    "waveSmallBest": "the same of best",
    "waveSmallVendor": "the same of the fastest CUB",
    "waveLargeCopy": "copy_vector as a node at 2^22 items, microseconds",
    "waveLargeMeeting": "the same of copy_one_wave",
    "waveLargeBest": "the same of best",
    "waveLargeVendor": "the same of the fastest CUB",
    "thrustOfBest": "defined if Thrust was timed beside best: its time over that of best, 32-bit sums, cold, in a stream, at copyItems",
    "torchOfBest": "defined if PyTorch was timed: the same of it",
    "cupyOfBest": "defined if CuPy was timed: the same of it",
    "claimsKnown": "claims of the literature that the data tell of",
    "claimsFail": "those that they do not bear out, in some run at least",
    "driftSchedules": "defined if schedules were timed: the same of schedules",
    "convergedSchedules": "defined if the data say: the same of schedules",
    "convergedSchedulesCases": "defined if that is: of how many",
    **rival_macros.NAMES,
    **ranks_macros.NAMES,
    **streams_macros.NAMES,
}
"""Every macro that can be defined, and what it says; which are depends on the evidence."""


def values(results: Results, published: dict[str, Publication]) -> dict[str, str]:
    """The macros that the evidence defines, with their LaTeX replacement: all of the first device, which the text names once, but for the
    speed over CUB with NCCL, which names its own.
    """
    vendor = gather(ranks_macros.VENDOR_NEEDS, results, published)
    defined = {"peersVendor": ranks_macros.over_vendor(vendor.found.get("timed") if not vendor.reasons else None, latex=True)}
    results = results.on(results.devices[0]) if results.devices else results
    for needs, describe in (*scan_macros.describers(), *rival_macros.describers(), *ranks_macros.describers(), *session_macros.describers(), *streams_macros.describers()):
        gathered = gather(needs, results, published)
        if not gathered.reasons:
            defined |= describe(**gathered.found)
    return defined


def document(defined: dict[str, str]) -> str:
    """The file that the paper reads."""
    lines = ["% Written by analysis. Do not edit."]
    lines += [f"\\newcommand{{\\{name}}}{{{defined[name]}}} % {NAMES[name]}" for name in NAMES if name in defined]
    return "\n".join(lines) + "\n"
