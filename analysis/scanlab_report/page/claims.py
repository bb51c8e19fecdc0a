"""Claims, published statements and targets, each with its bound, its value and its verdict."""

from __future__ import annotations

from typing import Any

import pandas as pd

from scanlab_report.claims.standing import all_sources, check, unit
from scanlab_report.claims.stated import read
from scanlab_report.data import Data
from scanlab_report.formats import with_interval
from scanlab_report.shown import footer_line


def views(data: Data) -> list[dict[str, Any]]:
    """One view with every claim in order; none where no claim was measured."""
    standings = check(read(), data)
    rows = [
        (s.statement, f"{s.claim.wanted} {unit(s.claim)}", with_interval(s.measured), s.where)
        + (s.verdict, s.qualified, s.claim.source or "Scanlab", s.claim.figure)
        for s in standings
    ]
    columns = "claim target measured where verdict said source figure".split()
    claims = pd.DataFrame(rows, columns=columns).to_dict("list")
    view = {"claims": claims, "source": footer_line(all_sources(standings))}
    return [view] if any(s.files for s in standings) else []
