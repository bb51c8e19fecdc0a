"""``python -m baselines.python.ranks``: times the prefix sum of one array over several processes by PyTorch, as a user writes it.

Each process has a GPU and a block of the array: torch.cumsum of the block, all_gather of its last item, and then an addition to the whole
block. Every result is verified against numpy before it is timed, and once more after the last timed run. Results go to one file
that ``scanlab-report`` reads beside those of ``scanlab distributed bench``. torchrun may start it; else it starts its own processes.
"""

from __future__ import annotations

import argparse
import math
import os
import socket
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from baselines.python import __main__ as command
from baselines.python import provenance, scans
from baselines.python.session import MIN_RUN_SECONDS, Plan, is_last, median_uncertainty

ALGORITHM = "torch_distributed"
_UNTIMED_RUNS, _MAX_RUNS = 3, 400
_SECONDS_PER_SAMPLE = 20e-3
"""The same as in harness/distributed/distributed_session.cpp: tests/measure/runs_per_sample.json checks both."""


def runs_per_sample(seconds_per_run: float, rounds: int, cap_seconds: float) -> int:
    """Number of runs that fill a sample, limited by the cap over all rounds and by the length of a stream; at least one."""
    run = max(seconds_per_run, MIN_RUN_SECONDS)
    return max(min(math.ceil(_SECONDS_PER_SAMPLE / run), math.floor(cap_seconds / rounds / run), _MAX_RUNS), 1)


class Group(ABC):
    """The processes of a scan, as seen by one of them, and its library. ``gather``, ``seconds`` and the result of ``prepare`` are
    collective."""

    rank: int
    ranks: int
    on = "gpus"

    @abstractmethod
    def gather(self, value: Any) -> list[Any]:
        """The values of all ranks, in their order."""

    @abstractmethod
    def prepare(self, items: np.ndarray) -> Callable[[], Any]:
        """Return a function that enqueues the scan and returns the array of this rank's sums; ``items`` are this rank's block."""

    @abstractmethod
    def fetch(self, result: Any) -> np.ndarray:
        """Waits for a result and copies it to the host."""

    @abstractmethod
    def seconds(self, run: Callable[[], Any], runs: int) -> float:
        """The time that ``runs`` runs took on this rank, after some untimed ones."""

    def versions(self) -> dict[str, str]:
        """The library's facts in the provenance."""
        return {}


class Torch(Group):
    """torch.cumsum of each block, all_gather of the last items, and an addition: what users of torch.distributed write."""

    def __init__(self, rank: int, ranks: int, on_cpu: bool) -> None:
        import torch
        import torch.distributed

        self.rank, self.ranks, self.on = rank, ranks, "hosts" if on_cpu else "gpus"
        self._torch, self._distributed = torch, torch.distributed
        if not on_cpu:
            torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", rank)))
        self._distributed.init_process_group("gloo" if on_cpu else "nccl", rank=rank, world_size=ranks)
        self._host_group = self._distributed.new_group(backend="gloo")  # messages between ranks use no GPU
        self._device = "cpu" if on_cpu else "cuda"

    def versions(self) -> dict[str, str]:
        return {"torch": self._torch.__version__, "torch_cuda": str(self._torch.version.cuda)}

    def close(self) -> None:
        self._distributed.destroy_process_group()

    def gather(self, value: Any) -> list[Any]:
        values: list[Any] = [None] * self.ranks
        self._distributed.all_gather_object(values, value, group=self._host_group)
        return values

    def prepare(self, items: np.ndarray) -> Callable[[], Any]:
        torch = self._torch
        block = torch.from_numpy(items).to(self._device)
        out = torch.full_like(block, 85)
        sums = [torch.zeros_like(out[:1]) for _ in range(self.ranks)]

        def run() -> Any:
            torch.cumsum(block, 0, dtype=block.dtype, out=out)
            self._distributed.all_gather(sums, out[-1:])
            if self.rank > 0:
                out.add_(torch.cat(sums[: self.rank]).sum(dtype=out.dtype))
            return out

        return run

    def fetch(self, result: Any) -> np.ndarray:
        return result.cpu().numpy()

    def seconds(self, run: Callable[[], Any], runs: int) -> float:
        for _ in range(_UNTIMED_RUNS):  # these synchronise the ranks before the timed runs
            run()
        if self.on == "hosts":
            began = time.perf_counter()
            for _ in range(runs):
                run()
            return time.perf_counter() - began
        start, end = (self._torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(runs):
            run()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) * 1e-3


def reference(items: np.ndarray, before: Sequence[Any]) -> np.ndarray:
    """Inclusive sums of a block, given the sums of all earlier blocks: integers wrap, floats are summed as doubles."""
    wide = _wide(items)
    return (np.cumsum(items, dtype=wide) + np.array(before, dtype=wide).sum(dtype=wide)).astype(items.dtype, copy=False)


def block_sum(items: np.ndarray) -> Any:
    """The sum of a block, in the type that :func:`reference` adds in."""
    return items.sum(dtype=_wide(items))


