"""``torchrun --nproc-per-node 2 -m baselines.python.recurrence``: times a recurrence along a
sequence that is sharded over GPUs in time.

``torch_recurrence`` is what a user of PyTorch writes: each rank folds parts of its own times in
Triton, all gather the folds, and each scans its parts. ``scanlab_recurrence`` is that of
examples/torch_distributed. Some channels of both are verified by a loop in double precision, before
they are timed and after.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from baselines.python import __main__ as command
from baselines.python import provenance
from baselines.python.protocol import REPETITIONS, Plan

SHAPES = [(2**18, 1024), (2**16, 4096)]
"""Times of a rank, and channels."""
_RUNS = 10


def measure(sharded: Any, lines: int, channels: int) -> list[dict[str, Any]]:
    """The samples of one shape, as entries of results."""
    import torch

    from baselines.python import triton_kernels

    torch.manual_seed(1 + sharded.RANK)
    maps = sharded.random_maps(1, lines, channels)
    scales, shifts = maps[0].real.contiguous(), maps[0].imag.contiguous()
    states, folds = torch.empty_like(scales), scales.new_empty(2, triton_kernels.PARTS, channels)

    def start(fold: Any) -> Any:
        return sharded.before(torch.complex(*fold)).imag.contiguous()

    forms = {
        "scanlab_recurrence": lambda: sharded.recurrence(maps).imag[0],
        "torch_recurrence": lambda: triton_kernels.recur(scales, shifts, states, folds, start),
    }
    some = slice(None, None, max(channels // 8, 1))
    right = _states_of(maps[0, :, some], sharded)

    def verify() -> None:
        for run in forms.values():
            torch.testing.assert_close(run()[:, some].cpu(), right)

    verify()
    samples = []
    for k in range(REPETITIONS):
        for variant, run in forms.items():
            sample = {"variant": variant, "round": k, "real_time": _nanoseconds(run)}
            samples.append(case_of(variant, lines, channels, sharded.RANKS) | sample)
    verify()
    return samples


def _states_of(maps: Any, sharded: Any) -> Any:
    """The states of some channels at the times of this rank, step by step in double precision."""
    import torch

    parts = [torch.empty_like(maps.contiguous()) for _ in range(sharded.RANKS)]
    torch.distributed.all_gather(parts, maps.contiguous())
    sequence = torch.cat(parts[: sharded.RANK + 1]).cpu().numpy().astype(np.complex128)
    states = np.empty(sequence.shape)
    state = np.zeros(sequence.shape[1])
    for time, step in enumerate(sequence):
        state = step.real * state + step.imag
        states[time] = state
    return torch.from_numpy(states[-len(maps) :].astype(np.float32))


def case_of(variant: str, lines: int, channels: int, ranks: int) -> dict[str, Any]:
    """The fields that all samples of a case share. PyTorch's writes the states alone."""
    moved = 16 if variant == "scanlab_recurrence" else 12
    case = {"kind": "distributed", "type": "f32", "op": "affine", "mode": "inclusive"}
    case |= {"items": lines * channels * ranks, "rows": 1, "inner": channels, "ranks": ranks}
    case |= {"on": "gpus", "settings": {}, "outcome": "timed", "verified": True}
    return case | {"bytes": moved * lines * channels * ranks, "time_unit": "ns"}


def context_of(ranks: int) -> dict[str, Any]:
    """The provenance, and the descriptions of both forms."""
    context = provenance.context(Plan(["f32"], []), "baselines.python.recurrence")
    about = {"kind": "scan", "on_gpus": True, "limits": "even parts"}
    ours = {"title": "fold, gather and scan by functions of Scanlab", "origin": "variant"}
    ours |= {"source": "examples/torch_distributed", "family": "three passes", "traffic": "3n"}
    theirs = {"title": "fold, gather and scan in Triton", "origin": "baseline"}
    theirs |= {"source": "PyTorch: torch.distributed, Triton", "family": "Python"}
    theirs["traffic"] = "2.5n"
    algorithms = {"scanlab_recurrence": about | ours, "torch_recurrence": about | theirs}
    return context | {"ranks": ranks, "ranks_are": "processes", "algorithms": algorithms}


def _nanoseconds(run: Callable[[], Any]) -> float:
    """The mean of some runs back to back, on the slowest rank."""
    import torch

    run()
    torch.distributed.barrier()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(_RUNS):
        run()
    end.record()
    end.synchronize()
    slowest = torch.tensor(start.elapsed_time(end) * 1e6 / _RUNS, device="cuda")
    torch.distributed.all_reduce(slowest, torch.distributed.ReduceOp.MAX)
    return float(slowest)


def main() -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser(prog="baselines.python.recurrence", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="write the times")
    parser.add_argument("--force", action="store_true", help="replace that file")
    options = parser.parse_args()
    if status := command.prepare_output(options):
        return status
    sys.path.insert(0, str(provenance.ROOT / "examples/torch_distributed"))
    import sharded_recurrence as sharded
    import torch

    sharded.start()
    entries = [entry for shape in SHAPES for entry in measure(sharded, *shape)]
    if sharded.RANK == 0:
        context = context_of(sharded.RANKS) | {"torch": torch.__version__}
        command.write(options.out, context, entries)
    torch.distributed.destroy_process_group()
    return command.DONE


if __name__ == "__main__":
    sys.exit(main())
