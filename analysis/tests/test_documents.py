"""What is written: links lead somewhere, words are spelt, the metadata agree, the container recipe is clean."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from scanlab_report import typesetting
from scanlab_report.tutorials import parts

ROOT = Path(__file__).resolve().parents[2]
MADE = ("build", "results")
"""What the names of folders begin with that building and running leave behind, besides hidden ones."""
WRITTEN = {".cpp", ".hpp", ".cu", ".cuh", ".cmake", ".py", ".sh", ".md", ".tex", ".bib", ".toml", ".cff", ".js", ".css", ".html", ".in"}
NOT_OURS = {"recorded", "generated", "vega.js"}
FENCED = re.compile(r"^( *)```.*?^\1```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)>\s]+)>?[^)]*\)")
EXCEPTIONS = (
    "kno",  # a constant, kNo
    "thid",  # the name of a variable in a source
    "vermillion",  # as the palette's authors spell it
    *("leary", "mattern", "udo"),  # names of authors, and a part of one
    *("sqare", "chek", "maping", "paddin"),  # misspelt on purpose: tests of what is said then
)


def files(suffixes: set[str]) -> Iterator[Path]:
    """What is written by hand and kept in the repository."""
    for top in sorted(ROOT.iterdir()):
        if top.name.startswith((".", *MADE)):
            continue
        found = sorted(top.rglob("*")) if top.is_dir() else [top]
        yield from (path for path in found if path.suffix in suffixes and not NOT_OURS & set(path.relative_to(ROOT).parts))


def anchors(page: str) -> set[str]:
    """The names by which a page's headings are linked to, as GitHub makes them."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ +(.*?) *$", FENCED.sub("", page), re.MULTILINE):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        twin = name
        for number in range(1, len(found) + 1):
            if twin not in found:
                break
            twin = f"{name}-{number}"
        found.add(twin)
    return found


def broken(page: Path, root: Path = ROOT) -> list[str]:
    """Links of a page to files that are not there, or outside of the repository, or to headings that no page has."""
    wrong = []
    text = page.read_text(encoding="utf-8")
    prose = re.sub(r"`[^`\n]*`", "", FENCED.sub("", text))
    targets = [link[1] for link in LINK.finditer(FENCED.sub("", text))] + re.findall(r"^\[[^\]]+\]: +(\S+)", prose, re.MULTILINE)
    for target in targets:
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        if not file.is_relative_to(root) or not file.exists():
            wrong.append(f"{page.relative_to(root)}: {target}: no such file")
        elif anchor and anchor not in anchors(file.read_text(encoding="utf-8")):
            wrong.append(f"{page.relative_to(root)}: {target}: no such heading")
    return wrong


def test_every_link_of_a_page_leads_somewhere() -> None:
    pages = list(files({".md"}))
    assert {"README.md", "TUTORIAL.md", "ARTIFACT.md"} <= {page.name for page in pages}
    assert [wrong for page in pages for wrong in broken(page)] == []


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "docs/OWN_KERNEL.md", "docs/USE_IT.md"])
def test_a_page_shows_code_of_the_examples_alone(name: str) -> None:
    page = (ROOT / name).read_text(encoding="utf-8")
    markers = [(marker, words) for marker, kind, words in parts.asked(page) if kind == "code"]
    assert len(markers) == page.count("```cpp\n") > 0
    for marker, words in markers:
        assert f"<!-- {marker}:begin -->\n{parts.excerpt(words)}\n<!-- {marker}:end -->" in page


def misspelt(paths: Sequence[Path]) -> str:
    """What codespell finds: misspellings that it knows, so British words stand."""
    if importlib.util.find_spec("codespell_lib") is None:
        pytest.skip("there is no codespell")
    command = [sys.executable, "-m", "codespell_lib", "--ignore-words-list", ",".join(EXCEPTIONS), *map(str, paths)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT).stdout


