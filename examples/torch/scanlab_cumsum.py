"""torch.cumsum by scanlab::DeviceAxisScan. As a program, compares both (PyTorch 2.4, nvcc, GPU)."""

from pathlib import Path

import torch
from torch.utils.cpp_extension import load

ROOT = Path(__file__).resolve().parents[2]


def build(name):
    """Build NAME.cu beside this file, which adds functions to torch.ops.scanlab."""
    load(
        name,
        sources=[str(ROOT / "examples/torch" / f"{name}.cu")],
        extra_include_paths=[str(ROOT), str(ROOT / "include")],
        extra_cuda_cflags=["-std=c++20", "-O3"],
        is_python_module=False,
    )


build("scanlab_cumsum")


def cumsum(x, dim, *, dtype=None):
    """As torch.cumsum: the sums of integers are int64, unless dtype is another type."""
    if not x.is_cuda:
        raise ValueError(f"scanlab.cumsum takes CUDA tensors, and this one is on {x.device}")
    sums = dtype or (x.dtype if x.dtype.is_floating_point or x.dtype.is_complex else torch.int64)
    return torch.ops.scanlab.cumsum(x.to(sums), dim)


def backward(ctx, grad):
    return cumsum(grad.flip(ctx.dim), ctx.dim).flip(ctx.dim), None


def setup_context(ctx, inputs, output):
    ctx.dim = inputs[1]


torch.library.register_autograd("scanlab::cumsum", backward, setup_context=setup_context)
torch.library.register_fake("scanlab::cumsum")(lambda x, dim: torch.empty_like(x.contiguous()))


if __name__ == "__main__":
    for shape in [(), (5,), (0, 4), (1000, 300), (3, 70_001, 7), (2, 3, 5, 4)]:
        for dtype in (torch.float32, torch.float64, torch.int32, torch.int64):
            x = torch.randint(-9, 9, shape, device="cuda").to(dtype)  # sums are exact
            for dim in range(-max(x.dim(), 1), max(x.dim(), 1)):
                assert cumsum(x, dim).equal(torch.cumsum(x, dim)), (shape, dtype, dim)
    x = torch.rand(4, 5, 6, dtype=torch.float64, device="cuda", requires_grad=True)
    for dim in range(-3, 3):
        torch.autograd.gradcheck(cumsum, (x, dim))
    print("equal to torch.cumsum, and its gradients are right")
