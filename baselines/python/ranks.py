"""``python -m baselines.python.ranks``: times the prefix sum of one array over several processes.

Each process has a GPU and a block of the array, and scans as a user of PyTorch writes it:
torch.cumsum of the block, all_gather of its last item, and an addition to the whole block. Every
result is verified against numpy before it is timed, and once more after the last timed run. Results
go to one file that ``scanlab-report`` reads with those of ``scanlab distributed bench``.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import socket
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from baselines.python import __main__ as command
from baselines.python import libraries, provenance, scans
from baselines.python.protocol import MIN_RUN_SECONDS, Plan, Shape
from baselines.python.session import Bench, Case

_MAX_RUNS, _SECONDS_PER_SAMPLE = 400, 20e-3
"""As in harness/distributed/distributed_session.cpp."""


class Torch(libraries.Torch):
    """torch.cumsum of each block, all_gather of the last items, and an addition, on one of the
    processes. ``gather``, ``seconds`` and the result of ``prepare`` are collective."""

    id, label, caches = "torch_distributed", "PyTorch", ("warm",)

    def __init__(self, rank: int, ranks: int) -> None:
        import torch
        import torch.distributed

        self.rank, self.ranks = rank, ranks
        self._module, self._distributed = torch, torch.distributed
        self._synchronize = torch.cuda.synchronize
        torch.cuda.set_device(rank)
        self._distributed.init_process_group("nccl", rank=rank, world_size=ranks)
        self._host_group = self._distributed.new_group(backend="gloo")  # messages use no GPU

    def close(self) -> None:
        self._distributed.destroy_process_group()

    def gather(self, value: Any) -> list[Any]:
        """The values of all ranks, in their order."""
        values: list[Any] = [None] * self.ranks
        self._distributed.all_gather_object(values, value, group=self._host_group)
        return values

    def prepare(self, items: Any, axis: int = 0) -> Callable[[], Any]:
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
        """The default stream, in which users of torch.distributed work. The untimed runs
        synchronise the ranks."""
        return contextlib.nullcontext()


class RanksBench(Bench):
    """A session of all ranks together, each with a block of ``plan.items`` items."""

    def _gather(self, value: Any) -> list[Any]:
        return self.libraries[0].gather(value)

    def _items(self, type_name: str, shape: Shape) -> np.ndarray:
        seed = 1024 * self.plan.seed + self.libraries[0].rank
        return scans.make_items(type_name, shape.axis, seed)

    def _expected(self, items: np.ndarray, axis: int) -> np.ndarray:
        sums = self._gather(scans.reference(items)[-1])
        return scans.reference(items, sums[: self.libraries[0].rank])

    def _runs(self, seconds: float, cache: str) -> int:
        run = max(seconds, MIN_RUN_SECONDS)
        return min(math.ceil(_SECONDS_PER_SAMPLE / run), _MAX_RUNS)

    def _facts_of_sample(self, by_rank: list[float]) -> dict[str, Any]:
        return {"rank_ns": [seconds * 1e9 for seconds in by_rank]}

    def _fields(self, case: Case) -> dict[str, Any]:
        group, scan = self.libraries[0], case.scan
        items = scan.shape.axis * group.ranks
        name = (
            f"scan/variant:{group.id}/type:{scan.type}/op:plus/mode:inclusive"
            f"/items:{items}/ranks:{group.ranks}"
        )
        fields = {"name": name, "kind": "distributed", "items": items, "ranks": group.ranks}
        return fields | {"on": "gpus", "chunk_items": scan.shape.axis, "compared_every": 1}


def measure(plan: Plan, group: Torch, out: Path) -> int:
    """Take the part of one rank; rank 0 writes the file and speaks. Returns the exit status."""
    about = {
        "title": "torch.cumsum, all_gather of the last item, and an addition",
        "source": "PyTorch: torch.cumsum, torch.distributed.all_gather",
        "limits": "items that ranks share evenly",
        "on_gpus": True,
    }
    about |= {"kind": "scan", "origin": "baseline", "family": "Python", "traffic": "4n"}
    context = provenance.context(plan, "baselines.python.ranks") | group.versions()
    context |= {"ranks": group.ranks, "ranks_are": "processes", "algorithms": {group.id: about}}
    leads = group.rank == 0
    session = RanksBench(plan, [group], command.say if leads else lambda _: None)
    return command.measure(session, context, out, leads)


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit status."""
    parser = command.make_parser("baselines.python.ranks", __doc__, "2^20:2^28:x4")
    each = "start N processes, each with a GPU and so many items (default 2)"
    parser.add_argument(
        "--ranks", type=int, choices=range(1, 65), default=2, metavar="N", help=each
    )
    options = parser.parse_args(arguments)
    if status := command.prepare_output(options):
        return status
    try:
        import torch.multiprocessing
    except ImportError as error:
        return command.complain(command.NO_DEVICE, f"PyTorch is not installed: {error}")
    if (gpus := torch.cuda.device_count()) < options.ranks:
        lack = f"{options.ranks} ranks need as many GPUs, and PyTorch sees {gpus}"
        return command.complain(command.NO_DEVICE, lack)
    with socket.socket() as listener:  # for a port that is free
        listener.bind(("127.0.0.1", 0))
        os.environ.setdefault("MASTER_PORT", str(listener.getsockname()[1]))
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    try:
        torch.multiprocessing.spawn(_run_rank, (options,), nprocs=options.ranks)
    except torch.multiprocessing.ProcessExitedException as error:  # a rank's status is not 0
        return error.exit_code or command.FAILED
    return command.DONE


def _run_rank(rank: int, options: argparse.Namespace) -> None:
    group = Torch(rank, options.ranks)
    try:
        sys.exit(measure(Plan(["i32"], options.items), group, options.out))
    finally:
        group.close()


if __name__ == "__main__":
    sys.exit(main())
