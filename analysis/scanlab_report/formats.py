"""A table once, as LaTeX (booktabs), Markdown and CSV."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from scanlab_report.intervals import Interval

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "×": r"$\times$",
    "µ": r"\textmu{}",
    "–": "--",
    "—": "---",
    "−": r"$-$",
    "±": r"$\pm$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "⌈": r"$\lceil$",
    "⌉": r"$\rceil$",
    "\u2009": r"\,",
    "’": "'",
    "“": "``",
    "”": "''",
    "→": r"$\rightarrow$",
    "²": r"$^2$",
    "₂": r"$_2$",
    "·": r"$\cdot$",
    "…": r"\ldots{}",
}


_POWER = re.compile(r"(2\^\d+)")
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_MARKUP = re.compile(rf"{_CODE.pattern}|[\\`*]|(?<![^\W_])_|_(?![^\W_])|<(?=[\w/!?])")


def latex(text: str) -> str:
    """Return plain text with all LaTeX commands made harmless."""
    harmless = "".join(_LATEX.get(character, character) for character in text.replace("--", "\0"))
    return harmless.replace("\0", "-{}-")  # --repeat: two hyphens would become a dash


@dataclass(frozen=True)
class Column:
    """A column: its name in CSV (with its unit), its heading in print, how a value is printed, and
    the heading that it shares with its neighbours, if any."""

    key: str
    heading: str
    form: Callable[[Any], str] = str
    right: bool = True
    group: str = ""
    wrap: float = 0
    """Width in em at which LaTeX breaks text into lines; 0: it does not."""
    refers: Callable[[str], str] | None = None
    """Function that turns a cell into its form in a paper: see :func:`citation` and :func:`figure`.
    """

    @property
    def latex_kind(self) -> str:
        """The column of a tabular."""
        if self.wrap:
            return rf">{{\raggedright\arraybackslash}}p{{{self.wrap:g}em}}"
        return "r" if self.right else "l"

    @property
    def full_heading(self) -> str:
        """The heading where there is no line above it for the group."""
        return f"{self.group} {self.heading}".strip()


@dataclass(frozen=True)
class Table:
    """A table with its caption; ``notes`` are sentences that belong below it, ``details`` further
    ones that a paper has no room for."""

    caption: str
    columns: Sequence[Column]
    rows: pd.DataFrame
    notes: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    printed: int | None = None
    """Number of rows that are printed; the CSV has all."""

    def _cells(self) -> list[list[str]]:
        values = [self.rows[column.key].tolist()[: self.printed] for column in self.columns]
        return [
            [c.form(v) for c, v in zip(self.columns, row, strict=True)]
            for row in zip(*values, strict=True)
        ]

    def markdown(self) -> str:
        """A Markdown table, notes and details below it."""
        escape = lambda text: plain(text).replace("|", r"\|")
        lines = ["| " + " | ".join(escape(c.full_heading) for c in self.columns) + " |"]
        lines.append("|" + "|".join("---:" if c.right else "---" for c in self.columns) + "|")
        lines += ["| " + " | ".join(escape(cell) for cell in row) + " |" for row in self._cells()]
        lines += [f"\n{note}" for note in (*self.notes, *self.details)]
        return "\n".join(lines) + "\n"

    def latex(self, in_paper: bool = False) -> str:
        """Return a booktabs tabular, without float or caption. in_paper: the text has the
        references and the figures."""
        kinds = "".join(column.latex_kind for column in self.columns)
        forms = [
            column.refers if in_paper and column.refers else latex_cell for column in self.columns
        ]
        rows = [[latex_cell(column.heading) for column in self.columns]]
        rows += [
            [form(cell) for form, cell in zip(forms, row, strict=True)] for row in self._cells()
        ]
        heading, *body = [" & ".join(row) + r" \\" for row in rows]
        begin = [rf"\begin{{tabular}}{{@{{}}{kinds}@{{}}}}", r"\toprule", *self._latex_groups()]
        end = [r"\bottomrule", r"\end{tabular}"]
        return "\n".join([*begin, heading, r"\midrule", *body, *end]) + "\n"

    def _latex_groups(self) -> list[str]:
        """Return the line of shared headings and the rules below them; empty if no column has a
        shared heading."""
        if not any(column.group for column in self.columns):
            return []
        cells, rules, first = [], [], 1
        for group, members in itertools.groupby(self.columns, key=lambda column: column.group):
            last = first + len(list(members)) - 1
            cells.append(
                f"\\multicolumn{{{last - first + 1}}}{{c}}{{{latex_cell(group)}}}"
                if group
                else "&" * (last - first)
            )
            rules += [f"\\cmidrule(lr){{{first}-{last}}}"] if group else []
            first = last + 1
        return [" & ".join(cells) + r" \\", "".join(rules)]

    def csv(self) -> str:
        """Plain values with one heading line; an interval takes three columns."""
        plain = pd.DataFrame(index=self.rows.index)
        for column in self.columns:
            values = self.rows[column.key]
            if any(isinstance(value, Interval) for value in values):
                for name, part in (("", "value"), ("_low", "low"), ("_high", "high")):
                    plain[column.key + name] = [getattr(value, part, None) for value in values]
            else:
                plain[column.key] = values
        return plain.to_csv(index=False)


def records(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return the rows of a table from at least one mapping, all with the same keys. Values stay as
    they are."""
    return pd.DataFrame(
        {name: pd.Series([row[name] for row in rows], dtype=object) for name in rows[0]}
    )


