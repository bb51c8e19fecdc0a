"""``python -m baselines.python.ranks``: times the prefix sum of one array over several processes.

Each process has a GPU and a block of the array, and scans as a user of PyTorch writes it:
torch.cumsum of the block, all_gather of its last item, and an addition to the whole block. Every
result is verified against numpy before it is timed, and once more after the last timed run. Results
go to one file that ``scanlab-report`` reads with those of ``scanlab distributed bench``. torchrun
may start it; else it starts its own processes.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import re
import socket
import sys
import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from baselines.python import __main__ as command
from baselines.python import libraries, provenance, scans
from baselines.python.libraries import Library
from baselines.python.protocol import MIN_RUN_SECONDS, Plan
from baselines.python.session import Bench, Case

_MAX_RUNS, _SECONDS_PER_SAMPLE = 400, 20e-3
"""As in harness/distributed/distributed_session.cpp."""


class Group(Library):
    """The processes of a scan, as one of them sees them.

    ``gather``, ``seconds`` and the result of ``prepare`` are collective.
    """

    id, label, caches = "torch_distributed", "PyTorch", ("warm",)
    rank: int
    ranks: int
    on = "gpus"

    @abstractmethod
    def gather(self, value: Any) -> list[Any]:
        """The values of all ranks, in their order."""


class Torch(Group, libraries.Torch):
    """torch.cumsum of each block, all_gather of the last items, and an addition."""

    def __init__(self, rank: int, ranks: int, on_cpu: bool) -> None:
        import torch
        import torch.distributed

        self.rank, self.ranks, self.on = rank, ranks, "hosts" if on_cpu else "gpus"
        self._module, self._distributed = torch, torch.distributed
        self._device = "cpu" if on_cpu else "cuda"
        self._synchronize = (lambda: None) if on_cpu else torch.cuda.synchronize
        if not on_cpu:
            torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", rank)))
        backend = "gloo" if on_cpu else "nccl"
        self._distributed.init_process_group(backend, rank=rank, world_size=ranks)
        self._host_group = self._distributed.new_group(backend="gloo")  # messages use no GPU

    def close(self) -> None:
        self._distributed.destroy_process_group()

    def gather(self, value: Any) -> list[Any]:
        values: list[Any] = [None] * self.ranks
        self._distributed.all_gather_object(values, value, group=self._host_group)
        return values

    def put(self, items: np.ndarray) -> Any:
        return self._module.from_numpy(items).to(self._device)

    def prepare(self, items: Any) -> Callable[[], Any]:
        torch, out = self._module, self._make_output(items)
        sums = [torch.zeros_like(out[:1]) for _ in range(self.ranks)]

        def run() -> Any:
            torch.cumsum(items, 0, dtype=items.dtype, out=out)
            self._distributed.all_gather(sums, out[-1:])
            if self.rank > 0:
                out.add_(torch.cat(sums[: self.rank]).sum(dtype=out.dtype))
            return out

        return run

    def _stream(self) -> contextlib.AbstractContextManager[Any]:
        """The default stream, in which users of torch.distributed work."""
        return contextlib.nullcontext()

    def seconds(self, run: Callable[[], Any], runs: int, cache: str) -> float:
        """The untimed runs synchronise the ranks."""
        if self.on == "gpus":
            return super().seconds(run, runs, cache)
        for _ in range(libraries.UNTIMED_RUNS):
            run()
        began = time.perf_counter()
        for _ in range(runs):
            run()
        return (time.perf_counter() - began) / runs


class RanksBench(Bench):
    """A session of all ranks together, each with a block of ``plan.items`` items."""

    @property
    def group(self) -> Group:
        return self.libraries[0]

    def _gather(self, value: Any) -> list[Any]:
        return self.group.gather(value)

    def _items(self, type_name: str) -> np.ndarray:
        seed = 1024 * self.plan.seed + self.group.rank
        return scans.make_items(type_name, max(self.plan.items), seed)

    def _expected(self, items: np.ndarray) -> np.ndarray:
        return scans.reference(items, self._gather(scans.block_sum(items))[: self.group.rank])

    def _runs(self, seconds: float, cache: str) -> int:
        run = max(seconds, MIN_RUN_SECONDS)
        return min(math.ceil(_SECONDS_PER_SAMPLE / run), _MAX_RUNS)

    def _facts_of_sample(self, by_rank: list[float]) -> dict[str, Any]:
        return {"rank_ns": [seconds * 1e9 for seconds in by_rank]}

    def _fields(self, case: Case) -> dict[str, Any]:
        group, scan = self.group, case.scan
        items = scan.items * group.ranks
        name = (
            f"scan/variant:{group.id}/type:{scan.type}/op:plus/mode:inclusive"
            f"/items:{items}/ranks:{group.ranks}"
        )
        fields = {"name": name, "kind": "distributed", "items": items, "ranks": group.ranks}
        return fields | {"on": group.on, "chunk_items": scan.items, "compared_every": 1}


def context(plan: Plan, group: Group) -> dict[str, Any]:
    """The provenance of the results file."""
    about = {
        "title": "torch.cumsum, all_gather of the last item, and an addition",
        "source": "PyTorch: torch.cumsum, torch.distributed.all_gather",
        "limits": "items that ranks share evenly",
        "on_gpus": group.on == "gpus",
    }
    about |= {"kind": "scan", "origin": "baseline", "family": "Python", "traffic": "4n"}
    facts = provenance.context(plan, "baselines.python.ranks") | group.versions()
    facts |= {"ranks": group.ranks, "ranks_are": "processes", "algorithms": {group.id: about}}
    return facts | ({"kind": "host", "cpu": _cpu()} if group.on == "hosts" else {})


def _cpu() -> str:
    """The processor, as ``scanlab bench`` names it."""
    name = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return name[1].strip() if name else "unnamed CPU"


def measure(plan: Plan, group: Group, out: Path) -> int:
    """Take the part of one rank; rank 0 writes the file and speaks. Returns the exit status."""
    leads = group.rank == 0
    session = RanksBench(plan, [group], command.say if leads else lambda _: None)
    return command.measure(session, context(plan, group) if leads else {}, out, leads)


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit status."""
    parser = command.make_parser("baselines.python.ranks", __doc__, ["i32"], "2^20:2^28:x4")
    each = "start N processes, each with a GPU and LIST items (default 2; torchrun starts its own)"
    parser.add_argument("--ranks", type=command.positive, default=2, metavar="N", help=each)
    host = "scan in the memory of the host, by gloo"
    parser.add_argument("--cpu", action="store_true", help=host)
    options = parser.parse_args(arguments)
    started = "RANK" in os.environ and "WORLD_SIZE" in os.environ  # by torchrun
    leads = not started or os.environ["RANK"] == "0"
    if leads and (status := command.prepare_output(options)):
        return status
    try:
        import torch
        import torch.multiprocessing
    except ImportError as error:
        return command.complain(command.NO_DEVICE, f"PyTorch is not installed: {error}")
    gpus = 0 if options.cpu else torch.cuda.device_count()
    if not options.cpu and gpus < (1 if started else options.ranks):
        lack = f"{options.ranks} ranks need as many GPUs, and PyTorch sees {gpus}"
        return command.complain(command.NO_DEVICE, lack)
    if started:
        return _run_rank(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), options)
    with socket.socket() as listener:  # for a port that is free
        listener.bind(("127.0.0.1", 0))
        os.environ.setdefault("MASTER_PORT", str(listener.getsockname()[1]))
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    try:
        parts = (options.ranks, options)
        torch.multiprocessing.spawn(_exit_with_rank, parts, nprocs=options.ranks)
    except torch.multiprocessing.ProcessExitedException as error:  # a rank's status is not 0
        return error.exit_code or command.FAILED
    return command.DONE


def _exit_with_rank(rank: int, ranks: int, options: argparse.Namespace) -> None:
    sys.exit(_run_rank(rank, ranks, options))


def _run_rank(rank: int, ranks: int, options: argparse.Namespace) -> int:
    group = Torch(rank, ranks, options.cpu)
    try:
        return measure(command.make_plan(options), group, options.out)
    finally:
        group.close()


if __name__ == "__main__":
    sys.exit(main())