def test_words_are_spelt() -> None:
    paths = [*files(WRITTEN), ROOT / "check", ROOT / "reproduce", ROOT / ".zenodo.json", ROOT / "tools" / "record"]
    assert len(paths) > 200
    assert misspelt(paths) == ""


def citation(text: str) -> dict[str, str | list[str]]:
    """CITATION.cff, as far as it is written here: values of one line, and lists."""
    entries: dict[str, str | list[str]] = {}
    for key, value, items in re.findall(r"^([\w-]+): *(.*)\n((?:  .*\n)*)", text, re.MULTILINE):
        listed = re.findall(r'^  - (?:name: )?"?(.*?)"?$', items, re.MULTILINE)
        entries[key] = value.strip('"') or listed
    return entries


def metadata() -> tuple[dict[str, object], dict[str, str | list[str]]]:
    return json.loads((ROOT / ".zenodo.json").read_text()), citation((ROOT / "CITATION.cff").read_text())


def disagreements(zenodo: dict[str, object], cited: dict[str, str | list[str]]) -> list[str]:
    """Entries of .zenodo.json that say something else than CITATION.cff."""
    said = {
        "upload_type": cited["type"],
        "title": cited["title"],
        "description": cited["abstract"],
        "creators": [{"name": name} for name in cited["authors"]],
        "version": cited["version"],
        "license": cited["license"],
        "keywords": cited["keywords"],
    }
    return [key for key, value in said.items() if zenodo.get(key) != value]


def test_zenodo_says_what_the_citation_says() -> None:
    zenodo, cited = metadata()
    assert disagreements(zenodo, cited) == []
    assert f"\n## {cited['version']}" in (ROOT / "CHANGELOG.md").read_text()
    assert f"project(scanlab VERSION {cited['version']} " in (ROOT / "CMakeLists.txt").read_text()
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == cited["version"]




def bibliography(text: str) -> dict[str, dict[str, str]]:
    """The fields of each entry of a BibTeX file, by key; a key that is there twice ends in an asterisk the second time."""
    entries: dict[str, dict[str, str]] = {}
    for key, body in re.findall(r"^@\w+\{([^,\s]+),\n(.*?)^\}", text, re.MULTILINE | re.DOTALL):
        fields = re.findall(r"^  (\w+) *= *\{?(.*?)\}?,?(?=\n  \w+ *=|\Z)", body.rstrip(), re.MULTILINE | re.DOTALL)
        entries[key + "*" * (key in entries)] = {name: " ".join(value.split()) for name, value in fields}
    return entries


def doubtful(text: str, paper: str) -> list[str]:
    """Sources without title, authors or a year that can be, those that nothing cites, and citations of none."""
    entries = bibliography(text)
    cited = {key.strip() for keys in re.findall(r"\\cite\{([^}]*)\}", paper) for key in keys.split(",")}
    wrong = [f"{key}: no {name}" for key, of in entries.items() for name in ("author", "title", "year") if not of.get(name)]
    wrong += [f"{key}: year {of['year']}" for key, of in entries.items() if of.get("year") and not re.fullmatch(r"(19|20)\d\d", of["year"])]
    wrong += [f"{key}: doi {of['doi']}" for key, of in entries.items() if "doi" in of and not re.fullmatch(r"10\.\d{4,}/\S+", of["doi"])]
    wrong += [f"{key}: says nowhere where it appeared" for key, of in entries.items() if not {"journal", "booktitle", "institution", "howpublished", "publisher"} & set(of)]
    return wrong + [f"{key}: not cited" for key in sorted(entries.keys() - cited)] + [f"{key}: cited, and no entry" for key in sorted(cited - entries.keys())]


def test_every_source_has_title_authors_and_year_and_is_cited() -> None:
    text = "".join(file.read_text() for file in sorted((ROOT / "paper").glob("*/references.bib")))
    assert len(bibliography(text)) == len(re.findall("^@", text, re.MULTILINE))
    assert doubtful(text, "".join(typesetting.source_text(paper) for paper in typesetting.PAPERS)) == []


