"""Whether the results of a run can be filed as the record of a device."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scanlab_report import place
from scanlab_report.commands import session
from scanlab_report.data import Complaint, Data, File
from scanlab_report.intervals import FEWEST
from scanlab_report.load import MODEL, load
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
"""Required provenance besides date and commit, by kind of file; rows of waits have only device,
date and commit."""


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
        device = re.sub(r"[^a-z0-9]+", "-", re.sub(r"\((r|tm)\)", "", self.device.lower())).strip(
            "-"
        )
        return f"{device}-x{self.gpus}" if device and self.gpus > 1 else device


def examine(folder: Path, recorded: Path) -> Record:
    """Read a run and checks whether it may be added to the record."""
    record = Record(folder)
    candidates = (
        [path for path in folder.iterdir() if path.is_file() and not path.name.startswith(".")]
        if folder.is_dir()
        else []
    )
    if not candidates:
        record.complain(folder, "", "is no folder with results files")
        return record
    timed: list[tuple[File, str]] = []
    tables: list[tuple[File, str]] = []
    verifications = []
    ranges = {
        file.with_suffix(f".ranges{suffix}")
        for file in candidates
        if file.suffix == ".csv"
        for suffix in (".json", ".json.gz")
    }
    for file in sorted(candidates):
        data = load([file])
        problems = [problem for problem in data.problems if not isinstance(problem, Unknown)]
        pairs = [pair for pair in session.kinds(data) if pair[1] != "counts"]
        record.wrong += problems
        verifications += data.verifications
        kept = pairs or data.verifications or file.name in TESTS or file in ranges
        (record.files if kept else record.ignored).append(file)
        if file.name in TESTS:
            _tests(record, file)
        timed += [pair for pair in pairs if pair[1] not in session.COUNTED]
        tables += [
            pair
            for pair in pairs
            if pair[1] in session.COUNTED and pair[1] != "repeats" and pair[0].context
        ]  # _verification checks repeats
        if not problems:  # otherwise these would be consequential errors
            _too_few(record, file, data)
    for run, kind in [*timed, *tables]:
        _provenance(record, run, kind)
    if not timed:
        record.complain(folder, "", "holds no timings, schedules, traces or experiments")
        return record
    model = _model(record)
    for run in model:
        _provenance(record, run, "trace")
    _one_run(record, [run for run, _ in timed] + model + [run for run, _ in tables])
    first = min(
        timed, key=lambda pair: (pair[0].kind == "host", pair[1] != "timings", pair[0].date)
    )[0]
    record.device, record.date, record.gpus = (
        first.device,
        first.date[:10],
        session.gpus(run for run, _ in timed),
    )
    for run, kind in timed:
        if record.gpus > 1 and kind not in session.OF_SEVERAL:
            record.complain(
                run.path,
                "",
                (
                    f"is of one GPU, and scans of other files ran over {record.gpus}: record "
                    f"these in a folder of their own"
                ),
            )
    if not record.name:
        record.complain(
            first.path,
            "context.device",
            f"is {shown(record.device)}, by which no folder can be called: say which device it is",
        )
    if first.kind == "host":
        _counts(record, first)
    wanted = any(kind in ("timings", "distributed") and run.kind == "cuda" for run, kind in timed)
    _verification(record, verifications, first, wanted)
    _recorded_already(record, [run for run, _ in timed], recorded)
    return record


def _provenance(record: Record, run: File, kind: str) -> None:
    """Complain of the missing and the unacceptable provenance of a file."""
    required = ("device",) if kind == "waits" else _PROVENANCE.get(run.kind, ("device",))
    for key in ("date", *(key for key in required if key != "seed" or kind not in _NO_SEED)):
        if not run.context.get(key):
            record.complain(
                run.path,
                f"context.{key}",
                "is missing: a recorded run says where its numbers are from",
            )
    if not re.match(r"\d{4}-\d\d-\d\dT", run.date or "0000-00-00T"):
        record.complain(run.path, "context.date", f"is {run.date!r}, not ISO 8601")
    if not re.fullmatch(r"[0-9a-f]{40}", run.commit):
        record.complain(
            run.path,
            "context.git_commit",
            f"is {run.commit or 'missing'!r}, not a commit: build from a clone, with git installed",
        )
    if str(run.context.get("git_dirty")).lower() != "false":
        record.complain(
            run.path,
            "context.git_dirty",
            (
                "the tree had uncommitted changes, or it is not known: commit, build, and "
                "measure again"
            ),
        )
    if (run.context.get("assertions") or "off") != "off":
        record.complain(
            run.path, "context.assertions", "are on, which makes code slower: build without them"
        )


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
                record.complain(
                    run.path,
                    f"context.{key}",
                    (
                        f"is {mine!r}, and {other!r} in {file.name}: record one run of one "
                        f"device and commit at a time"
                    ),
                )


def _model(record: Record) -> list[File]:
    """Find the measurements for the engine model. Return their provenance."""
    model, held = record.folder / MODEL, []
    record.model = [
        file
        for file in (
            model / "calibration.json",
            model / "advise.json",
            *sorted((model / "traces").glob("*.json")),
        )
        if file.is_file()
    ]
    for file in record.model:
        document = load_json(file, record.wrong)
        if run := _of_itself(file, document):
            held.append(run)
        elif document is not None:
            record.complain(file, "context", "is missing")
    return held


def _of_itself(path: Path, document: object) -> File | None:
    """The provenance that a document of any kind states."""
    context = (
        (document.get("context") or document.get("otherData"))
        if isinstance(document, Mapping)
        else None
    )
    return File(path, MEASURED, context) if isinstance(context, Mapping) else None


def _counts(record: Record, run: File) -> None:
    """Take in emulator counts, if they are of the clean commit that was timed."""
    data = load(sorted((record.folder / COUNTS).glob("*.json")))
    record.wrong += data.problems
    record.counts = list(data["counts"]["content"])
    for number in data["counts"]["file"]:
        counted = data.files[number]
        if counted.dirty or counted.commit != run.commit:
            commit = (
                f"{counted.commit} with uncommitted changes" if counted.dirty else counted.commit
            )
            record.complain(
                counted.path,
                "git_commit",
                (
                    f"is {commit}, and {run.commit} in {run.path.name}: count with the code "
                    f"that was timed"
                ),
            )
            return


def _too_few(record: Record, file: Path, data: Data) -> None:
    """Complain of timings with too few repetitions for an interval, unless only a few cases are
    affected: a cap on its time stops a slow case."""
    kinds = {
        "scan": "bench --benchmark_repetitions=",
        "schedule": "streams run --benchmark_repetitions=",
        "stream_scan": "stream-scan --repetitions ",
        "distributed": "distributed bench --benchmark_repetitions=",
    }
    for table, how in kinds.items():
        rows = data.rows(
            table, lambda file: file.kind != ODD_SIZES
        )  # those have an interval over processes
        if table == "schedule":
            rows = rows[
                rows["control"] == 0
            ]  # a schedule that is wrong on purpose is not timed for its speed
        case = ["algorithm", "kind", *RANKS[1:]] if table == "distributed" else CASES[table]
        counts = rows.groupby(case, dropna=False).size()
        few = counts[counts < FEWEST]
        if len(few) > EXCEPTIONS * len(counts):
            named = " ".join(str(part) for part in few.index[0] if part != "")
            record.complain(
                file,
                "benchmarks",
                f"{len(few)} of {len(counts)} cases have fewer than {FEWEST} repetitions, "
                f"such as {named} with {few.iloc[0]}: "
                f"no interval is known; measure again with {how}{FEWEST} or more",
            )


def _verification(record: Record, verifications: Sequence[Any], run: File, wanted: bool) -> None:
    """Complain of the outcome of `scanlab verify --json` on the device, and of `--repeat` in
    another file."""
    if not verifications and wanted and not record.wrong:
        how = (
            f"scanlab distributed verify --gpus {record.gpus} --json"
            if record.gpus > 1
            else "scanlab verify --device cuda --json"
        )
        record.complain(
            record.folder,
            VERIFICATION,
            f"is missing: verify with {how} {record.folder / VERIFICATION}",
        )
    of_commits = any(wrong.place == "context.git_commit" for wrong in record.wrong)
    for verification in verifications:
        about = verification.context
        dirty, commit = about.get("git_dirty") == "true", about.get("git_commit", "")
        if verification.interrupted:
            record.complain(verification.file, "", "was interrupted: verify again")
        if verification.failed:
            record.complain(
                verification.file, "", f"says that {verification.failed} verifications failed"
            )
        if wanted and about["backend"] != "cuda":
            record.complain(verification.file, "", "is not of the GPU: verify with --device cuda")
        if dirty or (
            commit != run.context.get("git_commit") and not of_commits
        ):  # else it is other than some of them, of course
            record.complain(
                verification.file,
                "",
                (
                    f"is of commit {commit}{'+' * dirty}, not of the results': verify what was "
                    f"measured"
                ),
            )
        if wanted and about.get("device") != run.device:
            record.complain(
                verification.file,
                "",
                (
                    f"is of {about.get('device') or 'no device'}, and the results are of "
                    f"{run.device}: verify where it was measured"
                ),
            )


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
            known_as = (
                f"is recorded already: {place(same)}"
                if same.is_relative_to(recorded)
                else f"is the same run as {same.name}"
            )
            record.complain(run.path, "", known_as)
        known.setdefault(identity(run), run.path)
