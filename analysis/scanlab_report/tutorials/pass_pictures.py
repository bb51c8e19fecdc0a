"""Pictures of scans over many blocks, of compaction and sorting, and of a device and its blocks."""

from __future__ import annotations

from itertools import accumulate

from scanlab_report.tutorials.drawing import (
    BLUE,
    FAINT,
    GREEN,
    INK,
    ITEMS,
    LINE,
    PALE,
    PALE_BLUE,
    PALE_GREEN,
    PALE_RED,
    VERMILLION,
    Picture,
    Row,
    exclusive,
)


def tile_in_registers() -> str:
    picture = Picture("A block scans a tile: lanes, then warps", 272)
    warps = [list(ITEMS[:4]), list(ITEMS[4:])]
    row = Row(picture, 28, ITEMS, label="two warps, of 4 lanes each here; an item per lane")
    below = Row(
        picture,
        92,
        [value for warp in warps for value in accumulate(warp)],
        {3: PALE_GREEN, 7: PALE_GREEN},
    )
    for first, last in ((0, 3), (4, 7)):
        picture.box(
            row.x(first) - 20, row.bottom + 7, row.x(last) - row.x(first) + 40, 22, "#ffffff"
        )
        picture.text(row.x((first + last) / 2), row.bottom + 18, "scan by shuffles", 12.5)
    totals = [sum(warp) for warp in warps]
    shared = Row(
        picture,
        152,
        [None, None, None, totals[0], None, None, None, totals[1]],
        {3: PALE_GREEN, 7: PALE_GREEN},
    )
    for place in (3, 7):
        picture.line(
            below.x(place), below.bottom + 1, shared.x(place), shared.y - 2, GREEN, arrow=True
        )
    picture.text(12, shared.y + 6, "totals of the warps", 12.5, "start", GREEN)
    picture.text(12, shared.y + 22, "in shared memory", 12.5, "start", GREEN)
    last_row = Row(picture, 216, list(accumulate(ITEMS)), dict.fromkeys(range(4, 8), PALE_GREEN))
    for place in range(4, 8):
        picture.line(
            shared.x(3), shared.bottom + 1, last_row.x(place), last_row.y - 2, GREEN, arrow=True
        )
    picture.text(
        12,
        last_row.bottom + 14,
        "behind one barrier each warp adds what comes before it",
        12.5,
        "start",
    )
    return picture.svg()


def passes() -> str:
    """Draw the reads and writes of each scheme; a bar is the length of the array."""
    picture = Picture("Passes over the data: 4n, 3n and 2n", 216)
    schemes = (
        ("scan, then propagate: 4n", ("read", "write", "read", "write")),
        ("reduce, then scan: 3n", ("read", "read", "write")),
        ("one pass: 2n, as a copy", ("read", "write")),
    )
    y = 14
    for name, moved in schemes:
        picture.text(12, y, name, 13, "start", bold=True)
        for place, what in enumerate(moved):
            picture.box(12 + 94 * place, y + 12, 90, 26, PALE_BLUE if what == "read" else PALE_RED)
            picture.text(57 + 94 * place, y + 25, f"{what} n", 13)
        y += 72
    return picture.svg()


def publication() -> str:
    picture = Picture("A value and a flag in two words, and in one", 300)

    def lanes(y: float, title: str) -> None:
        picture.text(12, y, title, 13, "start", bold=True)
        for place, block in enumerate(("block A", "block B")):
            picture.text(12, y + 30 + 40 * place, block, 12.5, "start")
            picture.line(70, y + 30 + 40 * place, 392, y + 30 + 40 * place, LINE)
        picture.text(392, y + 96, "time", 12, "end", FAINT)

    def event(x: float, y: float, words: str, fill: str, width: float = 92) -> None:
        picture.box(x, y - 13, width, 26, fill)
        picture.text(x + width / 2, y, words, 12.5)

    lanes(14, "two words: B may see the new flag, the old sum")
    event(76, 44, "flag = 1", PALE_BLUE, 70)
    event(306, 44, "sum = 11", PALE_RED, 80)
    event(152, 84, "flag is 1", PALE_BLUE, 70)
    event(228, 84, "sum is 0", PALE_RED, 72)
    picture.line(146, 50, 160, 69, BLUE, arrow=True)
    lanes(154, "one word: B sees both or neither")
    event(96, 184, "(flag 1, sum 11)", PALE_GREEN, 122)
    event(250, 224, "(flag 1, sum 11)", PALE_GREEN, 122)
    picture.line(218, 188, 262, 209, GREEN, arrow=True)
    picture.text(
        12, 272, "Stores of one thread to two words may become visible", 12.5, "start", INK
    )
    picture.text(12, 288, "in either order, unless a release orders them.", 12.5, "start", INK)
    return picture.svg()


