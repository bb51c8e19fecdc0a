#!/usr/bin/env python3
"""Runs ten symptoms in a slow and a fast form, and has the slow one diagnosed from a trace.

Each run is a process of its own, and times are taken without the tracer. It ends with 0, with 1
if a result is wrong, or with 2 if something is missing."""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

BUILD = Path(__file__).resolve().parents[2] / "build" / "cuda"
FORMS = ("slow", "fast")
RESULT = re.compile(r": ([\d.]+) ms, checksum (\w+)(?:, ([\d.]+) GB/s)?\n")
DIAGNOSIS = re.compile(r"^  ([^:(]+) \(([\d.]+) ms\): (.*)$", re.MULTILINE)
DEVICE = re.compile(r"\A.*\.sqlite, (.+): \d+ operations")
UNDECIDED = {
    "latency between operations",
    "start-up",
    "one engine is saturated",
    "kernels one after another, for no recorded reason",
}
HEADS = ["symptom", "instance", "cause", "slow ms", "fast ms", "gain", "cure"]


class Failure(Exception):
    """A sentence, and the status that the program ends with."""

    def __init__(self, sentence: str, status: int = 2) -> None:
        super().__init__(sentence)
        self.status = status


def run(*words: object, **environment: object) -> subprocess.CompletedProcess[str]:
    """Run a program, and fail if it does."""
    line = [str(word) for word in words]
    variables = os.environ | {name: str(value) for name, value in environment.items()}
    try:
        ran = subprocess.run(line, env=variables, capture_output=True, text=True, timeout=300)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Failure(f"{line[0]} does not run: {error}") from error
    if ran.returncode != 0:
        raise Failure(f"'{' '.join(line)}' failed: {reason(ran)}", 1 if ran.returncode == 1 else 2)
    return ran


def reason(ran: subprocess.CompletedProcess[str]) -> str:
    """Return the last line that a program wrote on its error stream."""
    return (ran.stderr.strip().splitlines() or [f"it ended with status {ran.returncode}"])[-1]


def read_symptoms(program: Path) -> dict[str, dict[str, str]]:
    """Return the expected cause and the cure of each symptom."""
    rows = [line.strip("|").split("|") for line in run(program, "list").stdout.splitlines()[2:]]
    columns = [[cell.strip(" `") for cell in row] for row in rows]
    return {name: {"expected": cause, "cure": cure} for name, _, cause, cure in columns}


def measure(name: str, instance: int, options: argparse.Namespace, traces: Path) -> dict[str, Any]:
    """Time both forms of a symptom, and trace the slow one."""
    row: dict[str, Any] = {"symptom": name, "instance": instance}
    for form in FORMS:
        words = [options.symptoms, name, form, "--instance", instance]
        times = RESULT.search(run(*words).stdout)
        if not times:
            raise Failure(f"{options.symptoms} prints no time: it is another program")
        row[form] = {"ms": float(times[1]), "checksum": times[2], "GB/s": float(times[3] or 0)}
        if form == "fast" and not options.negatives:
            continue
        trace = traces / f"{name}_{instance}_{form}.sqlite"
        trace.unlink(missing_ok=True)
        tracer = {"CUDA_INJECTION64_PATH": options.tracer.resolve(), "SCANLAB_TRACE": trace}
        ran = run(*words, "--repetitions", 1, **tracer)
        if not trace.exists():
            raise Failure(f"{options.tracer} writes no trace: {reason(ran)}")
        row[form]["trace"] = trace.name
    if row["slow"]["checksum"] != row["fast"]["checksum"]:
        raise Failure(f"{name}, instance {instance}: the forms have different results", 1)
    return row | {"gain": row["slow"]["ms"] / row["fast"]["ms"]}


def measure_all(rows: list[dict[str, Any]], options: argparse.Namespace, traces: Path) -> None:
    known = read_symptoms(options.symptoms)
    if unknown := [name for name in options.names if name not in known]:
        raise Failure(f"there is no symptom '{unknown[0]}': give {', '.join(known)}")
    for name in options.names or known:
        for instance in range(options.instances):
            rows.append(measure(name, instance, options, traces) | known[name])


