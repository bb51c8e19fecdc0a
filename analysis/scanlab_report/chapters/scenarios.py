"""How jobs would run on other devices: simulated scenarios."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from string import ascii_lowercase

from scanlab_report import marks, style
from scanlab_report.chapters.timelines import Trace, draw_trace, trace_of
from scanlab_report.data import Data, Publication
from scanlab_report.formats import Table, alike, code, records, significant
from scanlab_report.formats import figure as figure_reference
from scanlab_report.pick import Lacking
from scanlab_report.shown import Shown, figure, shown, table
from scanlab_report.sources import Source, source_of
from scanlab_report.tables import MEASURED

Rows = Sequence[Sequence[str]]
"""Ids of scenarios, as they stand on the page."""
GENERATIONS = ("c1060", "c2050", "k20c")
ORDERS = ("sequential", "depth_first", "breadth_first")
PICTURES: dict[str, Rows] = {
    "scenarios_generations": [[f"{device}_{order}" for order in ORDERS] for device in GENERATIONS],
    "scenarios_worth": [
        ["ideal_whole", "ideal_two_streams", "ideal_four_streams"],
        ["small_copies_whole", "small_copies_hoped", "small_copies_streams"],
        ["tails_one_stream", "tails_two_streams", "tails_one_grid"],
        ["small_grids_one_stream", "small_grids_four_streams", "small_grids_no_concurrency"],
    ],
    "scenarios_order": [
        [f"{what}_{which}" for which in ("expected", "real", "reordered")]
        for what in ("one_way", "small_grids", "large_grids")
    ],
    "scenarios_default_stream": [
        ["default_stream", "two_streams", "four_chunk_pipeline"],
        ["null_stream_legacy", "null_stream_per_thread", "null_stream_non_blocking"],
    ],
    "scenarios_chunks": [["even_chunks"], ["uneven_chunks"]],
}
"""The scenarios that each figure shows, by the name of the figure."""
TITLES = {
    "scenarios_chunks": "Equal and unequal chunks, simulated.",
    "scenarios_default_stream": "Effects of the default stream, simulated: one panel per program, "
    "one row per engine.",
    "scenarios_generations": "Issue orders on three generations of devices, simulated.",
    "scenarios_order": "Issue orders on one copy engine and one hardware work queue, simulated: "
    "one panel per order, one row per engine.",
    "scenarios_worth": "Cases in which streams help and in which they do not, simulated: one panel "
    "per case, one row per engine.",
}
MORE = {
    "scenarios_generations": "16 MiB are in four chunks and four streams. H2D copy, kernel and D2H "
    "copy take a third of the sequential time each.",
    "scenarios_order": "As expected (left), as it is (middle), and in another issue order (right). "
    "The two lower rows also have the launch rule of compute capability 2.0 to 3.0, but for the "
    "left.",
    "scenarios_worth": "Each row is one job, whole and in streams.",
}
"""Additions of captions to the titles, which the gallery has too."""


def published_table(data: Data, name: str) -> Publication:
    """A table of the literature; Lacking if it was not read."""
    if name not in data.published:
        raise Lacking(f"published table {name}")
    return data.published[name]


def scenarios_of(data: Data, rows: Rows) -> tuple[list[list[Trace]], Source]:
    """The newest scenarios, measured now or else recorded, and their source."""
    timed = set(data["spans"]["file"])
    files = [n for n in data.numbers(lambda file: file.of_no_device) if n in timed]
    files.sort(key=lambda n: (data.files[n].origin == MEASURED, data.files[n].date))
    newest = {data.files[n].context.get("scenario"): n for n in files}
    if not {scenario for row in rows for scenario in row} <= set(newest):
        raise Lacking("simulated scenarios")
    traces = [[trace_of(data, newest[scenario]) for scenario in row] for row in rows]
    traces = [[replace(own, calls=own.calls[:0]) for own in row] for row in traces]  # of no host
    used = [data.files[trace.file] for row in traces for trace in row]
    origin = "simulated" if used[0].origin == MEASURED else f"simulated, {used[0].origin}"
    return traces, source_of(used, device="Engine model", origin=origin)


def panels(rows: list[list[Trace]]) -> Iterator[tuple[str, str, Trace]]:
    """Each panel's letter, makespan and scenario, as they stand in the figure."""
    for letter, trace in zip(ascii_lowercase, chain.from_iterable(rows), strict=False):
        value, unit = trace.about["makespan_us"] / 1e3, trace.about["unit"]
        yield letter, f"{value:.2f} ms" if unit == "ms" else f"{value:.3g} {unit}", trace


