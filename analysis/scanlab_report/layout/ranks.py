"""How algorithms over several ranks look in figures; bounds and floors are grey."""

from __future__ import annotations

from collections.abc import Iterable

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullLocator, ScalarFormatter

from scanlab_report.layout.looks import spare
from scanlab_report.layout.style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION, Look

_LOOKS = {
    "peer_look_ahead": Look(VERMILLION, "*", "-"),
    "reduce_exchange_scan": Look(GREEN, "v", "-"),
    "blocked_peer": Look(BLUE, "s", "--", filled=False),
    "scan_exchange_add": Look(ORANGE, "D", "-."),
    "mpi_exscan": Look(PURPLE, "o", "-"),
    "nccl_cub": Look(BLACK, "P", "-"),
    "nccl_thrust": Look(BLACK, "X", "--", filled=False),
    "torch_distributed": Look(SKY, "^", "--", filled=False),
    "copy_all": Look(GREY, "", "-"),
    "launch_all": Look(GREY, "", ":"),
    "nccl_all_gather": Look(GREY, "", "-."),
}
COPIES, THREE_N, IDEAL = Look(GREY, "", "-"), Look(GREY, "", "--"), Look(GREY, "", ":")
"""The bounds: copies on all ranks, 3n at the rates of reading and copying, and as many times as there are ranks."""
COPY_WIDTH, WIDTH = 2.6, 1.4


def look(algorithm: str) -> Look:
    """The look of an algorithm; one that this file does not know gets a spare that depends on its id alone."""
    return _LOOKS.get(algorithm) or spare(sum(algorithm.encode()))


def told_look(algorithm: str, told: str) -> Look:
    """The look of an algorithm whose GPUs tell each other of chunks, or of tiles."""
    usual = look(algorithm)
    return usual if told != "tile" else Look(BLUE, "o", "--", filled=False)


def told_label(algorithm: str, told: str) -> str:
    return f"{algorithm}, GPUs tell of {told}s" if told in ("tile", "chunk") else algorithm


def ordered(algorithms: Iterable[str]) -> list[str]:
    """Algorithms in the order of their looks, others behind them by id."""
    known = list(_LOOKS)
    return sorted(set(algorithms), key=lambda of: (known.index(of) if of in _LOOKS else len(known), of))


def ranks_axis(axes: Axes, ranks: Iterable[int], on_gpus: bool) -> None:
    """An axis of numbers of ranks, each of which is a tick."""
    numbers = sorted(set(ranks))
    axes.set_xlim(numbers[0] - 0.2, numbers[-1] + 0.2)
    axes.xaxis.set_major_locator(FixedLocator([float(of) for of in numbers]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(ScalarFormatter())
    axes.set_xlabel("GPUs" if on_gpus else "ranks")
