"""Drawing every figure and writing every table that the evidence allows.

Figures and tables are found in their packages. One whose evidence is missing is skipped with a sentence, and its files are
named, so that what an earlier run left of it can be removed and nothing stale stays in the report.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from types import ModuleType

import matplotlib

matplotlib.use("Agg")

from matplotlib.figure import Figure

from scanlab_report import (
    figures,
    tables,
)
from scanlab_report.documents import macros
from scanlab_report.layout import style
from scanlab_report.layout.table_formats import Table, latex, latex_cell
from scanlab_report.modules import modules
from scanlab_report.page import write_page
from scanlab_report.processes import side_by_side
from scanlab_report.read.published import Publication
from scanlab_report.read.records import CASE, Results
from scanlab_report.select.experiments import plan
from scanlab_report.select.needs import Gathered, by_device, gather, told
from scanlab_report.select.provenance import Provenance
from scanlab_report.stats import intervals
from scanlab_report.written import put

PAGE = "report.html"
FIGURE, TABLE = (".pdf", ".png", ".caption.tex"), (".tex", ".md", ".csv", ".caption.tex")
"""How the files of each end."""


@dataclass(frozen=True)
class Shown:
    """A figure that is to be shown: what of which devices, and where to."""

    name: str
    module: ModuleType
    on: dict[str, Gathered]
    in_paper: dict[str, Gathered]
    """Of the device that the paper is of, alone; nothing where no paper is made."""
    provenances: list[Provenance]
    targets: Sequence[Path]

    @property
    def apart(self) -> bool:
        """Whether the paper's is another drawing."""
        return list(self.on) != list(self.in_paper) or self.provenances != provenances(self.in_paper)


@dataclass
class Report:
    """What is written where, and what was left out and why."""

    results: Results
    published: dict[str, Publication]
    out: Path
    paper: Path | None
    say: Callable[[str], None]
    written: list[Path] = field(default_factory=list)
    left_out: list[Path] = field(default_factory=list)
    """Files that were not written for want of evidence, below ``out`` and ``paper``."""
    not_in_paper: list[Path] = field(default_factory=list)
    """The same below ``paper`` alone."""

    @cached_property
    def of_paper(self) -> Results:
        """What the papers are made from: results of the first device, of which their text speaks."""
        return self.results.on(self.results.devices[0]) if self.results.devices else self.results

    def build(self) -> None:
        """Writes figures, tables, the cases and the paper's macros."""
        for folder in filter(None, (self.out, self.paper)):
            for part in ("figures", "tables"):
                (folder / part).mkdir(parents=True, exist_ok=True)
        shown = [of for name, module in modules(figures) if (of := self._gathered(name, module))]
        drawings = {of.name: partial(save, of.module, of.on, of.targets) for of in shown}
        if self.paper:
            drawings |= {f"{of.name} of the paper": partial(save, of.module, of.in_paper, self._in_paper(of)) for of in shown if of.apart and not _reasons(of.in_paper)}
        side_by_side(drawings)
        for of in shown:
            self._place(of)
        for name, module in modules(tables):
            self._table(name, module)
        self._cases()
        self._page()
        if self.paper:
            self._write(self.paper / "macros.tex", macros.document(macros.values(self.results, self.published)))

    def _gathered(self, name: str, module: ModuleType) -> Shown | None:
        """What a figure shows; None if it is left out."""
        lacks = getattr(module, "lacks", None)
        on = by_device(module.NEEDS, self.results, self.published, lacks)
        if _reasons(on):
            self._leave_out("figure", name, module, on[""], FIGURE)
            return None
        in_paper = by_device(module.NEEDS, self.of_paper, self.published, lacks) if self.paper else {}
        return Shown(name, module, on, in_paper, provenances(on), [self.out / "figures" / (name + suffix) for suffix in (".pdf", ".png")])

    def _in_paper(self, of: Shown) -> list[Path]:
        assert self.paper
        return [self.paper / "figures" / target.name for target in of.targets]

    def _place(self, of: Shown) -> None:
        """Copies a figure to where the paper takes it from, unless it was drawn there, with its caption."""
        self.written += of.targets
        if self.paper and _reasons(of.in_paper):
            self._leave_out_of_paper("figure", of.name, of.in_paper[""], FIGURE)
        elif self.paper:
            for source, target in zip(of.targets, self._in_paper(of), strict=True):
                if not of.apart:
                    put(target, source.read_bytes())
            self._write(self.paper / "figures" / f"{of.name}.caption.tex", caption(told_of(of.module, of.in_paper), provenances(of.in_paper)))
        said = "; ".join(dict.fromkeys(word for gathered in of.on.values() for word in gathered.unusual))
        self.say(f"figure {of.name}: {'; '.join(filter(None, (said, footer_line(of.provenances)))) or 'a drawing'}")

    def _table(self, name: str, module: ModuleType) -> None:
        lacks = getattr(module, "lacks", None)
        gathered = gather(module.NEEDS, self.results, self.published, lacks)
        if gathered.reasons:
            self._leave_out("table", name, module, gathered, TABLE)
            return
        table: Table = module.build(**gathered.found)
        folder = self.out / "tables"
        self._write(folder / f"{name}.tex", table.latex())
        self._write(folder / f"{name}.md", markdown(table, gathered.provenances))
        self._write(folder / f"{name}.csv", table.csv())
        if self.paper and (in_paper := gather(module.NEEDS, self.of_paper, self.published, lacks)).reasons:
            self._leave_out_of_paper("table", name, in_paper, TABLE)
        elif self.paper:  # the first device answers, and so it did above
            self._write(self.paper / "tables" / f"{name}.tex", table.latex(in_paper=True))
            text = " ".join((table.caption, *table.notes))
            self._write(self.paper / "tables" / f"{name}.caption.tex", caption(text, gathered.provenances))
        self.say(f"table {name}: {footer_line(gathered.provenances)}")

    def _leave_out(self, what: str, name: str, module: ModuleType, gathered: Gathered, suffixes: Sequence[str]) -> None:
        self.left_out += [Path(f"{what}s") / (name + suffix) for suffix in suffixes]
        self.say(f"{what} {name} is left out: {' and '.join(gathered.reasons)}.{measure(module)}")

    def _leave_out_of_paper(self, what: str, name: str, gathered: Gathered, suffixes: Sequence[str]) -> None:
        self.not_in_paper += [Path(f"{what}s") / (name + suffix) for suffix in suffixes]
        self.say(f"{what} {name} is left out of the papers, which are of {self.of_paper.devices[0]}: {' and '.join(gathered.reasons)}.")

    def _page(self) -> None:
        if written := write_page(self.results, self.published, self.out / PAGE):
            self.written += written
            self.say(f"page {PAGE}: {written[0].stat().st_size / 1e6:.1f} MB")
        else:
            self.left_out.append(Path(PAGE))
            self.say(f"page {PAGE} is left out: no timings, schedules or timelines.")

    def _cases(self) -> None:
        """Every case of every run with its median and interval, tidy; without candidates that were timed to choose among them."""
        runs = self.results.runs
        of_candidates = self.results.timings["run"].isin([i for i, run in enumerate(runs) if run.kind == "tuning"])
        cases = intervals.summarise(self.results.timings[~of_candidates], ["run", *CASE]).drop(columns="samples")
        for column, of in (("commit", lambda r: r.commit), ("date", lambda r: r.date), ("device", lambda r: r.device),
                           ("origin", lambda r: r.origin)):  # fmt: skip
            cases.insert(0, column, [of(runs[i]) for i in cases["run"]])
        self._write(self.out / "cases.csv", cases.drop(columns="run").to_csv(index=False))

    def _write(self, path: Path, text: str) -> None:
        put(path, text)
        self.written.append(path)


