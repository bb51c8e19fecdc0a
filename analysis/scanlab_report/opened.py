"""Results of a few files and folders for a command that makes one figure, table or page of them."""

from __future__ import annotations

import argparse
import difflib
import fnmatch
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from scanlab_report import CLAIMS, DATA
from scanlab_report.console import missing
from scanlab_report.tables import ELEMENT_BYTES

if TYPE_CHECKING:  # pandas is not loaded to print a help text
    from scanlab_report.data import Data
    from scanlab_report.shown import Entry

RECORDED = DATA / "recorded"
OPTIONS = ("variants", "type", "op")


class Refused(ValueError):
    """Files that cannot be used, or wishes that cannot be met, in sentences."""


def nothing_among(paths: Sequence[Path]) -> str:
    return f"nothing to read: no results among {', '.join(map(str, paths))}"


def apart(paths: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Split paths into measured and recorded ones. A path into the recorded data counts as recorded
    however it is named."""
    recorded = [path for path in paths if path.resolve().is_relative_to(RECORDED)]
    return [path for path in paths if path not in recorded], recorded


def on_device(data: Data, device: str) -> Data:
    """Return the data of one GPU alone, or all data if no GPU is named."""
    if device and device not in data.devices:
        there = ", ".join(data.devices) or "none"
        raise Refused(f"no results are of a GPU called {device}; there are those of {there}")
    return data.on(device) if device else data


def first_device() -> str:
    """The device that the claims are about."""
    text = (CLAIMS / "claims.toml").read_text(encoding="utf-8")
    return str(tomllib.loads(text).get("device", ""))


def opened(
    paths: Sequence[Path],
    session: str = "",
    published: Path = DATA / "published",
    recorded: Sequence[Path] = (),
    first: str = "",
) -> Data:
    """Return all results below the paths, of one session of each device, with the published tables.
    `first`: the device that comes before others."""
    from scanlab_report import choosing, load
    from scanlab_report.published import load_published

    if wrong := missing(list(paths)):
        raise Refused(*wrong)
    measured, more = apart(paths)
    read = load.load(measured, dict.fromkeys([*recorded, *more]), first or first_device())
    read.published = load_published(published, read.problems)
    if read.problems:
        raise Refused(*map(str, read.problems))
    if read.empty:
        raise Refused(nothing_among([*paths, *recorded]))
    try:
        return choosing.choose_session(read, session)
    except choosing.NoSession as error:
        raise Refused(str(error)) from None


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that suggests what a user may have meant; empty if no name is
    near."""
    near = difflib.get_close_matches(name, sorted(known), cutoff=0.5)
    return f"; the nearest {'is' if len(near) == 1 else 'are'} {', '.join(near)}" if near else ""


# ------------------------------------------------------------------------ one figure, one table


def registered(kind: str) -> dict[str, Entry]:
    """The figures or the tables of all chapters, by name."""
    from scanlab_report import chapters, shown

    chapters.load_all()
    return dict(sorted((shown.FIGURES if kind == "figure" else shown.TABLES).items()))


def add_paths(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        nargs="*",
        default=[],
        type=Path,
        metavar="PATH",
        help="result files and folders (default: the recorded data)",
    )


def add_session(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--session",
        default="",
        metavar="NAME",
        help="use this recorded session, by its folder's name (default: the newest complete one of "
        "each device)",
    )


def add_device(parser: argparse.ArgumentParser, usual: str) -> None:
    alone = f"show this GPU alone, by its name in the results (default: {usual})"
    parser.add_argument("--device", default="", metavar="NAME", help=alone)


def add_published(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--published",
        type=Path,
        default=DATA / "published",
        metavar="DIR",
        help="read the tables of the literature from DIR (default: data/published)",
    )


def arguments(parser: argparse.ArgumentParser, kind: str) -> None:
    add = parser.add_argument
    add("name", metavar="NAME", help=f"the {kind}, as scanlab-report list names it")
    add_paths(parser)
    add(
        "--variants",
        default="",
        metavar="LIST",
        help="show these variants, by id or glob, separated by commas (default: as in the report)",
    )
    add(
        "--type",
        default="",
        choices=sorted(ELEMENT_BYTES),
        help="show scans of this type (default: i32 where timed, else another timed type)",
    )
    add("--op", default="", metavar="OP", help="show scans with this operator (default: plus)")
    add_session(parser)
    shown = (
        "a part of the figure for every GPU" if kind == "figure" else "the first that has the table"
    )
    add_device(parser, shown)


def entry_of(options: argparse.Namespace, kind: str) -> Entry:
    """The figure or table that was named, if it follows all that was asked for."""
    known, name = registered(kind), options.name
    if name not in known:
        near = nearest(name, known)
        raise Refused(f"there is no {kind} {name}{near} (scanlab-report list has them all)")
    for option in OPTIONS:
        if getattr(options, option) and option not in known[name].follows:
            able = ", ".join(other for other, entry in known.items() if option in entry.follows)
            raise Refused(f"{kind} {name} cannot follow --{option}; these can: {able}")
    return known[name]


def refuse_others(data: Data) -> None:
    """Raise Refused for results of other programs alone."""
    if len(others := data["other"]) and data["scan"].empty:
        file = data.files[others["file"].iloc[0]]
        raise Refused(
            f"{file.path}: has results of {file.context['program']}: `scanlab-report "
            f"compare` and `scanlab-report build` read them"
        )


def data_for(options: argparse.Namespace, kind: str, entry: Entry) -> Data:
    """The results, with what the user asks for."""
    from scanlab_report.claims.stated import operators_of_scans
    from scanlab_report.data import Ask

    data = on_device(opened(options.paths or [RECORDED], options.session), options.device)
    timed = data["scan"]
    if not entry.of_others:
        refuse_others(data)
    operators = sorted({*operators_of_scans(), *timed["op"]})
    if options.op and options.op not in operators:
        raise Refused(f"there is no operator {options.op}; there are {', '.join(operators)}")
    asked: list[str] = []
    for pattern in filter(None, options.variants.split(",")):
        if not (ids := fnmatch.filter(sorted(known := set(timed["variant"])), pattern)):
            measure = f"bench --variant '{pattern},memcpy,empty_launch' --out results/mine.json"
            missing_ = f"no variant {pattern} was timed{nearest(pattern, known)}"
            raise Refused(f"{missing_}. To measure it: build/cuda/scanlab {measure}")
        asked += [id_ for id_ in ids if id_ not in asked]
    return data.asking(Ask(tuple(asked), options.type, options.op))


def lacking(
    options: argparse.Namespace, kind: str, entry: Entry, data: Data, reason: object = ""
) -> str:
    """Return why a figure or table cannot be made, and how to measure it; empty if nothing is known
    to be lacking."""
    from scanlab_report.experiments import bench, plan

    ask, timed = data.ask, data["scan"]
    scanned = (timed["op"] == (ask.op or "plus")) & (timed["mode"] == "inclusive")
    if ask.type:
        scanned &= timed["type"] == ask.type
    here = set(timed.loc[scanned, "variant"])
    patterns = filter(None, options.variants.split(","))
    untimed = [pattern for pattern in patterns if not fnmatch.filter(here, pattern)]
    if not reason and not untimed:
        return ""
    wanted = [*filter(None, getattr(reason, "variants", ()))] or list(ask.variants)
    scan = " ".join(filter(None, (ask.type, ask.op or "plus")))
    reason = f"no {reason}" if reason else f"no {scan} inclusive timings of {', '.join(untimed)}"
    measure = ""
    if ask.variants or ask.type or ask.op:
        measure = bench(wanted, ask.type, ask.op)
    elif entry.measured_by:
        measure = str(plan(entry.measured_by))
    how = f". To measure it: {measure}" if measure else ""
    return f"{kind} {options.name} cannot be made: {reason}{how}"
