"""What the files say of variants, and groups of those that are alike by it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from scanlab_report.schema.results import Variant


@dataclass(frozen=True)
class Group:
    """Variants that are alike, whichever they are; ``name`` is theirs in sentences."""

    name: str
    has: Callable[[Variant], bool]

    def __str__(self) -> str:
        return self.name


Wanted = str | Group
"""A variant by its id, or all of a group."""


class Variants(dict[str, Variant]):
    """What is said of each variant, by id. One that nothing is said of, as in a history of old sessions, is a scan of ours called by its id."""

    settings: Mapping[str, dict[str, str]] = {}
    """Settings that are not the defaults, by their name in the tables."""

    def __missing__(self, id_: str) -> Variant:
        return Variant(label=id_, kind="scan", origin="variant", family="", overview=True, on_host=False)

    def ids(self, *wanted: Wanted) -> list[str]:
        """Ids, those of groups among them."""
        return [id_ for of in wanted for id_ in ([of] if isinstance(of, str) else [id_ for id_, about in self.items() if of.has(about)])]
