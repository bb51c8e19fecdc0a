"""The report's page: whole in one file, the numbers of the report, and every control does something
in a browser."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from scanlab_report import page
from scanlab_report.load import load
from tests import fixtures, ranks_fixtures, stream_fixtures
from tests.browser import PROGRAM, Browser
from tests.fixtures import case, context, results, samples

NEW, OLD, CPU = "New Device", "Old Device", "Lone CPU"
needs_browser = pytest.mark.skipif(not PROGRAM, reason="there is no Chromium")
VIEWS = ("scans", "several_gpus", "schedules", "timelines")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of two devices, of which one was timed later and is twice as fast, and of a CPU."""
    folder = tmp_path_factory.mktemp("results")
    documents = {"streams": stream_fixtures.schedules(), "trace": stream_fixtures.trace()}
    documents |= {"scenario": stream_fixtures.scenario("invented")}
    documents |= {f"ranks_{n}": ranks_fixtures.run(n, [1 << 20, 1 << 24]) for n in (1, 4)}
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
    assert page.write_page(load([], [folder]), folder / "report.html")
    return folder / "report.html"


@pytest.fixture(scope="module")
def views(written: Path) -> dict[str, list[dict[str, Any]]]:
    text = written.read_text(encoding="utf-8")
    packed = re.search(r'<script id="data"[^>]*>([^<]*)</script>', text)
    return json.loads(gzip.decompress(base64.b64decode(packed[1])))


def test_the_page_has_the_licence_of_the_library_in_it(written: Path) -> None:
    text, folder = written.read_text(encoding="utf-8"), Path(page.__file__).parent
    digest = hashlib.sha256((folder / "vega.js").read_bytes()).hexdigest()
    assert digest in (folder / "vega.LICENSE").read_text(encoding="utf-8")
    assert "Redistributions in binary form must reproduce" in text
    assert not re.search(r"<!--[A-Z]+-->", text)


def test_scans_are_timed_against_a_copy_and_the_fastest_cub(views: dict[str, Any]) -> None:
    every = views["scans"]
    assert list(dict.fromkeys(view["device"] for view in every)) == [NEW, OLD, CPU]
    first = [every[0][name] for name in ("type", "op", "mode")]
    assert first == ["i32", "plus", "inclusive"]
    wanted = f"{NEW}, 2026-02-02, commit 012345678, recorded; median of 6 repetitions"
    assert every[0]["source"] == wanted
    new, old = (
        pd.DataFrame(next(v for v in every if v["device"] == device)["cases"])
        .query("cache == 'cold' and launch == 'stream'")
        .set_index(["items", "variant"])
        for device in (NEW, OLD)
    )
    assert (2 * new["time_ns"]).tolist() == pytest.approx(old["time_ns"].tolist(), rel=1e-4)
    for items, cases in new.groupby(level="items"):
        times = cases["time_ns"].droplevel("items")
        cub = times[times.index.str.startswith("cub")].min()
        for name, other in (("share", times["memcpy"]), ("speedup", cub)):
            assert cases[name].tolist() == pytest.approx((other / times).tolist(), rel=1e-4), items
        best = cases.loc[items, "best"]
        assert best["share_low"] <= best["share"] <= best["share_high"]
        assert pd.isna(cases.loc[items, "memcpy"]["share_low"]) and best["count"] == 6
    assert every[-1]["cases"]["share"] == [None, None], "there is no copy on a CPU"


def test_the_other_views_have_what_was_measured(views: dict[str, Any]) -> None:
    (scenario,) = [view for view in views["timelines"] if view["simulated"]]
    assert "simulated" in scenario["source"] and scenario["fact"] == "What invented shows."
    (measured,) = [view for view in views["timelines"] if not view["simulated"]]
    assert len(measured["operations"]["end"]) == 48
    assert set(pd.DataFrame(views["several_gpus"][0]["cases"])["ranks"]) == {1, 4}
    schedules = views["schedules"][0]
    assert len(schedules["bounds"]["pipeline estimate"]["ms"]) == len(schedules["cases"]["id"])


# ---------------------------------------------------------------------------------- in a browser

