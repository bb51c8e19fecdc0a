"""A run to be recorded: its files, its errors, and the folder in which it is filed.

A record has the results files at the top of the folder, the verification, the results of the tests, and the folder ``model`` with the
data that the engine model is compared with; for a machine without a GPU also its emulator counts, in one file. Other counts,
simulations and reports are not kept: any machine can make them again from the code.
"""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pandas as pd
from msgspec import Struct

from scanlab_report import place
from scanlab_report.commands.add_device import session, several_gpus
from scanlab_report.read import results, streams
from scanlab_report.schema.base import Count
from scanlab_report.schema.fields import Misfit, convert, shown
from scanlab_report.read.json_files import load_json
from scanlab_report.read.records import CASE, ODD_SIZES, Complaint, Explanation, Results, Run
from scanlab_report.stats.intervals import FEWEST
from scanlab_report.written import hidden, put

VERIFICATION, TESTS = "verify.jsonl", ("tests.json", "device_scan_tests.json")
COUNTS = "explain"
"""The folder of emulator counts in a run, and the name of the file with them in a record."""
EXCEPTIONS = 0.05
"""Largest share of cases with too few repetitions for an interval."""
_PROVENANCE = {**dict.fromkeys(("cuda", ODD_SIZES), ("device", "driver", "argv", "seed")), "host": ("cpu", "cores", "argv", "seed")}
"""Required provenance besides date and commit, by kind of file."""
_NO_SEED = (streams.TRACE, streams.IMPLICIT_SYNC, streams.CONCURRENCY, streams.STOPWATCH)
WAITS, COUNTED = "waits", "counted"
"""Kinds of tables: ``waits`` has only device, date and commit in its rows; the others have a file of ranges with the full provenance."""
_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass
class Recording:
    """The files of a run, its provenance, and everything that is wrong with it."""

    folder: Path
    files: list[Path] = field(default_factory=list)
    model: list[Path] = field(default_factory=list)
    """Measurements for the engine model: a calibration, a sweep, and traces in a folder of their own."""
    ignored: list[Path] = field(default_factory=list)
    counts: list[Explanation] = field(default_factory=list)
    device: str = ""
    date: str = ""
    gpus: int = 1
    """Number of GPUs over which its scans ran."""
    wrong: list[Complaint] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The device's folder: ``nvidia-h200``, and ``nvidia-h200-x4`` of scans over four."""
        device = re.sub(r"[^a-z0-9]+", "-", re.sub(r"\((r|tm)\)", "", self.device.lower())).strip("-")
        return f"{device}-x{self.gpus}" if device and self.gpus > 1 else device


def examine(folder: Path, recorded: Path) -> Recording:
    """Read a run and check whether it may be added to the record."""
    found = Recording(folder)
    candidates = [path for path in folder.iterdir() if path.is_file() and not path.name.startswith(".")] if folder.is_dir() else []
    if not candidates:
        found.wrong.append(Complaint(folder, "", "is no folder with results files"))
        return found
    timed: list[tuple[Run, str]] = []
    tables: list[tuple[Run, str]] = []
    everything = Results()
    beside = {results.ranges_beside(file) for file in candidates if file.suffix == ".csv"}
    for file in sorted(candidates):
        read = results.read([file], [])
        found.wrong += read.problems
        runs = [(run, "timings") for run in read.runs] + [(s.run, s.kind) for s in read.streams if s.kind != streams.SIMULATION]
        has_tables = any((read.counter_tables, read.traffic_tables, read.wait_tables, read.repeat_tables))
        everything.verifications += read.verifications
        kept = runs or has_tables or read.verifications or file.name in TESTS or file in beside
        (found.files if kept else found.ignored).append(file)
        if file.name in TESTS:
            found.wrong += _tests(file)
        timed += runs
        if not read.repeat_tables:  # _verification checks these
            tables += [(owner, WAITS if read.wait_tables else COUNTED) for owner in read.owners.values()]
        if not read.problems:  # otherwise these would be consequential errors
            found.wrong += [Complaint(file, *wrong) for wrong in _too_few(read)]
    found.wrong += [Complaint(run.file, f"context.{key}", what) for run, kind in [*timed, *tables] for key, what in _provenance(run, kind)]
    if not timed:
        found.wrong.append(Complaint(folder, "", "holds no timings, schedules, traces or experiments"))
        return found
    found.model, held = _model(folder, found.wrong)
    found.wrong += [Complaint(run.file, f"context.{key}", what) for run in held for key, what in _provenance(run, streams.TRACE)]
    found.wrong += _one_run([*timed, *((run, streams.TRACE) for run in held), *tables])
    first = min(timed, key=lambda pair: (pair[0].kind == "host", pair[1] != "timings", pair[0].date))[0]
    found.device, found.date, found.gpus = first.device, first.date[:10], several_gpus.gpus(run for run, _ in timed)
    if found.gpus > 1:
        found.wrong += several_gpus.misplaced(timed)
    if not found.name:
        found.wrong.append(Complaint(first.file, "context.device", f"is {shown(found.device)}, by which no folder can be called: say which device it is"))
    if first.kind == "host":
        found.wrong += _counts(found, first)
    found.wrong += _verification(found, everything, first, any(kind in ("timings", streams.DISTRIBUTED) and run.kind == "cuda" for run, kind in timed))
    found.wrong += _recorded_already([run for run, _ in timed], recorded)
    return found


