"""The language of documents, captions and help texts, against the rules that can be counted.

Each fault has its place, the sentence, the rule and the alternative. docs/GLOSSARY.md lists the terms, and the words to avoid.
Without FILE the command reads every document, and every text that the program can list.
Exit status 0: no fault; 1: there is one; 2: bad input.
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

from scanlab_report.console import FOUND, SOUND, count, missing, refuse, say
from scanlab_report.documents import program_help, words
from scanlab_report.documents.words import ROOT, Fault, Sentence

EXAMPLE = """  scanlab-report words
  scanlab-report words README.md docs/METHOD.md
  scanlab-report words --program build/cuda/scanlab"""

PAGES = ("*.md", "docs/**/*.md", "variants/**/*.md", "baselines/**/*.md", "harness/**/*.md", "data/*.md", "paper/*.md", "paper/*.tex")
"""Documents, of which ``./check`` reads each: a new page is linted from its first day."""
SCENARIOS = ROOT / "data" / "scenarios"
OTHERS = ("CHANGELOG.md",)
"""Documents of another kind: a record of changes keeps the words of its day."""
SHORT = ("README.md", "captions of figures", "captions and notes of tables")
"""Texts of which the median sentence is checked, too."""


class NoText(ValueError):
    """A file that is no text, in a sentence."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="documents in Markdown, or LaTeX")
    parser.add_argument("--program", metavar="PROGRAM", help="read also the help of the C++ program, such as build/cuda/scanlab")


def run(options: argparse.Namespace) -> int:
    if wrong := missing(options.files) or [f"{path}: a folder; name its documents" for path in options.files if path.is_dir()]:
        return refuse(*wrong)
    try:
        named = {str(file): page(file, str(file)) for file in options.files} or dict(texts())
        if options.program:
            named["help of scanlab"] = help_of_program(options.program)
    except (NoText, program_help.NoProgram) as error:
        return refuse(error)
    found = [fault for name, sentences in named.items() for fault in check(name, sentences)]
    for fault in found:
        say(str(fault))
    say(f"{count(len(found), 'fault')} in {count(len(named), 'text')}.")
    return FOUND if found else SOUND


def check(name: str, sentences: list[Sentence]) -> list[Fault]:
    """The faults of one text, by the rules that hold for it."""
    found = words.faults(sentences)
    if name in SHORT:
        found += words.long_median(name, sentences)
    return found


def page(file: Path, name: str) -> list[Sentence]:
    """The sentences of a document; NoText if it is none."""
    read = words.of_latex if file.suffix == ".tex" else words.of_markdown
    try:
        return read(name, file.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise NoText(f"{file}: is not UTF-8 text ({error})") from None


def texts() -> Iterator[tuple[str, list[Sentence]]]:
    """Every document by its place in the checkout, and every group of texts that the package itself holds."""
    for file in sorted({file for pattern in PAGES for file in ROOT.glob(pattern)}):
        if (name := file.relative_to(ROOT).as_posix()) not in OTHERS:
            yield name, page(file, name)
    for name, listed in GROUPS.items():
        yield name, listed()


def captions() -> list[Sentence]:
    """Of all figures, as far as they do not depend on the evidence."""
    from scanlab_report import figures
    from scanlab_report.modules import modules

    return words.of_strings((f"figures/{name}.py", module.CAPTION) for name, module in modules(figures))


def of_tables(folder: Path) -> list[Sentence]:
    """Captions and notes of the tables that a build wrote: they are known only with the evidence. Each note is a text of its own."""
    named = []
    for file in sorted(folder.glob("*.md")):
        caption, _, rest = file.read_text(encoding="utf-8").partition("\n\n|")
        notes = [line for line in rest.splitlines()[:-1] if line and not line.startswith(("|", " ")) and not line.endswith("|")]
        named += [(f"tables/{file.stem}.py", text) for text in (caption, *notes)]
    return words.of_strings(named)


def help_texts() -> list[Sentence]:
    """Of this program: what each command and each option says of itself."""
    from scanlab_report.commands.__main__ import command_line

    named = []
    for action in command_line()._actions:
        for name, command in (action.choices if isinstance(action.choices, dict) else {}).items():
            named.append((f"scanlab-report {name} --help", command.description or ""))
            named += [(f"scanlab-report {name} {'/'.join(of.option_strings) or of.metavar or of.dest}", of.help) for of in command._actions if of.help]
    return words.of_strings(named, words.PROSE)


def help_of_program(program: str) -> list[Sentence]:
    """Of the C++ program: what each command and each option says of itself."""
    return words.of_strings(program_help.strings(program_help.helps(program)), words.PROSE)


def facts() -> list[Sentence]:
    """What the scenarios say of themselves: help texts and a table of a paper show it."""
    return words.of_strings(
        ((f"data/scenarios/{file.name}, {of['id']}", of["fact"]) for file in sorted(SCENARIOS.glob("*.toml")) for of in tomllib.loads(file.read_text(encoding="utf-8"))["scenario"]),
        words.PROSE,
    )


GROUPS: dict[str, Callable[[], list[Sentence]]] = {"captions of figures": captions, "help of scanlab-report": help_texts, "facts of scenarios": facts}
