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

from scanlab_report.documents import typesetting

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


def test_a_link_that_leads_nowhere_is_caught(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# A `name`: of one, two\n\n## Twice\n\n## Twice\n```sh\n# no heading\n```\n")
    page = tmp_path / "page.md"
    page.write_text(
        "# Here\n[a](other.md#a-name-of-one-two) [`b`](other.md#twice-1) [c](#here) [d](https://example.org/none) ![e](other.md)\n"
        "[gone](gone.md) [no heading](other.md#no-heading) [nor here](#there) ![no](picture.png) [outside](../..)\n"
        "[by name][1]\n\n[1]: lost.md\n```md\n[shown](nowhere.md)\n```\n"
    )
    assert [wrong.split(": ")[1] for wrong in broken(page, tmp_path)] == [
        "gone.md", "other.md#no-heading", "#there", "picture.png", "../..", "lost.md",
    ]  # fmt: skip


def test_the_page_of_the_header_shows_the_operator_of_its_example() -> None:
    shown = re.search(r"```cpp\n(struct Pair.*?)```", (ROOT / "docs/USE_IT.md").read_text(encoding="utf-8"), re.DOTALL)
    assert shown and shown[1] in (ROOT / "docs/examples/device_scan/segmented_sum.cu").read_text(encoding="utf-8")


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


def test_a_misspelt_word_is_caught(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    wrong = "reciev" + "ed"
    page.write_text(f"The colour of a catalogue is {wrong}.\n")
    assert misspelt([page]).split(":", 1)[1] == f"1: {wrong} ==> received\n"


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


@pytest.mark.parametrize("key", ["upload_type", "title", "description", "creators", "version", "license", "keywords"])
def test_a_disagreement_is_caught(key: str) -> None:
    zenodo, cited = metadata()
    assert disagreements(zenodo | {key: "another"}, cited) == [key]


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
    text = (ROOT / "paper" / "references.bib").read_text()
    assert len(bibliography(text)) == text.count("\n@") + 1
    assert doubtful(text, "".join((ROOT / "paper" / f"{paper}.tex").read_text() for paper in typesetting.PAPERS)) == []


SOUND_ENTRY = "@misc{good,\n  author = {A, B.},\n  title  = {On {GPU}s,\n            in two lines},\n  howpublished = {A page},\n  year   = {2012},\n  doi    = {10.1145/7902.7903}\n}\n"


@pytest.mark.parametrize(("before", "after", "said"), [
    ("  author = {A, B.},\n", "", "good: no author"), ("{On {GPU}s,\n            in two lines}", "{}", "good: no title"),
    ("2012", "202", "good: year 202"), ("10.1145/", "https://doi.org/10.1145/", "good: doi https://doi.org/10.1145/7902.7903"),
    ("howpublished", "note", "good: says nowhere where it appeared"), ("@misc{good", "@misc{other", "good: cited, and no entry"),
    (SOUND_ENTRY, SOUND_ENTRY + SOUND_ENTRY, "good*: not cited"),
])  # fmt: skip
def test_a_doubtful_source_is_caught(before: str, after: str, said: str) -> None:
    assert doubtful(SOUND_ENTRY, r"as \cite{good} says") == []
    assert said in doubtful(SOUND_ENTRY.replace(before, after), r"as \cite{good} says")


def test_every_schema_that_the_code_names_is_described() -> None:
    sources = [path for folder in ("harness", "analysis") for path in (ROOT / folder).rglob("*")
               if path.suffix in (".cpp", ".hpp", ".cu", ".cuh", ".py") and "tests" not in path.parts]  # fmt: skip
    named = {schema for path in sources for schema in re.findall(r'"(scanlab-[a-z-]+/\d+)"', path.read_text())}
    assert {"scanlab-results/2", "scanlab-export/1"} <= named
    described = (ROOT / "data" / "README.md").read_text()
    assert [schema for schema in sorted(named) if f"`{schema}`" not in described] == []


def test_the_bibtex_entry_says_what_the_citation_says() -> None:
    entry = dict(re.findall(r"^  (\w+) += \{(.+)\},?$", (ROOT / "README.md").read_text().partition("```bibtex")[2].partition("```")[0], re.MULTILINE))
    said = (ROOT / "CITATION.cff").read_text()
    for key in ("author", "title", "version"):
        assert entry[key].replace("{", "").replace("}", "") in said, key
    for paper in typesetting.PAPERS:
        assert r"\author{\IEEEauthorblockN{The Scanlab authors}}" in (ROOT / "paper" / f"{paper}.tex").read_text()