def latex_cell(text: str) -> str:
    """A cell or a caption in LaTeX; ``2^k`` becomes a power, and ids in backquotes typewriter.
    Lines may break behind an underscore."""
    if len(text) > 2 and (span := _CODE.fullmatch(text)):
        return r"\texttt{" + _breakable(span[2].strip()) + "}"
    quoted = text.split("`")
    if len(quoted) > 1 and len(quoted) % 2:
        return "".join(
            latex_cell(part) if place % 2 == 0 else latex_cell(f"`{part}`")
            for place, part in enumerate(quoted)
        )
    return "".join(
        f"$2^{{{part[2:]}}}$" if part.startswith("2^") else _breakable(part)
        for part in _POWER.split(text)
    )


def citation(key: str) -> str:
    """Return the LaTeX citation of a key of the papers' references; ``ours`` and an empty key stay
    as they are."""
    return key if key in ("", "ours") else rf"\cite{{{key}}}"


def figure(name: str) -> str:
    """Return the LaTeX reference to a figure of the paper."""
    return rf"\figref{{{name.strip('`')}}}"


def _breakable(text: str) -> str:
    return latex(text).replace(r"\_", r"\_\allowbreak{}")


# ------------------------------------------------------------------------------------------------
# printing


def code(value: Any) -> str:
    """Return an id or a name, set as code. The backquotes around it outnumber those within it; an
    empty name stays empty."""
    text = str(value)
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    return text and (f"{fence}{text}{fence}" if len(fence) == 1 else f"{fence} {text} {fence}")


def plain(text: str) -> str:
    """Return text in which all Markdown markup outside code is made harmless."""
    return _MARKUP.sub(lambda match: match[0] if match[1] else "\\" + match[0], text)


def size(n: Any) -> str:
    """An array size: 2^k, or the plain number."""
    n = int(n)
    return f"2^{n.bit_length() - 1}" if n >= 1024 and n & (n - 1) == 0 else whole(n)


def whole(value: Any) -> str:
    """A count with thin spaces between thousands; a dash for none."""
    if value is None or pd.isna(value):
        return "—"
    return f"{int(value):,}".replace(",", "\u2009")


def significant(value: Any, digits: int = 3) -> str:
    """A number to some significant digits without an exponent; a dash for none."""
    if value is None or pd.isna(value):
        return "—"
    if value == 0:
        return "0"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{decimals}f}".replace(",", "\u2009")


def with_interval(interval: Interval | None, digits: int = 3) -> str:
    """A value with its 95% interval in brackets, or without one where repetitions were too few."""
    if interval is None:
        return "—"
    value = significant(interval.value, digits)
    if not interval.known:
        return value
    return f"{value} [{significant(interval.low, digits)}, {significant(interval.high, digits)}]"
