"""Array sizes: powers of two, and bytes in words."""

from __future__ import annotations


def size_name(size: int) -> str:
    """Bytes in the largest binary unit that leaves a whole number, else with one decimal."""
    for unit, of in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= of:
            return f"{size / of:g} {unit}" if size % of == 0 else f"{size / of:.1f} {unit}"
    return f"{size} B"


def power_of_two(n: int) -> bool:
    return n > 0 and n & (n - 1) == 0