def diagnose(row: dict[str, Any], options: argparse.Namespace, traces: Path) -> None:
    """Add the causes that each trace shows, the worst first."""
    for form in (row[form] for form in FORMS if "trace" in row[form]):
        file = traces / form["trace"]
        text = run(options.scanlab, "streams", "diagnose", "--nsys", file).stdout
        device = DEVICE.search(text)
        form["device"] = device and device[1]
        form["causes"] = [
            {"cause": cause, "ms": float(ms), "evidence": evidence}
            for cause, ms, evidence in DIAGNOSIS.findall(text)
        ]


def print_table(rows: list[dict[str, Any]]) -> None:
    table = [HEADS]
    for row in rows:
        cause = (row["slow"]["causes"] or [{"cause": "nothing stands out"}])[0]["cause"]
        numbers = [f"{row['slow']['ms']:.3f}", f"{row['fast']['ms']:.3f}", f"{row['gain']:.2f}"]
        table.append([row["symptom"], str(row["instance"]), cause, *numbers, row["cure"]])
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for cells in table:
        print("  ".join(map(str.ljust, cells, widths)).rstrip())


def names(form: dict[str, Any]) -> list[str]:
    return [each["cause"] for each in form["causes"]]


def print_verdicts(rows: list[dict[str, Any]]) -> None:
    """Count diagnoses: right if the first cause is expected, undecided if it is of UNDECIDED."""
    first = [(row["expected"], next(iter(names(row["slow"])), None)) for row in rows]
    right = sum(cause is not None and cause in expected for expected, cause in first)
    undecided = sum(cause is None or cause in UNDECIDED for _, cause in first)
    wrong = len(rows) - right - undecided
    print(f"{len(rows)} slow forms: {right} diagnosed right, {undecided} undecided, {wrong} wrong.")
    fast = [row for row in rows if "causes" in row["fast"]]
    gone = sum(not any(cause in row["expected"] for cause in names(row["fast"])) for row in fast)
    if fast:
        print(f"{len(fast)} fast forms: {gone} without the cause of the slow one.")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("names", nargs="*", metavar="NAME", help="symptoms (default: all)")
    add("--instances", type=int, default=1, metavar="K", help="run K instances of each (default 1)")
    add("--negatives", action="store_true", help="trace and diagnose the fast forms, too")
    add("--json", type=Path, metavar="FILE", help="write the rows, with the expected causes")
    add("--keep", type=Path, metavar="DIR", help="keep the traces")
    add("--again", type=Path, metavar="FILE", help="run nothing: diagnose FILE's traces in --keep")
    built = BUILD / "examples" / "symptoms"
    add("--symptoms", type=Path, default=built / "symptoms", metavar="PROGRAM")
    add("--tracer", type=Path, default=built / "libscanlab_trace.so", metavar="LIBRARY")
    add("--scanlab", type=Path, default=BUILD / "scanlab", metavar="PROGRAM")
    options = parser.parse_args()
    if options.instances < 1:
        raise Failure(f"--instances takes a number from 1 on, not {options.instances}")
    for path in [options.scanlab] + ([] if options.again else [options.symptoms, options.tracer]):
        if not path.is_file():
            raise Failure(f"there is no {path}: ./check builds it, or name another")
    rows = json.loads(options.again.read_text(encoding="utf-8")) if options.again else []
    with tempfile.TemporaryDirectory() as temporary:
        traces = options.keep or Path(temporary)
        traces.mkdir(parents=True, exist_ok=True)
        is_whole = False
        try:
            if not options.again:
                measure_all(rows, options, traces)
            for row in rows:
                diagnose(row, options, traces)
            is_whole = True
        finally:  # all that was measured until something failed
            if options.json and (is_whole or not options.again):
                options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    print_table(rows)
    print_verdicts(rows)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Failure, OSError, ValueError) as failure:
        print(f"run.py: {failure}", file=sys.stderr)
        sys.exit(getattr(failure, "status", 2))
