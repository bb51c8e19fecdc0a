"""``torchrun --nproc-per-node 2 -m baselines.python.recurrence``: times a recurrence along a
sequence that is sharded over GPUs in time.

``torch_recurrence`` is what a user of PyTorch writes: each rank folds parts of its own times in
Triton, all gather the folds, and each scans its parts. ``scanlab_recurrence`` is that of
examples/torch_distributed. Both are compared before they are timed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from baselines.python import __main__ as command
from baselines.python import provenance
from baselines.python.protocol import REPETITIONS, Plan

SHAPES = [(2**18, 1024), (2**16, 4096)]
"""Times of a rank, and channels."""
_RUNS = 10


def measure(sharded: Any, lines: int, channels: int) -> Iterator[dict[str, Any]]:
    """The samples of one shape, as entries of results."""
    import torch

    from baselines.python import triton_kernels

    maps = sharded.random_maps(1, lines, channels)
    scales, shifts = maps[0].real.contiguous(), maps[0].imag.contiguous()
    states, folds = torch.empty_like(scales), scales.new_empty(2, triton_kernels.PARTS, channels)

    def start(fold: Any) -> Any:
        return sharded.before(torch.complex(*fold)).imag.contiguous()

    forms = {
        "scanlab_recurrence": lambda: sharded.recurrence(maps).imag[0],
        "torch_recurrence": lambda: triton_kernels.recur(scales, shifts, states, folds, start),
    }
    torch.testing.assert_close(*(run() for run in forms.values()))
    case = case_of(lines, channels, sharded.RANKS)
    for k in range(REPETITIONS):
        for variant, run in forms.items():
            yield case | {"variant": variant, "round": k, "real_time": _nanoseconds(run)}


def case_of(lines: int, channels: int, ranks: int) -> dict[str, Any]:
    """The fields that all samples of a shape share."""
    case = {"kind": "distributed", "type": "f32", "op": "affine", "mode": "inclusive"}
    case |= {"items": lines * channels * ranks, "rows": 1, "inner": channels, "ranks": ranks}
    case |= {"on": "gpus", "settings": {}, "outcome": "timed", "verified": True}
    return case | {"bytes": 16 * lines * channels * ranks, "time_unit": "ns"}


def context_of(ranks: int) -> dict[str, Any]:
    """The provenance, and the descriptions of both forms."""
    context = provenance.context(Plan(["f32"], []), "baselines.python.recurrence")
    about = {"kind": "scan", "on_gpus": True, "traffic": "3n", "limits": "even parts"}
    ours = {"title": "fold, gather and scan by functions of Scanlab", "origin": "variant"}
    ours |= {"source": "examples/torch_distributed", "family": "three passes"}
    theirs = {"title": "fold, gather and scan in Triton", "origin": "baseline"}
    theirs |= {"source": "PyTorch: torch.distributed, Triton", "family": "Python"}
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
        options.out.write_text(json.dumps({"context": context, "benchmarks": entries}, indent=1))
    torch.distributed.destroy_process_group()
    return command.DONE


if __name__ == "__main__":
    sys.exit(main())
