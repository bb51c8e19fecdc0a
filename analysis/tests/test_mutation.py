"""The planted faults can be planted, and what the driver says of one is what its tests said."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import mutate
from tests.mutate import FAULTS, RECORD, ROOT, Fault, Outcome, Record, read_faults, try_out


def fault(**changes: object) -> Fault:
    entry: dict[str, object] = dict(area="area", file="sum.py", find="a + b", replace="a - b", what="sign", tests=("pytest:test_sum.py",))
    return Fault(**{**entry, **changes})  # type: ignore[arg-type]


class Tree:
    """One whose tests fail as they are told."""

    def __init__(self, folder: Path, *, fails: tuple[str, ...] = (), compiles: bool = True) -> None:
        self.folder, self.fails, self.can_compile, self.seen = folder, fails, compiles, ""

    def compiles(self, targets: list[str], jobs: int) -> bool:
        return self.can_compile

    def passes(self, test: str) -> bool:
        self.seen = "".join(path.read_text() for path in self.folder.iterdir())
        return test not in self.fails


def test_every_fault_can_be_planted() -> None:
    """A source that changed takes its faults along."""
    faults = read_faults(ROOT / FAULTS)
    assert faults
    for each in faults:
        each.planted_in((ROOT / each.file).read_text(encoding="utf-8"))
        assert each.tests or each.equivalent, each


@pytest.mark.parametrize(
    ("fails", "expected"), [(("pytest:test_sum.py",), "caught"), ((), "survives"), (("pytest:another.py",), "survives")]
)
def test_a_fault_is_caught_if_a_test_of_its_own_fails(tmp_path: Path, fails: tuple[str, ...], expected: str) -> None:
    source = tmp_path / "sum.py"
    source.write_text("return a + b\n")
    tree = Tree(tmp_path, fails=fails)
    assert try_out(tree, fault(), 1).outcome == expected  # type: ignore[arg-type]
    assert tree.seen == "return a - b\n", "the tests saw the fault"
    assert source.read_text() == "return a + b\n", "and nobody sees it afterwards"


@pytest.mark.parametrize("text", ["return a * b\n", "return a + b or a + b\n"])
def test_a_text_that_is_not_there_once_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "sum.py").write_text(text)
    assert try_out(Tree(tmp_path), fault(), 1).outcome == "refused"  # type: ignore[arg-type]


def test_what_does_not_compile_is_not_caught(tmp_path: Path) -> None:
    (tmp_path / "sum.cpp").write_text("return a + b;\n")
    outcome = try_out(Tree(tmp_path, compiles=False), fault(file="sum.cpp", tests=("gtest:Sum.*",)), 1)  # type: ignore[arg-type]
    assert (outcome.outcome, outcome.by) == ("refused", "it does not compile")


def test_an_entry_with_a_misspelt_field_is_named(tmp_path: Path) -> None:
    (tmp_path / "sums.toml").write_text('[[fault]]\nfile = "sum.py"\nfined = "a"\ntests = []\n')
    with pytest.raises(ValueError, match=r"sums.toml, fault 1: .*fined"):
        read_faults(tmp_path)


def test_the_table_counts_what_it_lists(tmp_path: Path) -> None:
    known, unknown = [fault(), fault(what="a | b")], fault(what="another")
    record = Record(tmp_path / "outcomes.jsonl")
    for each, outcome in zip(known, ("caught", "survives"), strict=True):
        record.add(Outcome(each, outcome, "pytest:test_sum.py"), "abc")
    text = record.table([*known, unknown])
    assert text.startswith("3 faults: 1 caught, 1 survives, 1 not tried.\n")
    assert "| `sum.py` | sign | caught | `pytest:test_sum.py` | abc |" in text
    assert r"a \| b" in text


def test_only_what_was_not_caught_or_has_changed_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutate, "unchanged", lambda commit, file: commit == "abc")
    first, second, third = fault(), fault(what="another"), fault(what="of a file that has changed")
    record = Record(tmp_path / "outcomes.jsonl")
    record.add(Outcome(first, "caught", "pytest:test_sum.py"), "abc")
    record.add(Outcome(second, "survives", "pytest:test_sum.py"), "abc")
    record.add(Outcome(third, "caught", "pytest:test_sum.py"), "def")
    record.write([first, second, third])
    again = Record(tmp_path / "outcomes.jsonl")
    assert [again.stands(each) for each in (first, second, third)] == [True, False, False]
    assert not again.stands(fault(replace="a * b")), "a fault that was written anew is planted anew"


def test_what_is_on_record_is_of_faults_that_there_are_and_none_survived() -> None:
    rows = Record(ROOT / RECORD).rows
    assert rows and rows.keys() <= {Record.key(each) for each in read_faults(ROOT / FAULTS)}
    assert [row for row in rows.values() if row["outcome"] not in ("caught", "equivalent")] == []


def test_only_what_the_tests_of_a_fault_need_is_built() -> None:
    assert mutate.targets(["gtest:Plan.*", "pytest:test_sum.py"]) == ["scanlab_tests"]
    assert mutate.targets(["gtest@scanlab_core_tests:Oracle.*"]) == ["scanlab_core_tests"]
    assert mutate.targets(["gtest@scanlab_core_tests:Oracle.*", "ctest:setup"]) == ["all"]
    assert mutate.targets(["pytest:test_sum.py"]) == []
