"""Waiting cycles of the roles of a kernel, and the timeline of its tiles."""

import pandas as pd

from scanlab_report import marks, style
from scanlab_report.data import Data
from scanlab_report.pick import origin_first, pick
from scanlab_report.shown import Shown, figure, shown
from scanlab_report.tables import POINTS, WAITING

ROLES = ("load", "reduce", "look ahead", "scan", "block")
_NAMED = ["variant", "items", "role"]
_FILLS = {
    "data": ("#BBBBBB", ""),
    "prefix": (style.VERMILLION, "////"),
    "store": (style.BLUE, "...."),
    "free": (style.SKY, "\\\\\\\\"),
    "reduced": (style.GREEN, "xxxx"),
    "rest": ("white", ""),
}
"""Colour and hatch of each cause of waiting, so that no two differ by colour alone."""


def wait_shares(data: Data) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Cycles on one GPU, and the share of each role by cause of waiting, with the `rest`."""
    waits = data["waits"]
    waits = waits[waits["rank"].isna()] if "rank" in waits else waits
    waits = origin_first(data, waits, "cycles spent waiting")
    place = waits["role"].map({role: place for place, role in enumerate(ROLES)})
    rows = waits.assign(place=place.fillna(len(ROLES)))
    rows = rows.sort_values(["variant", "items", "place"], kind="stable", ignore_index=True)
    cycles = rows.filter(regex=f"^{WAITING}").fillna(0).div(rows["cycles_total"], axis=0)
    shares = cycles.rename(columns=lambda column: column.removeprefix(WAITING))
    return waits, shares.assign(rest=(1 - shares.sum(axis=1)).clip(lower=0)).join(rows[_NAMED])


@figure("cycles")
def prefix_wait(data: Data) -> Shown:
    """Stall cycles of each warp role of look_ahead by cause: data from memory, sums of the same
    tile, earlier aggregates, or stores."""
    waits, rows = wait_shares(data)
    groups = rows.groupby(["variant", "items"], sort=False).ngroup()
    height = rows.index + 0.5 * groups  # a gap between groups
    drawn, (axes,) = style.figure(style.COLUMN, 0.75 + 0.17 * height.iloc[-1])
    before = pd.Series(0.0, index=rows.index)
    for kind in rows.columns.drop(_NAMED):
        colour, hatch = _FILLS.get(kind, (style.PURPLE, "----"))
        form = {"height": 0.7, "color": colour, "hatch": hatch, "edgecolor": style.BLACK}
        label = kind if kind == "rest" else f"stall: {kind}"
        axes.barh(height, rows[kind], left=before, linewidth=0.5, label=label, **form)
        before += rows[kind]
    several = rows["variant"].nunique() > 1
    names = [
        f"{f'{row.variant}, ' * several}{marks.power_of_two(row.items)}: {row.role}"
        for row in rows.itertuples()
    ]
    axes.set_yticks(height, names)
    axes.set(xlabel="share of cycles", xlim=(0, 1), ylim=(height.iloc[-1] + 0.6, -0.6))
    axes.grid(axis="y", visible=False)
    style.legend(drawn, axes, "right", 3, columnspacing=0.8, handlelength=1.4)
    caption = (
        "Stall cycles of each warp role as a share of its cycles, by clocks in the kernel. Data: "
        "items from memory, or the load warp's limit on loads; reduced: sums of the same tile; "
        "prefix: aggregates of earlier tiles; store: a free stage, or results leaving shared "
        "memory; the rest is work and other stalls. One run, so no bars."
    )
    return shown(data, drawn, caption, waits)


_CURVES = dict(
    zip(
        POINTS,
        (
            ("begun", style.GREY, ":"),
            ("has its items", style.BLUE, "-"),
            ("has told of them", style.GREEN, "--"),
            ("knows what is before", style.VERMILLION, "-."),
            ("has issued its stores", style.BLACK, "-"),
        ),
        strict=True,
    )
)
"""Name, colour and line of each point."""
COPY = "copy_one_wave"


@figure("timeline")
def tile_times(data: Data) -> Shown:
    """When the tiles of a scan come to the points of their work, beside a copy with the same
    barrier."""
    times = origin_first(data, data["tile_times"], "times of tiles")
    runs = times[times["variant"] != COPY].groupby(["items", "variant", "settings"])
    drawn, panels = style.figure(style.DOUBLE, 2.5, runs.ngroups, sharey=True)
    share = lambda rows: (rows["tile"] + 1) / len(rows)
    for axes, ((items, variant, _), rows) in zip(panels, runs, strict=True):
        for point, (label, colour, line) in _CURVES.items():
            axes.plot(rows[point] / 1e3, share(rows), color=colour, linestyle=line, label=label)
        if len(copied := pick(times, variant=COPY, items=items)):
            form = {"color": style.PURPLE, "linewidth": 0.8, "label": "copy: stores"}
            axes.plot(copied["stored_ns"] / 1e3, share(copied), **form)
        axes.set_title(f"{marks.power_of_two(items)} items, {variant}")
        axes.set(xlabel="µs since the first tile begins", xlim=(0, None), ylim=(0, 1.02))
    panels[0].set_ylabel("share of tiles")
    style.legend(drawn, panels[0], columns=3)
    caption = (
        "Tiles that have come to a point of the scan, against time: sums of i32, cold, medians of "
        "nine runs, by the device's clock in an instrumented kernel. Copy: a kernel that holds as "
        "many items in registers, and waits for all blocks before its own between reading and "
        "writing."
    )
    return shown(data, drawn, caption, times)
