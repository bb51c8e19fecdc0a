"""Everything that is recovered from a name or a sentence: of cases, ranges, settings, questions, logs and steps.

Nothing should be. The recorded files say these things in names alone; once they carry typed fields beside the names (variant,
type, op, mode, items, settings, cache, launch, device, sample), this module goes, and readers take the fields. No other module
reads a name or a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from scanlab_report.read.fields import shown, whole

ELEMENT_BYTES = {"i8": 1, "i16": 2, "f16": 2, "i32": 4, "f32": 4, "i64": 8, "f64": 8}
STREAM = "stream"
"""How runs are launched where a name does not say."""

_CASE_KEYS = ("variant", "type", "op", "mode", "items", "cache")
_GOOGLE_KEYS = {"iterations", "repeats", "min_time", "min_warmup_time"}


# ------------------------------------------------------------------------------------ cases of Google Benchmark


def is_scan(name: str) -> bool:
    return name.startswith("scan/")


def is_stream_scan(name: str) -> bool:
    return name.startswith("stream_scan/")


def entry_kind(name: str, kinds: Sequence[str]) -> str | None:
    """Which kind of entry of the stream laboratory a name is of: ``streams/KIND:ID/…``."""
    return next((kind for kind in kinds if name.startswith(f"streams/{kind}:")), None)


@lru_cache(maxsize=1 << 16)
def parse_case(name: str) -> dict[str, Any]:
    """Splits ``scan/variant:ID/type:T/…`` into its parts; further ``key:value`` parts become ``settings``."""
    head, *parts = name.split("/")
    if head != "scan":
        raise ValueError("its name does not begin with 'scan/'")
    values = dict(part.split(":", 1) for part in parts if ":" in part)
    if missing := [key for key in (*_CASE_KEYS, *values) if not values.get(key)]:
        raise ValueError(f"its name lacks {', '.join(missing)}")
    if values["type"] not in ELEMENT_BYTES:
        raise ValueError(f"unknown type {shown(values['type'])}, expected one of {', '.join(ELEMENT_BYTES)}")
    others = {k: v for k, v in values.items() if k not in (*_CASE_KEYS, "launch") and k not in _GOOGLE_KEYS}
    return {
        "variant": values["variant"],
        "settings": _settings(others),
        "type": values["type"],
        "op": values["op"],
        "mode": values["mode"],
        "items": whole(values["items"], "items"),
        "cache": values["cache"],
        "launch": values.get("launch", STREAM),
    }


def parts(name: str, required: Sequence[str], numbers: set[str]) -> dict[str, Any]:
    """``HEAD/key:value/key:value`` as a dictionary, with the ``numbers`` that must be whole as such."""
    values: dict[str, Any] = dict(part.split(":", 1) for part in name.split("/")[1:] if ":" in part)
    if missing := [key for key in (*required, *values) if not values.get(key)]:
        raise ValueError(f"its name lacks {', '.join(missing)}")
    return values | {key: whole(values[key], key) for key in sorted(numbers & set(values))}


def _settings(values: dict[str, str]) -> str:
    return " ".join(f"{key}={value}" for key, value in sorted(values.items()))


def number_set(settings: str, name: str) -> int | None:
    """The number that a case's settings give one parameter; None if they set another, or several."""
    key, _, value = settings.partition("=")
    return int(value) if key == name and value.isdigit() else None


# ------------------------------------------------------------------------------------------------- variants


def is_padded(variant: str) -> bool:
    """Whether a variant pads shared memory."""
    return variant.endswith("_padded")


def unpadded(variant: str) -> str:
    """The variant without its padding: ``hso_block`` for ``hso_block_padded`` too."""
    return variant.removesuffix("_padded")


def family(variant: str) -> str:
    """What related variants' ids begin with."""
    return variant.partition("_")[0]


def is_look_ahead(label: str) -> bool:
    """Whether what ``best`` says that it chose is the look-ahead scan."""
    return label.startswith("look_ahead")


def is_duel(argv: str) -> bool:
    """Whether a command timed ``best`` against CUB."""
    return "--sweep duel" in argv


def is_tree_step(label: str) -> bool:
    """Whether a step climbs or descends the tree."""
    return label.startswith(("up-sweep", "down-sweep"))


def climbs(label: str) -> bool:
    """Whether it climbs."""
    return label.startswith("up-sweep")


def stride(label: str) -> str:
    """The stride of a tree's step."""
    return label.rsplit(" ", 1)[-1]


