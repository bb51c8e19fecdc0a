"""The report: every figure and table, the page, and what the papers include."""

import gc
import json
import multiprocessing
import os
import signal
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from scanlab_report import shown
from scanlab_report.chapters import load_all
from scanlab_report.console import say
from scanlab_report.data import Data
from scanlab_report.experiments import plan
from scanlab_report.numbers import macros, numbers_of
from scanlab_report.page import write_page
from scanlab_report.pick import Lacking, cases_by_file, pick
from scanlab_report.tables import CASE
from scanlab_report.written import put

PAGE = "report.html"
WORKERS = len(os.sched_getaffinity(0))
_jobs: dict[str, Callable[[], str]] = {}


def write_report(data: Data, out: Path, paper: Path | None) -> None:
    """Write the report below `out`, and what the papers include below `paper`."""
    load_all()
    others = len(data["other"]) > 0
    for folder in filter(None, (out, paper)):
        (folder / "figures").mkdir(parents=True)
        (folder / "tables").mkdir()
    jobs = {
        f"{kind} {name}": partial(_made, write, entry, data, out, paper)
        for kind, write, entries in (
            ("figure", _figure, shown.FIGURES),
            ("table", _table, shown.TABLES),
        )
        for name, entry in entries.items()
        if entry.of_others == others
    }
    if not others:
        cases_by_file(data)  # for all processes
        jobs |= {f"page {PAGE}": partial(_page, data, out), "cases": partial(_cases, data, out)}
    if paper:
        jobs["numbers"] = partial(_numbers, data, out, paper)
    for name, outcome in side_by_side(jobs).items():
        say(f"{name} {outcome}")


def side_by_side(jobs: Mapping[str, Callable[[], str]]) -> dict[str, str]:
    """Return the result of each job. As many run at a time as there are processors."""
    if WORKERS < 2:
        return {name: job() for name, job in jobs.items()}
    _jobs.update(jobs)
    fork, ignored = multiprocessing.get_context("fork"), (signal.SIGINT, signal.SIG_IGN)
    gc.freeze()  # no process searches what was loaded for cycles, a tenth of its time
    with ProcessPoolExecutor(WORKERS, fork, signal.signal, ignored) as pool:
        return dict(zip(jobs, pool.map(_do, jobs), strict=True))


def _do(name: str) -> str:
    return _jobs[name]()


def outdated(folder: Path, made: Path) -> list[Path]:
    """Files of an earlier build in a folder that a new build, in `made`, has not."""
    files = [folder / PAGE, *folder.glob("figures/*"), *folder.glob("tables/*")]
    names = {PAGE.partition(".")[0], *shown.FIGURES, *shown.TABLES}
    return [
        file
        for file in files
        if file.name.partition(".")[0] in names and not (made / file.relative_to(folder)).exists()
    ]


def _made(write: Callable[..., str], entry: shown.Entry, data: Data, *folders: Path | None) -> str:
    """Write a figure or table. Return where it is from, or what is lacking and what measures it."""
    try:
        return write(entry, data, *folders)
    except Lacking as error:
        steps = plan(entry.measured_by)
        measure = f" To measure it: {steps}" if steps.commands else ""
        return f"is left out: no {error}.{measure}"


def _figure(entry: shown.Entry, data: Data, out: Path, paper: Path | None) -> str:
    """Draw a figure of all devices, and that of the first one for the papers."""
    targets = [out / "figures" / f"{entry.name}{suffix}" for suffix in (".pdf", ".png")]
    on = of_paper = shown.draw(entry, data, targets)
    if paper:
        copy = paper / "figures" / targets[0].name
        with suppress(Lacking):
            if len(data.devices) > 1 and ("" not in on or on[""].device != data.devices[0]):
                of_paper = shown.draw(entry, data.on(data.devices[0]), [copy])
            else:
                put(copy, targets[0].read_bytes())
            caption = shown.latex_caption(
                shown.joint_caption(of_paper), shown.all_sources(of_paper)
            )
            put(paper / "figures" / f"{entry.name}.caption.tex", caption)
    return f"is of {shown.footer_line(shown.all_sources(on)) or 'no device'}"


def _table(entry: shown.Entry, data: Data, out: Path, paper: Path | None) -> str:
    """Write a table of the first device that has it, and for the papers if the first device has."""
    whole = entry.of_others or entry.of_all or not data.devices
    first = data if whole else data.on(data.devices[0])
    try:
        made = shown.first_of(entry, first)
    except Lacking:
        made, paper = shown.first_of(entry, data), None
    content, file = made.content, out / "tables" / entry.name
    put(file.with_suffix(".tex"), content.latex())
    put(file.with_suffix(".md"), shown.markdown(made))
    put(file.with_suffix(".csv"), content.csv())
    if paper:
        file = paper / "tables" / entry.name
        put(file.with_suffix(".tex"), content.latex(in_paper=True))
        text = " ".join((made.caption, *content.notes))
        put(file.with_suffix(".caption.tex"), shown.latex_caption(text, made.sources))
    return f"is of {shown.footer_line(made.sources)}"


def _page(data: Data, out: Path) -> str:
    if not write_page(data, out / PAGE):
        return "is left out: no timings, schedules or timelines."
    return f"has {(out / PAGE).stat().st_size / 1e6:.1f} MB"


def _cases(data: Data, out: Path) -> str:
    """Write every case of every file with its median and interval, without tuning's candidates."""
    numbers = data.numbers(lambda file: file.kind != "tuning")
    cases = pick(cases_by_file(data), file=numbers).sort_values("file", kind="stable")
    about = ["origin", "device", "date", "commit"]
    for column in about:
        cases[column] = [getattr(data.files[number], column) for number in cases["file"]]
    columns = [*about, *CASE, "count", "median_ns", "low_ns", "high_ns"]
    put(out / "cases.csv", cases[columns].to_csv(index=False))
    return f"are {len(cases)} medians"


def _numbers(data: Data, out: Path, paper: Path) -> str:
    made = numbers_of(data)
    text = json.dumps(made, indent=1, sort_keys=True, ensure_ascii=False)
    put(out / "numbers.json", text + "\n")
    put(paper / "macros.tex", macros(made))
    return f"of the papers are {len(made)}"