def _after(letter: str) -> str:
    """Return the next letter; an empty one counts as "a". Gaps stay open, so that names are in the order of runs."""
    return chr(ord(letter or "a") + 1)


def file_away(found: Recording, recorded: Path) -> Path:
    """Copy the files, with JSON compressed, to ``recorded/DEVICE/DATE``, plus a letter if the date is taken."""
    device = recorded / found.name
    device.mkdir(parents=True, exist_ok=True)
    taken = max((path.name for path in device.glob(f"{found.date}*")), default="")
    target = device / (found.date + _after(taken.removeprefix(found.date)) if taken else found.date)
    with hidden(device, target) as made:
        whole = made / "run"
        whole.mkdir()
        for file in (*found.files, *found.model):
            kept = whole / file.relative_to(found.folder)
            kept.parent.mkdir(parents=True, exist_ok=True)
            if file.suffix in (".json", ".jsonl"):
                put(kept.with_name(f"{file.name}.gz"), gzip.compress(file.read_bytes(), mtime=0))
            else:
                put(kept, file.read_bytes())
        if found.counts:
            text = msgspec.json.encode([counted.content for counted in found.counts])
            (whole / f"{COUNTS}.json.gz").write_bytes(gzip.compress(text, mtime=0))
        session.write((file for file in whole.iterdir() if file.is_file()), whole, of_one_run=True)
        os.rename(whole, target)
    return target


def _provenance(run: Run, kind: str) -> Iterator[tuple[str, str]]:
    """Yield the missing and the unacceptable provenance of a file."""
    said = _PROVENANCE.get(run.kind, ("device",)) if kind != WAITS else ("device",)
    needed = [key for key in said if key != "seed" or kind not in _NO_SEED]
    for key in ("date", *needed):
        if not run.context.get(key):
            yield key, "is missing: a recorded run says where its numbers are from"
    if not re.match(r"\d{4}-\d\d-\d\dT", run.date or "0000-00-00T"):
        yield "date", f"is {run.date!r}, not ISO 8601"
    if not _COMMIT.fullmatch(run.commit):
        yield "git_commit", f"is {run.commit or 'missing'!r}, not a commit: build from a clone, with git installed"
    if run.dirty or "git_dirty" not in run.context:
        yield "git_dirty", "the tree had uncommitted changes, or it is not known: commit, build, and measure again"
    if run.context.get("assertions", "off") != "off":
        yield "assertions", "are on, which makes code slower: build without them"


def _one_run(runs: Sequence[tuple[Run, str]]) -> Iterator[Complaint]:
    """Yield the files whose commit or device differs from the first; CPU baselines are compared among themselves."""
    alike: dict[bool, Run] = {}
    for run, _ in runs:
        beside = alike.setdefault(run.kind == "host", run)
        for key, mine, other, file in (("device", run.device, beside.device, beside.file), ("git_commit", run.commit, runs[0][0].commit, runs[0][0].file)):
            if mine != other:
                yield Complaint(run.file, f"context.{key}", f"is {mine!r}, and {other!r} in {file.name}: record one run of one device and commit at a time")


def _model(folder: Path, wrong: list[Complaint]) -> tuple[list[Path], list[Run]]:
    """Return the measurements for the engine model, and their provenance."""
    model = folder / results.MODEL
    files = [file for file in (model / "calibration.json", model / "advise.json", *sorted((model / "traces").glob("*.json"))) if file.is_file()]
    held = []
    for file in files:
        document = load_json(file, wrong)
        if run := _of_itself(file, document, results.MEASURED):
            held.append(run)
        elif document is not None:
            wrong.append(Complaint(file, "context", "is missing"))
    return files, held


def _of_itself(file: Path, document: object, origin: str) -> Run | None:
    """What a document of any kind says of where it is from."""
    said = (document.get("context") or document.get("otherData")) if isinstance(document, Mapping) else None
    return Run(file, origin, said) if isinstance(said, Mapping) else None


def _counts(found: Recording, run: Run) -> Iterator[Complaint]:
    """Emulator counts, taken in if they are of the clean commit that was timed."""
    read = results.read(sorted((found.folder / COUNTS).glob("*.json")), [])
    yield from read.problems
    found.counts = read.explanations
    for counted in found.counts:
        if counted.dirty or counted.commit != run.commit:
            counted_at = f"{counted.commit} with uncommitted changes" if counted.dirty else counted.commit
            yield Complaint(counted.file, "git_commit", f"is {counted_at}, and {run.commit} in {run.file.name}: count with the code that was timed")
            return


