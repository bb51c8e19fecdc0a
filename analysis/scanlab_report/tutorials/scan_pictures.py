"""The pictures of the tutorial on scans. The numbers in them are computed: by the algorithm that a
picture shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from scanlab_report.tutorials.pass_pictures import (
    blocks_of_a_launch,
    compaction,
    device,
    forward_progress,
    look_ahead,
    look_back,
    passes,
    publication,
    radix_digit,
    tile_in_registers,
)


def definition() -> str:
    picture = Picture("The input, its inclusive scan and its exclusive scan", 232)
    top = Row(picture, 28, ITEMS, dict.fromkeys(range(4), PALE_BLUE), "input x")
    sums = Row(picture, 98, list(accumulate(ITEMS)), {3: PALE_BLUE})
    for place in range(4):
        picture.line(top.x(place), top.bottom + 1, sums.x(3), sums.y - 2, BLUE, arrow=True)
    picture.text(12, sums.bottom + 13, "inclusive scan: item 3 is 3 + 1 + 7 + 0", 12.5, "start")
    before = Row(picture, 172, exclusive(ITEMS), {0: PALE_GREEN, 3: PALE_BLUE})
    picture.text(
        12,
        before.bottom + 13,
        "exclusive scan: item 3 is 3 + 1 + 7; item 0 is the identity",
        12.5,
        "start",
    )
    return picture.svg()


def work_and_span() -> str:
    picture = Picture("Seven additions as a chain of seven steps and as a tree of three", 330)
    picture.text(12, 14, "a loop: 7 additions, one after another: span 7", 12.5, "start")
    running = list(accumulate(ITEMS))
    for place in range(1, 8):
        x, y = 30.0 + 47 * place, 30.0 + 11 * (place - 1)
        picture.box(x - 20, y, 40, 20, PALE_RED)
        picture.text(x, y + 10, running[place], 13)
        if place > 1:
            picture.line(x - 27, y - 1, x - 21, y + 8, VERMILLION, arrow=True)
    picture.text(12, 146, "a tree: 7 additions too, but in 3 steps: span 3", 12.5, "start")
    row = Row(picture, 160, ITEMS)
    level, values, places = row, list(ITEMS), [float(i) for i in range(8)]
    while len(values) > 1:
        values = [a + b for a, b in zip(values[::2], values[1::2], strict=True)]
        middle = [(a + b) / 2 for a, b in zip(places[::2], places[1::2], strict=True)]
        y = level.bottom + 19
        for centre, value in zip(middle, values, strict=True):
            picture.box(row.x(centre) - 20, y, 40, 24, PALE_BLUE)
            picture.text(row.x(centre), y + 12, value, 14)
        for index, child in enumerate(places):
            picture.line(
                row.x(child),
                level.bottom + 1,
                row.x(middle[index // 2]) + (-6 if index % 2 == 0 else 6),
                y - 2,
                BLUE,
                arrow=True,
            )
        places = middle
        level = Row(picture, y, [], height=24)
    return picture.svg()


def _wide_row(
    picture: Picture, y: float, values: Sequence[object], fills: dict[int, str] | None = None
) -> Row:
    """A row of narrower cells that leaves room for words at its left."""
    return Row(picture, y, values, fills, left=62, cell=36, gap=5.5)


def _beside(picture: Picture, y: float, *words: str, colour: str = INK) -> None:
    """Words at the left of rows, a line each."""
    for line, word in enumerate(words):
        picture.text(6, y + 16 * line, word, 12.5, "start", colour, bold=line == 0)


def hillis_steele() -> str:
    picture = Picture("Hillis and Steele's scan in three steps", 292)
    values = list(ITEMS)
    row = _wide_row(picture, 8, values)
    _beside(picture, 22, "input")
    offset = 1
    while offset < len(values):
        following = [
            values[i] if i < offset else values[i - offset] + values[i] for i in range(len(values))
        ]
        below = _wide_row(
            picture, row.bottom + 56, following, {i: PALE_BLUE for i in range(offset, len(values))}
        )
        for i in range(len(values)):
            picture.line(row.x(i), row.bottom + 1, below.x(i), below.y - 2, LINE, arrow=True)
        for i in range(offset, len(values)):
            picture.line(
                row.x(i - offset), row.bottom + 1, below.x(i) - 5, below.y - 2, BLUE, arrow=True
            )
        _beside(picture, row.bottom + 20, "offset", str(offset), colour=BLUE)
        values, row, offset = following, below, 2 * offset
    assert values == list(accumulate(ITEMS))
    return picture.svg()


def race() -> str:
    picture = Picture("One buffer: thread 2 may read what thread 1 has already replaced", 176)
    row = Row(
        picture, 28, ITEMS[:4], {1: PALE_RED}, "one buffer, offset 1: thread 1 is early", left=110
    )
    late = Row(
        picture,
        128,
        [ITEMS[0], ITEMS[0] + ITEMS[1], ITEMS[0] + ITEMS[1] + ITEMS[2], None],
        {1: PALE_RED, 2: PALE_RED},
        left=110,
    )
    picture.line(row.x(0), row.bottom + 1, late.x(1) - 6, late.y - 2, BLUE, arrow=True)
    picture.line(row.x(1), row.bottom + 1, late.x(1), late.y - 2, LINE, arrow=True)
    picture.line(row.x(2), row.bottom + 1, late.x(2) + 6, late.y - 2, LINE, arrow=True)
    picture.arc(late.x(1) + 4, late.x(2) - 6, late.y - 2, 14)
    picture.text(12, late.y + 14, "thread 2 adds", 12.5, "start", VERMILLION)
    picture.text(
        late.x(2) + 30,
        late.y + 6,
        f"{ITEMS[0] + ITEMS[1]} + {ITEMS[2]},",
        12.5,
        "start",
        VERMILLION,
    )
    picture.text(
        late.x(2) + 30, late.y + 22, f"not {ITEMS[1]} + {ITEMS[2]}", 12.5, "start", VERMILLION
    )
    return picture.svg()


def _nodes(stride: int) -> list[tuple[int, int]]:
    """The left and the right child of each node of a level: where their values lie."""
    return [(right - stride, right) for right in range(2 * stride - 1, len(ITEMS), 2 * stride)]


def _swept_up() -> tuple[list[list[int]], list[int]]:
    """The tile before each level of the up-sweep and after the last, and the strides."""
    rows, stride = [list(ITEMS)], 1
    while stride < len(ITEMS):
        values = list(rows[-1])
        for left, right in _nodes(stride):
            values[right] += values[left]
        rows.append(values)
        stride *= 2
    return rows, [1 << level for level in range(len(rows) - 1)]


def up_sweep() -> str:
    rows, strides = _swept_up()
    picture = Picture("The up-sweep: sums of pairs, of pairs of pairs, of all", 262)
    row = _wide_row(picture, 8, rows[0])
    _beside(picture, 22, "input")
    for values, stride in zip(rows[1:], strides, strict=True):
        nodes = _nodes(stride)
        below = _wide_row(
            picture, row.bottom + 46, values, {right: PALE_BLUE for _, right in nodes}
        )
        for left, right in nodes:
            picture.line(
                row.x(left), row.bottom + 1, below.x(right) - 6, below.y - 2, BLUE, arrow=True
            )
            picture.line(
                row.x(right), row.bottom + 1, below.x(right), below.y - 2, BLUE, arrow=True
            )
        _beside(picture, row.bottom + 16, "stride", str(stride), colour=BLUE)
        row = below
    return picture.svg()


def down_sweep() -> str:
    rows, strides = _swept_up()
    values = list(rows[-1])
    picture = Picture("The down-sweep: each node hands its prefix to its children", 336)
    row = _wide_row(picture, 8, values, {len(values) - 1: PALE_BLUE})
    _beside(picture, 14, "sums")
    values[-1] = 0
    below = _wide_row(picture, row.bottom + 20, values, {len(values) - 1: PALE_GREEN})
    picture.line(
        row.x(len(values) - 1),
        row.bottom + 1,
        row.x(len(values) - 1),
        below.y - 2,
        GREEN,
        arrow=True,
    )
    _beside(picture, below.y + 6, "clear", "the root", colour=GREEN)
    row = below
    for stride in reversed(strides):
        nodes, following = _nodes(stride), list(values)
        for left, right in nodes:
            following[left], following[right] = values[right], values[right] + values[left]
        fills = {
            place: PALE_RED if place == left else PALE_BLUE
            for left, right in nodes
            for place in (left, right)
        }
        below = _wide_row(picture, row.bottom + 52, following, fills)
        for left, right in nodes:
            picture.line(
                row.x(right), row.bottom + 1, below.x(left) + 6, below.y - 2, VERMILLION, arrow=True
            )
            picture.line(
                row.x(left), row.bottom + 1, below.x(right) - 6, below.y - 2, BLUE, arrow=True
            )
            picture.line(
                row.x(right), row.bottom + 1, below.x(right), below.y - 2, BLUE, arrow=True
            )
        _beside(picture, row.bottom + 20, "stride", str(stride))
        values, row = following, below
    assert values == exclusive(ITEMS)
    return picture.svg()


_BANKS, _READERS, _STRIDE = 8, 4, 4


def _bank_grid(picture: Picture, y: float, title: str, at: Callable[[int], int]) -> float:
    """Rows of banks with the items that four threads read in them; the bottom."""
    items = {at(item): item for item in range(_BANKS * _READERS)}
    read = [_STRIDE * (2 * thread + 1) - 1 for thread in range(_READERS)]
    rows = -(-(max(items) + 1) // _BANKS)
    banks = [at(item) % _BANKS for item in read]
    turns = max(map(banks.count, banks))
    picture.text(
        12,
        y,
        f"{title}: {f'{turns}-way conflict' if turns > 1 else 'no conflict'}",
        12.5,
        "start",
        bold=True,
    )
    for bank in range(_BANKS):
        picture.text(
            32 + 47 * bank, y + 20, f"bank {bank}" if bank == 0 else bank, 12, colour=FAINT
        )
    for row in range(rows):
        cells = [items.get(row * _BANKS + bank, "") for bank in range(_BANKS)]
        fills = {
            bank: PALE_RED if item in read else PALE if item != "" else "#ffffff"
            for bank, item in enumerate(cells)
        }
        Row(picture, y + 30 + 23 * row, cells, fills, height=21, size=13)
    return y + 30 + 23 * rows


def bank_conflicts() -> str:
    picture = Picture(
        "Four threads read items 3, 11, 19 and 27: from one bank, and, padded, from four", 322
    )
    y = _bank_grid(picture, 14, "items in order", lambda item: item)
    _bank_grid(
        picture, y + 20, "one place free behind each row", lambda item: item + item // _BANKS
    )
    return picture.svg()


PICTURES: dict[str, Callable[[], str]] = {
    "device.svg": device,
    "scans/definition.svg": definition,
    "scans/work_and_span.svg": work_and_span,
    "scans/hillis_steele.svg": hillis_steele,
    "scans/race.svg": race,
    "scans/up_sweep.svg": up_sweep,
    "scans/down_sweep.svg": down_sweep,
    "scans/bank_conflicts.svg": bank_conflicts,
    "scans/tile_in_registers.svg": tile_in_registers,
    "scans/passes.svg": passes,
    "scans/publication.svg": publication,
    "scans/forward_progress.svg": forward_progress,
    "scans/look_back.svg": look_back,
    "scans/look_ahead.svg": look_ahead,
    "scans/compaction.svg": compaction,
    "scans/radix_digit.svg": radix_digit,
    "streams/blocks.svg": blocks_of_a_launch,
}