def _wide(items: np.ndarray) -> np.dtype:
    return items.dtype if items.dtype.kind == "i" else np.dtype(np.float64)


@dataclass
class Case:
    """One name in the results. ``items`` are those of the whole array."""

    type: str
    items: int
    run: Callable[[], Any] | None = None
    expected: np.ndarray | None = None
    fault: str = ""
    out_of_memory: bool = False
    runs: int = 1
    spent: float = 0.0
    times: list[float] = field(default_factory=list)
    finished: bool = False


@dataclass
class Session:
    """Verifies and times every case, on all ranks together; rank 0 keeps the entries. ``plan.items`` are those of each rank."""

    plan: Plan
    group: Group
    say: Callable[[str], None]
    entries: list[dict[str, Any]] = field(default_factory=list)
    failed: int = 0
    out_of_memory: int = 0

    def run(self) -> Iterator[None]:
        """Everything; yields whenever there is more to keep."""
        cases = [Case(type_name, count * self.group.ranks) for type_name in self.plan.types for count in self.plan.items]
        for case in cases:
            self._bind(case)
            self._together(case, lambda: self._verify(case))
            self._calibrate(case)
            if case.fault:
                self._refuse(case)
        yield
        for round_number in range(self.plan.rounds):
            for case in cases:
                if not case.fault and not case.finished:
                    self._time(case, round_number)
            yield
        for case in cases:
            if not case.fault:
                self._together(case, lambda: self._verify(case, "after its last timed run: "))
                if case.fault:
                    self.entries = [entry for entry in self.entries if entry["name"] != self._name(case)]
                    self._refuse(case)
        yield

    def _bind(self, case: Case) -> None:
        blocks: list[np.ndarray] = []
        self._together(case, lambda: blocks.append(scans.make_items(case.type, case.items // self.group.ranks, 1024 * self.plan.seed + self.group.rank)))
        sums = self.group.gather(block_sum(blocks[0]) if blocks else None)

        def prepare() -> None:
            case.expected = reference(blocks[0], sums[: self.group.rank])
            case.run = self.group.prepare(blocks[0])

        self._together(case, prepare)

    def _verify(self, case: Case, when: str = "") -> None:
        if case.run is not None and (fault := scans.fault(self.group.fetch(case.run()), case.expected)):
            raise ValueError(when + fault)

    def _calibrate(self, case: Case) -> None:
        case.runs = runs_per_sample(max(self._seconds(case, 1)), self.plan.rounds, self.plan.cap_seconds)

    def _time(self, case: Case, round_number: int) -> None:
        began = time.monotonic()
        by_rank = [seconds / case.runs for seconds in self._seconds(case, case.runs)]
        latest = self.group.gather(time.monotonic() - began)[0]  # that of rank 0: all decide alike
        if case.fault:
            self._refuse(case)
            return
        case.times.append(max(by_rank))
        case.finished = is_last(case.times, self.plan.rounds, self.plan.width, self.plan.cap_seconds, case.spent, latest)
        case.spent += latest
        self.entries.append(self._entry(case, round_number) | {
            "iterations": case.runs, "real_time": max(by_rank) * 1e9, "outcome": "timed", "rank_ns": [of * 1e9 for of in by_rank],
            "converged": median_uncertainty(case.times) <= self.plan.width, "verified": True})  # fmt: skip

    def _seconds(self, case: Case, runs: int) -> list[float]:
        """The time of the runs on each rank; what a rank lacks is 0."""
        own: list[float] = []
        self._together(case, lambda: own.append(self.group.seconds(case.run, runs)))
        return self.group.gather(own[0] if own else 0.0)

    def _together(self, case: Case, work: Callable[[], None]) -> None:
        """Does the work unless the case has a fault; what it raises on one rank is the case's fault on all."""
        if case.fault:
            return
        complaint = ""
        try:
            work()
        except Exception as error:  # a library may raise anything
            complaint = "out of device memory" if "out of memory" in str(error).lower() else (str(error).splitlines() or [type(error).__name__])[0]
        complaints = [(rank, text) for rank, text in enumerate(self.group.gather(complaint)) if text]
        if complaints:
            rank, complaint = complaints[0]
            case.out_of_memory = complaint == "out of device memory"
            case.fault = complaint if case.out_of_memory else f"rank {rank}: {complaint}"

    def _refuse(self, case: Case) -> None:
        """An entry without a time, with the reason."""
        self.say(f"{self._name(case)}: {case.fault}")
        if case.out_of_memory:
            self.out_of_memory += 1
        else:
            self.failed += 1
        message = case.fault if case.out_of_memory else f"verification failed: {case.fault}"
        self.entries.append(self._entry(case, 0) | {
            "iterations": 0, "real_time": 0.0, "verified": False, "converged": False, "outcome": "skipped" if case.out_of_memory else "failed",
            "error_occurred": True, "error_message": message})  # fmt: skip

    def _name(self, case: Case) -> str:
        return f"scan/variant:{ALGORITHM}/type:{case.type}/op:plus/mode:inclusive/items:{case.items}/ranks:{self.group.ranks}"

    def _entry(self, case: Case, round_number: int) -> dict[str, Any]:
        name, size = self._name(case), scans.TYPES[case.type](0).itemsize
        return {"name": name, "run_name": name, "run_type": "iteration", "threads": 1, "repetitions": self.plan.rounds,
                "repetition_index": round_number, "round": round_number, "cpu_time": 0.0, "time_unit": "ns", "kind": "distributed",
                "variant": ALGORITHM, "type": case.type, "op": "plus", "mode": "inclusive", "items": case.items, "ranks": self.group.ranks,
                "on": self.group.on, "settings": {}, "chunk_items": case.items // self.group.ranks, "bytes": 2 * case.items * size,
                "compared_every": 1}  # fmt: skip


def context(plan: Plan, group: Group) -> dict[str, Any]:
    """The provenance of the results file."""
    about = {"title": "torch.cumsum, all_gather of the last item, and an addition", "source": "PyTorch: torch.cumsum, torch.distributed.all_gather",
             "kind": "scan", "origin": "baseline", "family": "Python", "on_gpus": group.on == "gpus", "limits": "items that ranks share evenly",
             "traffic": "4n"}  # fmt: skip
    facts = provenance.context(plan.seed, plan.rounds, plan.width, plan.cap_seconds)
    facts |= {"argv": " ".join(["python -m baselines.python.ranks", *sys.argv[1:]]), "executable": "baselines.python.ranks", "ranks": group.ranks,
              "ranks_are": "processes", "algorithms": {ALGORITHM: about}}  # fmt: skip
    if group.on == "hosts":
        facts |= {"kind": "host", "cpu": _cpu()}
    return facts | group.versions()


def _cpu() -> str:
    """The processor, as ``scanlab bench`` names it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unnamed CPU")


def measure(plan: Plan, group: Group, out: Path) -> int:
    """One rank's part of everything; rank 0 writes what there is, however it ends. Returns the exit status."""
    session = Session(plan, group, command._say if group.rank == 0 else lambda _: None)
    facts = context(plan, group) if group.rank == 0 else {}
    return command.measure(session, facts, out, leads=group.rank == 0)


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit status."""
    options = _parser().parse_args(arguments)
    started = "RANK" in os.environ and "WORLD_SIZE" in os.environ  # by torchrun, whose ranks are as many as it says
    if (not started or os.environ["RANK"] == "0") and options.out.exists() and not options.force:
        return command._complain(command.BAD_INPUT, f"{options.out} is there already; choose another name, or give --force to replace it")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    try:
        import torch
        import torch.multiprocessing
    except ImportError as error:
        return command._complain(command.NO_DEVICE, f"PyTorch is not installed: {error}")
    if not options.cpu and torch.cuda.device_count() < (1 if started else options.ranks):
        return command._complain(command.NO_DEVICE, f"{options.ranks} ranks need as many GPUs, and PyTorch sees {torch.cuda.device_count()}")
    if started:
        return _on_rank(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), options)
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", str(_free_port()))
    try:
        torch.multiprocessing.spawn(_spawned, args=(options.ranks, options), nprocs=options.ranks)
    except torch.multiprocessing.ProcessExitedException as error:  # a rank's status is not 0
        return error.exit_code or command.FAILED
    return command.DONE


def _spawned(rank: int, ranks: int, options: argparse.Namespace) -> None:
    sys.exit(_on_rank(rank, ranks, options))


def _on_rank(rank: int, ranks: int, options: argparse.Namespace) -> int:
    plan = Plan(options.type, options.items, options.rounds, options.seed, options.width / 100, options.cap)
    group = Torch(rank, ranks, options.cpu)
    try:
        return measure(plan, group, options.out)
    finally:
        group.close()


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m baselines.python.ranks", description=(__doc__ or "").split("\n\n", 1)[0],
        epilog="example, from the repository root: python -m baselines.python.ranks --ranks 4 --out results/ranks_python.json")  # fmt: skip
    add = parser.add_argument
    add("--ranks", type=command._positive, default=2, metavar="N", help="start N processes, a GPU each (default 2; under torchrun those that it starts)")
    add("--out", type=Path, required=True, metavar="FILE", help="write results to FILE")
    add("--force", action="store_true", help="replace that file")
    add("--cpu", action="store_true", help="scan in the memory of the host, by gloo")
    add("--type", type=command._words(command._TYPES), default=["i32"], metavar="TYPE", help="choose types, with commas between (default i32)")
    add("--items", type=command.parse_items, default=command.parse_items("2^20:2^28:x4"), metavar="LIST", help="set the items of each rank (default 2^20:2^28:x4)")
    command.add_loop_options(parser)
    add("--seed", type=command._positive, default=1, metavar="N", help="choose the inputs (default 1)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
