"""The report's page: whole in one file, the numbers of the report, and every control does something
in a browser."""

import base64
import gzip
import json
import re
from pathlib import Path

import pytest

from scanlab_report import page
from scanlab_report.load import load
from tests import fixtures
from tests.browser import PROGRAM, browse
from tests.fixtures import case, results, samples, write

NEW, OLD, CPU = "New Device", "Old Device", "Lone CPU"
needs_browser = pytest.mark.skipif(not PROGRAM, reason="there is no Chromium")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of two devices, of which one was timed later and is twice as fast, and of a CPU."""
    folder = tmp_path_factory.mktemp("results")
    for device, date, slower in ((NEW, "2026-02-02", 1), (OLD, "2026-01-02", 2)):
        timed = fixtures.timings(device=device, date=f"{date}T00:00:00+00:00")
        timed["benchmarks"] += fixtures.timings(type_name="f32")["benchmarks"]
        for entry in timed["benchmarks"]:
            entry["real_time"] *= slower
        write(folder / f"{device}.json", timed)
    alone = [
        s for n in (1024, 2048) for s in samples(6, case("cpu_sequential", n, "warm"), 2.0 * n)
    ]
    about = {"kind": "host", "device": "", "cpu": CPU, "date": "2026-01-01T00:00:00+00:00"}
    write(folder / "host.json", results(*alone, **about))
    write(folder / "streams.json", json.dumps(fixtures.schedules()).replace("Test Device", NEW))
    assert page.write_page(load([], [folder]), folder / "report.html")
    return folder / "report.html"


def test_every_device_has_its_own_numbers_and_the_newest_comes_first(written) -> None:
    text = written.read_text(encoding="utf-8")
    packed = re.search(r'<script id="data"[^>]*>([^<]*)</script>', text)
    views = json.loads(gzip.decompress(base64.b64decode(packed[1])))
    scans = {}
    for view in views["scans"]:
        scans.setdefault(view["device"], view)
    assert list(scans) == [NEW, OLD, CPU]
    new, old, cpu = scans.values()
    assert [new[name] for name in ("type", "op", "mode")] == ["i32", "plus", "inclusive"]
    wanted = f"{NEW}, 2026-02-02, commit 012345678, recorded; median of 6 repetitions"
    assert new["source"] == wanted and cpu["cases"]["share"] == [None, None]
    times = [2 * time for time in new["cases"]["time_ns"]]
    assert times == pytest.approx(old["cases"]["time_ns"], rel=1e-4)


ACTS = """
const shown = () => ["table", "caption", "chart"].map((name) => id(name).innerHTML).join();
const controls = (selector) => [...page().querySelectorAll("#controls " + selector)];
async function changes(act, what) {
  const before = shown();
  act();
  await until(() => shown() !== before, what);
}
"""


@needs_browser
@pytest.mark.parametrize("view", ["scans", "schedules"])
def test_a_view_answers_every_control_says_its_source_and_fits(written, tmp_path, view) -> None:
    script = """
    await open("#view=VIEW");
    for (const { id: name } of controls("select").filter(({ options }) => options.length > 1)) {
      await open("#view=VIEW");
      const select = id(name);
      select.focus();
      select.selectedIndex += select.selectedIndex ? -1 : 1;
      await changes(() => select.dispatchEvent(new Event("change", { bubbles: true })), name);
      if (page().activeElement !== id(name)) throw Error(name + " loses the focus");
    }
    await open("#view=VIEW");
    for (const { id: name } of [...controls("input").slice(0, 2), ...controls("button")])
      await changes(() => id(name).click(), name);
    for (const width of [360, 1280]) {
      await open("#view=VIEW", width);
      if (page().documentElement.scrollWidth > width) throw Error(width + " pixels");
    }
    const mark = page().querySelector("#chart .mark-symbol path");
    const { x, y, width, height } = mark.getBoundingClientRect();
    const at = { bubbles: true, clientX: x + width / 2, clientY: y + height / 2 };
    for (const type of ["pointerover", "pointermove", "mousemove"])
      mark.dispatchEvent(new frame.contentWindow.PointerEvent(type, at));
    await until(() => page().querySelector("#vg-tooltip-element.visible"), "hovering");
    return [id("vg-tooltip-element").textContent, id("caption").textContent];
    """
    tip, caption = browse(written, ACTS + script.replace("VIEW", view), tmp_path)
    assert "95% interval" in tip
    assert re.search(r"Device, 2026-\d\d-\d\d.*commit [0-9a-f]{9}.*recorded", caption)


@needs_browser
def test_names_in_the_data_are_text_and_never_markup(tmp_path) -> None:
    document = fixtures.schedules()
    document["context"]["device"] = "<img src=x onerror=alert(1)></script><b>bold</b>"
    page.write_page(load([write(tmp_path / "t.json", document)]), tmp_path / "report.html")
    script = """
    await open();
    return [page().querySelectorAll("main img, main b").length, id("caption").textContent];
    """
    number, caption = browse(tmp_path / "report.html", script, tmp_path)
    assert number == 0 and "<img src=x" in caption
