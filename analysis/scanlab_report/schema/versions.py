"""Which schema a document is of, and what to do where it is an older or a newer one."""

from __future__ import annotations

from typing import Any

from scanlab_report.schema import counts, documents, kept, results
from scanlab_report.schema.fields import Misfit, shown

READ: tuple[str, ...] = (
    results.SCHEMA,
    results.RANGES,
    results.STOPWATCH,
    kept.SESSION,
    kept.NOISE,
)
READ += (documents.TRACE, documents.RANKS_TRACE, documents.VERIFICATION, counts.EXPLAIN)
READ += (documents.SYNC, documents.CONCURRENCY, documents.COMPARISON, documents.AGAINST)
"""The schemas that the analysis reads."""
_TODAY = {schema.partition("/")[0]: schema for schema in READ}


def schema_of(document: Any) -> str:
    """The schema of a document, one of `READ`; empty if the analysis reads none of its kind. Misfit
    if it is of another version."""
    if not isinstance(document, dict):
        return ""
    place, schema = "schema", document.get("schema")
    if schema is None and isinstance(document.get("context"), dict):
        place, schema = "context.schema", document["context"].get("schema")
    wanted = _TODAY.get(str(schema).partition("/")[0], "")
    if not wanted and "benchmarks" in document:
        wanted = results.SCHEMA
    elif not wanted and "traceEvents" in document:
        wanted = documents.TRACE
    if wanted and schema != wanted:
        seen = shown(schema) if schema else "missing"
        raise Misfit(place, f"is {seen}: expected {wanted}, so measure again or update")
    return wanted


def check_schema(document: Any, wanted: str) -> None:
    """Misfit if a document is not of this schema."""
    if schema_of(document) != wanted:
        raise Misfit("schema", f"is not {wanted}")
