"""Every document that the analysis reads: the fields that it uses, their meaning and limits."""

from typing import Any

from scanlab_report.schema import documents, results
from scanlab_report.schema.fields import Misfit, shown

DOCUMENTS: dict[str, Any] = {
    results.SCHEMA: results.Results,
    "scanlab-ranges/1": results.Ranges,
    "scanlab-nvbench/1": results.Stopwatch,
    "scanlab-session/1": documents.Session,
    "scanlab-noise/1": documents.Noise,
    "scanlab-trace/1": documents.Trace,
    "scanlab-verification/1": documents.Verification,
    "scanlab-explain/2": documents.Explanation,
    "scanlab-implicit-sync/3": documents.ImplicitSync,
    "scanlab-concurrency/1": documents.Concurrency,
    "scanlab-comparison/1": documents.Comparison,
    "scanlab-advice-against/1": documents.Against,
}
"""The struct of each schema."""
NAMES: dict[Any, str] = {struct: schema for schema, struct in DOCUMENTS.items()}
_TODAY = {schema.partition("/")[0]: schema for schema in DOCUMENTS}


def struct_of(document: Any) -> Any:
    """The struct of a document, by its schema; None if it is of no kind that is read."""
    if not isinstance(document, dict):
        return None
    place, schema = "schema", document.get("schema")
    if schema is None and isinstance(document.get("context"), dict):
        place, schema = "context.schema", document["context"].get("schema")
    wanted = _TODAY.get(str(schema).partition("/")[0], "")
    if not wanted and "benchmarks" in document:
        wanted = results.SCHEMA
    elif not wanted and "traceEvents" in document:
        wanted = NAMES[documents.Trace]
    if wanted and schema != wanted:
        seen = shown(schema) if schema else "missing"
        raise Misfit(place, f"is {seen}: expected {wanted}, so measure again or update")
    return DOCUMENTS.get(wanted)
