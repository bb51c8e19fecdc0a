"""What ``scanlab verify --json`` wrote, a line for each check: whether all passed, and what repeated runs say of bits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd

from scanlab_report.read import versions
from scanlab_report.schema import verification
from scanlab_report.schema.fields import Misfit, convert, convert_each
from scanlab_report.read.json_files import decoded, load
from scanlab_report.read.records import REPEAT_COLUMNS, Checks, Complaint, Verification


def read(file: Path, problems: list[Complaint]) -> tuple[Verification, pd.DataFrame] | None:
    """What came of it, and a row for each variant, type, operator and mode that ran many times on the same input: cases, how many of them varied,
    and runs of each. None, and a problem with its line, if the file is no verification or did not come to its end."""
    raw = load(file, problems)
    if raw is None:
        return None
    lines = raw.splitlines()
    before = len(problems)
    documents = [decoded(file, line, problems, number) for number, line in enumerate(lines, start=1)]
    if len(problems) > before:
        del problems[before + 1 :]
        return None
    try:
        return _of(file, documents)
    except Misfit as misfit:
        problems.append(Complaint(file, misfit.place, misfit.message))
    return None


def _of(file: Path, documents: list[Any]) -> tuple[Verification, pd.DataFrame]:
    versions.check(documents[0] if documents else None, verification.SCHEMA)
    beginning = convert(documents[0], verification.Beginning, "line 1")
    if len(documents) < 2 or not isinstance(documents[-1], dict) or "ended" not in documents[-1]:
        raise Misfit("", "has no last line that says what came of it: verification did not come to its end")
    ending = convert(documents[-1], verification.Ending, f"line {len(documents)}")
    checks: list[verification.Check] = convert_each(documents[1:-1], verification.CHECK, lambda index: f"line {index + 2}")
    if wrong := next((check for check in checks if isinstance(check, Misfit)), None):
        raise wrong
    counted = {outcome: sum(check.outcome == outcome for check in checks) for outcome in ("passed", "failed", "skipped")}
    for outcome, count in counted.items():
        if getattr(ending.ended, outcome) != count:
            raise Misfit(f"line {len(documents)}.ended.{outcome}", f"is {getattr(ending.ended, outcome)}, and {count} lines say so: lines are missing")
    of = Verification(file, msgspec.to_builtins(beginning.context), ending.ended.passed, ending.ended.failed, ending.ended.interrupted, _by_variant(checks))
    return of, pd.DataFrame(_repeats(checks), columns=REPEAT_COLUMNS)


def _by_variant(checks: list[verification.Check]) -> dict[str, Checks]:
    """Of what was compared with the oracle: runs that are compared with each other alone tell of bits."""
    groups: dict[str, list[verification.Verify]] = {}
    for check in checks:
        if isinstance(check, verification.Verify):
            groups.setdefault(check.variant, []).append(check)
    found = {}
    for variant, of in groups.items():
        count = Counter(check.outcome for check in of)
        types = tuple(sorted({check.type for check in of if check.outcome == "passed"}))
        wrong = next((f"{check.type} {check.op} {check.mode}, {check.items} items: {check.reason}" for check in of if check.outcome == "failed"), "")
        found[variant] = Checks(count["passed"], count["failed"], count["skipped"], types, wrong)
    return found


def _repeats(checks: list[verification.Check]) -> Iterator[tuple[object, ...]]:
    groups: dict[tuple[str, ...], list[verification.Repeat]] = {}
    for check in checks:
        if isinstance(check, verification.Repeat) and check.outcome == "passed":
            groups.setdefault((check.variant, check.type, check.op, check.mode), []).append(check)
    for group, of in groups.items():
        yield *group, len(of), sum(check.different_outputs != 1 for check in of), min(check.runs for check in of if check.runs)
