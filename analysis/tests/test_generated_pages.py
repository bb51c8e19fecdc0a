"""The generated parts of pages are of the session that is recorded: a new recording without new pages is seen."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from scanlab_report import DATA, markers
from scanlab_report.claims import stated

ROOT = DATA.parent
OF_ONE_SESSION = (("README.md", "results"), ("docs/CLAIMS.md", "standings"), ("docs/CLAIMS.md", "types"), ("docs/CLAIMS.md", "losses"), ("variants/README.md", "ladder"))
REMEDY = "CONTRIBUTING.md, Generated pages, says how to bring the pages up to date"
_SOURCE = re.compile(r"NVIDIA [^,;]+, [^;\n]*?commit ((?:[0-9a-f]{9}(?:, )?)+), recorded")


def commits_of_record(session: Path) -> dict[str, str]:
    """The commit of each file of a session, abbreviated as pages have it: the context comes first in a file."""
    found = {}
    for of in json.loads(session.read_text(encoding="utf-8"))["files"]:
        file = session.parent / of["file"]
        if file.name.endswith(".json.gz"):
            with gzip.open(file, "rt", encoding="utf-8") as text:
                if commit := re.search(r'"git_commit": ?"([0-9a-f]{40})"', text.read(100_000)):
                    found[of["file"]] = commit[1][:9]
    return found


def said(text: str) -> set[str]:
    """The commits that source lines name, of what was recorded on a GPU."""
    return {commit for source in _SOURCE.findall(text) for commit in source.split(", ")}


@pytest.fixture(scope="module")
def recorded() -> dict[str, str]:
    sessions = {file: json.loads(file.read_text(encoding="utf-8")) for file in DATA.glob("recorded/nvidia-*/*/session.json")}
    (session,) = [file for file, of in sessions.items() if "gpus" not in of and of["device"] == stated.device()]
    return commits_of_record(session)


@pytest.mark.parametrize(("page", "part"), OF_ONE_SESSION, ids=[f"{page} {part}" for page, part in OF_ONE_SESSION])
def test_a_generated_part_is_of_the_recorded_session(page: str, part: str, recorded: dict[str, str]) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    commits = said(text[slice(*markers.find(text, part))])
    assert commits and commits <= set(recorded.values()), f"{page}, {part}: {', '.join(sorted(commits - set(recorded.values())))} is not of the record; {REMEDY}"


def test_the_claims_are_of_the_recorded_session_too(recorded: dict[str, str]) -> None:
    """They have older sessions besides, as what differs by the session needs."""
    text = (ROOT / "docs" / "CLAIMS.md").read_text(encoding="utf-8")
    assert recorded["scan.json.gz"] in said(text[slice(*markers.find(text, "claims"))]), REMEDY
