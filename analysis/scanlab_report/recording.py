"""Whether the results of a run can be filed as the record of a device."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scanlab_report import place
from scanlab_report.commands import session
from scanlab_report.data import Complaint, Data, File, Verification
from scanlab_report.intervals import FEWEST
from scanlab_report.load import MODEL, load
from scanlab_report.load_others import ranges_beside
from scanlab_report.others import Unknown
from scanlab_report.reading import load_json
from scanlab_report.schema.base import Count
from scanlab_report.schema.fields import Misfit, convert, shown
from scanlab_report.tables import CASES, MEASURED, ODD_SIZES, RANKS

COUNTS = "explain"
"""The folder of emulator counts in a run, and the name of the file with them in a record."""
VERIFICATION, TESTS = "verify.jsonl", ("tests.json", "device_scan_tests.json")
EXCEPTIONS = 0.05
"""Largest share of cases with too few repetitions for an interval."""
_ON_GPU = ("device", "driver", "argv", "seed")
_PROVENANCE = {"cuda": _ON_GPU, "odd_sizes": _ON_GPU, "host": ("cpu", "cores", "argv", "seed")}
"""Required provenance besides date and commit, by kind of file."""
_NO_SEED = ("trace", "implicit_sync", "concurrency", "stopwatch")


@dataclass
class Record:
    """The files of a run to be recorded, its provenance, and all that is wrong with it.

    A record has the results files at the top of the folder, the verification, the results of the
    tests, and the folder `model` with the data that the engine model is compared with; for a
    machine without a GPU also its emulator counts, in one file. Other counts, simulations and
    reports are not kept: any machine can make them again from the code.
    """

    folder: Path
    files: list[Path] = field(default_factory=list)
    model: list[Path] = field(default_factory=list)
    ignored: list[Path] = field(default_factory=list)
    counts: list[Any] = field(default_factory=list)
    device: str = ""
    date: str = ""
    gpus: int = 1
    wrong: list[Complaint] = field(default_factory=list)

    def complain(self, file: Path, where: str, message: str) -> None:
        self.wrong.append(Complaint(file, where, message))

    @property
    def name(self) -> str:
        """The device's folder: `nvidia-h200`, and `nvidia-h200-x4` of scans over four."""
        plain = re.sub(r"\((r|tm)\)", "", self.device.lower())
        device = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
        return f"{device}-x{self.gpus}" if device and self.gpus > 1 else device


def examine(folder: Path, recorded: Path) -> Record:
    """Read a run and check whether it may be added to the record."""
    record = Record(folder)
    files = sorted(p for p in folder.glob("*") if p.is_file() and not p.name.startswith("."))
    if not files:
        record.complain(folder, "", "is no folder with results files")
        return record
    data = load(files)
    record.wrong += [problem for problem in data.problems if not isinstance(problem, Unknown)]
    pairs = [pair for pair in session.kinds(data) if pair[1] != "counts"]
    kept = {run.path for run, _ in pairs} | {checked.file for checked in data.verifications}
    kept |= {path for file in files if file.suffix == ".csv" for path in ranges_beside(file)}
    kept |= {file for file in files if file.name in TESTS}
    record.files = [file for file in files if file in kept]
    record.ignored = [file for file in files if file not in kept]
    for file in files:
        if file.name in TESTS:
            _tests(record, file)
    timed = [pair for pair in pairs if pair[1] not in session.COUNTED]
    runs = [run for run, _ in timed]
    if not runs:
        record.complain(folder, "", "holds no timings, schedules, traces or experiments")
        return record
    if not record.wrong:  # otherwise these would be consequential errors
        _too_few(record, data)
    contexts = [run.context for run in runs]
    counted = [
        (run, kind)
        for run, kind in pairs
        if kind in ("counters", "traffic", "waits") and run.context not in [{}, *contexts]
    ]
    model = _model(record)
    for run, kind in [*timed, *((run, "trace") for run in model), *counted]:
        _provenance(record, run, kind)
    _one_run(record, [*runs, *model, *(run for run, _ in counted)])
    first = min(timed, key=lambda pair: (not pair[0].on_gpu, pair[1] != "timings", pair[0].date))[0]
    record.device, record.date = first.device, first.date[:10]
    record.gpus = session.gpus(runs)
    for run, kind in timed:
        if record.gpus > 1 and kind not in session.OF_SEVERAL:
            message = f"is of one GPU, and scans of other files ran over {record.gpus}"
            record.complain(run.path, "", f"{message}: record these in a folder of their own")
    if not record.name:
        message = f"is {shown(record.device)}, by which no folder can be called"
        record.complain(first.path, "context.device", f"{message}: say which device it is")
    if first.kind == "host":
        _counts(record, first)
    wanted = any(kind in ("timings", "distributed") and run.kind == "cuda" for run, kind in timed)
    _verification(record, data.verifications, first, wanted)
    _recorded_already(record, runs, recorded)
    return record