# ---------------------------------------------------------------------------------------------- ranges of ncu

DEFAULT_PADDING, DEFAULT_LOAD = "two_level", "halves"
"""Of a case that names none: names carry only what is not the default."""
_OF_EVERY_CASE = ("variant", "type", "op", "mode", "items")
_RANGE = re.compile(r'(scan/variant:[^"]+?)(?::none)*"')
"""The name of a range, which ncu sets in quotes and follows by the fields that the range lacks."""


def range_name(text: str) -> str | None:
    """The case that a range of ncu's names; None if it names none."""
    found = _RANGE.search(text)
    return found.group(1) if found else None


def range_case(name: str) -> dict[str, object]:
    """Its parts."""
    values = dict(part.split(":", 1) for part in name.split("/") if ":" in part)
    missing = [key for key in ("type", "op", "mode", "items") if key not in values]
    if missing:
        raise ValueError(f"the range {shown(name)} does not name a case: it lacks {', '.join(missing)}")
    return {
        "variant": values["variant"],
        "padding": values.get("padding", DEFAULT_PADDING) if is_padded(values["variant"]) else "none",
        "settings": _settings({key: value for key, value in values.items() if key not in _OF_EVERY_CASE}),
        "type": values["type"],
        "op": values["op"],
        "items": whole(values["items"], f"items of the range {shown(name)}"),
        "mode": values["mode"],
        "load": values.get("load", DEFAULT_LOAD),
    }


# ------------------------------------------------------------------------------------ what scanlab verify prints

_GROUP = re.compile(r"^(?P<variant>\w+) +(?P<type>\w+) +(?P<op>\w+) +(?P<mode>inclusive|exclusive) +\d+ passed\b")
_SAME = re.compile(r"same bits in (?P<runs>\d+) runs of each of (?P<cases>\d+)")
_VARY = re.compile(r"^ +bits vary in (?P<varying>\d+) of (?P<cases>\d+): .* in (?P<runs>\d+) runs")
_SUMMARY = re.compile(r"^(\d+) passed, (\d+) failed\b", re.MULTILINE)
_ORIGIN = re.compile(r"^commit ([0-9a-f]{40})(\+?)(?:, on (.+))?$", re.MULTILINE)


def verified_group(line: str) -> tuple[str, ...] | None:
    """Variant, type, operator and mode of a line about one group of cases."""
    found = _GROUP.match(line)
    return found.group("variant", "type", "op", "mode") if found else None


def repeated_bits(line: str, first: bool) -> dict[str, str] | None:
    """``cases``, ``varying`` and ``runs``, in digits, of a group's ``first`` line or of the one below it."""
    found = _SAME.search(line) if first else _VARY.match(line)
    return {"varying": "0"} | found.groupdict() if found else None


def verification_failed(log: str) -> list[str]:
    """How many cases failed, in digits, of each summary of a log; none if it did not come to its end."""
    return [failed for _, failed in _SUMMARY.findall(log)]


def verification_origin(log: str) -> tuple[str, str, str] | None:
    """Of which commit, with a ``+`` if it was changed, and which GPU a log is; None of older ones, which do not say."""
    found = _ORIGIN.search(log)
    return (found[1], found[2], found[3]) if found else None


def verified_on_gpu(log: str) -> bool:
    return "verifying on cuda" in log


# --------------------------------------------------------------------------------------- experiments' questions

_CALL = re.compile(r"^does (?P<call>.*?),? (?:hold up the host until the kernel before it ends|keep kernels of two streams apart)$")


def call_asked_about(question: str) -> str | None:
    """The call that a question is about; None if it is about something else."""
    found = _CALL.match(question)
    return found["call"] if found else None


def asked(question: str) -> str:
    """What a question asks, without its verb in front."""
    return question.removeprefix("does ").removeprefix("do ")


def shortened(call: str) -> str:
    """A call in fewer letters: its name without the common beginning, and without words that the heading says."""
    for long, short in (("behind the kernel, ", ""), ("to the device from", "in, from"), ("to the host in", "out, to")):
        call = call.replace(long, short)
    return call.removeprefix("cuda")


def experiment_in_words(name: str) -> str:
    return name.partition(".")[0].replace("_", " ")


def engine_of_lane(name: str) -> str:
    """What a lane of a trace is called, without its number among those that overlap."""
    return name.partition(", overlapping")[0]
