"""The report's page: whole in one file, the same numbers as the report, and every control does something in a browser."""

from __future__ import annotations

import base64
import csv
import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scanlab_report.derive.schedules import speedups
from scanlab_report.figures import ceiling_share
from scanlab_report.read import published, results, streams
from scanlab_report.select.drift import Sessions
from scanlab_report.select.sessions import chosen
from scanlab_report.select.streams_evidence import Experiments, Schedules
from scanlab_report.select.timings import Timings
from scanlab_report.select.variants import CEILING, CUBS
from scanlab_report.stats.intervals import FEWEST_OF_MEDIAN, ratio_interval

from scanlab_report import DATA, page
from scanlab_report.claims import stated
from scanlab_report.commands.__main__ import main
from tests import browser, fixtures
from tests.browser import Browser
from tests.conftest import Built

RECORDED = Path(__file__).parents[2] / "data" / "recorded"
LIMIT_BYTES = 5_000_000
LIMIT_MS = 1000.0

needs_browser = pytest.mark.skipif(not browser.found(), reason=f"none of {', '.join(browser.NAMES)} is on the path")


def data_of(file: Path) -> dict[str, list[dict[str, Any]]]:
    packed = re.search(r'<script id="data"[^>]*>([^<]*)</script>', file.read_text(encoding="utf-8"))
    return json.loads(gzip.decompress(base64.b64decode(packed[1])))


def cases_of(view: dict[str, Any], **wanted: Any) -> pd.DataFrame:
    cases = pd.DataFrame(view["cases"])
    for column, value in wanted.items():
        cases = cases[cases[column] == value]
    return cases


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> results.Results:
    """The recorded session of each device, as a report takes it, and an invented scenario, since no simulation is recorded."""
    scenario = tmp_path_factory.mktemp("scenario") / "scenario.json"
    scenario.write_text(json.dumps(fixtures.stream_fixtures.scenario("invented")))
    return chosen(results.read([scenario], [RECORDED], stated.device()))


