"""A table once, as LaTeX (booktabs), Markdown and CSV."""

import itertools
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd

from scanlab_report.intervals import Interval

_LATEX = {character: f"\\{character}" for character in "&%$#_{}"} | {
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{"×": r"$\times$", "µ": r"\textmu{}", "±": r"$\pm$", "≤": r"$\le$", "≥": r"$\ge$"},
    **{"–": "--", "—": "---", "−": r"$-$", "·": r"$\cdot$", "→": r"$\rightarrow$"},
    **{"⌈": r"$\lceil$", "⌉": r"$\rceil$", "²": r"$^2$", "₂": r"$_2$", "…": r"\ldots{}"},
    **{"\u2009": r"\,", "’": "'", "“": "``", "”": "''", "\0": "-{}-"},
}
_PARTS = re.compile(r"(`[^`]+`|2\^\d+)")
_MARKUP = re.compile(r"(`[^`]+`)|[\\`*]|(?<!\w)_|_(?!\w)|<(?=[\w/!?])")


def latex(text: str) -> str:
    """Return plain text with all LaTeX commands made harmless; two hyphens become no dash."""
    return "".join(_LATEX.get(character, character) for character in text.replace("--", "\0"))


@dataclass(frozen=True)
class Column:
    """A column: its name in CSV, its heading in print, the form of a value, a shared heading."""

    key: str
    heading: str
    form: Callable[[Any], str] = str
    right: bool = True
    group: str = ""
    wrap: float = 0
    """Width in em at which LaTeX breaks text into lines; 0: it does not."""
    refers: Callable[[str], str] | None = None
    """Function that turns a cell into its form in a paper: :func:`citation` or :func:`figure`."""


def alike(
    form: Callable[[Any], str],
    *names: str,
    left: Any = False,
    group: Any = "",
    wrap: Any = 0,
    refers: Any = None,
    **headings: str,
) -> list[Column]:
    """Columns of one form, some of them headed by their names; text and code are on the left."""
    every, right = dict(zip(names, names, strict=True)) | headings, form not in (str, code, text)
    about = (form, right and not left, group, wrap, refers)
    return [Column(key, heading, *about) for key, heading in every.items()]


@dataclass(frozen=True)
class Table:
    """A table; ``notes`` belong below it, ``details`` in no paper; ``printed``: how many rows."""

    caption: str
    columns: Sequence[Column]
    rows: pd.DataFrame
    notes: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    printed: int | None = None

    def _cells(self) -> list[tuple[str, ...]]:
        rows = self.rows[: self.printed]
        return list(
            zip(*([*map(column.form, rows[column.key])] for column in self.columns), strict=True)
        )

    def markdown(self) -> str:
        """A Markdown table, notes and details below it."""
        escaped = lambda cell: plain(cell).replace("|", r"\|")
        line = lambda cells: f"| {' | '.join(map(escaped, cells))} |"
        lines = [
            line(f"{column.group} {column.heading}".strip() for column in self.columns),
            f"|{'|'.join('---:' if column.right else '---' for column in self.columns)}|",
            *map(line, self._cells()),
            *(f"\n{note}" for note in (*self.notes, *self.details)),
        ]
        return "\n".join(lines) + "\n"

    def latex(self, in_paper: bool = False) -> str:
        """A booktabs tabular without float or caption; in a paper columns refer to its parts."""
        line = lambda cells: " & ".join(cells) + r" \\"
        kinds, groups, rules, first = "", [], "", 1
        for column in self.columns:
            wrapped = rf">{{\raggedright\arraybackslash}}p{{{column.wrap:g}em}}"
            kinds += wrapped if column.wrap else "r" if column.right else "l"
        for group, members in itertools.groupby(column.group for column in self.columns):
            number = len(list(members))
            over = rf"\multicolumn{{{number}}}{{c}}{{{latex_cell(group)}}}"
            groups.append(over if group else "&" * (number - 1))
            rules += f"\\cmidrule(lr){{{first}-{first + number - 1}}}" if group else ""
            first += number
        forms = [column.refers if in_paper else None for column in self.columns]
        body = [
            line((form or latex_cell)(cell) for form, cell in zip(forms, row, strict=True))
            for row in self._cells()
        ]
        lines = [
            rf"\begin{{tabular}}{{@{{}}{kinds}@{{}}}}",
            r"\toprule",
            *([line(groups), rules] if rules else []),
            line(latex_cell(column.heading) for column in self.columns),
            *(r"\midrule", *body, r"\bottomrule", r"\end{tabular}"),
        ]
        return "\n".join(lines) + "\n"

    def csv(self) -> str:
        """Plain values with one heading line; an interval takes three columns."""
        made = pd.DataFrame(index=self.rows.index)
        for column in self.columns:
            values = self.rows[column.key]
            if any(isinstance(value, Interval) for value in values):
                for name, part in (("", "value"), ("_low", "low"), ("_high", "high")):
                    made[column.key + name] = [getattr(value, part, None) for value in values]
            else:
                made[column.key] = values
        return made.to_csv(index=False)


