"""The report's page: whole in one file, the numbers of the report, and every control does something
in a browser."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from scanlab_report import data as tables
from scanlab_report import page
from scanlab_report.chapters import bounds
from scanlab_report.choosing import choose_session
from scanlab_report.groups import CEILING, CUBS
from scanlab_report.load import load
from scanlab_report.versus import against, contests
from tests import browser, fixtures, ranks_fixtures, stream_fixtures
from tests.browser import Browser
from tests.fixtures import case, context, results, samples

LIMIT_MS = 1000.0
NEW, OLD, CPU = "New Device", "Old Device", "Lone CPU"
needs_browser = pytest.mark.skipif(not browser.found(), reason="there is no Chromium")


def data_of(file: Path) -> dict[str, list[dict[str, Any]]]:
    text = file.read_text(encoding="utf-8")
    packed = re.search(r'<script id="data"[^>]*>([^<]*)</script>', text)
    return json.loads(gzip.decompress(base64.b64decode(packed[1])))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> tables.Data:
    """Two devices, of which one was timed later and is twice as fast, and a machine without one."""
    folder = tmp_path_factory.mktemp("results")
    documents = {"streams": stream_fixtures.schedules(), "sync": stream_fixtures.implicit_sync()}
    documents |= {"scenario": stream_fixtures.scenario("invented")}
    documents |= {f"ranks_{n}": ranks_fixtures.run(n, [1 << 20, 1 << 24]) for n in (1, 4)}
    documents |= {f"t{n}": stream_fixtures.trace(channels=n, connections=n) for n in (1, 4)}
    for device, date, slower in ((NEW, "2026-02-02", 1), (OLD, "2026-01-02", 2)):
        timed = fixtures.timings(rounds=6, top=13)
        timed["context"] = context(device=device, date=f"{date}T00:00:00+00:00")
        for entry in timed["benchmarks"]:
            entry["real_time"] *= slower
        documents[device] = timed
    alone = [
        s for n in (1024, 2048) for s in samples(6, case("cpu_sequential", n, "warm"), 2.0 * n)
    ]
    about = {"kind": "host", "device": "", "cpu": CPU, "date": "2026-01-01T00:00:00+00:00"}
    documents["host"] = results(*alone, **about)
    for name, document in documents.items():
        text = json.dumps(document).replace("Test Device", NEW)
        (folder / f"{name}.json").write_text(text)
    data = load([], [folder])
    assert not data.problems
    return choose_session(data)


@pytest.fixture(scope="module")
def written(data: tables.Data, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("page") / "report.html"
    assert page.write_page(data, target)
    return target


class Fetched(HTMLParser):
    """Whatever a browser would fetch or go to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.urls: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {"src", "href", "srcset", "data", "action", "poster", "background"}
        self.urls += [f"{tag} {value}" for name, value in attrs if name in named]


