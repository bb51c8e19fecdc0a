"""A recurrence h[t] = a[t] h[t-1] + b[t] along a sequence that is sharded over GPUs in time.

    torchrun --nproc-per-node 2 examples/torch_distributed/sharded_recurrence.py

compares the states with those that one GPU computes of the whole sequence (PyTorch 2.4, nvcc, GPUs
of compute capability 8.0).
"""

import os
import sys
from pathlib import Path

import torch
import torch.distributed as dist
from torch.utils.cpp_extension import load

ROOT = Path(__file__).resolve().parents[2]
if "RANK" not in os.environ:
    sys.exit("Processes that share a sequence are started by torchrun --nproc-per-node 2")
RANK, RANKS = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])


def start():
    """Join the other processes, and build the functions of scanlab_recurrence.cu."""
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    if RANK > 0:
        dist.barrier()  # the first process builds for all
    load(
        "scanlab_recurrence",
        sources=[str(Path(__file__).with_name("scanlab_recurrence.cu"))],
        extra_include_paths=[str(ROOT)],
        extra_cuda_cflags=["-std=c++20", "-O3"],
        is_python_module=False,
    )
    if RANK == 0:
        dist.barrier()


def compose(first, second):
    """The map that applies both: x -> a x + b is the complex number a + ib."""
    shift = first.imag * second.real + second.imag
    return torch.complex(first.real * second.real, shift)


def before(fold):
    """The composition of the folds of all ranks before this one."""
    folds = fold.new_empty(RANKS, *fold.shape)
    dist.all_gather_into_tensor(folds, fold.contiguous())
    composed = torch.ones_like(fold)
    for each in folds[:RANK]:
        composed = compose(composed, each)
    return composed


def recurrence(maps):
    """The map from the state before all to that after each time step, as a pair (a, b) in a complex
    number; from 0 on, b is the state. maps: (batch, time, channels), the steps of this rank."""
    return torch.ops.scanlab.recur(maps, before(torch.ops.scanlab.fold(maps)))


def random_maps(*shape):
    return torch.complex(*torch.rand(2, *shape, device="cuda").mul_(0.9))


if __name__ == "__main__":
    start()
    for shape in [(1, 1000, 1), (3, 1000, 33), (2, 4096, 1024), (64, 8, 96)]:
        torch.manual_seed(1)  # the same sequence everywhere
        batch, time, channels = shape
        sequence = random_maps(batch, RANKS * time, channels)
        own = slice(RANK * time, (RANK + 1) * time)
        states = recurrence(sequence[:, own].contiguous()).imag
        one_gpu = torch.ops.scanlab.recur(sequence, None).imag[:, own]
        torch.testing.assert_close(states, one_gpu)
        state, by_steps = torch.zeros(batch, channels, device="cuda"), []
        for step in sequence.unbind(1):
            state = step.real * state + step.imag
            by_steps.append(state)
        torch.testing.assert_close(states, torch.stack(by_steps, 1)[:, own])
    print(f"rank {RANK} of {RANKS}: equal to one GPU's, and to a loop's")
    dist.destroy_process_group()
