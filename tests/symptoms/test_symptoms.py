"""Tests of examples/symptoms without a GPU: the list, bad input, and run.py with stand-ins for the
program, the tracer and scanlab."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "symptoms"
RECORDED = sorted((ROOT / "data" / "recorded").glob("*/symptoms.tar.xz"))
PROGRAM, SCANLAB = (os.environ.get(f"SCANLAB_{name}", "") for name in ("SYMPTOMS", "PROGRAM"))
needs_program = pytest.mark.skipif(not PROGRAM, reason="SCANLAB_SYMPTOMS names no program")

SYMPTOMS = """#!/bin/sh
if [ "$1" = list ]; then
  echo '| name | symptom | cause | cure |'
  echo '|---|---|---|---|'
  echo '| `late` | slow | a wait | none |'
  exit
fi
[ -z "$SCANLAB_TRACE" ] || touch "$SCANLAB_TRACE"
case $2 in slow) ms=3.0;; fast) ms=1.5;; esac
echo "$1 $2, instance $4: $ms ms, checksum 0f, 50.0 GB/s"
"""
DIAGNOSE = """#!/bin/sh
echo "$4, A GPU: 5 operations, streams: 2, pinned memory"
echo 'copies in   busy     0.000 ms (  0%)  idle     0.007 ms: no more work 0.007'
echo '  a wait (1.250 ms): it waited (long)'
echo '  start-up (0.004 ms): the device began late'
"""


def run(*words: object) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": ""}
    line = [str(word) for word in words]
    return subprocess.run(line, env=environment, capture_output=True, text=True)


@pytest.fixture
def stand_ins(tmp_path: Path) -> list[object]:
    """Return a command of run.py."""
    words: list[object] = [sys.executable, FOLDER / "run.py"]
    scripts = {"symptoms": SYMPTOMS, "tracer": "", "scanlab": DIAGNOSE}
    for name, text in scripts.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
        words += [f"--{name}", tmp_path / name]
    return words


def fails(words: list[object], sentence: str, status: int = 2) -> None:
    ran = run(*words)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (status, "", 1), ran.stderr
    assert sentence in ran.stderr


@needs_program
def test_the_readme_has_the_table_of_the_program() -> None:
    ran = run(PROGRAM, "list")
    assert ran.returncode == 0 and len(ran.stdout.splitlines()) == 12
    assert ran.stdout in (FOLDER / "README.md").read_text(encoding="utf-8")


@needs_program
@pytest.mark.parametrize(
    "words, sentence",
    [
        ("", "give a name and slow or fast"),
        ("headache slow", "there is no symptom 'headache'"),
        ("tied_pool slower", "the form is slow or fast, not 'slower'"),
        ("tied_pool slow --instance x", "--instance takes a number from 0 to 1e+06, not 'x'"),
        ("tied_pool slow --scale", "--scale takes a number from 0.01 to 8, not ''"),
        ("tied_pool slow --seed 1", "there is no option '--seed'"),
        ("tied_pool slow", "CUDA"),
    ],
)
def test_the_program_refuses_in_one_sentence(words: str, sentence: str) -> None:
    fails([PROGRAM, *words.split()], sentence)


def test_run_prints_a_table_and_writes_rows(stand_ins: list[object], tmp_path: Path) -> None:
    rows, kept = tmp_path / "rows.json", tmp_path / "kept"
    words = [*stand_ins, "--json", rows, "--keep", kept]
    ran = run(*words, "--instances", 2, "--negatives")
    assert ran.returncode == 0, ran.stderr
    head, first, second, slow, fast = ran.stdout.splitlines()
    assert head.split()[:3] == ["symptom", "instance", "cause"]
    assert first.split() == ["late", "0", "a", "wait", "3.000", "1.500", "2.00", "none"]
    assert second.split()[1] == "1"
    assert slow == "2 slow forms: 2 diagnosed right, 0 undecided, 0 wrong."
    assert fast == "2 fast forms: 0 without the cause of the slow one."
    row = json.loads(rows.read_text())[1]
    assert (row["symptom"], row["expected"], row["gain"]) == ("late", "a wait", 2)
    assert row["slow"]["device"] == "A GPU" and row["slow"]["GB/s"] == 50
    assert [each["cause"] for each in row["fast"]["causes"]] == ["a wait", "start-up"]
    assert len(list(kept.iterdir())) == 4
    (tmp_path / "symptoms").unlink()
    assert run(*words, "--again", rows).stdout == ran.stdout


@pytest.mark.skipif(not SCANLAB, reason="SCANLAB_PROGRAM names no program")
@pytest.mark.parametrize("traces", RECORDED, ids=lambda path: path.parent.name)
def test_recorded_traces_are_diagnosed_right(traces: Path, tmp_path: Path) -> None:
    shutil.unpack_archive(traces, tmp_path)
    words = ["--again", tmp_path / "rows.json", "--keep", tmp_path / "traces"]
    ran = run(sys.executable, FOLDER / "run.py", *words, "--scanlab", SCANLAB)
    assert ran.returncode == 0, ran.stderr
    slow, fast = (list(map(int, re.findall(r"\d+", line))) for line in ran.stdout.splitlines()[-2:])
    forms, right, _, wrong = slow
    assert right == forms >= 40 and wrong == 0, ran.stdout
    assert fast[1] >= fast[0] - 1, ran.stdout


def test_run_refuses_in_one_sentence(stand_ins: list[object], tmp_path: Path) -> None:
    fails([*stand_ins, "headache"], "there is no symptom 'headache': give late")
    fails([*stand_ins, "--symptoms", "/none"], "there is no /none: ./check builds it")
    fails([*stand_ins, "--again", "/none"], "No such file or directory: '/none'")
    program = tmp_path / "symptoms"
    program.write_text(SYMPTOMS.replace("0f", "$2"))
    fails(stand_ins, "late, instance 0: the forms have different results", 1)
    program.write_text(SYMPTOMS.replace('touch "$SCANLAB_TRACE"', "echo no CUPTI >&2"))
    fails(stand_ins, "writes no trace: no CUPTI")
    program.write_text(SYMPTOMS.replace("echo", "echo no GPU >&2; exit 2; echo"))
    fails(stand_ins, "failed: no GPU")