def forward_progress() -> str:
    picture = Picture("Blocks that wait for blocks that cannot start", 262)
    cases = (
        (14, "tile = number of the block: may hang", ("2", "3"), False, "their tiles are 0 and 1"),
        (
            144,
            "tile = next number of a counter: goes on",
            ("0", "1"),
            True,
            "they will take tiles 2 and 3",
        ),
    )
    for y, title, tiles, good, later in cases:
        picture.text(12, y, title, 13, "start", bold=True)
        for place, tile in enumerate(tiles):
            picture.box(12 + 192 * place, y + 14, 184, 46, PALE_GREEN if good else PALE_RED)
            picture.text(104 + 192 * place, y + 27, f"block {place + 2} has tile {tile}", 12.5)
            picture.text(
                104 + 192 * place,
                y + 46,
                "runs to its end" if good else f"waits for tile {int(tile) - 1}",
                12.5,
                colour=GREEN if good else VERMILLION,
            )
        picture.text(
            12,
            y + 76,
            "Both multiprocessors are taken. Blocks 0 and 1 start later:",
            12,
            "start",
            INK,
        )
        picture.text(12, y + 93, f"{later}.", 12, "start", INK)
    return picture.svg()


def look_back() -> str:
    """Tile 6 looks back to the nearest prefix."""
    looking, known = 6, 2
    prefixes = list(accumulate(ITEMS))
    picture = Picture("Tile 6 looks back over aggregates to the nearest prefix", 196)
    row = Row(
        picture,
        62,
        [
            *[f"P {prefixes[tile]}" for tile in range(known + 1)],
            *[f"A {ITEMS[tile]}" for tile in range(known + 1, looking)],
            "?",
            "…",
        ],
        {
            **dict.fromkeys(range(known + 1), PALE_GREEN),
            **dict.fromkeys(range(known + 1, looking), PALE_BLUE),
            looking: PALE_RED,
        },
    )
    picture.text(12, 14, "what each tile has published", 12.5, "start")
    for tile in range(looking - 1, known - 1, -1):
        picture.arc(row.x(tile + 1) - 4, row.x(tile) + 4, row.y - 3, 11)
    for tile in range(8):
        picture.text(
            row.x(tile), row.bottom + 13, f"tile {tile}" if tile == 0 else tile, 12, colour=FAINT
        )
    parts = [prefixes[known], *ITEMS[known + 1 : looking]]
    picture.text(
        12,
        132,
        f"before tile {looking}: {' + '.join(map(str, parts))} = {sum(parts)}",
        14,
        "start",
        bold=True,
    )
    picture.text(12, 158, "P: prefix, the sum up to the tile's end", 12.5, "start", GREEN)
    picture.text(12, 178, "A: aggregate, the sum of the tile alone", 12.5, "start", BLUE)
    assert sum(parts) == exclusive(ITEMS)[looking]
    return picture.svg()


def look_ahead() -> str:
    """Two blocks take turns with the tiles; the look-ahead warp of each gathers aggregates."""
    tile, group = 6, 4
    picture = Picture("The prefix of tile 6 from aggregates alone", 186)
    row = Row(
        picture,
        32,
        [f"A {item}" for item in ITEMS],
        {
            **dict.fromkeys(range(group), PALE_GREEN),
            **dict.fromkeys(range(group, tile), PALE_BLUE),
            tile: PALE_RED,
        },
        "each tile publishes its aggregate, as soon as it is read",
    )
    carry, rest = sum(ITEMS[:group]), ITEMS[group:tile]
    picture.line(row.x(0) - 18, 74, row.x(group - 1) + 18, 74, GREEN, width=2)
    picture.text(row.x((group - 1) / 2), 90, f"kept from before: {carry}", 13, colour=GREEN)
    picture.line(row.x(group) - 18, 74, row.x(tile - 1) + 18, 74, BLUE, width=2)
    picture.text(row.x(group + 0.5), 90, f"added: {' + '.join(map(str, rest))}", 13, colour=BLUE)
    picture.text(
        12,
        122,
        f"before tile {tile}: {carry} + {' + '.join(map(str, rest))} = {carry + sum(rest)}",
        14,
        "start",
        bold=True,
    )
    picture.text(
        12, 148, "No tile waits for another tile's prefix. An aggregate needs", 12.5, "start"
    )
    picture.text(12, 166, "nothing but the tile's own data.", 12.5, "start")
    assert carry + sum(rest) == exclusive(ITEMS)[tile]
    return picture.svg()