def _provenance(record: Record, run: File, kind: str) -> None:
    """Complain of the missing and the unacceptable provenance of a file."""
    required = ("device",) if kind == "waits" else _PROVENANCE.get(run.kind, ("device",))
    for key in ("date", *(key for key in required if key != "seed" or kind not in _NO_SEED)):
        if not run.context.get(key):
            message = "is missing: a recorded run says where its numbers are from"
            record.complain(run.path, f"context.{key}", message)
    commit, assertions = run.commit or "missing", run.context.get("assertions") or "off"
    dirty = "the tree had uncommitted changes, or it is not known: commit, build, and measure again"
    for key, sound, message in (
        (
            "date",
            not run.date or re.match(r"\d{4}-\d\d-\d\dT", run.date),
            f"is {run.date!r}, not ISO 8601",
        ),
        (
            "git_commit",
            re.fullmatch(r"[0-9a-f]{40}", run.commit),
            f"is {commit!r}, not a commit: build from a clone, with git installed",
        ),
        ("git_dirty", str(run.context.get("git_dirty")).lower() == "false", dirty),
        ("assertions", assertions == "off", "are on, which makes code slower: build without them"),
    ):
        if not sound:
            record.complain(run.path, f"context.{key}", message)


def _one_run(record: Record, runs: Sequence[File]) -> None:
    """Complain of files whose commit or device differs from the first; CPU baselines are compared
    among themselves."""
    alike: dict[bool, File] = {}
    for run in runs:
        first = alike.setdefault(run.kind == "host", run)
        for key, mine, other, file in (
            ("device", run.device, first.device, first.path),
            ("git_commit", run.commit, runs[0].commit, runs[0].path),
        ):
            if mine != other:
                message = f"is {mine!r}, and {other!r} in {file.name}"
                record.complain(
                    run.path,
                    f"context.{key}",
                    f"{message}: record one run of one device and commit at a time",
                )


def _model(record: Record) -> list[File]:
    """Find the measurements for the engine model. Return their provenance."""
    model, held = record.folder / MODEL, []
    files = [model / "calibration.json", model / "advise.json"]
    files += sorted((model / "traces").glob("*.json"))
    record.model = [file for file in files if file.is_file()]
    for file in record.model:
        document = load_json(file, record.wrong)
        if run := _of_itself(file, document):
            held.append(run)
        elif document is not None:
            record.complain(file, "context", "is missing")
    return held


def _of_itself(path: Path, document: object) -> File | None:
    """The provenance that a document of any kind states."""
    if not isinstance(document, Mapping):
        return None
    context = document.get("context") or document.get("otherData")
    return File(path, MEASURED, context) if isinstance(context, Mapping) else None


def _counts(record: Record, run: File) -> None:
    """Take in emulator counts, if they are of the clean commit that was timed."""
    data = load(sorted((record.folder / COUNTS).glob("*.json")))
    record.wrong += data.problems
    record.counts = list(data["counts"]["content"])
    counted = [data.files[number] for number in data["counts"]["file"]]
    other = next((file for file in counted if file.dirty or file.commit != run.commit), None)
    if other:
        commit = f"{other.commit}{' with uncommitted changes' if other.dirty else ''}"
        message = f"is {commit}, and {run.commit} in {run.path.name}: count with the code that was"
        record.complain(other.path, "git_commit", f"{message} timed")