def test_everything_is_in_one_file_and_the_same_data_give_the_same_bytes(
    data: tables.Data, written: Path, tmp_path: Path
) -> None:
    text = written.read_text(encoding="utf-8")
    assert Fetched(text).urls == ["link data:,"] and not re.search(r"<!--[A-Z]+-->", text)
    style = page.document({"scans": []}).partition("</style>")[0]
    assert not re.search(r"@import|url\(", style)
    page.write_page(data, tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == written.read_bytes()
    folder = Path(page.__file__).parent
    digest = hashlib.sha256((folder / "vega.js").read_bytes()).hexdigest()
    assert digest in (folder / "vega.LICENSE").read_text(encoding="utf-8")
    assert "Redistributions in binary form must reproduce" in text


def close(value: Any) -> Any:
    """Five digits are kept."""
    return pytest.approx(value, rel=1e-4, nan_ok=True)


def test_scans_have_the_medians_intervals_and_ratios_of_the_report(
    data: tables.Data, written: Path
) -> None:
    view = data_of(written)["scans"][0]
    assert (view["device"], view["type"], view["op"], view["mode"]) == (
        NEW,
        "i32",
        "plus",
        "inclusive",
    )
    wanted = f"{NEW}, 2026-02-02, commit 012345678, recorded; median of 6 repetitions"
    assert view["source"] == wanted and "look_ahead tile=36" in view["cases"]["variant"]
    ours = pd.DataFrame(view["cases"]).query("variant == 'best' and cache == 'cold'")
    ours = ours.set_index("items")
    every = contests(data.on(NEW))
    same = {"type": "i32", "op": "plus", "cache": "cold", "launch": "stream"}
    for names, rivals in (("share", [CEILING]), ("speedup", data.variants.ids(CUBS))):
        rows = against(every, "best", rivals)
        for column, value in same.items():
            rows = rows[rows[column] == value]
        assert len(rows) == 4
        for row in rows.itertuples():
            own = ours.loc[row.items]
            times = [own["time_ns"], own["time_ns_low"], own["time_ns_high"], own["count"]]
            assert times == close([row.median_ns, row.low_ns, row.high_ns, 6])
            ratio = [own[names], own[f"{names}_low"], own[f"{names}_high"]]
            assert ratio == close([row.ratio, row.low, row.high])


def test_every_device_has_its_own_numbers_and_the_newest_comes_first(written: Path) -> None:
    views = data_of(written)["scans"]
    assert list(dict.fromkeys(view["device"] for view in views)) == [NEW, OLD, CPU]
    assert all(view["source"].startswith(view["device"]) for view in views)
    new, old = (next(v for v in views if v["device"] == device)["cases"] for device in (NEW, OLD))
    assert [2 * time for time in new["time_ns"]] == close(old["time_ns"])
    assert views[-1]["floor_ns"] == {"warm stream": None}
    assert views[-1]["cases"]["share"] == [None, None]


def test_schedules_their_bounds_and_speedups_are_those_of_the_report(
    data: tables.Data, written: Path
) -> None:
    panel = bounds.panels(bounds.schedules_of(data.on(NEW)), "chunks")[0]
    same = ("scale", panel["work"].iloc[0])
    view = next(v for v in data_of(written)["schedules"] if (v["workload"], v["work"]) == same)
    limits = {name: bound["ms"] for name, bound in view["bounds"].items()}
    ours = pd.DataFrame(view["cases"]).assign(**limits)
    for row in bounds.speedups(panel).itertuples():
        own = ours[(ours["id"] == row.id) & (ours["chunks"] == row.chunks)]
        (own,) = own[own["streams"] == row.streams].to_dict("records")
        assert own["time_ms"] == close(row.median_ns / 1e6)
        gain = row.speedup
        wanted = [gain.value, gain.low, gain.high]
        assert [own[f"speedup{end}"] for end in ("", "_low", "_high")] == close(wanted)
        assert own["Van Werkhoven"] == close(1e3 * row.werkhoven)
        assert own["pipeline estimate"] == close(1e3 * row.bound)


def test_the_other_views_have_what_was_measured(written: Path) -> None:
    views = data_of(written)
    (scenario,) = [view for view in views["timelines"] if view["simulated"]]
    assert "simulated" in scenario["source"] and scenario["fact"] == "What invented shows."
    measured = [view["operations"]["end"] for view in views["timelines"] if not view["simulated"]]
    assert [len(ends) for ends in measured] == [48, 48]
    assert set(pd.DataFrame(views["several_gpus"][0]["cases"])["ranks"]) == {1, 4}


# ---------------------------------------------------------------------------------- in a browser

SHOWN = """(() => {
    const svg = document.querySelector("#chart svg") ?? document.getElementById("chart");
    const drawn = [...svg.querySelectorAll("[d]")].map(
        (path) => path.getAttribute("d") + path.getAttribute("transform"));
    return [document.getElementById("table").textContent, svg.textContent, ...drawn].join();
})()"""
CAPTION = "document.getElementById('caption').innerText"
ROWS = "document.querySelectorAll('#table tbody tr').length"
VIEWS = ("scans", "schedules", "timelines", "speedups", "several_gpus")


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    opened = Browser(browser.found(), tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


def changes(chromium: Browser, before: str, what: str) -> None:
    """Waits for the page to show something else, without an error."""
    chromium.until(f"{SHOWN} !== {json.dumps(before)}", what=what)
    assert before and chromium.troubles() == [], what


YARDSTICK = """(() => { const begin = performance.now(); let sum = 0;
    for (let i = 0; i < 2e7; ++i) sum = Math.imul(sum, 31) + i | 0;
    return sum === 0 ? 0 : performance.now() - begin; })()"""
"""Milliseconds of work that is the same everywhere; 60 where the promise is a second."""


@needs_browser
def test_the_first_view_has_shares_of_a_copy_within_a_second(
    chromium: Browser, written: Path
) -> None:
    took = []
    for _ in range(3):  # other work on the machine may hold one up
        chromium.open(written)
        slower = max(1.0, float(chromium.evaluate(YARDSTICK)) / 60)
        took.append(float(chromium.evaluate("document.documentElement.dataset.readyMs")) / slower)
    assert min(took) < LIMIT_MS
    assert chromium.evaluate("document.getElementById('control-quantity').value") == "share"
    before = chromium.evaluate(SHOWN)
    chromium.click("#control-variants-best")
    changes(chromium, before, "a box that is clicked at once")


@needs_browser
@pytest.mark.parametrize("view", VIEWS)
def test_a_view_answers_the_keyboard_says_its_source_and_fits(
    chromium: Browser, written: Path, view: str
) -> None:
    chromium.open(written, f"#view={view}")
    choices = "document.querySelectorAll('#controls select')"
    names = chromium.evaluate(
        f"[...{choices}].filter((s) => s.options.length > 1).map((s) => s.id)"
    )
    assert names
    for name in names:
        chromium.open(written, f"#view={view}")
        before = chromium.evaluate(SHOWN)
        last = chromium.evaluate(
            f"(() => {{ const s = document.getElementById('{name}'); s.focus();"
            "return s.selectedIndex === s.options.length - 1; })()"
        )
        chromium.press("ArrowUp" if last else "ArrowDown")
        changes(chromium, before, name)
        assert chromium.evaluate("document.activeElement.id") == name, "the focus stays"
    source = r"Device, 2026-\d\d-\d\d.*commit [0-9a-f]{9}.*(recorded|simulated)"
    assert re.search(source, chromium.evaluate(CAPTION))
    for width in (360, 1280):
        chromium.resize(width, 800)
        chromium.open(written, f"#view={view}")
        assert chromium.evaluate("document.documentElement.scrollWidth <= innerWidth")
        fetched = [url for url in chromium.requests() if not url.startswith(("data:", "blob:"))]
        assert fetched == [written.as_uri()] and chromium.troubles() == []
    if view in VIEWS:
        tops = "['chart', 'controls'].map((id) => document.getElementById(id)"
        tops = f"{tops}.getBoundingClientRect().top)"
        chromium.resize(390, 800)
        chromium.open(written, f"#view={view}")
        chart, controls = chromium.evaluate(tops)
        assert chart < controls and chart < 400, "on a phone the chart comes first"
    chromium.resize(1280, 900)


@needs_browser
@pytest.mark.parametrize("view", VIEWS[:2])
def test_every_box_adds_or_takes_away_a_series(chromium: Browser, written: Path, view: str) -> None:
    chromium.open(written, f"#view={view}")
    query = "[...document.querySelectorAll('#controls {}')].map((control) => control.id)"
    boxes = chromium.evaluate(query.format("input[type=checkbox]"))
    buttons = chromium.evaluate(query.format("[data-set]"))
    assert len(boxes) > 5 and len(buttons) == 3
    for name in (*boxes[:3], *boxes[-2:], *buttons):
        before = chromium.evaluate(SHOWN)
        chromium.click(f"[id='{name}']")
        changes(chromium, before, name)


@needs_browser
@pytest.mark.parametrize(
    ("view", "mark", "words"),
    [
        ("scans", ".mark-symbol path", ("95% interval", "repetitions")),
        ("schedules", ".mark-symbol path", ("95% interval", "pipeline estimate")),
        ("timelines", ".mark-rect path", ("of chunk", "lasts, ms")),
    ],
)
def test_hovering_shows_the_figures(
    chromium: Browser, written: Path, view: str, mark: str, words: tuple[str, ...]
) -> None:
    chromium.open(written, f"#view={view}")
    chromium.hover(f"#chart svg {mark}")
    chromium.until("document.querySelector('#vg-tooltip-element.visible') !== null")
    text = chromium.evaluate("document.getElementById('vg-tooltip-element').textContent")
    assert all(word in text for word in words) and "undefined" not in text


@needs_browser
def test_timelines_zoom_by_button_and_by_dragging(chromium: Browser, written: Path) -> None:
    chromium.open(written, "#view=timelines")
    for name in ("in", "later", "earlier", "out", "in", "whole"):
        before = chromium.evaluate(SHOWN)
        chromium.click(f"#control-{name}")
        changes(chromium, before, name)
    x, y, width, height = chromium.evaluate("""(() => {
        const all = [...document.querySelectorAll("#chart svg .mark-group .background")];
        const box = all.map((b) => b.getBoundingClientRect()).sort((a, b) => b.y - a.y)[0];
        return [box.x, box.y, box.width, box.height];
    })()""")
    moves = [("mouseMoved", 0.5), ("mousePressed", 0.5), ("mouseMoved", 0.6)]
    for what, share in [*moves, ("mouseMoved", 0.75), ("mouseReleased", 0.75)]:
        chromium.mouse(what, x + share * width, y + height / 2, held=True)
    chromium.until("parseFloat(document.getElementById('control-from').value) > 0", what="dragging")
    assert chromium.troubles() == []


@needs_browser
def test_a_device_with_neither_copy_nor_floor_can_be_chosen(
    chromium: Browser, written: Path
) -> None:
    chromium.open(written)
    for device in (OLD, CPU):
        before = chromium.evaluate(SHOWN)
        chromium.evaluate("document.getElementById('control-device').focus()")
        chromium.press("ArrowDown")
        chromium.until(f"{CAPTION}.includes('{device}')")
        changes(chromium, before, device)
        assert chromium.evaluate(f"{ROWS} > 0"), device
    options = "[...document.getElementById('control-quantity').options].map((o) => o.value)"
    assert chromium.evaluate(options) == ["byte", "time", "rate"]
    chromium.click("#control-variants-none")
    chromium.until(f"{ROWS} === 0")
    assert chromium.troubles() == []


@needs_browser
def test_names_in_the_data_are_text_and_never_markup(chromium: Browser, tmp_path: Path) -> None:
    markup = {"device": "<img src=x onerror=alert(1)>", "schedule": "</script><b>bold</b>"}
    (tmp_path / "t.json").write_text(json.dumps(stream_fixtures.trace(**markup)))
    page.write_page(load([tmp_path / "t.json"]), tmp_path / "report.html")
    chromium.open(tmp_path / "report.html")
    assert chromium.evaluate("document.querySelectorAll('main img, main b').length") == 0
    assert "<img src=x" in chromium.evaluate(CAPTION)


@needs_browser
def test_without_javascript_a_sentence_says_where_the_figures_are(
    chromium: Browser, written: Path
) -> None:
    chromium.send("Emulation.setScriptExecutionDisabled", value=True)
    try:
        chromium.send("Page.navigate", url=written.as_uri())
        wanted = "document.body.innerText.includes('JavaScript, which is switched off')"
        chromium.until(f"document.readyState === 'complete' && {wanted}")
    finally:
        chromium.send("Emulation.setScriptExecutionDisabled", value=False)