SHOWN = """(() => {
    const svg = document.querySelector("#chart svg");
    const drawn = [...svg.querySelectorAll("[d]")].map(
        (path) => path.getAttribute("d") + path.getAttribute("transform"));
    return [document.getElementById("table").textContent, svg.textContent, ...drawn].join();
})()"""
CAPTION = "document.getElementById('caption').innerText"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    opened = Browser(tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


def changes(chromium: Browser, act: str, what: str) -> None:
    """Acts in the page, and waits for it to show something else, without an error."""
    before = chromium.evaluate(SHOWN)
    chromium.evaluate(act)
    chromium.until(f"{SHOWN} !== {json.dumps(before)}", what=what)
    assert before and chromium.troubles() == [], what


@needs_browser
@pytest.mark.parametrize("view", VIEWS)
def test_a_view_answers_every_choice_says_its_source_and_fits(
    chromium: Browser, written: Path, view: str
) -> None:
    chromium.open(written, f"#view={view}")
    controls = "document.querySelectorAll('#controls {}')"
    choices = f"[...{controls.format('select')}].filter((s) => s.options.length > 1)"
    others = [*chromium.evaluate(f"{choices}.map((s) => s.id)")]
    assert others
    for name in others:
        chromium.open(written, f"#view={view}")
        choice = f"document.getElementById('{name}')"
        other = f"{choice}.selectedIndex += {choice}.selectedIndex ? -1 : 1"
        change = "dispatchEvent(new Event('change', { bubbles: true }))"
        changes(chromium, f"{choice}.focus(); {other}; {choice}.{change}", name)
        assert chromium.evaluate(f"document.activeElement === {choice}"), "the focus stays"
    for width in (360, 1280):
        chromium.open(written, f"#view={view}", width)
        assert chromium.evaluate("document.documentElement.scrollWidth <= innerWidth")
        tops = "['chart', 'controls'].map((id) => document.getElementById(id)"
        chart, form = chromium.evaluate(f"{tops}.getBoundingClientRect().top)")
        assert (chart < form) == (width == 360), "on a phone the chart comes first"
    source = r"Device, 2026-\d\d-\d\d.*commit [0-9a-f]{9}.*(recorded|simulated)"
    assert re.search(source, chromium.evaluate(CAPTION))
    chromium.point(
        "#chart svg .mark-rect path" if view == "timelines" else "#chart svg .mark-symbol path"
    )
    chromium.until("document.querySelector('#vg-tooltip-element.visible') !== null")
    text = chromium.evaluate("document.getElementById('vg-tooltip-element').textContent")
    assert ("lasts, ms" if view == "timelines" else "95% interval") in text
    boxes = chromium.evaluate(f"[...{controls.format('input, #controls button')}].map((c) => c.id)")
    for name in (*boxes[:2], *boxes[-3:]):
        changes(chromium, f"document.getElementById('{name}').click()", name)


@needs_browser
def test_the_page_opens_with_the_share_of_a_copy_and_a_cpu_without(
    chromium: Browser, written: Path
) -> None:
    chromium.open(written)
    measure = "document.getElementById('control-measure')"
    assert chromium.evaluate(f"{measure}.value") == "share"
    chromium.open(written, f"#view=scans&device={CPU}")
    assert chromium.evaluate(f"[...{measure}.options].map((o) => o.value)") == ["time", "rate"]


@needs_browser
def test_dragging_over_the_whole_zooms_a_timeline(chromium: Browser, written: Path) -> None:
    chromium.open(written, "#view=timelines")
    before = chromium.evaluate(SHOWN)
    x, y, width, height = chromium.evaluate("""(() => {
        const all = [...document.querySelectorAll("#chart svg .mark-group .background")];
        const box = all.map((b) => b.getBoundingClientRect()).sort((a, b) => b.y - a.y)[0];
        return [box.x, box.y, box.width, box.height];
    })()""")
    moves = [("mouseMoved", 0.5), ("mousePressed", 0.5), ("mouseMoved", 0.6)]
    for what, share in [*moves, ("mouseMoved", 0.75), ("mouseReleased", 0.75)]:
        chromium.mouse(what, x + share * width, y + height / 2)
    chromium.until(f"{SHOWN} !== {json.dumps(before)}", what="dragging")
    assert chromium.troubles() == []


@needs_browser
def test_names_in_the_data_are_text_and_never_markup(chromium: Browser, tmp_path: Path) -> None:
    markup = {"device": "<img src=x onerror=alert(1)>", "schedule": "</script><b>bold</b>"}
    (tmp_path / "t.json").write_text(json.dumps(stream_fixtures.trace(**markup)))
    page.write_page(load([tmp_path / "t.json"]), tmp_path / "report.html")
    chromium.open(tmp_path / "report.html")
    assert chromium.evaluate("document.querySelectorAll('main img, main b').length") == 0
    assert "<img src=x" in chromium.evaluate(CAPTION)