def records(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """The rows of a table; values stay as they are."""
    return pd.DataFrame(list(rows), dtype=object)


def latex_cell(text: str) -> str:
    """A cell or caption in LaTeX; lines may break behind an underscore of code."""
    breakable = lambda part: latex(part).replace(r"\_", r"\_\allowbreak{}")
    return "".join(
        rf"\texttt{{{breakable(part[1:-1])}}}"
        if part.startswith("`") and part.endswith("`") and len(part) > 2
        else f"$2^{{{part[2:]}}}$"
        if part.startswith("2^")
        else breakable(part)
        for part in _PARTS.split(text)
    )


def citation(key: str) -> str:
    """The LaTeX citation of a key of the papers' references; ``ours`` stays as it is."""
    return key if key in ("", "ours") else rf"\cite{{{key}}}"


def figure(name: str) -> str:
    """The LaTeX reference to a figure of the paper."""
    return rf"\figref{{{name.strip('`')}}}"


def enumerated(names: Iterable[str]) -> str:
    """One after another in a sentence."""
    return " and ".join(", ".join(names).rsplit(", ", 1))


def code(value: Any) -> str:
    """An id or a name, set as code; an empty name stays empty."""
    return f"`{value}`" if str(value) else ""


def text(value: Any) -> str:
    """A cell of text; a dash where there is none."""
    return value if isinstance(value, str) and value else "—"


def plain(text: str) -> str:
    """Return text in which all Markdown markup outside code is made harmless."""
    return _MARKUP.sub(lambda match: match[1] or "\\" + match[0], text)


def size(n: Any) -> str:
    """An array size: 2^k, or the plain number; a dash for none."""
    power = not pd.isna(n) and n >= 1024 and int(n) & (int(n) - 1) == 0
    return f"2^{int(n).bit_length() - 1}" if power else whole(n)


def whole(value: Any) -> str:
    """A count with thin spaces between thousands; a dash for none."""
    return "—" if value is None or pd.isna(value) else f"{int(value):,}".replace(",", "\u2009")


def significant(value: Any, digits: int = 3) -> str:
    """A number to some significant digits without an exponent; a dash for none."""
    if value is None or pd.isna(value):
        return "—"
    if value == 0:
        return "0"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{decimals}f}".replace(",", "\u2009")


def digits(number: int) -> Callable[[Any], str]:
    """The form of a number with so many significant digits."""
    return partial(significant, digits=number)


def with_interval(interval: Any, digits: int = 3) -> str:
    """A value with its 95% interval in brackets, if it is known; a dash for none."""
    if not isinstance(interval, Interval):
        return "—"
    value, low, high = (
        significant(number, digits) for number in (interval.value, interval.low, interval.high)
    )
    return f"{value} [{low}, {high}]" if interval.known else value
