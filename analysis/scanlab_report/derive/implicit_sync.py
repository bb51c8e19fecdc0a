"""Experiments about what blocks what, arranged for print: calls with their two questions side by side, and the others."""

from __future__ import annotations

import pandas as pd

_SHORTER = (("behind the kernel, ", ""), ("to the device from", "in, from"), ("to the host in", "out, to"))
"""In a column of calls: what the heading says, too, is left out."""
HOW_TO_READ = "Source: answer of the teaching material. Device: measured answer; (!) marks a difference. Yes: trials that answered yes."


def calls(rows: pd.DataFrame) -> pd.DataFrame:
    """One row a call that was asked about: what it does to the host, and to kernels of two other streams.

    Columns ``call`` and, with ``host_`` and ``streams_`` before them, ``stated``, ``answer``, ``differs``, ``counted``.
    """
    found: dict[str, dict[str, object]] = {}
    for row in rows.itertuples():
        if row.asks:
            of = found.setdefault(row.subject, {"call": _shortened(row.subject)})
            of |= {f"{row.asks}_{key}": value for key, value in _answer(row).items()}
    columns = ["call", *(f"{who}_{what}" for who in ("host", "streams") for what in ("stated", "answer", "differs", "counted"))]
    return pd.DataFrame(list(found.values()), columns=columns).astype(object)


def _shortened(call: str) -> str:
    for long, short in _SHORTER:
        call = call.replace(long, short)
    return call.removeprefix("cuda")


def others(rows: pd.DataFrame) -> pd.DataFrame:
    """One row a question that is not about a call: ``question``, ``stated``, ``answer``, ``differs``, ``counted``."""
    found = [{"question": row.question, **_answer(row)} for row in rows.itertuples() if not row.asks]
    return pd.DataFrame(found, columns=["question", "stated", "answer", "differs", "counted"]).astype(object)


def _answer(row) -> dict[str, object]:
    answer = row.answer if isinstance(row.answer, str) else None
    counted = f"{row.yes} of {row.trials}" if answer else ""
    return {"stated": row.stated if isinstance(row.stated, str) else None, "answer": answer, "differs": bool(row.differs), "counted": counted}


def cell(answer: object, differs: object) -> str:
    """What the device does; an exclamation mark where the source said otherwise."""
    if not isinstance(answer, str):
        return "—"
    return f"{answer} (!)" if differs is True else answer


def text(value: object) -> str:
    """A cell of text; a dash where there is none."""
    return value if isinstance(value, str) and value else "—"