def _too_few(read: Results) -> Iterator[tuple[str, str]]:
    """Timings whose repetitions do not suffice for an interval, unless they are exceptions: a cap on its time stops a slow case."""
    kinds = {streams.SCHEDULES: ("streams run --rounds", ["entry", *streams.SCHEDULE, "bytes"]),
             streams.STREAM_SCAN: ("stream-scan --repetitions", streams.SCAN),
             streams.DISTRIBUTED: ("distributed bench --rounds", [column for column in streams.DISTRIBUTED_COLUMNS if column not in ("round", "time_ns")])}  # fmt: skip
    single = read.timings[~read.timings["run"].isin([place for place, run in enumerate(read.runs) if run.kind == ODD_SIZES])]  # others have an interval over processes
    for rows, (how, case) in ((single, ("bench --rounds", CASE)), *((s.rows, kinds[s.kind]) for s in read.streams if s.kind in kinds)):
        if "control" in rows:
            rows = rows[rows["control"] == 0]  # what is wrong on purpose is not timed for its speed
        counts = rows.groupby(case, dropna=False).size() if len(rows) else pd.Series(dtype=int)
        few = counts[counts < FEWEST]
        if len(few) > EXCEPTIONS * len(counts):
            named = " ".join(str(part) for part in few.index[0] if part != "")
            yield "benchmarks", (f"{len(few)} of {len(counts)} cases have fewer than {FEWEST} repetitions, such as {named} with {few.iloc[0]}: "
                                 f"no interval is known; measure again with {how} {FEWEST} or more")  # fmt: skip


def _verification(found: Recording, read: Results, run: Run, wanted: bool) -> Iterator[Complaint]:
    """What ``scanlab verify --json`` found on the device, and ``--repeat`` in another file."""
    if not read.verifications and wanted and not found.wrong:
        how = several_gpus.VERIFY.format(found.gpus) if found.gpus > 1 else "scanlab verify --device cuda --json"
        yield Complaint(found.folder, VERIFICATION, f"is missing: verify with {how} {found.folder / VERIFICATION}")
    of_commits = any(wrong.place == "context.git_commit" for wrong in found.wrong)
    for of in read.verifications:
        about = of.context
        if of.interrupted:
            yield Complaint(of.file, "", "was interrupted: verify again")
        if of.failed:
            yield Complaint(of.file, "", f"says that {of.failed} verifications failed")
        if wanted and about["backend"] != "cuda":
            yield Complaint(of.file, "", "is not of the GPU: verify with --device cuda")
        is_other = about.get("git_commit") != run.context.get("git_commit") and not of_commits  # else it is other than some of them, of course
        if about.get("git_dirty") == "true" or is_other:
            changed = "+" if about.get("git_dirty") == "true" else ""
            yield Complaint(of.file, "", f"is of commit {about.get('git_commit', '')}{changed}, not of the results': verify what was measured")
        if wanted and about.get("device") != run.device:
            yield Complaint(of.file, "", f"is of {about.get('device', 'no device')}, and the results are of {run.device}: verify where it was measured")


def _tests(file: Path) -> Iterator[Complaint]:
    """What GoogleTest says of the tests, as far as it names failures."""
    problems: list[Complaint] = []
    said = load_json(file, problems)
    yield from problems
    if not problems:
        try:
            tests = convert(said, _Tests)
        except Misfit as misfit:
            yield Complaint(file, misfit.place, misfit.message)
            return
        if tests.failures or tests.errors:
            yield Complaint(file, "", f"says that {tests.failures + tests.errors} tests failed")


class _Tests(Struct):
    tests: Count
    failures: Count
    errors: Count = 0


def _recorded_already(runs: Sequence[Run], recorded: Path) -> Iterator[Complaint]:
    """A file is known by its device, date to the second and command, here and within the run."""
    known = {_identity(run): run.file for run in _runs_below(recorded)}
    for run in runs:
        if (same := known.get(_identity(run))) is not None:
            yield Complaint(run.file, "", f"is recorded already: {place(same)}" if same.is_relative_to(recorded) else f"is the same run as {same.name}")
        known.setdefault(_identity(run), run.file)


def _runs_below(recorded: Path) -> Iterator[Run]:
    """The provenance of everything that is recorded."""
    problems: list[Complaint] = []
    for file in sorted(recorded.rglob("*.json*")):
        if run := _of_itself(file, results.load_json(file, problems), results.RECORDED):
            yield run


def _identity(run: Run) -> tuple[str, str, str]:
    return run.device, run.date, str(run.context.get("argv", ""))
