"""Documents are what their structs say: what the program writes, and what is in the tree."""

import gzip
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from scanlab_report import DATA
from scanlab_report.commands.__main__ import main
from scanlab_report.load import load
from scanlab_report.schema import documents
from scanlab_report.schema.fields import convert
from scanlab_report.schema.samples import ScanSample

PROGRAM = os.environ.get("SCANLAB_PROGRAM", "")


def test_every_document_has_a_schema_with_the_meaning_of_its_fields(tmp_path) -> None:
    assert main(["schema", "--out", str(tmp_path)]) == 0
    names = {file.name.partition(".")[0] for file in tmp_path.iterdir()}
    assert {"Results", "Verification", "Explanation", "Trace", "Session"} <= names
    schema = json.loads((tmp_path / "Results.schema.json").read_text("utf-8"))
    clock = schema["$defs"]["ScanSample"]["properties"]["sm_clock_mhz"]
    assert clock["description"].endswith(", MHz") and clock["default"] is None


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the program writes, with a calibration, a sweep and two traces of a device."""
    made = tmp_path_factory.mktemp("documents")
    calibrated = next(DATA.glob("recorded/*/*/model/calibration.json.gz"))
    model = calibrated.parent
    files = {"calibration": calibrated, "advise": model / "advise.json.gz"}
    files |= dict(zip(("trace0", "trace1"), sorted((model / "traces").iterdir()), strict=False))
    for name, file in files.items():
        (made / f"{name}.json").write_bytes(gzip.decompress(file.read_bytes()))
    (made / "scenarios").mkdir()
    return made


_TIMES = "calibrate --from calibration.json --out times.json --force && $PROGRAM advise"
_GENERATED = "stream-scan --device host --generate 2^20 --repetitions 5 --json OUT"
_ON_HOSTS = "distributed bench --on-hosts -b 4KiB -e 16KiB --benchmark_repetitions=5 --out OUT"
_SIMT = "verify --device simt --variant one_block --type i32,f32"
_WRITTEN = {
    "bench.json": (
        "scan",
        "bench --variant 'cpu_*' --items 1000 --benchmark_repetitions=5 --out OUT",
    ),
    "r.ranges.json": ("", "bench --variant 'cpu_seq*' --items 1000 --once --out OUT"),
    "explain.json": ("counts", "explain hso_block --items 64 --json > OUT"),
    "trace.json": ("spans", "simulate depth_first --items 2^20 --chunks 4 --out OUT"),
    "scenarios": ("spans", "scenarios --out OUT"),
    "compared.json": (
        "comparison",
        "simulate --profile h200 --compare trace0.json trace1.json --out OUT",
    ),
    "against.json": ("advice", f"{_TIMES} --profile times.json --against advise.json --json OUT"),
    "larger.json": ("stream_scan", _GENERATED),
    "files.json": ("stream_scan", f"{_GENERATED} --out scanned --verify --compare files --force"),
    "hosts.json": ("", f"{_ON_HOSTS} || (($? == 2))"),  # one rank, whose cases are skipped
    "verify.jsonl": ("", f"{_SIMT} --quick --json OUT"),
    "closed.jsonl": ("", f"{_SIMT} --items 1000 --json OUT >&- || test $? = 2"),
}


@pytest.mark.parametrize("name", _WRITTEN)
def test_what_the_program_writes_is_read(folder, name) -> None:
    """Also where it cannot print: nothing of that ends in the file."""
    table, line = _WRITTEN[name]
    written(folder, line, name)
    data = load([folder / name])
    assert not data.problems and (data.files or name == "r.ranges.json")
    assert not table or len(data[table])


def test_every_field_of_a_sample_that_the_program_writes_is_read(folder) -> None:
    _, line = _WRITTEN["bench.json"]
    written(folder, line, "fields.json")
    entries = json.loads((folder / "fields.json").read_text("utf-8"))["benchmarks"]
    of_google_benchmark = "name run_name run_type repetitions threads iterations cpu_time".split()
    read = {"kind", *ScanSample.__struct_encode_fields__}
    assert {*entries[0]} - read == {*of_google_benchmark}


def written(folder: Path, line: str, name: str) -> None:
    """Let the program write a file."""
    if not PROGRAM:
        pytest.skip("SCANLAB_PROGRAM names no program")
    ran: Any = subprocess.run(
        ["bash", "-c", f"PROGRAM={PROGRAM}; $PROGRAM {line.replace('OUT', name)}"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr


def test_what_is_kept_fits() -> None:
    for pattern, struct in (
        ("noise/*.json", documents.Noise),
        ("recorded/*/*/session.json", documents.Session),
    ):
        files = sorted(DATA.glob(pattern))
        assert files
        for file in files:
            convert(json.loads(file.read_text(encoding="utf-8")), struct)
