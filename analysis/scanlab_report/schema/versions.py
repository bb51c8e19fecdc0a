"""Which schema a document is of, and what to do where it is an older or a newer one."""

from __future__ import annotations

from typing import Any

from scanlab_report.schema import (
    counts,
    implicit_sync,
    kept,
    results,
    simulator,
    timelines,
    verification,
)
from scanlab_report.schema.fields import Misfit, shown

READ = (
    results.SCHEMA,
    results.RANGES,
    implicit_sync.SCHEMA,
    implicit_sync.CONCURRENCY,
    counts.SCHEMA,
    kept.SESSION,
    kept.NOISE,
    simulator.COMPARISON,
    simulator.AGAINST,
    verification.SCHEMA,
    results.STOPWATCH,
    timelines.TRACE,
    timelines.RANKS_TRACE,
)
"""The schemas that the analysis reads."""
_TODAY = {name: int(number) for name, _, number in (schema.partition("/") for schema in READ)}


def schema_of(document: Any) -> str:
    """The schema of a document, one of `READ`; empty if the analysis reads none of its kind. Misfit
    if it is of another version."""
    place, schema = _stated(document)
    if schema is None:
        if isinstance(document, dict) and "benchmarks" in document:
            raise Misfit("context.schema", f"is missing: expected {results.SCHEMA}")
        if isinstance(document, dict) and "traceEvents" in document:
            written = f"expected {timelines.TRACE}, as `scanlab streams trace` writes"
            raise Misfit("schema", f"is missing: {written}")
        return ""
    if not isinstance(schema, str) or not schema.strip():
        raise Misfit(place, f"is {shown(schema)}, no schema: make the file again, or leave it out")
    family, _, number = schema.partition("/")
    if family not in _TODAY:
        if "benchmarks" in document:
            raise Misfit(place, f"is {shown(schema)}: expected {results.SCHEMA}")
        return ""
    today = _TODAY[family]
    if not number.isdecimal() or len(number) > 9:
        raise Misfit(place, f"is {shown(schema)}: expected {family}/{today}")
    if int(number) != today:
        age = "n older Scanlab: measure again" if int(number) < today else " newer Scanlab: update"
        raise Misfit(place, f"is {schema}, of a{age}")
    return schema


def check_schema(document: Any, wanted: str) -> None:
    """Misfit if a document is not of this schema."""
    if schema_of(document) != wanted:
        place, schema = _stated(document)
        seen = f"is {shown(schema)}" if schema else "is missing"
        raise Misfit(place, f"{seen}: expected {wanted}")


def _stated(document: Any) -> tuple[str, Any]:
    """Where a document states its schema, and what it states."""
    if not isinstance(document, dict):
        return "schema", None
    context = document.get("context")
    if "schema" not in document and isinstance(context, dict) and "schema" in context:
        return "context.schema", context["schema"]
    return "schema", document.get("schema")
