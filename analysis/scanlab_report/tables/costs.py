"""Cost of one scan: additions, swaps, barriers and bytes, beside the closed forms."""

from __future__ import annotations

from collections import Counter

import pandas as pd
from msgspec import UNSET

from scanlab_report.derive.counts import default_only
from scanlab_report.layout.table_formats import Column, Table, code, significant, size, whole
from scanlab_report.read.records import Explanation
from scanlab_report.select.counted import Counts
from scanlab_report.select.evidence import CountEvidence

NEEDS = {"counts": Counts()}

COLUMNS = (
    Column("variant", "variant", code, right=False),
    Column("mode", "mode", right=False),
    Column("items", "n", size),
    Column("launches", "launches", whole),
    Column("operations", "counted", whole, group="additions"),
    Column("operations_closed_form", "closed form", whole, group="additions"),
    Column("swaps", "counted", whole, group="swaps"),
    Column("swaps_closed_form", "closed form", whole, group="swaps"),
    Column("barriers", "barriers", whole),
    Column("global_bytes_per_item", "bytes/item", significant),
    Column("worst_degree", "worst degree", whole),
)


def lacks(counts: CountEvidence) -> str:
    return "" if chosen(counts.explanations) else "counts of other variants than best"


def build(counts: CountEvidence) -> Table:
    return Table(
        caption="Cost of one scan, counted by the SIMT emulator beside the closed forms of the sources, in the cheaper mode of each variant. Barriers "
        "are those of one block, summed over launches. The degree is the worst bank conflict for 32 banks. A dash: no closed form, or no shared memory.",
        columns=COLUMNS,
        rows=pd.DataFrame([row(e) for e in chosen(counts.explanations)]),
    )


def row(explanation: Explanation) -> dict[str, object]:
    """The costs of one explanation by CSV column name."""
    totals, forms = explanation.totals, explanation.closed_forms
    moved = float(totals.global_bytes_read + totals.global_bytes_written)
    return {
        "variant": explanation.variant,
        "mode": explanation.mode,
        "items": explanation.items,
        "launches": explanation.launches if totals.launches is UNSET else totals.launches,
        "operations": totals.operations,
        "operations_closed_form": forms.operations,
        "swaps": totals.swaps,
        "swaps_closed_form": forms.swaps,
        "barriers": totals.barriers,
        "global_bytes_per_item": moved / max(explanation.items, 1),
        "worst_degree": totals.banks32.max_degree or None,
    }


def chosen(explanations: list[Explanation]) -> list[Explanation]:
    """The size that most variants share, then the largest; within a size by id."""
    unique = default_only(explanations)
    shared = Counter(e.items for e in unique)
    if not shared:
        return []
    common = max(shared, key=lambda n: (shared[n], n))
    sizes = sorted({common, max(shared)})
    return sorted((e for e in unique if e.items in sizes), key=lambda e: (e.items, e.variant))


def disagreements(explanations: list[Explanation]) -> list[str]:
    """One sentence for each count that is not what the variant's closed form states."""
    sentences = []
    for explanation in explanations:
        for key in ("operations", "swaps"):
            stated, counted = getattr(explanation.closed_forms, key), getattr(explanation.totals, key)
            if stated is not None and stated != counted:
                case = f"{explanation.variant}, {explanation.mode}, {explanation.items} items"
                sentences.append(f"{explanation.file}: {case}: {counted} {key} were counted, the closed form says {stated}")
    return sentences
