"""The report: every figure and table, the page, the papers, and the generated parts of pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

from scanlab_report import style
from scanlab_report.chapters import load_all
from scanlab_report.data import Data
from scanlab_report.experiments import plan
from scanlab_report.intervals import summarise
from scanlab_report.numbers import macros, numbers_of
from scanlab_report.page import write_page
from scanlab_report.pick import Lacking
from scanlab_report.processes import side_by_side
from scanlab_report.shown import (
    FIGURES,
    TABLES,
    Entry,
    all_sources,
    draw,
    first_of,
    footer_line,
    joint_caption,
    latex_caption,
    markdown,
)
from scanlab_report.tables import CASE
from scanlab_report.written import put

PAGE = "report.html"
_FIGURE, _TABLE = (".pdf", ".png", ".caption.tex"), (".tex", ".md", ".csv", ".caption.tex")
"""Endings of the files of a figure, and of those of a table."""


class Report:
    """The files that were written and those that were left out, below `out` and below `paper`."""

    def __init__(
        self, data: Data, out: Path, paper: Path | None, say: Callable[[str], None]
    ) -> None:
        self.data, self.out, self.paper, self.say = data, out, paper, say
        self.paper_data = data.on(data.devices[0]) if data.devices else data
        self.written: list[Path] = []
        self.left_out: list[Path] = []
        self.not_in_paper: list[Path] = []

    def build(self) -> None:
        load_all()
        for folder in filter(None, (self.out, self.paper)):
            for part in ("figures", "tables"):
                (folder / part).mkdir(parents=True, exist_ok=True)
        others = len(self.data["other"]) > 0
        figures, tables = (
            [entry for entry in entries.values() if entry.of_others == others]
            for entries in (FIGURES, TABLES)
        )
        jobs: dict[str, Callable[[], Any]] = {}
        for entry in figures:
            jobs[entry.name] = partial(self._figure, entry)
        for entry in tables:
            jobs[f"table {entry.name}"] = partial(self._table, entry)
        if not others:
            jobs["page"] = partial(write_page, self.data, self.out / PAGE)
            jobs["cases"] = self._cases
        if self.paper:
            jobs["numbers"] = partial(numbers_of, self.data)
        made = {name: job() for name, job in jobs.items()} if others else side_by_side(jobs)
        for kind, entries in (("figure", figures), ("table", tables)):
            for entry in entries:
                name = entry.name if kind == "figure" else f"table {entry.name}"
                self._place(kind, entry, *made[name])
        if others:
            return
        self.written.append(self.out / "cases.csv")
        if made["page"]:
            self.written.append(self.out / PAGE)
            self.say(f"page {PAGE}: {(self.out / PAGE).stat().st_size / 1e6:.1f} MB")
        else:
            self.left_out.append(Path(PAGE))
            self.say(f"page {PAGE} is left out: no timings, schedules or timelines.")
        if self.paper:
            import json

            text = json.dumps(made["numbers"], indent=1, sort_keys=True, ensure_ascii=False)
            self._write(self.out / "numbers.json", text + "\n")
            self._write(self.paper / "macros.tex", macros(made["numbers"]))

    def _figure(self, entry: Entry) -> tuple[str, str]:
        """Draw a figure, and another one for the paper if the paper is of one device alone. Return
        the line that reports it, and the reason why it is missing from the paper."""
        targets = [self.out / "figures" / f"{entry.name}{suffix}" for suffix in (".pdf", ".png")]
        try:
            on = draw(entry, self.data, targets)
        except Lacking as error:
            return "", str(error)
        unusual = "; ".join(dict.fromkeys(word for shown in on.values() for word in shown.unusual))
        line = "; ".join(filter(None, (unusual, footer_line(all_sources(on))))) or "a drawing"
        if not self.paper:
            return line, ""
        copies = [self.paper / "figures" / target.name for target in targets]
        try:
            if self.paper_data is not self.data and "" not in on:
                on = draw(entry, self.paper_data, copies)
            else:
                if self.paper_data is not self.data:
                    with style.sheet():
                        style.close(first_of(entry, self.paper_data).content)
                for source, target in zip(targets, copies, strict=True):
                    put(target, source.read_bytes())
        except Lacking as error:
            return line, str(error)
        caption = latex_caption(joint_caption(on), all_sources(on))
        put(self.paper / "figures" / f"{entry.name}.caption.tex", caption)
        return line, ""

    def _table(self, entry: Entry) -> tuple[str, str]:
        try:
            made = first_of(entry, self.data)
        except Lacking as error:
            return "", str(error)
        content, folder = made.content, self.out / "tables"
        for suffix, text in (
            (".tex", content.latex()),
            (".md", markdown(made)),
            (".csv", content.csv()),
        ):
            put(folder / f"{entry.name}{suffix}", text)
        line = footer_line(made.sources)
        if not self.paper:
            return line, ""
        if self.paper_data is not self.data:
            try:
                first_of(entry, self.paper_data)
            except Lacking as error:
                return line, str(error)
        put(self.paper / "tables" / f"{entry.name}.tex", content.latex(in_paper=True))
        text = " ".join((made.caption, *content.notes))
        put(self.paper / "tables" / f"{entry.name}.caption.tex", latex_caption(text, made.sources))
        return line, ""

    def _place(self, kind: str, entry: Entry, line: str, reason: str) -> None:
        """Report the outcome of a figure or table."""
        suffixes = _FIGURE if kind == "figure" else _TABLE
        files = [Path(f"{kind}s") / f"{entry.name}{suffix}" for suffix in suffixes]
        if not line:
            self.left_out += files
            self.say(f"{kind} {entry.name} is left out: no {reason}.{measure(entry)}")
            return
        self.written += [self.out / file for file in files[:-1]]
        if reason:
            device = self.paper_data.devices[0]
            self.not_in_paper += files
            left = f"{kind} {entry.name} is left out of the papers, which are of {device}"
            self.say(f"{left}: no {reason}.")
        elif self.paper:
            self.written += [self.paper / file for file in files if (self.paper / file).exists()]
        self.say(f"{kind} {entry.name}: {line}")

    def _cases(self) -> None:
        """Every case of every file with its median and interval; without tuning's candidates."""
        data = self.data
        rows = data.rows("scan", lambda file: file.kind != "tuning")
        cases = summarise(rows, ["file", *CASE])
        cases = cases[["file", *CASE, "count", "median_ns", "low_ns", "high_ns"]]
        for column in ("commit", "date", "device", "origin"):
            values = [getattr(data.files[number], column) for number in cases["file"]]
            cases.insert(0, column, values)
        put(self.out / "cases.csv", cases.drop(columns="file").to_csv(index=False))

    def _write(self, path: Path, text: str) -> None:
        put(path, text)
        self.written.append(path)


def measure(entry: Entry) -> str:
    """A sentence that says what measures a figure or table; empty if nothing does."""
    steps = plan(entry.measured_by)
    return f" To measure it: {steps}" if steps.commands else ""


def remove(stale: Sequence[Path]) -> None:
    for path in stale:
        path.unlink(missing_ok=True)
