"""Which schema a document is of, and what to do where it is an older or a newer one."""

from __future__ import annotations

from typing import Any

from scanlab_report.schema import documents, kept, results
from scanlab_report.schema.fields import Misfit, shown

READ = (results.SCHEMA, results.RANGES, results.STOPWATCH, kept.SESSION, kept.NOISE)
READ += (documents.TRACE, documents.RANKS_TRACE, documents.VERIFICATION, documents.EXPLAIN)
READ += (documents.SYNC, documents.CONCURRENCY, documents.COMPARISON, documents.AGAINST)
"""The schemas that the analysis reads."""
_TODAY = {schema.partition("/")[0]: schema for schema in READ}


def schema_of(document: Any) -> str:
    """The schema of a document, one of `READ`; empty if the analysis reads none of its kind. Misfit
    if it is of another version."""
    if not isinstance(document, dict):
        return ""
    place, schema = _stated(document)
    wanted = _TODAY.get(str(schema).partition("/")[0], "")
    if not wanted and "benchmarks" in document:
        wanted = results.SCHEMA
    elif not wanted and "traceEvents" in document:
        wanted = documents.TRACE
    if wanted and schema != wanted:
        seen = "is missing" if schema is None else f"is {shown(schema)}"
        (family, today), number = wanted.split("/"), str(schema).rpartition("/")[2]
        by = ", as `scanlab streams trace` writes" * (wanted == documents.TRACE)
        message = f"{seen}: expected {family}/{today}{by}"
        if number.isdecimal() and f"{family}/{number}" == schema:
            age = "older Scanlab: measure again" if number < today else "newer Scanlab: update"
            message = f"is {schema}, of an {age}".replace("an newer", "a newer")
        raise Misfit(place, message)
    return wanted


def check_schema(document: Any, wanted: str) -> None:
    """Misfit if a document is not of this schema."""
    if schema_of(document) != wanted:
        raise Misfit("schema", f"is not {wanted}")


def _stated(document: dict[str, Any]) -> tuple[str, Any]:
    """Where a document states its schema, and what it states."""
    context = document.get("context")
    if "schema" not in document and isinstance(context, dict):
        return "context.schema", context.get("schema")
    return "schema", document.get("schema")
