"""The rooms of the package stand on floors, and what is imported lies below: nothing points up, and no two rooms of a floor know each other."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "scanlab_report"
FLOORS = (
    {"stats", "read"},
    {"select"},
    {"derive", "layout"},
    {"claims"},
    {"figures", "tables", "page", "documents"},
    {"commands"},
)  # fmt: skip
"""From the ground up. A module beside the rooms knows none of them."""
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}


def imported(source: str) -> Iterator[str]:
    """What a module imports of the package, wherever in it, as dotted names without the package's."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports say the whole name"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        yield from (name.removeprefix("scanlab_report.") for name in names if name.startswith("scanlab_report."))


def wrong(room: str, source: str) -> list[str]:
    """The imports of a module of a room that point up or sideways."""
    found = []
    for name in imported(source):
        other = name.partition(".")[0]
        if other in FLOOR and other != room and FLOOR.get(room, -1) <= FLOOR[other]:
            found.append(f"{room} knows {name}")
    return found


def test_every_room_stands_on_a_floor() -> None:
    assert {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()} == set(FLOOR)


@pytest.mark.parametrize("file", sorted(PACKAGE.rglob("*.py")), ids=lambda file: file.relative_to(PACKAGE).as_posix())
def test_imports_point_down(file: Path) -> None:
    place = file.relative_to(PACKAGE)
    room = place.parts[0] if len(place.parts) > 1 else file.stem
    assert not wrong(room, file.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("room", "planted"), [
    ("figures", "from scanlab_report.tables import summary"), ("tables", "import scanlab_report.figures.duel"),
    ("page", "def later():\n    from scanlab_report.figures.duel import draw"), ("select", "from scanlab_report.derive.shares import shares"),
    ("stats", "from scanlab_report import read"), ("console", "from scanlab_report.stats import intervals"),
])  # fmt: skip
def test_a_planted_import_is_seen(room: str, planted: str) -> None:
    assert len(wrong(room, planted)) == 1
