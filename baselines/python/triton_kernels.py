"""Scans in Triton as its users write them: reduce blocks, scan the totals, scan blocks.

Items of an inclusive sum are read twice and written once, 3n in all. Rows that one program holds
are read once. Sizes of blocks and parts are not tuned.
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


PARTS, CHANNELS_PER_BLOCK = 512, 128
"""Parts into which a sequence is cut; a program has one part of so many neighbouring channels."""


@triton.jit
def _compose(scale, shift, next_scale, next_shift):
    return scale * next_scale, shift * next_scale + next_shift


@triton.jit
def _fold_parts(scales, shifts, folds, count, channels, lines, BLOCK: tl.constexpr):
    part, at = tl.program_id(0), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    scale, shift = tl.full((BLOCK,), 1.0, tl.float32), tl.zeros((BLOCK,), tl.float32)
    for line in range(part * lines, tl.minimum((part + 1) * lines, count)):
        place = line.to(tl.int64) * channels + at
        next_scale = tl.load(scales + place, mask=at < channels)
        shift = shift * next_scale + tl.load(shifts + place, mask=at < channels)
        scale *= next_scale
    tl.store(folds + part * channels + at, scale, mask=at < channels)
    tl.store(folds + (tl.num_programs(0) + part) * channels + at, shift, mask=at < channels)


@triton.jit
def _scan_folds(folds, channels, PARTS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[None, :]
    places = folds + tl.arange(0, PARTS)[:, None] * channels + at
    scale = tl.load(places, mask=at < channels, other=1)
    shift = tl.load(places + PARTS * channels, mask=at < channels, other=0)
    scale, shift = tl.associative_scan((scale, shift), 0, _compose)
    tl.store(places, scale, mask=at < channels)
    tl.store(places + PARTS * channels, shift, mask=at < channels)


@triton.jit
def _recur(scales, shifts, folds, before, states, count, channels, lines, BLOCK: tl.constexpr):
    part, at = tl.program_id(0), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    state = tl.load(before + at, mask=at < channels)
    if part > 0:
        fold = folds + (part - 1) * channels + at
        shift = tl.load(fold + tl.num_programs(0) * channels, mask=at < channels)
        state = state * tl.load(fold, mask=at < channels) + shift
    for line in range(part * lines, tl.minimum((part + 1) * lines, count)):
        place = line.to(tl.int64) * channels + at
        state = state * tl.load(scales + place, mask=at < channels)
        state += tl.load(shifts + place, mask=at < channels)
        tl.store(states + place, state, mask=at < channels)


def recur(scales: Any, shifts: Any, states: Any, folds: Any, before: Any) -> Any:
    """Enqueue ``states[t] = scales[t] * states[t - 1] + shifts[t]`` of (time, channels) tensors on
    PyTorch's stream. ``folds``: (2, PARTS, channels) items to work with; ``before(fold)`` returns
    the states before the first, and may ask other GPUs with the fold of this part (2, channels)."""
    count, channels = scales.shape
    lines = triton.cdiv(count, PARTS)
    grid = (PARTS, triton.cdiv(channels, CHANNELS_PER_BLOCK))
    _fold_parts[grid](scales, shifts, folds, count, channels, lines, CHANNELS_PER_BLOCK)
    _scan_folds[(triton.cdiv(channels, 4),)](folds, channels, PARTS, 4)
    start = before(folds[:, -1])
    _recur[grid](scales, shifts, folds, start, states, count, channels, lines, CHANNELS_PER_BLOCK)
    return states
