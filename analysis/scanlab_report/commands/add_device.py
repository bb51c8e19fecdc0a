"""Check a run and file it into the recorded data, the source of the figures of its device.

DIR is what ./reproduce --device cuda --out DIR wrote, or any folder with results files and
verify.jsonl. Every file must be whole, of a known schema, of one device and one clean commit, with
five repetitions per case and verified output. Nothing is filed otherwise. A host without a GPU is
filed below its processor's name, with the counts of the SIMT emulator.
"""

import argparse
import gzip
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from scanlab_report import DATA
from scanlab_report.commands import session
from scanlab_report.console import SOUND, count, refuse, say
from scanlab_report.data import Data, File
from scanlab_report.intervals import FEWEST
from scanlab_report.load import load
from scanlab_report.reading import decoded, load_bytes
from scanlab_report.schema.fields import Misfit
from scanlab_report.schema.samples import PRIMITIVES
from scanlab_report.tables import CASES, MEASURED, ODD_SIZES
from scanlab_report.written import in_place_of, put

EXAMPLE = """  ./reproduce --device cuda --out results/run
  scanlab-report add-device results/run"""
TESTS = ("tests.json", "device_scan_tests.json")
SAMPLED = (*PRIMITIVES, "schedule", "stream_scan", "distributed")
EXCEPTIONS = 0.05
"""Largest share of cases with too few repetitions for an interval: a cap may stop a slow case."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", type=Path, metavar="DIR", help="folder of a run")
    options: dict[str, Any] = {"type": Path, "metavar": "DIR", "default": DATA / "recorded"}
    where = "file the run below DIR, as DEVICE/DATE (default: data/recorded)"
    parser.add_argument("--recorded", help=where, **options)


def run(options: argparse.Namespace) -> int:
    if not options.recorded.is_dir():
        return refuse(f"{options.recorded}: no such folder")
    nothing = f"{options.run}: nothing was recorded"
    paths = sorted(path for path in options.run.glob("*") if path.is_file())
    data = load(paths, unknown=True)
    checks = [data.files[number] for number in dict.fromkeys(data["checks"]["file"])]
    predicted = {*data["comparison"]["file"], *data["advice"]["file"]}  # of timelines on record
    own = data.numbers(lambda file: not file.of_no_device and file not in checks)
    files = [data.files[number] for number in own if number not in predicted]
    if not files and not data.problems:
        return refuse(f"{options.run}: is no folder with results", nothing)
    gpu = any(file.on_gpu for file in files)
    counted = load([] if gpu else sorted((options.run / "explain").glob("*.json")))
    every = [*files, *_model(options.run / "model"), *counted.files]
    tests = [path for path in paths if path.name in TESTS]
    recorded = _recorded([file.path for file in files], options.recorded)
    wrong = [str(problem) for problem in [*data.problems, *counted.problems]] or [
        *_provenance(data, every),
        *_few(data),
        *_unverified(options.run, data, checks, files[0].commit, tests),
        *(f"{path}: is recorded already" for path in recorded),
    ]
    if wrong:
        return refuse(*wrong, nothing)
    kept = {file.path for file in [*every, *checks] if file not in counted.files} | {*tests}
    kept |= {path for path in paths if ".ranges.json" in path.name}
    counts = [msgspec.json.decode(file.path.read_bytes()) for file in counted.files]
    date = min(file.date for file in files)[:10]
    try:
        target = _file(options.run, sorted(kept), counts, date, options.recorded)
    except ValueError as error:
        return refuse(*error.args, nothing)
    say(f"Recorded {count(len(kept), 'file')}. Next: git add {target}, bring the pages up to date")
    say("(CONTRIBUTING.md), and open a pull request.")
    return SOUND


def _content(path: Path) -> dict[str, Any]:
    """The fields of a document that no figure shows; empty if it has none."""
    try:
        document = decoded(load_bytes(path))
    except Misfit:
        document = None
    return document if isinstance(document, dict) else {}


def _model(folder: Path) -> Iterator[File]:
    """The files that the engine model is compared with."""
    for path in sorted([*folder.glob("*.json"), *folder.glob("traces/*.json")]):
        about = _content(path)
        yield File(path, MEASURED, about.get("context") or about.get("otherData") or {})


def _provenance(data: Data, files: list[File]) -> Iterator[str]:
    """Sentences on provenance that is missing or wrong, and on files of another run."""
    sampled = [data.files[n] for table in SAMPLED for n in dict.fromkeys(data[table]["file"])]
    for file in files:
        host, about = file.kind == "host", file.context
        keys = ["date"] if file.of_no_device else ["date", "cpu" if host else "device"]
        keys += ["cores" if host else "driver", "argv", "seed"] if file in sampled else []
        wrong = {key: "is missing" for key in keys if not about.get(key)}
        if not re.fullmatch(r"[0-9a-f]{40}", file.commit):
            wrong["git_commit"] = "is no commit: build from a clone, with git"
        if str(about.get("git_dirty")).lower() != "false":
            wrong["git_dirty"] = "uncommitted changes, or not known"
        if about.get("assertions") == "on":
            wrong["assertions"] = "are on, which makes code slower"
        yield from (f"{file.path}: context.{key}: {reason}" for key, reason in wrong.items())
    on_gpus = [file for file in files if file.on_gpu]
    hosts = [file for file in sampled if file.context.get("cpu")]
    for what, own in (("device", on_gpus), ("host", hosts), ("commit", files)):
        for file in own[1:]:
            if (here := getattr(file, what)) != (there := getattr(own[0], what)):
                yield f"{file.path}: its {what} is {here!r}, and {there!r} in {own[0].path.name}"


def _few(data: Data) -> Iterator[str]:
    """Sentences on files that have too few repetitions for intervals."""
    for table in SAMPLED:
        # Odd sizes have an interval over processes, and a control is not timed for its speed.
        rows = data.rows(table, lambda file: file.kind != ODD_SIZES)
        rows = rows[rows["control"] == 0] if table == "schedule" else rows
        for number, own in rows.groupby("file"):
            counts = own.groupby(CASES[table], dropna=False).size()
            few = counts[counts < FEWEST]
            if len(few) > EXCEPTIONS * len(counts):
                some = f"{len(few)} of {len(counts)} cases have fewer than {FEWEST} repetitions"
                yield f"{data.files[number].path}: benchmarks: {some}: measure again with more"


def _unverified(
    folder: Path, data: Data, checks: list[File], commit: str, tests: list[Path]
) -> Iterator[str]:
    """Sentences on verifications and tests that did not pass, or that are of something else."""
    scanned = [data.files[n] for name in ("scan", "distributed") for n in data[name]["file"]]
    device = next((file.device for file in scanned if file.on_gpu), "")
    if device and not checks:
        yield f"{folder / 'verify.jsonl'}: is missing: scanlab verify --json writes it"
    failures = data["checks"].query("outcome == 'failed'")["file"].value_counts()
    for file in checks:
        failed = failures.get(data.files.index(file), 0)
        where = file.device or file.context["backend"]
        verified = f"{file.context.get('git_commit')}{'+' * file.dirty}"
        for wrong, message in (
            (file.context["interrupted"], "was interrupted: verify again"),
            (failed, f"says that {failed} verifications failed"),
            (verified != commit, f"is of commit {verified}, and the results of {commit}"),
            (device not in ("", where), f"is of {where}, and the results are of {device}"),
        ):
            if wrong:
                yield f"{file.path}: {message}"
    for path in tests:
        outcome = _content(path)
        if outcome.get("failures") != 0 or outcome.get("errors", 0) != 0:
            yield f"{path}: does not say that all tests passed"


def _recorded(paths: list[Path], recorded: Path) -> list[Path]:
    """The files that are recorded already."""
    same = lambda path, old: gzip.decompress(old.read_bytes()) == path.read_bytes()
    olds = {path: recorded.rglob(f"{path.name}.gz") for path in paths}
    return [path for path in paths if any(same(path, old) for old in olds[path])]


def _file(run: Path, paths: list[Path], counts: list[Any], date: str, recorded: Path) -> Path:
    """Copy the files, with JSON compressed, to `recorded/DEVICE/DATE`, or a free letter behind."""
    with in_place_of(recorded) as made:
        (whole := made / "run").mkdir()
        for path in paths:
            kept, content = whole / path.relative_to(run), path.read_bytes()
            kept.parent.mkdir(parents=True, exist_ok=True)
            if kept.suffix in (".json", ".jsonl"):
                kept, content = kept.with_name(f"{kept.name}.gz"), gzip.compress(content, mtime=0)
            put(kept, content)
        if counts:
            put(whole / "explain.json.gz", gzip.compress(msgspec.json.encode(counts), mtime=0))
        about, _ = session.join([path for path in whole.iterdir() if path.is_file()], whole)
        name = re.sub(r"[^a-z0-9]+", "-", re.sub(r"\((r|tm)\)", "", about["device"].lower()))
        gpus = f"-x{about['gpus']}" if "gpus" in about else ""
        device = name.strip("-") + gpus
        taken = max((path.name for path in (recorded / device).glob(f"{date}*")), default="")
        letter = chr(ord(taken.removeprefix(date) or "a") + 1) if taken else ""
        (made / device).mkdir()
        os.rename(whole, made / device / f"{date}{letter}")
    return recorded / device / f"{date}{letter}"
