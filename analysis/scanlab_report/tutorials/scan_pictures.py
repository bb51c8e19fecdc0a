"""The pictures of the tutorial on scans, and of a device and its blocks. The numbers in them are
computed: by the algorithm that a picture shows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import accumulate

from scanlab_report.tutorials.drawing import BLUE, FAINT, GREEN, INK, LINE, RED, Picture, Row

ITEMS = (3, 1, 7, 0, 4, 1, 6, 3)
"""The example of all pages."""
SUMS = list(accumulate(ITEMS))
EXCLUSIVE = [0, *SUMS[:-1]]
STRIDES = (1, 2, 4)
WIDE = (62, 36, 5.5)
"""Narrower cells that leave room for words at their left."""

PICTURES: dict[str, Callable[[], str]] = {}
"""The function that draws each picture, by its place in the folder of the tutorials."""


def picture(name: str, height: float, title: str) -> Callable[[Callable[[Picture], None]], None]:
    """Register a function that draws a picture."""

    def svg(draw: Callable[[Picture], None]) -> str:
        made = Picture(title, height)
        draw(made)
        return made.svg()

    return lambda draw: PICTURES.update({name: partial(svg, draw)})


def _beside(draw: Picture, y: float, *words: object, colour: str = INK) -> None:
    """Words at the left of wide rows, a line each."""
    for line, word in enumerate(words):
        draw.text(6, y + 16 * line, word, colour=colour, bold=line == 0)


@picture("scans/definition.svg", 232, "The input, its inclusive scan and its exclusive scan")
def definition(draw: Picture) -> None:
    row = Row(draw, 28, ITEMS, "bbbb", "input x")
    sums = Row(draw, 98, SUMS, "...b")
    for place in range(4):
        row.arrow(sums, place, 3, BLUE)
    draw.text(12, 139, "inclusive scan: item 3 is 3 + 1 + 7 + 0")
    Row(draw, 172, EXCLUSIVE, "g..b")
    draw.text(12, 213, "exclusive scan: item 3 is 3 + 1 + 7; item 0 is the identity")


@picture(
    "scans/work_and_span.svg",
    330,
    "Seven additions as a chain of seven steps and as a tree of three",
)
def work_and_span(draw: Picture) -> None:
    draw.text(12, 14, "a loop: 7 additions, one after another: span 7")
    for place in range(1, 8):
        x, y = 30 + 47 * place, 30 + 11 * (place - 1)
        draw.box(x - 20, y, 40, 20, "r", SUMS[place], 13)
        if place > 1:
            draw.line(x - 27, y - 1, x - 21, y + 8, RED, arrow=True)
    draw.text(12, 146, "a tree: 7 additions too, but in 3 steps: span 3")
    row = Row(draw, 160, ITEMS)
    bottom = row.bottom
    for stride in STRIDES:
        top = bottom + 19
        for first in range(0, 8, 2 * stride):
            total = sum(ITEMS[first : first + 2 * stride])
            draw.box(row.x(first + stride - 0.5) - 20, top, 40, 24, "b", total, 14)
        for first in range(0, 8, stride):
            parent = row.x(first // (2 * stride) * 2 * stride + stride - 0.5)
            aside = 6 if first // stride % 2 else -6
            start = row.x(first + (stride - 1) / 2)
            draw.line(start, bottom + 1, parent + aside, top - 2, BLUE, arrow=True)
        bottom = top + 24


@picture("scans/hillis_steele.svg", 292, "Hillis and Steele's scan in three steps")
def hillis_steele(draw: Picture) -> None:
    values, row = list(ITEMS), Row(draw, 8, ITEMS, places=WIDE)
    _beside(draw, 22, "input")
    for offset in STRIDES:
        earlier = [0] * offset + values
        values = [value + before for value, before in zip(values, earlier, strict=False)]
        below = row.below(56, values, "." * offset + "b" * (8 - offset))
        for i in range(8):
            row.arrow(below, i, i, LINE)
        for i in range(offset, 8):
            row.arrow(below, i - offset, i, BLUE, -5)
        _beside(draw, row.bottom + 20, "offset", offset, colour=BLUE)
        row = below
    assert values == SUMS


@picture("scans/race.svg", 176, "One buffer: thread 2 may read what thread 1 has already replaced")
def race(draw: Picture) -> None:
    label = "one buffer, offset 1: thread 1 is early"
    row = Row(draw, 28, ITEMS[:4], ".r", label, places=(110, 40, 7))
    late = Row(draw, 128, SUMS[:3], ".rr", places=(110, 40, 7))
    row.arrow(late, 0, 1, BLUE, -6)
    row.arrow(late, 1, 1, LINE)
    row.arrow(late, 2, 2, LINE, 6)
    draw.arc(late.x(1) + 4, late.x(2) - 6, late.y - 2, 14)
    draw.text(12, late.y + 14, "thread 2 adds", colour=RED)
    draw.text(late.x(2) + 30, late.y + 6, f"{SUMS[1]} + {ITEMS[2]},", colour=RED)
    draw.text(late.x(2) + 30, late.y + 22, f"not {ITEMS[1]} + {ITEMS[2]}", colour=RED)


def _nodes(stride: int) -> range:
    """The right children of the nodes of a level."""
    return range(2 * stride - 1, 8, 2 * stride)


@picture("scans/up_sweep.svg", 262, "The up-sweep: sums of pairs, of pairs of pairs, of all")
def up_sweep(draw: Picture) -> None:
    values, row = list(ITEMS), Row(draw, 8, ITEMS, places=WIDE)
    _beside(draw, 22, "input")
    for stride in STRIDES:
        nodes = _nodes(stride)
        for right in nodes:
            values[right] += values[right - stride]
        below = row.below(46, values, ("." * (2 * stride - 1) + "b") * len(nodes))
        for right in nodes:
            row.arrow(below, right - stride, right, BLUE, -6)
            row.arrow(below, right, right, BLUE)
        _beside(draw, row.bottom + 16, "stride", stride, colour=BLUE)
        row = below


@picture("scans/down_sweep.svg", 336, "The down-sweep: each node hands its prefix to its children")
def down_sweep(draw: Picture) -> None:
    values = list(ITEMS)
    for stride in STRIDES:
        for right in _nodes(stride):
            values[right] += values[right - stride]
    row = Row(draw, 8, values, ".......b", places=WIDE)
    _beside(draw, 14, "sums")
    values[7] = 0
    below = row.below(20, values, ".......g")
    row.arrow(below, 7, 7, GREEN)
    _beside(draw, below.y + 6, "clear", "the root", colour=GREEN)
    row = below
    for stride in reversed(STRIDES):
        nodes, fills = _nodes(stride), "." * (stride - 1)
        for right in nodes:
            left = right - stride
            values[left], values[right] = values[right], values[right] + values[left]
        below = row.below(52, values, f"{fills}r{fills}b" * len(nodes))
        for right in nodes:
            row.arrow(below, right, right - stride, RED, 6)
            row.arrow(below, right - stride, right, BLUE, -6)
            row.arrow(below, right, right, BLUE)
        _beside(draw, row.bottom + 20, "stride", stride)
        row = below
    assert values == EXCLUSIVE


def _bank_grid(draw: Picture, y: float, title: str, at: Callable[[int], int], rows: int) -> None:
    """Rows of 8 banks with 32 items, of which four threads read every eighth."""
    items = {at(item): item for item in range(32)}
    read = range(3, 32, 8)
    banks = [at(item) % 8 for item in read]
    turns = max(map(banks.count, banks))
    conflict = f"{turns}-way conflict" if turns > 1 else "no conflict"
    draw.text(12, y, f"{title}: {conflict}", bold=True)
    for bank in range(8):
        name = bank or "bank 0"
        draw.text(32 + 47 * bank, y + 20, name, 12, FAINT, "middle")
    for row in range(rows):
        cells = [items.get(8 * row + bank, "") for bank in range(8)]
        fills = "".join("r" if item in read else "w" if item == "" else "." for item in cells)
        Row(draw, y + 30 + 23 * row, cells, fills, height=21, size=13)


@picture(
    "scans/bank_conflicts.svg",
    322,
    "Four threads read items 3, 11, 19 and 27: from one bank, and, padded, from four",
)
def bank_conflicts(draw: Picture) -> None:
    _bank_grid(draw, 14, "items in order", lambda item: item, 4)
    _bank_grid(draw, 156, "one place free behind each row", lambda item: item + item // 8, 5)


@picture("scans/tile_in_registers.svg", 272, "A block scans a tile: lanes, then warps")
def tile_in_registers(draw: Picture) -> None:
    row = Row(draw, 28, ITEMS, label="two warps, of 4 lanes each here; an item per lane")
    warps = [list(accumulate(ITEMS[first : first + 4])) for first in (0, 4)]
    scanned = Row(draw, 92, [*warps[0], *warps[1]], "...g...g")
    for first in (0, 4):
        draw.box(row.x(first) - 20, 63, row.x(3) - row.x(0) + 40, 22, "w", "scan by shuffles")
    empty = [None] * 3
    shared = Row(draw, 152, [*empty, warps[0][-1], *empty, warps[1][-1]], "...g...g")
    for place in (3, 7):
        scanned.arrow(shared, place, place, GREEN)
    draw.text(12, 158, "totals of the warps", colour=GREEN)
    draw.text(12, 174, "in shared memory", colour=GREEN)
    sums = Row(draw, 216, SUMS, "....gggg")
    for place in range(4, 8):
        shared.arrow(sums, 3, place, GREEN)
    draw.text(12, 258, "behind one barrier each warp adds what comes before it")


@picture("scans/passes.svg", 216, "Passes over the data: 4n, 3n and 2n")
def passes(draw: Picture) -> None:
    """A bar is the length of the array."""
    schemes = {
        "scan, then propagate: 4n": "read write read write",
        "reduce, then scan: 3n": "read read write",
        "one pass: 2n, as a copy": "read write",
    }
    for scheme, (name, moved) in enumerate(schemes.items()):
        y = 14 + 72 * scheme
        draw.text(12, y, name, 13, bold=True)
        for place, move in enumerate(moved.split()):
            fill = "b" if move == "read" else "r"
            draw.box(12 + 94 * place, y + 12, 90, 26, fill, f"{move} n", 13)


@picture("scans/publication.svg", 300, "A value and a flag in two words, and in one")
def publication(draw: Picture) -> None:
    for y, title in (
        (14, "two words: B may see the new flag, the old sum"),
        (154, "one word: B sees both or neither"),
    ):
        draw.text(12, y, title, 13, bold=True)
        for lane, block in ((y + 30, "block A"), (y + 70, "block B")):
            draw.text(12, lane, block)
            draw.line(70, lane, 392, lane)
        draw.text(392, y + 96, "time", 12, FAINT, "end")
    draw.box(76, 31, 70, 26, "b", "flag = 1")
    draw.box(306, 31, 80, 26, "r", "sum = 11")
    draw.box(152, 71, 70, 26, "b", "flag is 1")
    draw.box(228, 71, 72, 26, "r", "sum is 0")
    draw.line(146, 50, 160, 69, BLUE, arrow=True)
    draw.box(96, 171, 122, 26, "g", "(flag 1, sum 11)")
    draw.box(250, 211, 122, 26, "g", "(flag 1, sum 11)")
    draw.line(218, 188, 262, 209, GREEN, arrow=True)
    draw.text(12, 272, "Stores of one thread to two words may become visible")
    draw.text(12, 288, "in either order, unless a release orders them.")


@picture("scans/forward_progress.svg", 262, "Blocks that wait for blocks that cannot start")
def forward_progress(draw: Picture) -> None:
    for y, title, first, fill, later in (
        (14, "tile = number of the block: may hang", 2, "r", "their tiles are 0 and 1."),
        (144, "tile = next number of a counter: goes on", 0, "g", "they will take tiles 2 and 3."),
    ):
        draw.text(12, y, title, 13, bold=True)
        for place in (0, 1):
            x, tile = 104 + 192 * place, first + place
            draw.box(x - 92, y + 14, 184, 46, fill)
            draw.text(x, y + 27, f"block {place + 2} has tile {tile}", anchor="middle")
            fate = "runs to its end" if fill == "g" else f"waits for tile {tile - 1}"
            draw.text(x, y + 46, fate, colour=GREEN if fill == "g" else RED, anchor="middle")
        draw.text(12, y + 76, "Both multiprocessors are taken. Blocks 0 and 1 start later:", 12)
        draw.text(12, y + 93, later, 12)


@picture("scans/look_back.svg", 196, "Tile 6 looks back over aggregates to the nearest prefix")
def look_back(draw: Picture) -> None:
    published = [f"P {total}" for total in SUMS[:3]] + [f"A {item}" for item in ITEMS[3:6]]
    row = Row(draw, 62, [*published, "?", "…"], "gggbbbr")
    draw.text(12, 14, "what each tile has published")
    for tile in (5, 4, 3, 2):
        draw.arc(row.x(tile + 1) - 4, row.x(tile) + 4, row.y - 3, 11)
    for tile in range(8):
        draw.text(row.x(tile), row.bottom + 13, tile or "tile 0", 12, FAINT, "middle")
    parts = [SUMS[2], *ITEMS[3:6]]
    assert sum(parts) == EXCLUSIVE[6]
    before = f"before tile 6: {' + '.join(map(str, parts))} = {sum(parts)}"
    draw.text(12, 132, before, 14, bold=True)
    draw.text(12, 158, "P: prefix, the sum up to the tile's end", colour=GREEN)
    draw.text(12, 178, "A: aggregate, the sum of the tile alone", colour=BLUE)


@picture("scans/look_ahead.svg", 186, "The prefix of tile 6 from aggregates alone")
def look_ahead(draw: Picture) -> None:
    """Two blocks take turns with the tiles; the look-ahead warp of each gathers aggregates."""
    label = "each tile publishes its aggregate, as soon as it is read"
    row = Row(draw, 32, [f"A {item}" for item in ITEMS], "ggggbbr", label)
    kept, rest = sum(ITEMS[:4]), " + ".join(map(str, ITEMS[4:6]))
    draw.line(row.x(0) - 18, 74, row.x(3) + 18, 74, GREEN, width=2)
    draw.text(row.x(1.5), 90, f"kept from before: {kept}", 13, GREEN, "middle")
    draw.line(row.x(4) - 18, 74, row.x(5) + 18, 74, BLUE, width=2)
    draw.text(row.x(4.5), 90, f"added: {rest}", 13, BLUE, "middle")
    draw.text(12, 122, f"before tile 6: {kept} + {rest} = {EXCLUSIVE[6]}", 14, bold=True)
    draw.text(12, 148, "No tile waits for another tile's prefix. An aggregate needs")
    draw.text(12, 166, "nothing but the tile's own data.")


@picture("scans/compaction.svg", 290, "Compaction: keep what is larger than 2")
def compaction(draw: Picture) -> None:
    flags = [int(item > 2) for item in ITEMS]
    places, fills = [0, *accumulate(flags)][:-1], "".join(".b"[flag] for flag in flags)
    Row(draw, 26, ITEMS, fills, "input; keep items above 2")
    Row(draw, 92, flags, fills, "flags: 1 is kept")
    label = "exclusive scan of the flags: the place of each kept item"
    row = Row(draw, 158, places, fills, label)
    kept = [i for i, flag in enumerate(flags) if flag]
    out = Row(draw, 250, [ITEMS[i] for i in kept], "b" * 8)
    for i in kept:
        row.arrow(out, i, places[i], BLUE)
    draw.text(out.x(len(kept)) - 16, 264, f"{len(kept)} items are left")


@picture(
    "scans/radix_digit.svg", 290, "One digit of a radix sort: even items first, in their order"
)
def radix_digit(draw: Picture) -> None:
    even = [int(item % 2 == 0) for item in ITEMS]
    before, fills = [0, *accumulate(even)][:-1], "".join("rg"[flag] for flag in even)
    Row(draw, 26, ITEMS, fills, "input; the digit is the last bit")
    Row(draw, 92, even, fills, f"flags: 1 where the bit is 0; {sum(even)} in all")
    label = "exclusive scan of the flags: zeros before each item"
    row = Row(draw, 158, before, fills, label)
    places = [before[i] if even[i] else sum(even) + i - before[i] for i in range(8)]
    order = sorted(range(8), key=lambda i: places[i])
    out = Row(draw, 250, [ITEMS[i] for i in order], "".join(fills[i] for i in order))
    for i, place in enumerate(places):
        row.arrow(out, i, place, GREEN if even[i] else RED)


@picture("device.svg", 300, "Host and device: cores, multiprocessors, warps and their memories")
def device(draw: Picture) -> None:
    draw.box(8, 8, 384, 58, "w")
    draw.text(18, 22, "host", 13, bold=True)
    draw.box(70, 18, 100, 38, ".", "CPU cores", 13)
    draw.box(190, 18, 190, 38, ".", "host memory", 13)
    draw.box(8, 88, 384, 204, "w")
    draw.text(18, 102, "device", 13, bold=True)
    for x in (18, 146):
        draw.box(x, 114, 118, 106, "b")
        draw.text(x + 59, 126, "multiprocessor", anchor="middle")
        for warp in (0, 1):
            draw.box(x + 8, 138 + 21 * warp, 102, 18, "w", "32 threads", 12)
        draw.box(x + 8, 186, 102, 26, "g", "shared memory")
    draw.text(326, 136, "… and many", anchor="middle")
    draw.line(326, 57, 326, 112, RED, width=2)
    draw.line(326, 156, 326, 244, RED, arrow=True, width=2)
    draw.text(334, 77, "copies", colour=RED)
    draw.text(334, 200, "copies", colour=RED)
    draw.box(18, 246, 364, 36, ".", "global memory: all blocks, large and far away", 13)


@picture("streams/blocks.svg", 126, "A launch: a grid of blocks, a block of warps")
def blocks(draw: Picture) -> None:
    draw.text(12, 14, "one launch: a grid of 4 blocks, 4 threads each here")
    for block in range(4):
        x = 12 + 96 * block
        draw.box(x, 28, 90, 54, "b")
        draw.text(x + 45, 41, f"block {block}", anchor="middle")
        for thread in range(4):
            draw.box(x + 5 + 20.5 * thread, 53, 18.5, 22, "w", 4 * block + thread, 12)
    draw.text(12, 98, "thread t of block b works on item b · 4 + t", 13, bold=True)
    draw.text(12, 116, "blockIdx.x * blockDim.x + threadIdx.x", colour=FAINT)