def _draw(data: Data, name: str) -> Shown:
    """One panel per scenario, with one scale of time per row, or per single column."""
    rows, source = scenarios_of(data, PICTURES[name])
    lanes = lambda trace: trace.about.get("multiprocessors") or trace.rows["lane"].nunique()
    heights = [0.34 + 0.145 * max(map(lanes, row)) for row in rows]
    across, down = len(rows[0]), len(rows)
    width, height = style.DOUBLE if across > 1 else style.COLUMN, 0.2 + sum(heights)
    drawn, axes = style.figure(width, height, across, down, height_ratios=heights)
    peers = rows if across > 1 else [[*chain.from_iterable(rows)]] * down
    for place, (axis, (letter, time, trace)) in enumerate(zip(axes, panels(rows), strict=True)):
        row, column = divmod(place, across)
        axis.set_xlim(0, 1.02 * max(own.makespan_ms for own in peers[row]))
        draw_trace(axis, trace, f"({letter}) {trace.about['title']}: {time}", numbered=True)
        if number := trace.about.get("multiprocessors"):  # the idle ones too
            marks.rows_of_names(axis, [f"SM {lane}" for lane in range(number)], space=0.5)
        if column > 0:
            axis.set_yticklabels([])
        axis.xaxis.get_major_locator().set_params(integer=True)
    for axis in axes[-across:]:
        axis.set_xlabel(f"time, {rows[-1][0].about['unit']}, simulated")
    numbers = "Numbers are chunks, or kernels where lanes are multiprocessors (SM)."
    caption = " ".join(filter(None, (TITLES[name], MORE.get(name), numbers)))
    return shown(data, drawn, caption, source)


for _name, _title in TITLES.items():
    _make = partial(_draw, name=_name)
    _make.__doc__, _make.__module__ = _title, __name__
    figure("scenarios", name=_name)(_make)


@table("scenarios")
def scenarios(data: Data) -> Shown:
    """Simulated scenarios: the finding of each panel of the figures of scenarios."""
    made, sources = [], []
    for name, rows in PICTURES.items():
        traces, source = scenarios_of(data, rows)
        sources.append(source)
        for letter, time, trace in panels(traces):
            about = {"title": trace.about["title"], "finding": trace.about["fact"]}
            made.append({"figure": name, "panel": letter, "makespan": time} | about)
    columns = [
        *alike(code, "figure", refers=figure_reference),
        *alike(str, "panel"),
        *alike(str, title="scenario", wrap=12),
        *alike("{}".format, "makespan"),
        *alike(str, "finding", wrap=32),
    ]
    caption = "Simulated scenarios: makespan and finding of each panel of the figures of scenarios."
    return shown(data, Table(caption, columns, records(made)), caption, *sources)


@table("scenarios")
def generations(data: Data) -> Shown:
    """Issue orders on devices of 2008, 2010 and 2012, published and simulated."""
    published = published_table(data, "harris2012_overlap")
    traces, source = scenarios_of(data, PICTURES["scenarios_generations"])
    simulated = {t.about["scenario"]: t.about["makespan_us"] / 1e3 for row in traces for t in row}
    rows = published.table.rename(columns={"milliseconds": "published_ms"})
    rows["simulated_ms"] = [simulated[f"{r.device}_{r.schedule}"] for r in rows.itertuples()]
    for which in ("published", "simulated"):
        sequential = rows[rows["schedule"] == "sequential"].set_index("device")[f"{which}_ms"]
        rows[f"{which}_ratio"] = rows[f"{which}_ms"] / rows["device"].map(sequential)
    rows["percent"] = 100 * (rows["simulated_ratio"] / rows["published_ratio"] - 1)
    names = {"c1060": "Tesla C1060", "c2050": "Tesla C2050", "k20c": "Tesla K20c"}
    columns = alike(names.__getitem__, "device", left=True)
    columns += alike(lambda v: v.replace("_", "-"), schedule="issue order", left=True)
    for which in ("published", "simulated"):
        headings = {f"{which}_ms": "ms", f"{which}_ratio": "of sequential"}
        columns += alike(significant, **headings, group=which)
    columns += alike("{:+.1f}".format, percent="difference, %")
    caption = (
        f"Times of issue orders on three devices: published ({published.citation}) and simulated, "
        "16 MiB in four chunks and four streams. The engine model gives each of the three parts a "
        "third of the sequential time, and copies in both directions their full rate; neither is "
        "published."
    )
    return shown(data, Table(caption, columns, rows), caption, source)
