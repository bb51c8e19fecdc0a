"""The language of documents, captions and help texts keeps its countable rules, and each rule sees a planted fault."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from scanlab_report.commands import words as command
from scanlab_report.commands.__main__ import main
from scanlab_report.documents import words
from tests.whole import Built

TEXTS = dict(command.texts())
TABLES, PROGRAM = "captions and notes of tables", "help of scanlab"


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_a_text_keeps_the_rules(name: str) -> None:
    assert [str(fault) for fault in command.check(name, TEXTS[name])] == []


def test_captions_of_tables_keep_the_rules(built: Built) -> None:
    assert [str(fault) for fault in command.check(TABLES, command.of_tables(built.out / "tables"))] == []


def test_the_help_of_the_program_keeps_the_rules() -> None:
    if not (program := os.environ.get("SCANLAB_PROGRAM")):
        pytest.skip("SCANLAB_PROGRAM names no program")
    assert [str(fault) for fault in command.check(PROGRAM, command.help_of_program(program))] == []


LONG = "The " + "very " * 24 + "end."
PLANTED = {
    LONG: "26 words, at most 25",
    "What it is.": "begins with 'What'",
    "It is short. That is long.": "begins with 'That'",
    "- Those are items.": "begins with 'Those'",
    "| a cell | Of a table |": "begins with 'Of'",
    "# What is claimed": "begins with 'What'",
    "A block reads 16 bytes a tile.": "'bytes a tile'",
    "There is one file a command.": "'one file a command'",
    "It makes two copies a tile.": "'two copies a tile'",
    "The tests take 25 s a file.": "'25 s a file'",
    "The kernel is launched early.": "'launched early' is no term",
    "It **parts two\nstreams** here.": "'parts two streams' is no term",
    "The [executor](x.md) counts.": "'executor' is no term",
    "> The orders of issue differ.": "'orders of issue' is no term",
    "1. Of late:\n   a pair.": "begins with 'Of'",
}


@pytest.mark.parametrize(("text", "rule"), PLANTED.items())
def test_a_planted_fault_is_seen(text: str, rule: str) -> None:
    (fault,) = words.faults(words.of_markdown("page.md", f"# Title\n\n{text}\n"))
    assert fault.rule == rule and fault.instead and str(fault).startswith("page.md:3: " if "\n" not in text else "page.md:")


def test_every_word_to_avoid_is_seen_and_has_a_term() -> None:
    for _, phrase, instead in words.avoided():
        said = phrase.replace("*", "").replace("…", "some")
        (fault, *_) = words.faults(words.of_strings([("here", f"It says {said} in a sentence.")]))
        assert "is no term" in fault.rule and instead and fault.instead.startswith("Use: ")


def test_the_fault_says_what_to_write() -> None:
    (fault,) = words.faults(words.of_markdown("p.md", "Each has 2 KiB a warp.\n"))
    assert str(fault) == "p.md:1: 'KiB a warp': “Each has 2 KiB a warp.” Write 'KiB per warp'."


SOUND = """\
# Title: `What that is`

A sentence has `executor` in code. It has e.g. An abbreviation. `scan` begins one. (Another begins here.)

```sh
What is in a block of code is launched early.
```

<!-- What a comment says. -->
| variant | of CUB |
|---|---:|
| `best` | 1.32 [1.31, 1.33] |

