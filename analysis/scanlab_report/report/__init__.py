"""The report: every figure and table, the page, the papers, and the generated parts of pages."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
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


class Report:
    """The files of a report below `out`, and what the papers include below `paper`."""

    def __init__(
        self, data: Data, out: Path, paper: Path | None, say: Callable[[str], None]
    ) -> None:
        self.data, self.out, self.paper, self.say = data, out, paper, say
        self.others = len(data["other"]) > 0
        self.paper_data = data.on(data.devices[0]) if data.devices else data
        load_all()
        self.entries = [
            (kind, entry)
            for kind, entries in (("figure", FIGURES), ("table", TABLES))
            for entry in entries.values()
            if entry.of_others == self.others
        ]

    def build(self) -> None:
        for folder in filter(None, (self.out, self.paper)):
            for part in ("figures", "tables"):
                (folder / part).mkdir(parents=True, exist_ok=True)
        makers = {"figure": self._figure, "table": self._table}
        jobs: dict[str, Callable[[], Any]] = {
            f"{kind} {entry.name}": partial(makers[kind], entry) for kind, entry in self.entries
        }
        if not self.others:
            jobs |= {"page": partial(write_page, self.data, self.out / PAGE), "cases": self._cases}
        if self.paper:
            jobs["numbers"] = partial(numbers_of, self.data)
        made = {name: job() for name, job in jobs.items()} if self.others else side_by_side(jobs)
        for kind, entry in self.entries:
            line, reason = made[name := f"{kind} {entry.name}"]
            if not line:
                self.say(f"{name} is left out: no {reason}.{measure(entry)}")
                continue
            if reason:
                papers = f"the papers, which are of {self.paper_data.devices[0]}"
                self.say(f"{name} is left out of {papers}: no {reason}.")
            self.say(f"{name}: {line}")
        if self.others:
            return
        if made["page"]:
            self.say(f"page {PAGE}: {(self.out / PAGE).stat().st_size / 1e6:.1f} MB")
        else:
            self.say(f"page {PAGE} is left out: no timings, schedules or timelines.")
        if self.paper:
            text = json.dumps(made["numbers"], indent=1, sort_keys=True, ensure_ascii=False)
            put(self.out / "numbers.json", text + "\n")
            put(self.paper / "macros.tex", macros(made["numbers"]))

    def files(self) -> Iterator[Path]:
        """Yield the files that a report may have, below `out` or `paper`. One of an earlier build
        is stale where this build has none."""
        suffixes = {"figure": (".pdf", ".png"), "table": (".tex", ".md", ".csv")}
        yield Path(PAGE)
        for kind, entry in self.entries:
            for suffix in (*suffixes[kind], ".caption.tex"):
                yield Path(f"{kind}s") / f"{entry.name}{suffix}"

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
        several = self.paper_data is not self.data
        try:
            if several and "" not in on:
                on = draw(entry, self.paper_data, copies)
            else:
                if several:
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
        """Write a table, which is of the first device that has it."""
        try:
            made = first_of(entry, self.data)
        except Lacking as error:
            return "", str(error)
        content, file = made.content, self.out / "tables" / entry.name
        put(file.with_suffix(".tex"), content.latex())
        put(file.with_suffix(".md"), markdown(made))
        put(file.with_suffix(".csv"), content.csv())
        line = footer_line(made.sources)
        if not self.paper:
            return line, ""
        if self.paper_data is not self.data:
            try:
                first_of(entry, self.paper_data)
            except Lacking as error:
                return line, str(error)
        file = self.paper / "tables" / entry.name
        put(file.with_suffix(".tex"), content.latex(in_paper=True))
        text = " ".join((made.caption, *content.notes))
        put(file.with_suffix(".caption.tex"), latex_caption(text, made.sources))
        return line, ""

    def _cases(self) -> None:
        """Every case of every file with its median and interval; without tuning's candidates."""
        files = self.data.files
        rows = self.data.rows("scan", lambda file: file.kind != "tuning")
        cases = summarise(rows, ["file", *CASE])
        for column in ("commit", "date", "device", "origin"):
            cases.insert(0, column, [getattr(files[number], column) for number in cases["file"]])
        columns = ["origin", "device", "date", "commit", *CASE]
        columns += ["count", "median_ns", "low_ns", "high_ns"]
        put(self.out / "cases.csv", cases[columns].to_csv(index=False))


def measure(entry: Entry) -> str:
    """A sentence that says what measures a figure or table; empty if nothing does."""
    steps = plan(entry.measured_by)
    return f" To measure it: {steps}" if steps.commands else ""
