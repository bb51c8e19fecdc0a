"""Plants faults in the sources, one at a time, and says which of them the tests catch.

usage: tests/mutation/run [--only TEXT]... [--jobs N] [--table FILE]

A fault is an entry of tests/mutation/faults/*.toml: a file, a text that occurs in it once, what replaces it, what is wrong then,
and the tests that promise to see it (`gtest:FILTER` of scanlab_tests, `gtest@PROGRAM:FILTER` of another, `ctest:REGEX`, `pytest:ARGUMENTS`). Each job works in a copy of the tree under build/mutation, so that the checkout stays as
it is. A fault is caught if one of its tests fails, survives if all pass, and is refused if its text is not there once or the
faulty tree does not compile. Before anything is planted, all the tests that are named must pass: else "caught" would mean nothing.
What came of each is on record in tests/mutation/outcomes.jsonl, with the commit at which it was tried. A fault is tried again if it
was not caught, if it or its file has changed since, or with --again.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import os
import queue
import resource
import shlex
import shutil
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FAULTS = Path("tests/mutation/faults")
RECORD = Path("tests/mutation/outcomes.jsonl")
HEADERS = {".hpp", ".cuh"}
COMPILED = {".cpp", ".cu", *HEADERS}
TEST_SECONDS = 300  # of processor time: a test that a fault keeps from ending is one that it fails
WAIT_SECONDS = 900  # of the clock, for what waits for ever; a busy machine needs more of it than of the other
OUTCOMES = ("caught", "survives", "refused", "equivalent")


@dataclass(frozen=True)
class Fault:
    area: str
    file: str
    find: str
    replace: str
    what: str
    tests: tuple[str, ...]
    equivalent: str = ""

    def planted_in(self, text: str) -> str:
        """The faulty text; ValueError if this fault cannot be planted there."""
        if self.find == self.replace:
            raise ValueError("nothing is replaced")
        if (times := text.count(self.find)) != 1:
            raise ValueError(f"its text occurs {times} times in {self.file}, not once")
        return text.replace(self.find, self.replace)


@dataclass(frozen=True)
class Outcome:
    fault: Fault
    outcome: str  # one of OUTCOMES
    by: str  # the test that caught it, or why it was refused
    seconds: float = 0


def read_faults(folder: Path) -> list[Fault]:
    """All faults of a folder; ValueError names the file and the entry that is not one."""
    faults = []
    for path in sorted(folder.glob("*.toml")):
        for number, entry in enumerate(tomllib.loads(path.read_text(encoding="utf-8")).get("fault", []), 1):
            try:
                faults.append(Fault(area=path.stem, **{**entry, "tests": tuple(entry["tests"])}))
            except (TypeError, KeyError) as error:
                raise ValueError(f"{path}, fault {number}: {error}") from error
    return faults


class Tree:
    """A copy of the checkout with a build of its own."""

    def __init__(self, folder: Path, files: Iterable[str]) -> None:
        self.folder = folder
        self.build = folder.parent / f"{folder.name}-build"
        self.copied = set(files)
        for name in self.copied:
            self.copy(name)
        for path in [path for path in folder.rglob("*") if path.is_file() or path.is_symlink()]:
            if str(path.relative_to(folder)) not in self.copied and "__pycache__" not in path.parts:
                path.unlink()

    def copy(self, name: str) -> None:
        """Only what differs, so that a second run compiles nothing again."""
        source, target = ROOT / name, self.folder / name
        if target.is_file() and target.read_bytes() == source.read_bytes():
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)

    def configure(self) -> None:
        # Little optimisation: a fault is compiled once and run once.
        subprocess.run(
            ["cmake", "-G", "Ninja", "-S", self.folder, "-B", self.build, "-DSCANLAB_CUDA=OFF", f"-DSCANLAB_PYTHON={sys.executable}"]
            + ["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG"],
            check=True,
            stdout=subprocess.DEVNULL,
        )

    def compiles(self, targets: list[str], jobs: int) -> bool:
        ran = subprocess.run(["ninja", "-C", self.build, f"-j{jobs}", *targets], capture_output=True, text=True)
        if ran.returncode:
            print(ran.stdout[-2000:], file=sys.stderr)
        return ran.returncode == 0

    def passes(self, test: str) -> bool:
        kind, program, which = parts(test)
        if kind == "gtest":
            command = [str(self.build / "tests" / program), f"--gtest_filter={which}", "--gtest_fail_fast", "--gtest_brief=1"]
        elif kind == "ctest":
            command = ["ctest", "--test-dir", str(self.build), "--no-tests=error", "--stop-on-failure", "-R", which]
        elif kind == "pytest":
            command = [sys.executable, "-B", "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *shlex.split(which)]
        else:
            raise ValueError(f"{test}: neither gtest:, nor ctest:, nor pytest:")
        try:
            ran = subprocess.run(command, cwd=self.folder, env=os.environ | {"PYTHONPATH": str(self.folder / "analysis")}, capture_output=True, text=True, timeout=WAIT_SECONDS, stdin=subprocess.DEVNULL,
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (TEST_SECONDS, TEST_SECONDS)))  # fmt: skip
        except subprocess.TimeoutExpired:
            return False
        selected_none = kind == "gtest" and "] 0 tests from 0" in ran.stdout or kind == "pytest" and ran.returncode in (4, 5)
        if selected_none:
            raise ValueError(f"{test} selects no test")
        return ran.returncode == 0


def passes_soundly(tree: Tree, test: str) -> bool:
    """Whether a test is there, and passes without a fault."""
    try:
        return tree.passes(test)
    except ValueError:
        return False


def parts(test: str) -> tuple[str, str, str]:
    """Kind, program and selection of a test, from kind:selection or gtest@program:selection."""
    kind, _, which = test.partition(":")
    kind, _, program = kind.partition("@")
    return kind, program or "scanlab_tests", which


def targets(tests: Iterable[str]) -> list[str]:
    """What must be built for these tests."""
    kinds = {parts(test)[:2] for test in tests}
    if any(kind == "ctest" for kind, _ in kinds):
        return ["all"]
    return sorted(program for kind, program in kinds if kind == "gtest")


def try_out(tree: Tree, fault: Fault, jobs: int) -> Outcome:
    began = time.monotonic()

    def outcome(which: str, by: str) -> Outcome:
        return Outcome(fault, which, by, time.monotonic() - began)

    if fault.equivalent:
        return outcome("equivalent", fault.equivalent)
    path = tree.folder / fault.file
    sound = path.read_text(encoding="utf-8")
    try:
        path.write_text(fault.planted_in(sound), encoding="utf-8")
        if path.suffix in COMPILED and not tree.compiles(targets(fault.tests) or ["scanlab_tests"], jobs):
            return outcome("refused", "it does not compile")
        for test in fault.tests:
            if not tree.passes(test):
                return outcome("caught", test)
        return outcome("survives", ", ".join(fault.tests))
    except ValueError as error:
        return outcome("refused", str(error))
    finally:
        path.write_text(sound, encoding="utf-8")


def work(tree: Tree, jobs: int, todo: queue.SimpleQueue[Fault | None], done: queue.SimpleQueue[Outcome]) -> None:
    while fault := todo.get():
        done.put(try_out(tree, fault, jobs))


class Record:
    """What came of each fault, in a file to which each is added as it is known."""

    def __init__(self, path: Path) -> None:
        self.path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        self.rows = {row["fault"]: row for row in map(json.loads, lines)}

    @staticmethod
    def key(fault: Fault) -> str:
        """Of a fault with its tests: another text, and it is another fault."""
        return hashlib.sha256(json.dumps(dataclasses.asdict(fault), sort_keys=True).encode()).hexdigest()[:16]

    def stands(self, fault: Fault) -> bool:
        """Whether a fault was caught, and its file is as it was then."""
        row = self.rows.get(self.key(fault))
        return row is not None and row["outcome"] in ("caught", "equivalent") and unchanged(row["commit"], fault.file)

    def add(self, outcome: Outcome, commit: str) -> None:
        key = self.key(outcome.fault)
        self.rows[key] = {"fault": key, "commit": commit, "file": outcome.fault.file, "planted": outcome.fault.what, "outcome": outcome.outcome, "by": outcome.by}

    def write(self, faults: Iterable[Fault]) -> None:
        """All that is known of these faults, in their order."""
        known = [row for fault in faults if (row := self.rows.get(self.key(fault)))]
        made = self.path.with_name(self.path.name + ".part")
        made.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in known), encoding="utf-8")
        made.replace(self.path)

    def table(self, faults: list[Fault]) -> str:
        known = [self.rows.get(self.key(fault), {"outcome": "not tried", "by": "", "commit": ""}) for fault in faults]
        counts = ", ".join(f"{count} {outcome}" for outcome in (*OUTCOMES, "not tried") if (count := sum(row["outcome"] == outcome for row in known)))
        lines = [f"{len(faults)} faults: {counts}.", "", "| file | planted | outcome | by | commit |", "|---|---|---|---|---|"]
        for fault, row in zip(faults, known, strict=True):
            cells = (f"`{fault.file}`", fault.what, row["outcome"], f"`{row['by']}`" if row["outcome"] == "caught" else row["by"], row["commit"])
            lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
        return "\n".join(lines) + "\n"


@cache
def unchanged(commit: str, file: str) -> bool:
    """Whether a file of the tree is as it was in a commit."""
    return subprocess.run(["git", "diff", "--quiet", commit, "--", file], cwd=ROOT, stderr=subprocess.DEVNULL).returncode == 0


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.rstrip("\n")


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests/mutation/run", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", action="append", default=[], metavar="TEXT", help="faults whose area, file or description holds this text")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="faults tried at a time, each in a tree of its own (default 1)")
    parser.add_argument("--compile-jobs", type=int, default=2, metavar="N", help="compilers per job (default 2)")
    parser.add_argument("--again", action="store_true", help="try faults again that were caught")
    parser.add_argument("--table", type=Path, metavar="FILE", help="only write what is on record as a table, in Markdown")
    parser.add_argument("--folder", type=Path, default=ROOT / "build/mutation", help="where the trees are (default build/mutation)")
    options = parser.parse_args()

    every = read_faults(ROOT / FAULTS)
    record = Record(ROOT / RECORD)
    if options.table:
        options.table.write_text(record.table(every), encoding="utf-8")
        return 0
    chosen = [
        fault
        for fault in every
        if not options.only or any(text in f"{fault.area} {fault.file} {fault.what}" for text in options.only)
    ]
    if not chosen:
        parser.error("no fault is selected")
    files = [name for name in git("ls-files", "--cached", "--others", "--exclude-standard").splitlines() if (ROOT / name).is_file()]
    if git("status", "--porcelain", "--untracked-files=no", "--", ".", f":!{RECORD}"):
        sys.exit("there are uncommitted changes: what is tried is put on record with its commit")
    commit = git("rev-parse", "--short", "HEAD")
    options.folder.mkdir(parents=True, exist_ok=True)
    untried = [fault for fault in chosen if options.again or not record.stands(fault)]
    untried.sort(key=lambda fault: Path(fault.file).suffix in HEADERS)  # last what many files are compiled again for
    named = list(dict.fromkeys(test for fault in untried if not fault.equivalent for test in fault.tests))
    trees = [Tree(options.folder / str(number), files) for number in range(options.jobs)]
    for tree in trees:
        if targets(named):
            tree.configure()
            if not tree.compiles(targets(named), options.jobs * options.compile_jobs):
                sys.exit("the tree does not compile without a fault")
    with ThreadPoolExecutor(len(trees)) as pool:
        shares = pool.map(lambda place: [test for test in named[place :: len(trees)] if not passes_soundly(trees[place], test)], range(len(trees)))
    if unsound := [test for share in shares for test in share]:
        sys.exit("without a fault fails, or selects no test: " + "; ".join(unsound))

    todo: queue.SimpleQueue[Fault | None] = queue.SimpleQueue()
    done: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
    for fault in untried:
        todo.put(fault)
    workers = [threading.Thread(target=work, args=(tree, options.compile_jobs, todo, done), daemon=True) for tree in trees]
    for worker in workers:
        todo.put(None)
        worker.start()
    for number in range(len(untried)):
        each = done.get()
        record.add(each, commit)
        record.write(every)
        print(f"[{number + 1}/{len(untried)}] {each.outcome:10} {each.seconds:5.0f} s  {each.fault.file}: {each.fault.what} ({each.by})", flush=True)
    print("\n" + record.table(chosen).splitlines()[0])
    return int(not all(record.stands(fault) for fault in chosen))


if __name__ == "__main__":
    sys.exit(main())
