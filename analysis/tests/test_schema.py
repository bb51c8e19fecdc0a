"""Documents are what their structs say: what the program writes, and what is in the tree."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from scanlab_report import DATA
from scanlab_report.commands.__main__ import main
from scanlab_report.schema import DOCUMENTS, verification
from tests import fixtures, ranks_fixtures

ROOT = DATA.parent
_BUILT = (
    os.environ.get("SCANLAB_PROGRAM"),
    ROOT / "build" / "cpu" / "scanlab",
    ROOT / "build" / "cuda" / "scanlab",
)
PROGRAM = next((Path(path) for path in _BUILT if path and Path(path).is_file()), None)


def undescribed(written: Any, read: Any, place: str = "") -> Iterator[str]:
    """The fields of a document that its struct does not have."""
    if isinstance(read, msgspec.Struct):
        fields = dict(zip(read.__struct_encode_fields__, read.__struct_fields__, strict=True))
        for key, of in written.items():
            if key in fields:
                yield from undescribed(of, getattr(read, fields[key]), f"{place}.{key}")
            elif key != read.__struct_config__.tag_field:
                yield f"{place}.{key}"
    elif isinstance(read, dict):
        for key, of in read.items():
            yield from undescribed(written[key], of, f"{place}.*")
    elif isinstance(read, list):
        for a, b in zip(written, read, strict=True):
            yield from undescribed(a, b, f"{place}[]")


def fits(document: Any, struct: Any) -> None:
    """Every field of the document is described, and holds what it may."""
    assert set(undescribed(document, msgspec.convert(document, struct))) == set()


def test_every_document_has_a_schema(tmp_path: Path) -> None:
    assert main(["schema", "--out", str(tmp_path)]) == 0
    for name in DOCUMENTS:
        assert "$defs" in json.loads((tmp_path / f"{name}.schema.json").read_text("utf-8"))


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ("devices/*.json", "device"),
        ("tuned/*.json", "tuning"),
        ("tuned/cub/*.json", "tuning"),
        ("noise/*.json", "noise"),
        ("recorded/*/*/session.json", "session"),
    ],
)
def test_what_is_kept_fits(pattern: str, name: str) -> None:
    files = sorted(DATA.glob(pattern))
    assert files
    for file in files:
        fits(json.loads(file.read_text(encoding="utf-8")), DOCUMENTS[name])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the program writes, with a calibration, a sweep and two traces of a device."""
    made = tmp_path_factory.mktemp("documents")
    calibrated = next(DATA.glob("recorded/*/*/model/calibration.json.gz"))
    model = calibrated.parent
    files = {"calibration": calibrated, "advise": model / "advise.json.gz"}
    traces = sorted((model / "traces").iterdir())[:2]
    files |= {f"trace{number}": file for number, file in enumerate(traces)}
    for name, file in files.items():
        (made / f"{name}.json").write_bytes(gzip.decompress(file.read_bytes()))
    (made / "scenarios").mkdir()
    return made


_CHECK = "streams check three_streams_unordered --workload scale --chunks 2 --json"
_SWEEP = "simulate --sweep --schedule depth_first,graph --items 2^20 --chunks 1,4 --streams 2"
_TIMES = "calibrate --from calibration.json --out times.json --force && $PROGRAM advise"
_WRITTEN = {
    "list": "list --json > OUT",
    "info": "info --json > OUT",
    "streams-list": "streams list --json > OUT",
    "streams-check": f"{_CHECK} > OUT || test $? = 1",
    "results": "bench --variant 'cpu_*' --items 1000 --benchmark_repetitions=5 --out OUT",
    "ranges": "bench --variant 'cpu_seq*' --items 1000 --once --out OUT",
    "explain": "explain hso_block --items 64 --json > OUT",
    "trace": "simulate depth_first --items 2^20 --chunks 4 --out OUT",
    "simulation-sweep": f"{_SWEEP} --out OUT",
    "advice": "advise --profile h200 --bytes-in 2^24 --bytes-out 2^24 --kernel-us 200 --json OUT",
    "device": "calibrate --from calibration.json --out OUT",
    "comparison": "simulate --profile h200 --compare trace0.json trace1.json --out OUT",
    "advice-against": f"{_TIMES} --profile times.json --against advise.json --json OUT",
}


@pytest.mark.parametrize("name", _WRITTEN)
def test_what_the_program_writes_fits(folder: Path, name: str) -> None:
    fits(json.loads(written(folder, _WRITTEN[name], f"{name}.json")), DOCUMENTS[name])


_GENERATED = "stream-scan --device host --generate 2^20 --repetitions 5 --json OUT"
_ON_HOSTS = "distributed bench --on-hosts -b 4KiB -e 16KiB --benchmark_repetitions=5 --out OUT"


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("stream_scan", _GENERATED),
        ("stream_scan", f"{_GENERATED} --out scanned --verify --compare files --force"),
        ("distributed", f"{_ON_HOSTS} || (($? == 2))"),  # one rank, whose cases are skipped
    ],
)
def test_results_of_other_kinds_fit(folder: Path, kind: str, line: str) -> None:
    document = json.loads(written(folder, line, f"{kind}{len(line)}.json"))
    fits(document, DOCUMENTS["results"])
    assert {entry["kind"] for entry in document["benchmarks"]} == {kind}


def test_a_timeline_over_several_gpus_fits() -> None:
    """No machine without GPUs writes one."""
    fits(ranks_fixtures.timeline(), DOCUMENTS["ranks-trace"])


def test_the_dictionary_of_an_export_fits(tmp_path: Path) -> None:
    run, tidy = fixtures.write_all(tmp_path / "run", rounds=2, top=10), tmp_path / "tidy"
    assert main(["export", str(run), "--out", str(tidy)]) == 0
    fits(json.loads((tidy / "dictionary.json").read_text("utf-8")), DOCUMENTS["export"])


def test_the_lines_of_a_verification_fit(folder: Path) -> None:
    line = "verify --device simt --variant one_block --type i32,f32 --quick --json OUT"
    lines = written(folder, line, "verify.jsonl").splitlines()
    first, *between, last = map(json.loads, lines)
    fits(first, verification.Beginning)
    for line in between:
        fits(line, verification.Check)
    fits(last, verification.Ending)


def test_nothing_that_is_printed_ends_in_a_file_where_the_output_is_closed(folder: Path) -> None:
    line = "verify --device simt --variant one_block --type i32 --items 1000 --json OUT"
    lines = written(folder, f"{line} >&- || test $? = 2", "closed.jsonl").splitlines()
    assert list(json.loads(lines[-1])) == ["ended"]


def test_scenarios_fit(folder: Path) -> None:
    written(folder, "scenarios --out scenarios && touch OUT", "none")
    scenarios = sorted((folder / "scenarios").glob("*.json"))
    assert scenarios
    for file in scenarios:
        fits(json.loads(file.read_text(encoding="utf-8")), DOCUMENTS["trace"])


def written(folder: Path, line: str, name: str) -> str:
    """Return the text that a command of the program writes into a file."""
    if PROGRAM is None:
        pytest.skip("the program is not built")
    ran = subprocess.run(
        ["bash", "-c", f"PROGRAM={PROGRAM}; $PROGRAM {line.replace('OUT', name)}"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    return (folder / name).read_text(encoding="utf-8")