def _reasons(on: Mapping[str, Gathered]) -> tuple[str, ...]:
    """Why a figure cannot be shown of any device; none if it can."""
    return on[""].reasons if "" in on else ()


def provenances(on: Mapping[str, Gathered]) -> list[Provenance]:
    """Each distinct provenance of what a figure shows of several devices."""
    return list({p.line(): p for of in on.values() for p in of.provenances}.values())


def draw(module: ModuleType, on: Mapping[str, Gathered]) -> Figure:
    """A figure with its footer: one drawing, or one below the other for several devices."""
    if "" in on:
        drawn = module.draw(**on[""].found)
    else:
        drawn = style.stacked({", ".join([device, *of.unusual]): partial(module.draw, **of.found) for device, of in on.items()})
    style.finish(drawn)
    style.footer(drawn, [*(on[""].unusual if "" in on else ()), *(p.line() for p in provenances(on))])
    return drawn


def save(module: ModuleType, on: Mapping[str, Gathered], targets: Sequence[Path], name: str = "page") -> tuple[float, float]:
    """Writes a figure in a style to files; its width and height in inches."""
    with style.sheet(name):
        drawn = draw(module, on)
        style.save(drawn, targets)
    return tuple(drawn.get_size_inches())


def markdown(table: Table, provenances: list[Provenance]) -> str:
    """A table with its caption above it, and where its numbers come from below."""
    return f"{table.caption}\n\n{table.markdown()}\n{footer_line(provenances)}\n"


def told_of(module: ModuleType, on: Mapping[str, Gathered]) -> str:
    """The caption of a figure, with what it says of this evidence."""
    details = {device: module.details(**of.found) for device, of in on.items()} if hasattr(module, "details") else {}
    return " ".join([told(module.CAPTION, on.values()), *(f"{device}: {said}" if device else said for device, said in details.items() if said)])


def measure(module: ModuleType) -> str:
    """A sentence, to follow another, that says what measures all that a figure or table needs; empty if nothing does."""
    return f" To measure it: {of}" if (of := plan(module.NEEDS)).commands else ""


def footer_line(provenances: list[Provenance]) -> str:
    """Device, date, commit and origin of everything that a figure shows."""
    return "; ".join(p.line() for p in provenances)


def caption(text: str, provenances: list[Provenance]) -> str:
    """A LaTeX caption: what is shown, then where each number comes from and how often it was repeated."""
    sources = [" (".join(part for part in (p.line(), p.repeated) if part) + (")" if p.repeated else "") for p in provenances]
    shown = re.sub(r"\b([234]n\b(?:/\(n \+ \d\))?)", r"$\1$", latex_cell(text)).replace("index i", "index $i$")
    if not sources:
        return f"\\caption{{{shown}}}\n"
    return f"\\caption{{{shown} {latex('; '.join(sources))}.}}\n"
