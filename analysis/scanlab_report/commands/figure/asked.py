"""What a user asks one figure or table for: arguments, what is wrong with them, and the evidence."""

from __future__ import annotations

import argparse
import difflib
import fnmatch
import itertools
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from scanlab_report import DATA
from scanlab_report.console import missing
from scanlab_report.schema.base import ELEMENT_BYTES

if TYPE_CHECKING:
    from scanlab_report.read.variants import Wanted
    from scanlab_report.select.needs import Gathered, Need

OPTIONS = ("variants", "type", "op")


class Refused(ValueError):
    """What is asked for cannot be had, in sentences."""


def arguments(parser: argparse.ArgumentParser, kind: str) -> None:
    add = parser.add_argument
    add("name", metavar="NAME", help=f"the {kind}, as scanlab-report list names it")
    add("paths", nargs="*", default=[], type=Path, metavar="PATH", help="result files and folders (default: the recorded data)")
    add("--variants", default="", metavar="LIST", help="show these variants, by id or glob, separated by commas (default: as in the report)")
    add("--type", default="", choices=sorted(ELEMENT_BYTES), help="show scans of this type (default: i32 where timed, else another timed type)")
    add("--op", default="", metavar="OP", help="show scans with this operator (default: plus)")
    add("--session", default="", metavar="NAME", help="use this recorded session, by its folder's name (default: the newest complete one of each device)")
    shown = "a part of the figure for every GPU" if kind == "figure" else "the first that has the table"
    add("--device", default="", metavar="NAME", help=f"show this GPU alone, by its name in the results (default: {shown})")


def nearest(name: str, known: Iterable[str]) -> str:
    """The part of a sentence that names what a user may have meant; empty if nothing is near."""
    near = difflib.get_close_matches(name, sorted(known), cutoff=0.5)
    return f"; the nearest {'is' if len(near) == 1 else 'are'} {', '.join(near)}" if near else ""


def module_of(options: argparse.Namespace, kind: str, package: ModuleType) -> ModuleType:
    """The module of the figure or table that was named, if it follows all that was asked for."""
    from scanlab_report.modules import modules

    known = dict(modules(package))
    if options.name not in known:
        raise Refused(f"there is no {kind} {options.name}{nearest(options.name, known)} (scanlab-report list has them all)")
    for option in OPTIONS:
        if getattr(options, option) and option not in getattr(known[options.name], "FOLLOWS", ()):
            able = ", ".join(name for name, module in known.items() if option in getattr(module, "FOLLOWS", ()))
            raise Refused(f"{kind} {options.name} cannot follow --{option}; these can: {able}")
    return known[options.name]


def evidence(options: argparse.Namespace, kind: str, module: ModuleType) -> tuple[dict[str, Gathered], list[str]]:
    """What the results have for it by device: for a table, and where all devices have the same, under no name. And the devices that a table leaves out."""
    from scanlab_report.claims import stated
    from scanlab_report.select.experiments import bench, plan
    from scanlab_report.select.needs import by_device, chosen, gather
    from scanlab_report.select.opened import Unreadable, on, opened
    from scanlab_report.select.timings import AllTimings, Selection

    paths = options.paths or [DATA / "recorded"]
    if wrong := missing(paths):
        raise Refused(*wrong)
    try:
        results, publications = opened(paths, stated.device(), options.session)
        results = on(results, options.device)
    except Unreadable as error:
        raise Refused(*error.args) from None
    if options.op and options.op not in (known := {*stated.operators_of_scans(), *results.timings["op"]}):
        raise Refused(f"there is no operator {options.op}; there are {', '.join(sorted(known))}")
    matching = _expanded([name for name in options.variants.split(",") if name], set(results.timings["variant"]))
    asked = list(dict.fromkeys(itertools.chain(*matching.values())))
    if len(asked) > 1 and any(isinstance(need, AllTimings) for need in module.NEEDS.values()):
        raise Refused(f"{kind} {options.name} is of one variant, and {len(asked)} were asked for: {', '.join(asked)}")
    selection = Selection(tuple(asked), options.type, options.op)
    needs = chosen(module.NEEDS, selection)
    lacks = getattr(module, "lacks", None)
    shown = by_device(needs, results, publications, lacks) if kind == "figure" else {"": gather(needs, results, publications, lacks)}
    reasons = [reason for of in shown.values() for reason in of.reasons]
    timed = {name for name in asked if any(of.has(name) for of in shown.values())}
    if not reasons and (untimed := [pattern for pattern, ids in matching.items() if timed.isdisjoint(ids)]):
        reasons = [f"no {' '.join(filter(None, (options.type, options.op or 'plus')))} inclusive timings of {', '.join(untimed)}"]
    if reasons:
        steps = plan(module.NEEDS)
        measured = bench(_variants(needs.values()) or asked, options.type, options.op) if any(selection) else str(steps) if steps.commands else ""
        to_measure = measured and f". To measure it: {measured}"
        raise Refused(f"{kind} {options.name} cannot be made: {' and '.join(reasons)}{to_measure}")
    every = by_device(needs, results, publications, lacks) if kind == "table" else {}
    return shown, [device for device, of in every.items() if device and of.provenances != shown[""].provenances]


def _variants(needs: Iterable[Need]) -> list[str]:
    """Variants, by id or glob, of whose timings needs speak."""
    from scanlab_report.select.timings import AllTimings, EachSession, Timings
    from scanlab_report.select.variants import CUBS

    wanted: list[Wanted] = []
    for need in needs:
        of = need.timings if isinstance(need, EachSession) else need
        wanted += [*of.any_of, *of.all_of] if isinstance(of, Timings) else [of.of, *of.against, "memcpy"] if isinstance(of, AllTimings) else []
    return [str(of) if isinstance(of, str) else "cub*" for of in wanted if of is CUBS or isinstance(of, str)]


def _expanded(patterns: list[str], timed: set[str]) -> dict[str, list[str]]:
    """By id or glob, the ids of variants that were timed, in the order in which they were asked for."""
    asked = {pattern: fnmatch.filter(sorted(timed), pattern) for pattern in patterns}
    for pattern, ids in asked.items():
        if not ids:
            raise Refused(f"no variant {pattern} was timed{nearest(pattern, timed)}. To measure it: build/cuda/scanlab bench --variant '{pattern},memcpy,empty_launch'"
                          " --out results/mine.json")  # fmt: skip
    return asked