def compaction() -> str:
    picture = Picture("Compaction: keep what is larger than 2", 290)
    flags = [int(item > 2) for item in ITEMS]
    places = exclusive(flags)
    kept = {i: PALE_BLUE for i, flag in enumerate(flags) if flag}
    Row(picture, 26, ITEMS, kept, "input; keep items above 2")
    Row(picture, 92, flags, kept, "flags: 1 is kept")
    row = Row(
        picture, 158, places, kept, "exclusive scan of the flags: the place of each kept item"
    )
    out = Row(
        picture,
        250,
        [item for item, flag in zip(ITEMS, flags, strict=True) if flag] + [None] * flags.count(0),
        dict.fromkeys(range(sum(flags)), PALE_BLUE),
    )
    for i in kept:
        picture.line(row.x(i), row.bottom + 1, out.x(places[i]), out.y - 2, BLUE, arrow=True)
    picture.text(out.x(sum(flags)) - 16, out.y + 14, f"{sum(flags)} items are left", 12.5, "start")
    return picture.svg()


def radix_digit() -> str:
    picture = Picture("One digit of a radix sort: even items first, in their order", 290)
    even = [int(item % 2 == 0) for item in ITEMS]
    before = exclusive(even)
    total = sum(even)
    places = [before[i] if even[i] else total + i - before[i] for i in range(len(ITEMS))]
    colours = {i: PALE_GREEN if flag else PALE_RED for i, flag in enumerate(even)}
    row = Row(picture, 26, ITEMS, colours, "input; the digit is the last bit")
    Row(picture, 92, even, colours, f"flags: 1 where the bit is 0; {total} in all")
    row = Row(picture, 158, before, colours, "exclusive scan of the flags: zeros before each item")
    sorted_ = [0] * len(ITEMS)
    for i, place in enumerate(places):
        sorted_[place] = ITEMS[i]
    out = Row(picture, 250, sorted_, {place: colours[i] for i, place in enumerate(places)})
    for i, place in enumerate(places):
        picture.line(
            row.x(i),
            row.bottom + 1,
            out.x(place),
            out.y - 2,
            GREEN if even[i] else VERMILLION,
            arrow=True,
        )
    return picture.svg()


def device() -> str:
    """A GPU for the first page."""
    picture = Picture("Host and device: cores, multiprocessors, warps and their memories", 300)
    picture.box(8, 8, 384, 58, "#ffffff")
    picture.text(18, 22, "host", 13, "start", bold=True)
    picture.box(70, 18, 100, 38, PALE)
    picture.text(120, 37, "CPU cores", 13)
    picture.box(190, 18, 190, 38, PALE)
    picture.text(285, 37, "host memory", 13)
    picture.box(8, 88, 384, 204, "#ffffff")
    picture.text(18, 102, "device", 13, "start", bold=True)
    for place in (0, 1):
        x = 18 + 128 * place
        picture.box(x, 114, 118, 106, PALE_BLUE)
        picture.text(x + 59, 126, "multiprocessor", 12.5)
        for warp in (0, 1):
            picture.box(x + 8, 138 + 21 * warp, 102, 18, "#ffffff")
            picture.text(x + 59, 147 + 21 * warp, "32 threads", 12)
        picture.box(x + 8, 186, 102, 26, PALE_GREEN)
        picture.text(x + 59, 199, "shared memory", 12.5)
    picture.text(326, 136, "… and many", 12.5)
    picture.line(326, 57, 326, 112, VERMILLION, width=2)
    picture.line(326, 156, 326, 244, VERMILLION, arrow=True, width=2)
    picture.text(334, 77, "copies", 12.5, "start", VERMILLION)
    picture.text(334, 200, "copies", 12.5, "start", VERMILLION)
    picture.box(18, 246, 364, 36, PALE)
    picture.text(200, 264, "global memory: all blocks, large and far away", 13)
    return picture.svg()


def blocks_of_a_launch() -> str:
    """How a grid is cut."""
    picture = Picture("A launch: a grid of blocks, a block of warps", 126)
    picture.text(12, 14, "one launch: a grid of 4 blocks, 4 threads each here", 12.5, "start")
    for block in range(4):
        x = 12 + 96 * block
        picture.box(x, 28, 90, 54, PALE_BLUE)
        picture.text(x + 45, 41, f"block {block}", 12.5)
        for thread in range(4):
            picture.box(x + 5 + 20.5 * thread, 53, 18.5, 22, "#ffffff")
            picture.text(x + 14.2 + 20.5 * thread, 64, 4 * block + thread, 12)
    picture.text(12, 98, "thread t of block b works on item b · 4 + t", 13, "start", bold=True)
    picture.text(12, 116, "blockIdx.x * blockDim.x + threadIdx.x", 12.5, "start", FAINT)
    return picture.svg()
