"""How numbers and names stand in the paper's text."""

from __future__ import annotations

from scanlab_report.layout.table_formats import latex, significant


def number(value: float, digits: int = 3) -> str:
    """A bare number for siunitx to set."""
    return significant(value, digits).replace("\u2009", "")


def power(n: int) -> str:
    return f"\\ensuremath{{2^{{{n.bit_length() - 1}}}}}" if n & (n - 1) == 0 else latex(f"{n}")
