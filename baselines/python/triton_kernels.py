"""An inclusive sum in Triton as its users write it: reduce blocks, scan the totals, scan blocks.

Items are read twice and written once, 3n in all. The size of a block is not tuned. Rows that one
program holds are read once.
"""

from typing import Any

import triton
import triton.language as tl

ITEMS_PER_BLOCK, ITEMS_PER_ROW = 2048, 65536
"""The second is the most that a program of 32 warps can hold in registers."""


@triton.jit
def _add(left, right):
    return left + right


@triton.jit
def _reduce_blocks(items, totals, count, BLOCK: tl.constexpr):
    block = tl.program_id(0).to(tl.int64)
    at = block * BLOCK + tl.arange(0, BLOCK)
    tl.store(totals + block, tl.reduce(tl.load(items + at, mask=at < count, other=0), 0, _add))


@triton.jit
def _scan_totals(totals, blocks, BLOCK: tl.constexpr):
    before = tl.full((), 0, totals.dtype.element_ty)
    for begin in range(0, blocks, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        block_items = tl.load(totals + at, mask=at < blocks, other=0)
        tl.store(totals + at, before + tl.associative_scan(block_items, 0, _add), mask=at < blocks)
        before += tl.reduce(block_items, 0, _add)


@triton.jit
def _scan_blocks(items, totals, sums, count, BLOCK: tl.constexpr):
    block = tl.program_id(0).to(tl.int64)
    at = block * BLOCK + tl.arange(0, BLOCK)
    before = tl.load(totals + block - 1, mask=block > 0, other=0)
    block_items = tl.load(items + at, mask=at < count, other=0)
    tl.store(sums + at, before + tl.associative_scan(block_items, 0, _add), mask=at < count)


@triton.jit
def _scan_row(items, sums, count, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    begin = tl.program_id(0).to(tl.int64) * count
    row = tl.load(items + begin + at, mask=at < count, other=0)
    tl.store(sums + begin + at, tl.associative_scan(row, 0, _add), mask=at < count)


def scan_rows(items: Any, sums: Any) -> Any:
    """Enqueue the scan of each row of a matrix on PyTorch's stream; return ``sums``."""
    rows, count = items.shape
    block = triton.next_power_of_2(count)
    warps = min(max(block // 256, 1), 32)
    _scan_row[(rows,)](items, sums, count, block, num_warps=warps)
    return sums


def scan(items: Any, totals: Any, sums: Any) -> None:
    """Enqueue the kernels on PyTorch's stream. ``totals``: an item for each ``ITEMS_PER_BLOCK``."""
    count, blocks = items.numel(), totals.numel()
    _reduce_blocks[(blocks,)](items, totals, count, ITEMS_PER_BLOCK)
    _scan_totals[(1,)](totals, blocks, ITEMS_PER_BLOCK)
    _scan_blocks[(blocks,)](items, totals, sums, count, ITEMS_PER_BLOCK)
