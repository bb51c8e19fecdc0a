"""The JSON Schema of every document, and the tables of ``data/README.md`` that say the same for people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from scanlab_report.documents import markers
from scanlab_report.read.documents import DOCUMENTS
from scanlab_report.read.documents.base import LINE, NAME, WORDS, Provenance

Schema = Mapping[str, Any]


def schemas() -> dict[str, str]:
    """The text of each file of ``data/schema/``, by its name."""
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return {f"{name}.schema.json": json.dumps(dialect | msgspec.json.schema(of), indent=1, ensure_ascii=False) + "\n" for name, of in DOCUMENTS.items()}


def page(text: str) -> str:
    """``data/README.md`` with its tables brought up to date; MarkerError if one has no place there."""
    shown: set[str] = set()
    for name, of in {"provenance": Provenance, **DOCUMENTS}.items():
        text = markers.replaced(text, f"schema {name}", "\n\n".join(_tables(of, shown)))
    return text


def written(data: Path) -> dict[Path, str]:
    """Every file below ``data`` that the structs make, and its text."""
    readme = data / "README.md"
    return {data / "schema" / name: text for name, text in schemas().items()} | {readme: page(readme.read_text(encoding="utf-8"))}


def _tables(document: type[Struct], shown: set[str]) -> Iterator[str]:
    """A table for each object of a document, in the order in which they are met, and before it those whose fields it has too; each once on the page."""
    parts = _parts(document)
    queue = [document.__name__]
    for name in queue:  # which grows
        queue += [of for of in _targets(parts[name]) if of not in queue]
        for base in (*_bases(_CLASSES[name]), _CLASSES[name]):
            if base.__name__ not in shown:
                shown.add(base.__name__)
                yield _table(base, _parts(base)[base.__name__])


def _parts(of: type[Struct]) -> Schema:
    return msgspec.json.schema(of)["$defs"]


def _every(of: type[Struct]) -> Iterator[type[Struct]]:
    for inner in of.__subclasses__():
        yield inner
        yield from _every(inner)


_CLASSES = {of.__name__: of for of in _every(Struct)}


def _bases(of: type[Struct]) -> list[type[Struct]]:
    return [base for base in reversed(of.__mro__[1:]) if base is not Struct and issubclass(base, Struct)]


def _table(of: type[Struct], part: Schema) -> str:
    tagged = str(of.__struct_config__.tag or "")
    tagged = "" if tagged == of.__name__ else tagged  # what is only there for others has no tag of its own
    inherited = {field for base in _bases(of) for field in _parts(base)[base.__name__]["properties"]} - set(of.__annotations__)
    rows = [f"| `{name}` | {_value(field)}{'' if name in part.get('required', ()) else ', optional'} | {field.get('description', '')} |"
            for name, field in part["properties"].items() if name not in inherited | {of.__struct_config__.tag_field}]  # fmt: skip
    tag = [f"`{of.__struct_config__.tag_field}` is `{tagged}`."] if tagged else []
    besides = [f"Has the fields of `{base.__name__}` too." for base in _bases(of)[-1:]]
    about = " ".join([f"**{of.__name__}.**", *part.get("description", "").split(), *tag, *besides])
    return about + ("\n\n| field | value | meaning |\n|---|---|---|\n" + "\n".join(rows) if rows else "")


def _target(reference: str) -> str:
    return reference.rpartition("/")[2]


def _targets(of: Any) -> Iterator[str]:
    """The objects that a schema refers to."""
    if isinstance(of, Mapping):
        if isinstance(of.get("$ref"), str):
            yield _target(of["$ref"])
        for key, inner in of.items():
            if key != "discriminator":
                yield from _targets(inner)
    elif isinstance(of, list):
        for inner in of:
            yield from _targets(inner)


def _value(of: Schema) -> str:
    """What a field holds, in words."""
    if "$ref" in of:
        return _target(of["$ref"])
    if "anyOf" in of:
        return " or ".join(dict.fromkeys(map(_value, of["anyOf"])))
    if "enum" in of:
        return ", ".join("null" if word is None else f"`{word}`" if word else "empty" for word in of["enum"])
    match of.get("type"):
        case "array":
            return f"list of {_value(of['items'])}" if of.get("items") else "list"
        case "object":
            inner = of.get("additionalProperties")
            return f"by name {_value(inner)}" if inner else "object"
        case "string":
            return "text" if (pattern := of.get("pattern", LINE)) in (LINE, NAME) else WORDS[pattern].partition(",")[0]
        case "integer":
            least = of.get("minimum", 0)
            return "whole number" + (f" from {least}" if least else "")
        case "number":
            return "positive number" if "exclusiveMinimum" in of else "number" + (" from 0" if of.get("minimum") == 0 else "")
        case "boolean":
            return "true or false"
        case "null":
            return "null"
    return "anything"