@pytest.fixture(scope="module")
def recorded(read: results.Results, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of that."""
    (written,) = page.write_page(read, {}, tmp_path_factory.mktemp("page") / "report.html")
    return written


@pytest.fixture
def invented(built: Built) -> Path:
    """A page of fewer data, for what is opened many times."""
    return built.out / "report.html"


# ------------------------------------------------------------------------------------------------- the file


class Fetched(HTMLParser):
    """Whatever a browser would fetch or go to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {"src", "href", "srcset", "data", "action", "poster", "background"}
        self.found += [f"{tag} {value}" for name, value in attrs if name in named]


def test_everything_is_in_one_file_under_5_mb(recorded: Path) -> None:
    text = recorded.read_text(encoding="utf-8")
    assert recorded.stat().st_size < LIMIT_BYTES
    assert Fetched(text).found == ["link data:,"]
    assert not re.search(r"@import|url\(", page.document({"scans": []}).partition("</style>")[0])
    assert not re.search(r"<!--[A-Z]+-->", text)


def test_the_library_is_the_one_that_its_licence_names(recorded: Path) -> None:
    folder = Path(page.__file__).parent
    licence = (folder / "vega.LICENSE").read_text(encoding="utf-8")
    assert hashlib.sha256((folder / "vega.js").read_bytes()).hexdigest() in licence
    assert "Redistributions in binary form must reproduce" in recorded.read_text(encoding="utf-8")


def test_the_page_is_among_what_a_run_writes_and_the_same_data_give_the_same_bytes(built: Built, tmp_path: Path) -> None:
    read = results.read([], [built.recorded])
    page.write_page(read, published.read(DATA / "published", []), tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == (built.out / "report.html").read_bytes()


def test_without_data_there_is_no_page_and_none_is_left(tmp_path: Path, drawn: list[str]) -> None:
    (tmp_path / "counts.json").write_text(json.dumps(fixtures.explanation("hso_block", 64)))
    out = tmp_path / "out"
    out.mkdir()
    (out / "report.html").write_text("of an earlier run")
    assert main(["build", "--no-pdf", str(tmp_path / "counts.json"), "--out", str(out)]) == 0
    assert not (out / "report.html").exists() and (out / "figures").exists()


def test_what_cannot_be_written_leaves_the_last_page(built: Built, tmp_path: Path, drawn: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "report.html").write_text("of an earlier run")
    monkeypatch.setattr(page.timelines, "views", lambda read: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        main(["build", "--no-pdf", str(built.recorded / "trace_depth_first_4.json"), "--out", str(tmp_path)])
    assert (tmp_path / "report.html").read_text() == "of an earlier run"


# ------------------------------------------------------------------------------------------------ the numbers


def close(value: Any) -> Any:
    """Five digits are kept."""
    return pytest.approx(value, rel=1e-4, nan_ok=True)


def test_medians_and_intervals_of_scans_are_those_of_the_report(built: Built) -> None:
    report = pd.read_csv(built.out / "cases.csv", keep_default_na=False)
    view = next(v for v in data_of(built.out / "report.html")["scans"] if (v["type"], v["op"], v["mode"]) == ("i32", "plus", "inclusive"))
    assert "Test Device, 2026-01-02, commit 012345678, recorded; median of 11 repetitions" in view["source"]
    compared = 0
    for row in cases_of(view).itertuples():
        variant, _, settings = row.variant.partition(" ")
        same = report[(report["variant"] == variant) & (report["type"] == "i32") & (report["op"] == "plus") & (report["settings"] == settings)
                      & (report["mode"] == "inclusive") & (report["cache"] == row.cache) & (report["launch"] == row.launch) & (report["items"] == row.items)]  # fmt: skip
        assert [row.time_ns, row.time_ns_low, row.time_ns_high, row.count] == close(same[["median_ns", "low_ns", "high_ns", "count"]].astype(float).to_numpy()[0])
        compared += 1
    assert compared > 300


def test_ratios_of_scans_are_those_of_the_report(read: results.Results, recorded: Path) -> None:
    timings = Timings(all_of=(CEILING,), python=True).find(read, {})
    view = next(v for v in data_of(recorded)["scans"] if (v["type"], v["op"], v["mode"]) == ("i32", "plus", "inclusive"))
    ours = cases_of(view, variant="best", cache="cold", launch="stream").set_index("items")
    report = ceiling_share.shares(timings, "best", CEILING, "cold").set_index("items")
    assert len(report) > 20
    assert ours.loc[report.index, ["share", "share_low", "share_high"]].to_numpy() == close(report.to_numpy())
    vendor = timings.vendor(2**28, "cold")
    samples = {name: timings.of(name, items=2**28, cache="cold")["samples"].iloc[0] for name in ("best", vendor)}
    ratio = ratio_interval(samples[vendor], samples["best"])
    assert CUBS.has(timings.about[vendor]) and ours.at[2**28, "rival"] == vendor
    assert ours.loc[2**28, ["speedup", "speedup_low", "speedup_high"]].tolist() == close([ratio.value, ratio.low, ratio.high])
    assert view["floor_ns"]["cold stream"] == close(timings.floor_ns("cold"))


def test_every_case_is_there_whatever_its_settings(read: results.Results, recorded: Path) -> None:
    view = data_of(recorded)["scans"][0]
    timed = Timings(all_of=(CEILING,), python=True, kinds=("cuda", "host"), launches=page.scans.LAUNCHES).find(read, {}).cases
    names = (timed["variant"] + " " + timed["settings"]).str.strip()
    assert set(view["cases"]["variant"]) == set(names) - {"empty_launch"} == set(view["looks"])
    assert {"look_ahead tile=10", "hso_reentry levels=3"} < set(names) and not any(" " in name for name in view["shown"])
    tile = cases_of(view, variant="look_ahead tile=18", cache="cold", launch="stream", items=2**28)
    samples = [timed[(names == name) & (timed["items"] == 2**28) & (timed["cache"] == "cold") & (timed["launch"] == "stream")]["samples"].iloc[0]
               for name in (CEILING, "look_ahead tile=18")]  # fmt: skip
    assert tile["share"].item() == close(ratio_interval(*samples).value)


def test_schedules_their_bounds_and_speedups_are_those_of_the_report(built: Built) -> None:
    panel = Schedules().find(results.read([], [built.recorded]), {}).panels("chunks")[0]
    view = next(v for v in data_of(built.out / "report.html")["schedules"] if (v["workload"], v["work"]) == ("scale", panel["work"].iloc[0]))
    ours = cases_of(view).assign(**{name: bound["ms"] for name, bound in view["bounds"].items()})
    gains = speedups(panel)
    for case, gain in zip(gains.itertuples(), gains["speedup"], strict=True):
        (row,) = ours[(ours["id"] == case.id) & (ours["chunks"] == case.chunks) & (ours["streams"] == case.streams)].to_dict("records")
        assert row["time_ms"] == close(case.median_ns / 1e6)
        if case.count < FEWEST_OF_MEDIAN:
            assert (row["time_ms_low"], row["time_ms_high"]) == (None, None)
        else:
            assert [row["time_ms_low"], row["time_ms_high"]] == close([case.low_ns / 1e6, case.high_ns / 1e6])
        assert [row["speedup"], row["speedup_low"], row["speedup_high"]] == close([gain.value, gain.low, gain.high])
        assert row["Van Werkhoven"] == close(1e3 * case.alone.overlapped(case.chunks))
        assert row["pipeline estimate"] == close(1e3 * case.bound)


def test_sessions_have_the_rounds_and_the_farthest_outliers_of_the_report(read: results.Results, recorded: Path) -> None:
    known = Sessions().find(read, {}).sessions
    views = [view for view in data_of(recorded)["sessions"] if view["device"] == known[0].runs[0].device]
    assert len(views) == len(known) >= 3
    for view, session in zip(views, known, strict=True):
        assert view["rounds"]["low"] == close((100 * (session.rounds["low"] - 1)).tolist()) or len(session.names) < 6
        assert view["outliers"]["relative"] == close(session.outliers["relative"].head(len(view["outliers"]["name"])).tolist())
        assert view["outside"] == session.repetitions["outlier"].sum() and view["clocks"] == len(session.clocks)


def test_timelines_have_every_operation_and_simulations_are_called_so(read: results.Results, recorded: Path) -> None:
    views = data_of(recorded)["timelines"]
    (scenario,) = [view for view in views if view["simulated"]]
    assert "simulated" in scenario["source"] and "measured" not in scenario["source"] and scenario["fact"] == "What invented shows."
    traces = {(run.device, run.context["schedule"], run.context["connections"]): file
              for file in sorted(read.streams, key=lambda file: file.run.date) if file.kind == "trace" and (run := file.run)}.values()  # the newest
    assert len(views) == 1 + len(traces) > 4
    for file in traces:
        lasts = file.rows["end_us"] - file.rows["start_us"]
        every = [(pd.DataFrame(view["operations"]), view["calls"]) for view in views]
        of = [o[o["kind"] != calls] for o, calls in every]
        assert any((o["kind"] == calls).sum() == len(file.calls) == 192 for o, calls in every)
        assert any(len(o) == len(lasts) and np.allclose(1e3 * (o["end"] - o["start"]).sort_values(), lasts.sort_values(), atol=2e-3) for o in of)


def write_devices(folder: Path) -> results.Results:
    """Two devices, of which the second was timed later and is twice as fast, and a machine without one."""
    for device, date, slower in (("Old Device", "2026-01-02", 2.0), ("New Device", "2026-02-02", 1.0)):
        document = fixtures.timings(rounds=5, top=12) | {"context": fixtures.context(device=device, date=f"{date}T00:00:00+00:00")}
        for entry in document["benchmarks"]:
            entry["real_time"] *= slower
        (folder / f"{device}.json").write_text(json.dumps(document))
    alone = [fixtures.repetition(fixtures.case("cpu_sequential", n, "warm"), i, 2.0 * n + i) for n in (1024, 2048) for i in range(5)]
    context = fixtures.context(kind="host", device="", cpu="Lone CPU", date="2026-01-01T00:00:00+00:00")
    (folder / "host.json").write_text(json.dumps({"context": context, "benchmarks": alone}))
    return results.read([], [folder])


def test_scans_over_several_gpus_are_those_of_the_report(built: Built) -> None:
    (view,) = data_of(built.out / "report.html")["several_gpus"]
    table = {(of["algorithm"], of["type"], of["op"], int(of["ranks"]), int(of["items"])): of for of in csv.DictReader((built.out / "tables" / "several_gpus.csv").read_text().splitlines())}
    cases = pd.DataFrame(view["cases"])
    assert len(cases) > 20 and set(cases["ranks"]) == {1, 2, 3, 4}
    compared = [(of, table[of.algorithm, of.type, of.op, of.ranks, int(of.items * of.ranks)]) for of in cases.itertuples() if (of.algorithm, of.type, of.op, of.ranks, int(of.items * of.ranks)) in table]
    assert len(compared) == len(table)
    for of, said in compared:
        assert of.time_us == pytest.approx(float(said["time_us"]), rel=1e-4) and of.rate == pytest.approx(float(said["gb_per_s"]), rel=1e-4)
        assert [of.of_copy, of.of_vendor] == pytest.approx([float(said["of_copy"]), float(said["of_vendor"])], rel=1e-4)
    copies = pd.DataFrame(view["copies"])
    assert set(copies["ranks"]) == {1, 2, 3, 4} and (copies["time_us"] > 0).all()


def test_every_device_is_there_the_latest_first_and_none_has_the_numbers_of_another(tmp_path: Path) -> None:
    views = page.scans.views(write_devices(tmp_path), {})
    assert list(dict.fromkeys(view["device"] for view in views)) == ["New Device", "Old Device", "Lone CPU"]
    for view in views:
        assert view["source"].startswith(view["device"])
        assert max(view["cases"]["count"]) == 5
    new, old = (next(view for view in views if view["device"] == device)["cases"] for device in ("New Device", "Old Device"))
    assert new["variant"] == old["variant"] and [2 * time for time in new["time_ns"]] == close(old["time_ns"])
    assert views[-1]["floor_ns"] == {"warm stream": None} and views[-1]["cases"]["share"] == [None, None]


# ------------------------------------------------------------------------------------------------ in a browser


SHOWN = """(() => {
    const svg = document.querySelector("#chart svg") ?? document.getElementById("chart");
    const drawn = [...svg.querySelectorAll("[d]")].map((path) => path.getAttribute("d") + path.getAttribute("transform"));
    return [document.getElementById("table").textContent, svg.textContent, ...drawn].join();
})()"""
VIEWS = ("scans", "schedules", "timelines", "sessions", "speedups", "several_gpus")
TABLES = ("claims", "implicit_sync")
"""Views that are a table alone."""


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    opened = Browser(browser.found(), tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


def changes(chromium: Browser, before: str, what: str) -> None:
    """Waits for the page to show something else, and holds that it does without an error."""
    assert before
    chromium.until(f"{SHOWN} !== {json.dumps(before)}", what=what)
    assert chromium.troubles() == [], what


COUNTING = """(() => {
    const begin = performance.now();
    let sum = 0;
    for (let i = 0; i < 2e7; ++i) sum = Math.imul(sum, 31) + i | 0;
    return sum === 0 ? 0 : performance.now() - begin;
})()"""
"""Milliseconds for a yardstick: work of one processor that is the same everywhere."""
COUNTING_MS = 60.0
"""What it takes on a machine on which the promise is a second; a slower or busier one has as much longer."""


@needs_browser
def test_the_first_view_is_interactive_within_a_second(chromium: Browser, recorded: Path) -> None:
    took = []
    for _ in range(3):  # other work on the machine may hold one up
        chromium.open(recorded)
        slower = max(1.0, float(chromium.evaluate(COUNTING)) / COUNTING_MS)
        took.append(float(chromium.evaluate("document.documentElement.dataset.readyMs")) / slower)
        before = chromium.evaluate(SHOWN)
        chromium.click("#control-variants-best")
        changes(chromium, before, "a box that is clicked at once")
    assert min(took) < LIMIT_MS


@needs_browser
@pytest.mark.parametrize("view", [*VIEWS, *TABLES])
def test_every_choice_changes_what_is_shown_by_keyboard(chromium: Browser, invented: Path, view: str) -> None:
    chromium.open(invented, f"#view={view}")
    names = chromium.evaluate("[...document.querySelectorAll('#controls select')].filter((s) => s.options.length > 1).map((s) => s.id)")
    assert len(names) >= 2
    for name in names:
        chromium.open(invented, f"#view={view}")
        before = chromium.evaluate(SHOWN)
        last = chromium.evaluate(f"(() => {{ const s = document.getElementById('{name}'); s.focus(); return s.selectedIndex === s.options.length - 1; }})()")
        chromium.press("ArrowUp" if last else "ArrowDown")
        changes(chromium, before, name)
        assert chromium.evaluate("document.activeElement.id") == name, "the focus stays where it was"


@needs_browser
@pytest.mark.parametrize("view", VIEWS[:2])
def test_every_box_adds_or_takes_away_a_series(chromium: Browser, invented: Path, view: str) -> None:
    chromium.open(invented, f"#view={view}")
    boxes = chromium.evaluate("[...document.querySelectorAll('#controls input[type=checkbox]')].map((box) => box.id)")
    buttons = chromium.evaluate("[...document.querySelectorAll('#controls [data-set]')].map((button) => button.id)")
    assert len(boxes) > 5 and len(buttons) == 3
    for name in (*boxes, *buttons):
        before = chromium.evaluate(SHOWN)
        chromium.click(f"[id='{name}']")
        changes(chromium, before, name)
        assert re.search("(variants|schedules)=", chromium.evaluate("location.hash")) or name == buttons[-1]


@needs_browser
def test_other_settings_of_a_variant_are_drawn_when_they_are_asked_for(chromium: Browser, recorded: Path) -> None:
    chromium.open(recorded, "")
    assert chromium.evaluate("document.getElementById('control-quantity').value") == "share"  # the first view has shares of a copy
    assert chromium.evaluate("document.querySelectorAll('[id^=control-settings_]').length") == 0
    for variant, boxes in (("look_ahead", 7), ("hso_reentry_padded", 11)):
        before = chromium.evaluate(SHOWN)
        chromium.evaluate(f"""(() => {{ const to = document.getElementById("control-settings"); to.value = "{variant}";
            to.dispatchEvent(new Event("change", {{ bubbles: true }})); }})()""")
        changes(chromium, before, variant)
        names = chromium.evaluate(f"[...document.querySelectorAll('input[data-name=settings_{variant}]')].map((box) => box.value)")
        assert len(names) >= boxes and all(name.startswith(f"{variant} ") for name in names)
        table = chromium.evaluate("document.getElementById('table').textContent")
        assert all(name in table for name in names)
        assert f"and others of {variant}" in chromium.evaluate("document.getElementById('caption').textContent")
    before = chromium.evaluate(SHOWN)
    chromium.click("#control-settings_hso_reentry_padded-none")
    changes(chromium, before, "none of them")
    assert chromium.evaluate("document.querySelectorAll('input[data-name=variants]:checked').length") > 5, "the variants stay"


@needs_browser
def test_timelines_zoom_by_button_by_number_and_by_dragging(chromium: Browser, recorded: Path) -> None:
    chromium.open(recorded, "#view=timelines")
    for name in ("in", "later", "earlier", "out", "in", "whole"):
        before = chromium.evaluate(SHOWN)
        chromium.click(f"#control-{name}")
        changes(chromium, before, name)
    before = chromium.evaluate(SHOWN)
    chromium.evaluate("""(() => { const to = document.getElementById("control-to"); to.value = 5; to.dispatchEvent(new Event("change", { bubbles: true })); })()""")
    changes(chromium, before, "a number that is typed")
    chromium.click("#control-whole")
    chromium.until("document.querySelectorAll('#table tr').length > 100")
    whole = data_of(recorded)["timelines"][0]["whole"]
    chromium.until(f"parseFloat(document.getElementById('control-to').value) === {whole}")
    x, y, width, height = chromium.evaluate("""(() => {
        const box = [...document.querySelectorAll("#chart svg .mark-group .background")].map((b) => b.getBoundingClientRect()).sort((a, b) => b.y - a.y)[0];
        return [box.x, box.y, box.width, box.height];
    })()""")
    for what, share in (("mouseMoved", 0.5), ("mousePressed", 0.5), ("mouseMoved", 0.6), ("mouseMoved", 0.75), ("mouseReleased", 0.75)):
        chromium.mouse(what, x + share * width, y + height / 2, held=True)
    window = "[...['from', 'to'].map((end) => parseFloat(document.getElementById('control-' + end).value))]"
    chromium.until(f"{window}[0] > 0", what="dragging")
    assert chromium.evaluate(window) == pytest.approx([0.5 * whole, 0.75 * whole], rel=0.02)
    assert 20 < chromium.evaluate("document.querySelectorAll('#table tr').length") < 150
    assert chromium.troubles() == []


@needs_browser
@pytest.mark.parametrize(("view", "mark", "words"), [
    ("scans", ".mark-symbol path", ("95% interval", "repetitions")),
    ("schedules", ".mark-symbol path", ("95% interval", "pipeline estimate")),
    ("timelines", ".mark-rect path", ("copies in of chunk", "lasts, ms", "GB/s")),
    ("sessions", ".mark-symbol path", ("95% interval", "cases")),
])  # fmt: skip
def test_hovering_shows_the_figures(chromium: Browser, recorded: Path, view: str, mark: str, words: tuple[str, ...]) -> None:
    chromium.open(recorded, f"#view={view}")
    chromium.hover(f"#chart svg {mark}")
    chromium.until("document.querySelector('#vg-tooltip-element.visible') !== null", what="a tooltip")
    said = chromium.evaluate("document.getElementById('vg-tooltip-element').textContent")
    assert all(word in said for word in words) and "undefined" not in said, said


@needs_browser
def test_the_table_has_the_numbers_of_the_data_to_four_digits(chromium: Browser, recorded: Path) -> None:
    chromium.open(recorded, "#view=scans&variants=best&from=134217728&quantity=byte")
    rows = chromium.evaluate("[...document.querySelectorAll('#table tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))")
    view = data_of(recorded)["scans"][0]
    cases = cases_of(view, cache="cold", launch="stream")
    cases = cases[cases["variant"].isin(("best", CEILING)) & (cases["items"] >= 2**27)]
    names = {n: "2" + "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(d)] for d in str(n.bit_length() - 1)) if n & (n - 1) == 0 else f"{n:,}".replace(",", "\u202f") for n in cases["items"]}
    wanted = {(view["looks"][case.variant]["title"], names[case.items]): case for case in cases.itertuples()}
    assert {(row[0], row[1]) for row in rows} == set(wanted) and len(wanted) > 10
    for row in rows:
        case = wanted[row[0], row[1]]
        known = (case.time_ns, case.time_ns_low, case.time_ns_high) if case.count >= FEWEST_OF_MEDIAN else (case.time_ns,)
        assert [float(cell) for cell in row[2:5] if cell] == pytest.approx([1e3 * ns / (8 * case.items) for ns in known], rel=5e-4)
        assert int(row[-1]) == case.count


@needs_browser
@pytest.mark.parametrize("view", VIEWS)
def test_every_view_says_where_its_numbers_come_from(chromium: Browser, recorded: Path, view: str) -> None:
    chromium.open(recorded, f"#view={view}")
    said = chromium.evaluate("document.getElementById('caption').innerText")
    assert re.search(r"NVIDIA H200, 2026-\d\d-\d\d( to 2026-\d\d-\d\d)?, commit [0-9a-f]{9}.*recorded", said)
    assert re.search(r"repetition|single run", said) and "bar" in said
    assert "switched off" not in chromium.evaluate("document.body.innerText")


@needs_browser
@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_is_cut_off_and_nothing_is_fetched(chromium: Browser, recorded: Path, width: int) -> None:
    chromium.resize(width, 800)
    for view in (*VIEWS, *TABLES):
        chromium.open(recorded, f"#view={view}")
        assert chromium.evaluate("document.documentElement.scrollWidth <= innerWidth"), view
        assert chromium.evaluate("(() => { const c = document.getElementById('chart'); return c.scrollWidth <= c.clientWidth; })()"), view
        assert [url for url in chromium.requests() if not url.startswith(("data:", "blob:"))] == [f"{recorded.as_uri()}#view={view}".partition("#")[0]]
        assert chromium.troubles() == []
    chromium.resize(1280, 900)


@needs_browser
@pytest.mark.parametrize("view", VIEWS)
def test_a_chart_that_has_no_room_yet_is_drawn_once_it_has(chromium: Browser, invented: Path, view: str) -> None:
    hidden = "document.addEventListener('readystatechange', () => { document.body.style.display = 'none'; }, { once: true })"
    script = chromium.send("Page.addScriptToEvaluateOnNewDocument", source=hidden)["identifier"]
    try:
        chromium.open(invented, f"#view={view}")
    finally:
        chromium.send("Page.removeScriptToEvaluateOnNewDocument", identifier=script)
    assert chromium.evaluate("document.getElementById('chart').clientWidth") == 0 and chromium.troubles() == []
    chromium.evaluate("document.body.style.display = ''")
    chromium.until("document.querySelector('#chart svg') !== null", what="the chart")
    assert chromium.troubles() == []


@needs_browser
def test_views_are_reached_and_boxes_set_by_keyboard_alone(chromium: Browser, recorded: Path) -> None:
    chromium.open(recorded)
    reached = []
    for _ in range(18):
        chromium.press("Tab")
        reached.append(chromium.evaluate("document.activeElement.id"))
    assert reached[:9] == [f"view-{name}" for name in ("scans", "speedups", "several_gpus", "schedules", "timelines", "implicit_sync", "claims", "sessions")] + ["control-device"]
    box = next(name for name in reached if name.startswith("control-variants-"))
    before = chromium.evaluate(SHOWN)
    chromium.evaluate(f"document.getElementById('{box}').focus()")
    chromium.press(" ")
    changes(chromium, before, box)
    chromium.evaluate("document.getElementById('view-schedules').focus()")
    chromium.press("Enter")
    chromium.until("document.getElementById('title').textContent.startsWith('Schedules')")


@needs_browser
def test_another_device_and_one_with_neither_copy_nor_floor_can_be_chosen(chromium: Browser, tmp_path: Path) -> None:
    (written,) = page.write_page(write_devices(tmp_path), {}, tmp_path / "report.html")
    chromium.open(written)
    for device in ("Old Device", "Lone CPU"):
        before = chromium.evaluate(SHOWN)
        chromium.evaluate("document.getElementById('control-device').focus()")
        chromium.press("ArrowDown")
        chromium.until(f"document.getElementById('caption').textContent.includes('{device}')")
        changes(chromium, before, device)
        assert chromium.evaluate("document.querySelectorAll('#table tbody tr').length > 0"), device
    chromium.click("#control-variants-none")
    chromium.until("document.querySelectorAll('#table tbody tr').length === 0")
    assert chromium.troubles() == []
    offered = chromium.evaluate("[...document.querySelectorAll('#views a')].map((a) => a.id)")
    assert offered == ["view-scans", "view-speedups", "view-claims", "view-sessions"], "views without data are not offered"
    assert chromium.evaluate("[...document.getElementById('control-quantity').options].map((option) => option.value)") == ["byte", "time", "rate"]


@needs_browser
def test_names_in_the_data_are_text_and_never_markup(chromium: Browser, tmp_path: Path) -> None:
    document = fixtures.stream_fixtures.trace(device="<img src=x onerror=alert(1)>", schedule="</script><b>bold</b>")
    (tmp_path / "t.json").write_text(json.dumps(document))
    (written,) = page.write_page(results.read([tmp_path / "t.json"], []), {}, tmp_path / "report.html")
    chromium.open(written)
    assert chromium.evaluate("document.querySelectorAll('main img, main b').length") == 0
    assert "<img src=x" in chromium.evaluate("document.getElementById('caption').textContent")


@needs_browser
def test_without_javascript_a_sentence_says_where_the_figures_are(chromium: Browser, recorded: Path) -> None:
    chromium.send("Emulation.setScriptExecutionDisabled", value=True)
    try:
        chromium.send("Page.navigate", url=recorded.as_uri())
        chromium.until("document.readyState === 'complete' && document.body.innerText.includes('JavaScript, which is switched off')")
    finally:
        chromium.send("Emulation.setScriptExecutionDisabled", value=False)


@needs_browser
def test_on_a_phone_the_chart_comes_before_its_controls(chromium: Browser, recorded: Path) -> None:
    before = "document.getElementById('chart').getBoundingClientRect().top < document.getElementById('controls').getBoundingClientRect().top"
    chromium.open(recorded)
    assert not chromium.evaluate(before)
    chromium.resize(390, 800)
    for view in (*VIEWS, *TABLES):
        chromium.open(recorded, f"#view={view}")
        assert chromium.evaluate(before), view
        assert chromium.evaluate("document.getElementById('chart').getBoundingClientRect().top") < 400, view
    chromium.resize(1280, 900)


@needs_browser
def test_a_sentence_names_the_fastest_that_is_seen(chromium: Browser, recorded: Path) -> None:
    for view in ("scans", "speedups", "schedules"):
        chromium.open(recorded, f"#view={view}")
        assert "is the fastest shown" in chromium.evaluate("document.getElementById('caption').innerText"), view
    assert "speedup" in chromium.evaluate("document.getElementById('view-speedups').textContent.toLowerCase()")


@needs_browser
def test_claims_have_their_verdicts_and_experiments_their_answers(chromium: Browser, read: results.Results, recorded: Path) -> None:
    (claims,) = data_of(recorded)["claims"]
    # A claim that is made on every device has a row for each.
    assert len(claims["claims"]["claim"]) >= len(stated.read()) and set(claims["claims"]["verdict"]) <= {"holds", "fails", "not measured"}
    chromium.open(recorded, "#view=claims&verdict=fails")
    assert chromium.evaluate("document.querySelectorAll('#chart tbody tr').length") == claims["claims"]["verdict"].count("fails")
    asked = data_of(recorded)["implicit_sync"][0]
    rows = Experiments(streams.IMPLICIT_SYNC).find(read.on(asked["device"]), {}).rows
    assert asked["experiments"]["yes"] == rows["yes"].tolist() and asked["experiments"]["differs"] == rows["differs"].tolist()
    chromium.open(recorded, "#view=implicit_sync")
    assert chromium.evaluate("document.querySelectorAll('#chart tbody tr').length") == len(rows)
    assert chromium.evaluate("document.getElementById('shown').hidden") is True
