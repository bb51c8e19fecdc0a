"""The countable rules of the project's language: sentences, captions and words.

The words to avoid, and the field's terms for them, are one table in ``docs/GLOSSARY.md``. ``scanlab-report words`` applies
the rules to every document and to the texts of the program; ``tests/test_words.py`` does so in ``./check``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import median

from scanlab_report import DATA

ROOT = DATA.parent
GLOSSARY = ROOT / "docs" / "GLOSSARY.md"
MAX_WORDS = 25
MAX_MEDIAN = 16
MAX_CAPTION = 60
BANNED_STARTS = ("What", "That", "Those", "Of")

PROSE, CELL, HEADING, CAPTION = "prose", "cell", "heading", "caption"
_CODE, _NOTHING = "\ue000", "\ue001"
"""They take the place of inline code, which is a word, and of marks and addresses, which are none."""


@dataclass(frozen=True)
class Sentence:
    """A sentence with its place; ``whole`` tells the sentences of one text from those of the next."""

    where: str
    line: int
    text: str
    masked: str
    kind: str
    whole: int = 0

    @property
    def words(self) -> int:
        return sum(bool(re.search(rf"[\w{_CODE}]", token)) for token in self.masked.replace(_NOTHING, "").split())

    @property
    def place(self) -> str:
        return f"{self.where}:{self.line}" if self.line else self.where


@dataclass(frozen=True)
class Fault:
    """A sentence that breaks a rule, and the alternative."""

    place: str
    sentence: str
    rule: str
    instead: str

    def __str__(self) -> str:
        return f"{self.place}: {self.rule}: “{self.sentence}” {self.instead}"


# ---------------------------------------------------------------------------------------------- the words to avoid


@cache
def avoided(glossary: Path = GLOSSARY) -> tuple[tuple[re.Pattern[str], str, str], ...]:
    """Each phrase of the glossary's table, as a pattern and as written, with the term to use.

    ``*`` stands for the rest of a word, ``…`` for one to three words.
    """
    table = glossary.read_text(encoding="utf-8").partition("| avoid | use |")[2]
    found = []
    for left, right in re.findall(r"^\| (`.+?) \| (.+?) \|$", table.split("\n\n")[0], re.MULTILINE):
        found += [(_pattern(phrase), phrase, right) for phrase in re.findall(r"`([^`]+)`", left)]
    if not found:
        raise ValueError(f"{glossary}: the table '| avoid | use |' is missing or empty: one row per group of phrases")
    return tuple(found)


def _pattern(phrase: str) -> re.Pattern[str]:
    words = [r"\S+(?:\s+\S+){0,2}?" if word == "…" else re.escape(word).replace(r"\*", r"\w*") for word in phrase.split()]
    return re.compile(r"(?<![\w-])" + r"\s+".join(words) + r"(?![\w-])", re.IGNORECASE)


_NOUNS = (
    "addition array bit byte case chunk conflict core cycle device element event instruction item kernel lane multiprocessor node operation "
    "repetition row second sector session thread tile transaction type variant warp wavefront word workload"
).split()
"""Nouns of which the plural is no verb."""
_VERBS = (
    "bank block build claim cluster command copy experiment figure file generation graph host job launch line load page pass panel read "
    "round run sample schedule size stage step store stream table test trial write"
).split()
"""Nouns of which it is one: 'two copies a tile' is the shape, 'a kernel copies a tile' is not."""
_THING = "|".join(_NOUNS + _VERBS + ["amount"])


def _plurals(nouns: Sequence[str]) -> str:
    return "|".join(noun[:-1] + "ies" if noun.endswith("y") else noun + ("es" if noun.endswith(("s", "h")) else "s") for noun in nouns)


_COUNT = r"an?|one|two|three|four|five|six|seven|eight|ten|\d+|many|more|fewer|how\s+many"
PER = re.compile(
    rf"\b(?:(?:KiB|MiB|GiB|KB|MB|GB|µs|ms|ns|minutes|barriers|{_plurals(_NOUNS)})\s+an?\s+(?:{_THING})"
    rf"|(?:{_COUNT})\s+(?:{_THING}|{_plurals(_VERBS)})\s+an?\s+(?:{_THING})|\d+\s+s\s+an?\s+(?:{_THING}))\b",
    re.IGNORECASE,
)

# ---------------------------------------------------------------------------------------------------- sentences

_END = re.compile(rf"(?<=[.!?])[\"')”{_NOTHING}]*\s+(?=[\"'(“{_NOTHING}]*[A-Z0-9{_CODE}À-ÖØ-Þ])")
_ABBREVIATED = re.compile(r"(?:^|[\s(])(?:e\.g|i\.e|vs|cf|Fig|Figs|Eq|Sect|al|No|approx|St|Dr)\.$")


def masked(text: str) -> str:
    """A text of the same length in which code is one word, and marks and addresses are none."""

    def gone(match: re.Match[str]) -> str:
        return _NOTHING * len(match[0])

    text = re.sub(r"(`+)(.+?)\1", lambda m: _CODE * len(m[0]), text, flags=re.DOTALL)
    text = re.sub(r"\b[0-9a-f]{9}\+?(?:, [0-9a-f]{9}\+?)+", lambda m: _CODE * len(m[0]), text)  # commits
    text = re.sub(r"\]\([^)]*\)|\]\[[^\]]*\]", gone, text)
    text = re.sub(r"!?\[(?=\S)|<!--.*?-->|</?[a-zA-Z][^>]*>", gone, text, flags=re.DOTALL)
    text = re.sub(r"<?https?://[^\s>)]+>?", lambda m: _CODE * len(m[0]), text)
    return re.sub(r"\*\*?|(?<!\w)_(?=\w)|(?<=\w)_(?!\w)|\\(?=\W)", gone, text)


def sentences(where: str, line: int, text: str, kind: str = PROSE, whole: int = 0) -> Iterator[Sentence]:
    """The sentences of one paragraph, item, cell or string."""
    hidden, begin = masked(text), 0
    ends = [end for end in _END.finditer(hidden) if not _ABBREVIATED.search(hidden[: end.start()])]
    for stop, after in [*((end.start(), end.end()) for end in ends), (len(text), len(text))]:
        shown = " ".join(text[begin:stop].split())
        if re.search(rf"[^\W\d_]|{_CODE}", hidden[begin:stop]):
            yield Sentence(where, line + text.count("\n", 0, begin) if line else 0, shown, hidden[begin:stop].strip(), kind, whole)
        begin = after


_FENCE = re.compile(r"^ *(```+|~~~+)")
_ITEM = re.compile(r"^ *(?:[-*+]|\d+\.) +(?:\[[ x]\] +)?")


def of_markdown(where: str, text: str) -> list[Sentence]:
    """The sentences of a page: paragraphs, items, headings and cells of tables. Code and cells of numbers have none."""
    found: list[Sentence] = []
    held: list[str] = []
    first, fence = 0, ""

    def close() -> None:
        if held:
            found.extend(sentences(where, first, "\n".join(held), PROSE, len(found)))
            held.clear()

    text = re.sub(r"<!--.*?-->", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.DOTALL)
    for number, line in enumerate(text.splitlines(), 1):
        opening = _FENCE.match(line)
        if fence or opening:
            close()
            if fence and line.strip() == fence:
                fence = ""
            elif opening and not fence:
                fence = opening[1]
        elif not line.strip():
            close()
        elif line.lstrip().startswith("|"):
            close()
            if not re.fullmatch(r"[\s|:-]+", line):
                for cell in re.split(r"(?<!\\)\|", line.strip().strip("|")):
                    found += sentences(where, number, cell.strip(), CELL, len(found))
        elif line.startswith("#"):
            close()
            found += sentences(where, number, line.lstrip("# "), HEADING, len(found))
        else:
            item = _ITEM.match(line)
            if item or not held:
                close()
                first = number
            held.append(line[item.end() :] if item else line.lstrip("> "))
    close()
    return found


def of_strings(named: Iterable[tuple[str, str]], kind: str = CAPTION) -> list[Sentence]:
    """Sentences of captions, notes, help texts: each with a name that says where it is. ``{this|that}`` counts as the first."""
    found: list[Sentence] = []
    for whole, (where, text) in enumerate(named):
        said = re.sub(r"\{([^{}|]+)\|[^{}]*\}", r"\1", text)
        said = re.sub(r"\{\w*\}", "it", said)
        found += sentences(where, 0, " ".join(said.split()), kind, whole)
    return found


_FLOATS = re.compile(r"\\begin\{(figure|table|lstlisting|equation)(\*?)\}.*?\\end\{\1\2\}|\\\[.*?\\\]", re.DOTALL)
_HEADINGS = re.compile(r"\\(?:section|subsection|paragraph|title)\*?\{")
_BREAKS = re.compile(r"\n[ \t]*\n|\f|\\(?:begin|end)\{\w+\*?\}|\\item\b")


def of_latex(where: str, text: str) -> list[Sentence]:
    """The sentences of a LaTeX document: captions that are written in it, and its prose without listings, tables and formulas."""
    named = []
    for caption in re.finditer(r"\\caption(?:\[[^\]]*\])?\{", text):
        said = text[caption.end() : _end_of_group(text, caption.end()) - 1]
        named.append((f"{where}:{text.count(chr(10), 0, caption.start()) + 1}", without_latex(said)))
    found = of_strings(named)
    head, _, prose = text.partition(r"\begin{document}")
    body = _FLOATS.sub(lambda m: ("formula." if m[0].startswith(r"\[") else "\f") + "\n" * m[0].count("\n"), prose)
    headings = {of.end(): _end_of_group(body, of.end()) for of in _HEADINGS.finditer(body)}
    breaks = sorted({0, len(body), *(at for of in _BREAKS.finditer(body) for at in of.span()), *headings, *headings.values()})
    for begin, end in pairwise(breaks):
        held = body[begin:end]
        line = (head + body[:begin]).count("\n") + len(held) - len(held.lstrip("\n")) + 1
        found += sentences(where, line, without_latex(held.strip()), HEADING if begin in headings else PROSE, len(found))
    return found


def _end_of_group(text: str, begin: int) -> int:
    """Behind the brace that closes the group that is open at ``begin``."""
    depth = 1
    while depth and begin < len(text):
        depth += {"{": 1, "}": -1}.get(text[begin], 0) if text[begin - 1] != "\\" else 0
        begin += 1
    return begin


def without_latex(text: str) -> str:
    """LaTeX as one reads it: formulas and macros are a word each, citations none."""
    text = re.sub(r"(?<!\\)%.*", "", text)
    text = re.sub(r"~?\\(?:cite\w*|label|begin|end|scan\w+)\{[^}]*\}", "", text)
    text = re.sub(r"\\(?:item\b|(?:sub)?section\*?\{$|paragraph\*?\{$|title\{$)", "", text)
    text = re.sub(r"\$[^$]*\$|\\[a-zA-Z]*ref\{[^}]*\}|\\texttt\{[^}]*\}", "`x`", text)
    text = re.sub(r"\\(?:emph|textbf|textit|text|mbox)\b", "", text)
    text = re.sub(r"\\[a-zA-Z]+\s*(?:\{\})?", "`x`", text)
    return re.sub(r"\\([%&_#$])", r"\1", text).replace("{", "").replace("}", "").replace("~", " ").replace("--", "–")


# -------------------------------------------------------------------------------------------------------- rules


def faults(found: Sequence[Sentence], glossary: Path = GLOSSARY) -> list[Fault]:
    """Every sentence that breaks a rule, and captions that are too long."""
    wrong = [fault for sentence in found for fault in _of_one(sentence, glossary)]
    lengths: dict[tuple[str, int], list[Sentence]] = {}
    for sentence in found:
        if sentence.kind == CAPTION:
            lengths.setdefault((sentence.where, sentence.whole), []).append(sentence)
    for of in lengths.values():
        if (words := sum(sentence.words for sentence in of)) > MAX_CAPTION:
            wrong.append(Fault(of[0].place, of[0].text, f"caption of {words} words, at most {MAX_CAPTION}",
                               "Keep the quantity, the conditions, and how to read it. docs/METHOD.md has the statistics."))  # fmt: skip
    return wrong


def _of_one(sentence: Sentence, glossary: Path) -> Iterator[Fault]:
    if sentence.words > MAX_WORDS:
        yield Fault(sentence.place, sentence.text, f"{sentence.words} words, at most {MAX_WORDS}", "Write two sentences, one idea each.")
    plain = sentence.masked.replace(_NOTHING, "")
    start = re.match(r"[\"'(“]*(\w+)\b", plain)
    if start and start[1] in BANNED_STARTS:
        yield Fault(sentence.place, sentence.text, f"begins with {start[1]!r}", "Begin with the noun that the sentence is about.")
    if per := PER.search(plain):
        said = re.sub(r"\s+an?\s+(?=\w+$)", " per ", per[0])
        yield Fault(sentence.place, sentence.text, f"{per[0]!r}", f"Write {said!r}.")
    for pattern, phrase, instead in avoided(glossary):
        if match := pattern.search(plain):
            shown = " ".join(match[0].replace(_CODE, "").split()) or phrase
            yield Fault(sentence.place, sentence.text, f"{shown!r} is no term", f"Use: {instead}.")


def median_words(found: Iterable[Sentence]) -> float:
    """Of sentences of text and of captions; headings and cells of tables are none."""
    lengths = [sentence.words for sentence in found if sentence.kind in (PROSE, CAPTION)]
    return median(lengths) if lengths else 0


def long_median(where: str, found: Sequence[Sentence]) -> list[Fault]:
    """Whether the sentences of a page, or of all captions together, are too long by their median."""
    if (of := median_words(found)) <= MAX_MEDIAN:
        return []
    return [Fault(where, found[0].text, f"median sentence of {of:g} words, at most {MAX_MEDIAN}", "Shorten the longest sentences first.")]
