"""Plants faults in the sources, one at a time, and says which of them the tests catch.

usage: tests/mutation/run [--only TEXT]... [--jobs N] [--out FILE]

A fault is an entry of tests/mutation/faults/*.toml: a file, a text that occurs in it once, what replaces it, what is wrong then,
and the tests that promise to see it. Each job works in a copy of the tree under build/mutation, so that the checkout stays as
it is. A fault is caught if one of its tests fails, survives if all pass, and is refused if its text is not there once or the
faulty tree does not compile. Before anything is planted, all the tests that are named must pass: else "caught" would mean nothing.
A run that was stopped goes on where it was, while the commit is the same and nothing has changed since.
"""

from __future__ import annotations

import argparse
import dataclasses
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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FAULTS = Path("tests/mutation/faults")
COMPILED = {".cpp", ".hpp", ".cu", ".cuh"}
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
        kind, _, which = test.partition(":")
        if kind == "gtest":
            command = [str(self.build / "tests/scanlab_tests"), f"--gtest_filter={which}", "--gtest_fail_fast", "--gtest_brief=1"]
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


def targets(tests: Iterable[str]) -> list[str]:
    """What must be built for these tests."""
    kinds = {test.partition(":")[0] for test in tests}
    return ["all"] if "ctest" in kinds else ["scanlab_tests"] if "gtest" in kinds else []


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


class Kept:
    """The outcomes of one commit, in a file to which each is added as it is known."""

    def __init__(self, path: Path, commit: str, whole: bool) -> None:
        """Not ``whole``: the tree is not what the commit says, so that nothing is kept."""
        self.path, self.commit, self.whole = path, commit, whole
        lines = path.read_text(encoding="utf-8").splitlines() if whole and path.is_file() else []
        kept = [json.loads(line) for line in lines]
        self.outcomes = {self.key(each["fault"]): each for each in kept if each["commit"] == commit}

    @staticmethod
    def key(fault: dict[str, Any]) -> str:
        return json.dumps(fault, sort_keys=True)

    def of(self, fault: Fault) -> Outcome | None:
        each = self.outcomes.get(self.key(dataclasses.asdict(fault)))
        return Outcome(fault, each["outcome"], each["by"], each["seconds"]) if each else None

    def add(self, outcome: Outcome) -> None:
        if self.whole:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"commit": self.commit, **dataclasses.asdict(outcome)}) + "\n")


def table(outcomes: list[Outcome], commit: str) -> str:
    counts = ", ".join(f"{sum(each.outcome == outcome for each in outcomes)} {outcome}" for outcome in OUTCOMES)
    lines = [f"{len(outcomes)} faults: {counts}. Commit {commit}.", "", "| file | planted | outcome | by |", "|---|---|---|---|"]
    for each in sorted(outcomes, key=lambda each: (each.fault.area, each.fault.file, each.fault.what)):
        cells = (f"`{each.fault.file}`", each.fault.what, each.outcome, f"`{each.by}`" if each.outcome == "caught" else each.by)
        lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.rstrip("\n")


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests/mutation/run", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", action="append", default=[], metavar="TEXT", help="faults whose area, file or description holds this text")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="faults tried at a time, each in a tree of its own (default 1)")
    parser.add_argument("--compile-jobs", type=int, default=2, metavar="N", help="compilers per job (default 2)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the table of outcomes here, too, as Markdown")
    parser.add_argument("--folder", type=Path, default=ROOT / "build/mutation", help="where the trees are (default build/mutation)")
    options = parser.parse_args()

    chosen = [
        fault
        for fault in read_faults(ROOT / FAULTS)
        if not options.only or any(text in f"{fault.area} {fault.file} {fault.what}" for text in options.only)
    ]
    if not chosen:
        parser.error("no fault is selected")
    files = [name for name in git("ls-files", "--cached", "--others", "--exclude-standard").splitlines() if (ROOT / name).is_file()]
    changed = bool(git("status", "--porcelain"))
    commit = git("rev-parse", "--short", "HEAD") + (" with changes" if changed else "")
    options.folder.mkdir(parents=True, exist_ok=True)
    kept = Kept(options.folder / "outcomes.jsonl", commit, whole=not changed)
    outcomes = [outcome for fault in chosen if (outcome := kept.of(fault))]
    done_before = {outcome.fault for outcome in outcomes}
    untried = [fault for fault in chosen if fault not in done_before]
    named = list(dict.fromkeys(test for fault in untried if not fault.equivalent for test in fault.tests))
    trees = [Tree(options.folder / str(number), files) for number in range(options.jobs)]
    for tree in trees:
        if targets(named):
            tree.configure()
            if not tree.compiles(targets(named), options.jobs * options.compile_jobs):
                sys.exit("the tree does not compile without a fault")
    if unsound := [test for test in named if not passes_soundly(trees[0], test)]:
        sys.exit("without a fault fails, or selects no test: " + "; ".join(unsound))

    todo: queue.SimpleQueue[Fault | None] = queue.SimpleQueue()
    done: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
    for fault in untried:
        todo.put(fault)
    workers = [threading.Thread(target=work, args=(tree, options.compile_jobs, todo, done), daemon=True) for tree in trees]
    for worker in workers:
        todo.put(None)
        worker.start()
    for _ in untried:
        outcomes.append(each := done.get())
        kept.add(each)
        print(f"[{len(outcomes)}/{len(chosen)}] {each.outcome:10} {each.seconds:5.0f} s  {each.fault.file}: {each.fault.what} ({each.by})", flush=True)
    text = table(outcomes, commit)
    print("\n" + text.splitlines()[0])
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    return int(any(each.outcome in ("survives", "refused") for each in outcomes))


if __name__ == "__main__":
    sys.exit(main())