![A picture](what/executor.png) [A link](docs/executor.md#what). A kernel launches a block, copies a tile and runs a step.
"""


def test_code_addresses_and_numbers_are_no_sentences() -> None:
    found = words.of_markdown("page.md", SOUND)
    assert words.faults(found) == []
    assert [(of.line, of.words) for of in found if of.kind == words.PROSE] == [(3, 6), (3, 5), (3, 3), (3, 3), (14, 4), (14, 12)]
    assert [of.text for of in found if of.kind == words.CELL] == ["variant", "of CUB", "`best`"]


def test_lines_are_those_of_the_page() -> None:
    found = words.of_markdown("page.md", "One.\nTwo.\n\n- Three\n  goes on.\n- Four.\n")
    assert [(of.line, of.text) for of in found] == [(1, "One."), (2, "Two."), (4, "Three goes on."), (6, "Four.")]


def test_a_caption_is_short() -> None:
    sentence = "Twelve words are in this sentence, as anyone who counts can see. "
    assert words.faults(words.of_strings([("figures/a.py", sentence * 5)])) == []
    (fault,) = words.faults(words.of_strings([("figures/a.py", sentence * 5 + "One more.")]))
    assert fault.place == "figures/a.py" and fault.rule == "caption of 62 words, at most 60"


def test_places_of_a_caption_to_fill_in_are_words() -> None:
    (found,) = words.of_strings([("f", "Time of {items} of {this variant|that one} by size.")])
    assert found.text == "Time of it of this variant by size." and found.words == 8


def test_long_sentences_are_too_long_by_their_median() -> None:
    found = words.of_markdown("page.md", ("Word " + "word " * 15 + "end. ") * 3)
    assert [fault.rule for fault in words.long_median("page.md", found)] == ["median sentence of 17 words, at most 16"]
    assert words.long_median("page.md", words.of_markdown("page.md", "It is short.\n")) == []


def test_captions_of_latex_are_read() -> None:
    source = "Text that is launched early.\n\\begin{figure}\\caption{Time of \\texttt{best} over $2^{28}$ items~\\cite{cub},\n  {\\bf in turns}, 3\\,\\%.}\n"
    found = words.of_latex("paper.tex", source)
    assert [(of.where, of.words) for of in found] == [("paper.tex:2", 9)]
    assert [fault.rule for fault in words.faults(found)] == ["'in turns' is no term"]


PAPER = r"""
\begin{document}
\section{What a heading says}
Text in \texttt{code} is launched
early. A sentence~\cite{cub} has
\[ x + y \]
\paragraph*{Short} A case goes. Of $n$ items.
\begin{lstlisting}
What a listing says.
\end{lstlisting}
\begin{itemize}
\item An item; \num{\some{}} of \figref{x}
\end{itemize}
\end{document}
"""


def test_prose_of_latex_is_read_without_listings_and_formulas() -> None:
    found = words.of_latex("paper.tex", PAPER)
    assert [(of.line, of.words, of.kind) for of in found] == [
        (3, 4, "heading"), (4, 6, "prose"), (5, 4, "prose"), (7, 1, "heading"), (7, 3, "prose"), (7, 3, "prose"), (12, 5, "prose")]  # fmt: skip
    assert [(fault.place, fault.rule) for fault in words.faults(found)] == [
        ("paper.tex:3", "begins with 'What'"), ("paper.tex:4", "'launched early' is no term"), ("paper.tex:7", "begins with 'Of'")]  # fmt: skip


def test_the_command_reads_files_and_says_how_many(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "README.md"
    page.write_text("What is this?\n")
    assert main(["words", str(page)]) == 1
    assert "README.md:1: begins with 'What': “What is this?”" in (said := capsys.readouterr().out) and "1 fault in 1 text" in said
    page.write_text("This is sound.\n")
    assert main(["words", str(page)]) == 0
    assert main(["words", str(tmp_path / "nowhere.md")]) == 2
    assert main(["words", str(tmp_path)]) == 2


@pytest.mark.parametrize("name", ["page.md", "page.tex"])
def test_what_is_no_text_or_no_program_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    page = tmp_path / name
    page.write_bytes(b"This is sound.\n\xff\xfe\x00")
    assert main(["words", str(page)]) == 2
    assert f"error: {page}: is not UTF-8 text (" in capsys.readouterr().err
    page.write_text("This is sound.\n")
    assert main(["words", "--program", str(tmp_path / "none"), str(page)]) == 2
    assert f"error: {tmp_path / 'none'}: cannot be run (" in (said := capsys.readouterr().err) and "build the program first" in said


def test_a_glossary_without_its_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "GLOSSARY.md").write_text("# Glossary\n")
    with pytest.raises(ValueError, match="the table"):
        words.avoided(tmp_path / "GLOSSARY.md")


def test_terms_are_in_alphabetical_order_once_each_and_none_is_to_be_avoided() -> None:
    page = words.GLOSSARY.read_text(encoding="utf-8")
    terms = re.findall(r"^\| (.+?) \| .+ \|$", page.partition("## Terms")[2].partition("## Words")[0].partition("|---|---|")[2], re.MULTILINE)
    plain = [term.strip("`").lower() for term in terms]
    assert len(plain) > 40 and plain == sorted(set(plain))
    used = [instead for _, _, instead in words.avoided()]
    named = {part.split("(")[0].strip() for instead in used for part in instead.split(";")}
    assert {"issue order", "warp specialisation", "implicit synchronisation"} <= named
    assert [term for term in terms if words.faults(words.of_strings([("term", term)]))] == []