def _too_few(record: Record, data: Data) -> None:
    """Complain of timings with too few repetitions for an interval, unless only a few cases of the
    file are affected: a cap on its time stops a slow case."""
    kinds = {
        "scan": "bench --benchmark_repetitions=",
        "schedule": "streams run --benchmark_repetitions=",
        "stream_scan": "stream-scan --repetitions ",
        "distributed": "distributed bench --benchmark_repetitions=",
    }
    for table, how in kinds.items():
        # Odd sizes have an interval over processes, and a control is not timed for its speed.
        rows = data.rows(table, lambda file: file.kind != ODD_SIZES)
        rows = rows[rows["control"] == 0] if table == "schedule" else rows
        case = ["algorithm", "kind", *RANKS[1:]] if table == "distributed" else CASES[table]
        for number, of_file in rows.groupby("file"):
            counts = of_file.groupby(case, dropna=False).size()
            few = counts[counts < FEWEST]
            if len(few) > EXCEPTIONS * len(counts):
                named = " ".join(str(part) for part in few.index[0] if part != "")
                record.complain(
                    data.files[number].path,
                    "benchmarks",
                    f"{len(few)} of {len(counts)} cases have fewer than {FEWEST} repetitions, "
                    f"such as {named} with {few.iloc[0]}: "
                    f"no interval is known; measure again with {how}{FEWEST} or more",
                )


def _verification(
    record: Record, verifications: Sequence[Verification], run: File, wanted: bool
) -> None:
    """Complain of the outcome of `scanlab verify --json` on the device, and of `--repeat` in
    another file."""
    if not verifications and wanted and not record.wrong:
        several = f"distributed verify --gpus {record.gpus}"
        how = several if record.gpus > 1 else "verify --device cuda"
        message = f"is missing: verify with scanlab {how} --json {record.folder / VERIFICATION}"
        record.complain(record.folder, VERIFICATION, message)
    of_commits = any(wrong.place == "context.git_commit" for wrong in record.wrong)
    for checked in verifications:
        about = checked.context
        dirty, commit = about.get("git_dirty") == "true", about.get("git_commit", "")
        # If results are of several commits, it is other than some of them, of course.
        other = commit != run.context.get("git_commit") and not of_commits
        device = about.get("device") or "no device"
        for wrong, message in (
            (checked.interrupted, "was interrupted: verify again"),
            (checked.failed, f"says that {checked.failed} verifications failed"),
            (wanted and about["backend"] != "cuda", "is not of the GPU: verify with --device cuda"),
            (
                dirty or other,
                f"is of commit {commit}{'+' * dirty}, not of the results': verify what was "
                f"measured",
            ),
            (
                wanted and about.get("device") != run.device,
                f"is of {device}, and the results are of {run.device}: verify where it was "
                f"measured",
            ),
        ):
            if wrong:
                record.complain(checked.file, "", message)


def _tests(record: Record, file: Path) -> None:
    """Complain of the failures that GoogleTest names."""
    before = len(record.wrong)
    content = load_json(file, record.wrong)
    if len(record.wrong) > before:
        return
    try:
        tests = convert(content, dict[str, Any])
        convert(tests.get("tests"), Count, "tests")
        failed = sum(convert(tests.get(key, 0), Count, key) for key in ("failures", "errors"))
    except Misfit as misfit:
        record.complain(file, misfit.place, misfit.message)
        return
    if failed:
        record.complain(file, "", f"says that {failed} tests failed")


def _recorded_already(record: Record, runs: Sequence[File], recorded: Path) -> None:
    """Complain of a file that is recorded already, here or within the run. Device, date to the
    second and command identify a file."""
    identity = lambda run: (run.device, run.date, str(run.context.get("argv", "")))
    below = (_of_itself(file, load_json(file, [])) for file in sorted(recorded.rglob("*.json*")))
    known = {identity(run): run.path for run in below if run}
    for run in runs:
        if (same := known.get(identity(run))) is not None:
            here = f"is the same run as {same.name}"
            there = f"is recorded already: {place(same)}"
            record.complain(run.path, "", there if same.is_relative_to(recorded) else here)
        known.setdefault(identity(run), run.path)
