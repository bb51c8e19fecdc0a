"""Scans by key and of segments: any lengths, and a copy that reads the keys or offsets, too."""

from typing import Any

import pandas as pd

from scanlab_report import marks, style
from scanlab_report.chapters.axes import beside_copy, beside_rivals, described, rival_columns, score
from scanlab_report.data import Data
from scanlab_report.formats import Table, alike, code, size, whole
from scanlab_report.groups import CUBS, STREAM
from scanlab_report.looks import look
from scanlab_report.pick import pick
from scanlab_report.shown import Shown, figure, shown, table
from scanlab_report.versus import or_lacking

OURS = {"scan_by_key": "key", "segmented_scan": "segment"}
"""The primitives, and what the ids of their variants begin with."""
DRAWN = {"best": "Scanlab's best", "pairs": "pairs in memory"}
COPIES = ["key_copy", "segment_copy"]
LENGTHS = [*alike(code, entry="primitive"), *alike(size, "items"), *alike(str, "lengths")]
LENGTHS += alike(whole, segment="mean")
"""The columns that name a case."""
SUMS: dict[str, Any] = dict(
    type="i32", op="plus", mode="inclusive", width=4, cache="cold", launch=STREAM
)


def segment_cases(data: Data) -> pd.DataFrame:
    """The cases `beside_copy`."""
    timed = lambda rows: rows if rows["variant"].isin(COPIES).any() else ()
    lacking = "timings of scans by key or of segments on a CUDA device"
    return beside_copy(data, "segments", COPIES, timed, lacking, "key_best")


@figure("segments")
def segments(data: Data) -> Shown:
    """Scans by key and of segments against the mean length: Scanlab's keep their share of a copy
    whatever the lengths, where CUB's depends on them or is lower."""
    cases = pick(segment_cases(data), **SUMS, lengths="random")
    cases = marks.heights(cases[cases["items"] == cases["items"].max()], "share")
    about = described(data, cases)
    drawn, panels = style.figure(style.DOUBLE, 2.5, 2)
    for panel, (entry, prefix) in zip(panels, OURS.items(), strict=True):
        rows = pick(cases, entry=entry)
        for name in (f"{prefix}_best", f"{prefix}_pairs", *about.ids(CUBS)):
            own = pick(rows, variant=name).sort_values("segment")
            kind = name.removeprefix(f"{prefix}_")
            form = look(f"key_{kind}" if kind in DRAWN else name, about).plot()
            label = DRAWN.get(kind, about[name].label)
            if len(own) and (prefix == "key" or kind not in DRAWN):
                panels[0].plot([], [], label=label, **form)  # for the legend of both panels
            panel.plot(own["segment"], own["y"], **form)
        panel.set_xscale("log", base=2)
        panel.axhline(1, color=style.BLACK, linewidth=1)
        panel.set_ylim(0, 1.05)
        panel.set_xlabel("mean items of a " + ("run of keys" if prefix == "key" else "segment"))
    style.legend(drawn, panels[0], columns=5)
    panels[0].set_ylabel("share of a copy")
    caption = (
        "Speed of inclusive sums of i32 as a share of a copy that reads the keys or offsets, too, "
        f"against the mean length of segments. {size(cases['items'].max())} items, keys and "
        "offsets of 4 bytes; cold cache, stream launches. Left: by key. Right: by offsets."
    )
    return shown(data, drawn, caption, cases)


@table("segments")
def segment_standings(data: Data) -> Shown:
    """Sums of i32 by key and of segments against a copy and the fastest rival, by length."""
    cases = pick(segment_cases(data), **SUMS)
    about = described(data, cases)
    best = [f"{prefix}_best" for prefix in OURS.values()]
    order = {"entry": True, "items": False, "lengths": False, "segment": True}
    rows = beside_rivals("segments", cases, best, about.ids(CUBS), order)
    rows = rows[rows["rival"].notna()].reset_index(drop=True)
    or_lacking(rows, "timings of key_best or segment_best beside CUB", "key_best")
    columns = [*LENGTHS, *rival_columns("copy")]
    caption = (
        "Speed of `key_best` and `segment_best` over a copy that reads the keys or offsets, too, "
        "and over the fastest rival, CUB in the fastest of its shapes. Inclusive sums of i32, keys "
        "and offsets of 4 bytes; cold cache, stream launches. A case is won or lost if the 95% "
        "interval excludes 1."
    )
    content = Table(caption, columns, rows, (score(rows),))
    used = pick(cases, variant=[*best, *rows["rival"], *COPIES])
    return shown(data, content, caption, used)
