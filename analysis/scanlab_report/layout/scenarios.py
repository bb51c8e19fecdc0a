"""How scenarios are drawn side by side."""

from __future__ import annotations

from collections.abc import Iterator

from matplotlib.figure import Figure

from scanlab_report.layout import style
from scanlab_report.layout.gantt import draw_trace, makespan_ms
from scanlab_report.select.scenarios import ScenarioEvidence
from scanlab_report.select.streams_evidence import Trace

_LANE = 0.145
"""Height of a lane in inches."""
_AROUND = 0.34
"""Height in inches of a panel's title and numbers."""


def draw(scenarios: ScenarioEvidence) -> Figure:
    """A panel a scenario; what stands in a row, or all of one column, has one scale of time."""
    heights = [_AROUND + _LANE * max(_lanes(scenario) for scenario in row) for row in scenarios.rows]
    columns = len(scenarios.rows[0])
    width = style.DOUBLE if columns > 1 else style.COLUMN
    drawn, axes = style.figure(width, 0.2 + sum(heights), columns, len(heights), height_ratios=heights)
    for place, axis in enumerate(axes):
        row, column = divmod(place, columns)
        scenario = scenarios.rows[row][column]
        beside = scenarios.rows[row] if columns > 1 else [scenario for (scenario,) in scenarios.rows]
        axis.set_xlim(0, 1.02 * max(makespan_ms(each.rows) for each in beside))
        draw_trace(axis, scenario.rows, f"({_letter(place)}) {scenario.about['title']}: {_time(scenario)}", numbered=True)
        if lanes := scenario.about.get("multiprocessors"):  # the idle ones too
            axis.set_yticks(range(lanes), [f"SM {lane}" for lane in range(lanes)])
            axis.set_ylim(lanes - 0.5, -0.5)
        if column > 0:
            axis.set_yticklabels([])
        axis.xaxis.get_major_locator().set_params(integer=True)
        if row == len(heights) - 1:
            axis.set_xlabel(f"time, {scenario.about['unit']}, simulated")
    return drawn


def _time(scenario: Trace) -> str:
    value, unit = scenario.about["makespan_us"] / 1e3, scenario.about["unit"]
    return f"{value:.2f} ms" if unit == "ms" else f"{value:.3g} {unit}"


def _lanes(scenario: Trace) -> int:
    return scenario.about.get("multiprocessors") or scenario.rows["lane"].nunique()


def _letter(place: int) -> str:
    return "abcdefghijklmnopqrstuvwxyz"[place]


def panels(scenarios: ScenarioEvidence) -> Iterator[tuple[str, str, Trace]]:
    """Each panel's letter, makespan and scenario, as they stand in the figure."""
    for place, scenario in enumerate(scenario for row in scenarios.rows for scenario in row):
        yield _letter(place), _time(scenario), scenario
