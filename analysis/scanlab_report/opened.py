"""Results of a few files and folders for a command that makes one figure, table or page of them."""

import argparse
import contextlib
import fnmatch
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from scanlab_report import CLAIMS, DATA, chapters, choosing, load, shown
from scanlab_report.console import Refused, missing
from scanlab_report.data import Ask, Data, Publication
from scanlab_report.pick import Lacking
from scanlab_report.tables import ELEMENT_BYTES

RECORDED = DATA / "recorded"


def nothing_among(paths: Sequence[Path]) -> str:
    """A sentence on paths without results."""
    return f"nothing to read: no results among {', '.join(map(str, paths))}"


def on_device(data: Data, device: str) -> Data:
    """Return the data of one GPU alone, or all data if no GPU is named."""
    if device and device not in data.devices:
        there = ", ".join(data.devices) or "none"
        raise Refused(f"no results are of a GPU called {device}; there are those of {there}")
    return data.on(device) if device else data


def opened(paths: Sequence[Path], session: str = "", recorded: Sequence[Path] = ()) -> Data:
    """Return all results below the paths, of one session of each device, with published tables."""
    claims = tomllib.loads((CLAIMS / "claims.toml").read_text(encoding="utf-8"))
    read = sound(paths, recorded, str(claims.get("device", "")))
    if not read.files:
        raise Refused(nothing_among([*paths, *recorded]))
    for file in sorted((DATA / "published").glob("*.csv")):
        source = tomllib.loads(file.with_suffix(".toml").read_text(encoding="utf-8"))
        read.published[file.stem] = Publication(pd.read_csv(file), source)
    return choosing.choose_session(read, session)


def sound(paths: Sequence[Path], recorded: Sequence[Path] = (), first: str = "") -> Data:
    """Return all results below the paths; Refused with each fault of theirs."""
    if wrong := missing([*paths]):
        raise Refused(*wrong)
    below = [path for path in paths if path.resolve().is_relative_to(RECORDED)]
    measured = [path for path in paths if path not in below]
    read = load.load(measured, dict.fromkeys([*recorded, *below]), first)
    if read.problems:
        raise Refused(*read.problems)
    return read


def registered(kind: str) -> dict[str, shown.Entry]:
    """The figures or the tables of all chapters, by name."""
    chapters.load_all()
    return dict(sorted((shown.FIGURES if kind == "figure" else shown.TABLES).items()))


def add_paths(parser: argparse.ArgumentParser) -> None:
    """The results that a command reads."""
    help_ = "result files and folders (default: the recorded data)"
    parser.add_argument("paths", nargs="*", default=[], type=Path, metavar="PATH", help=help_)


def add_session(parser: argparse.ArgumentParser) -> None:
    """The recorded session that answers."""
    help_ = "use this recorded session, by its folder's name (default: the newest complete one)"
    parser.add_argument("--session", default="", metavar="NAME", help=help_)


def add_device(parser: argparse.ArgumentParser, usual: str) -> None:
    """The GPU that is shown."""
    help_ = f"show this GPU alone, by its name in the results (default: {usual})"
    parser.add_argument("--device", default="", metavar="NAME", help=help_)


def arguments(parser: argparse.ArgumentParser, kind: str, formats: Sequence[str]) -> None:
    """The arguments of a command that makes one figure or table."""
    add = parser.add_argument
    add("name", metavar="NAME", help=f"the {kind}, as scanlab-report list names it")
    add_paths(parser)
    variants = "show these variants, by id or glob, separated by commas (default: as in the report)"
    add("--variants", default="", metavar="LIST", help=variants)
    types = "show scans of this type (default: i32 where timed, else another timed type)"
    add("--type", default="", choices=sorted(ELEMENT_BYTES), help=types)
    add("--op", default="", metavar="OP", help="show scans with this operator (default: plus)")
    add_session(parser)
    every, first = "a part of the figure for every GPU", "the first that has the table"
    add_device(parser, every if kind == "figure" else first)
    usual = " (default: NAME.pdf in this folder)" * (kind == "figure")
    where = f"write the {kind} to FILE: {', '.join(formats)}{usual}"
    add("--out", type=Path, metavar="FILE", help=where)


def refuse_others(data: Data) -> None:
    """Raise Refused for results of other programs alone."""
    if len(others := data["other"]) and data["scan"].empty:
        file = data.files[others["file"].iloc[0]]
        raise Refused(
            f"{file.path}: has results of {file.context['program']}: `scanlab-report "
            f"compare` and `scanlab-report build` read them"
        )


@contextlib.contextmanager
def asked(options: argparse.Namespace, kind: str) -> Iterator[tuple[shown.Entry, Data]]:
    """Yield a figure or table, and the results for it; Refused if they lack what it needs."""
    name = options.name
    if (entry := registered(kind).get(name)) is None:
        raise Refused(f"there is no {kind} {name} (scanlab-report list has them all)")
    for option in ("variants", "type", "op"):
        if getattr(options, option) and option not in entry.follows:
            followed = ", ".join(f"--{each}" for each in entry.follows) or "no option"
            raise Refused(f"{kind} {name} cannot follow --{option}; it follows {followed}")
    data = on_device(opened(options.paths or [RECORDED], options.session), options.device)
    if not entry.of_others:
        refuse_others(data)
    op, timed = options.op or "plus", data["scan"]
    scanned = (timed["op"] == op) & (timed["mode"] == "inclusive")
    scanned &= (timed["type"] == options.type) | (not options.type)
    what = " ".join(filter(None, (options.type, op, "inclusive timings of ")))
    ids: list[str] = []
    for pattern in filter(None, options.variants.split(",")):
        if not (new := fnmatch.filter(sorted(set(timed.loc[scanned, "variant"])), pattern)):
            raise Refused(f"{kind} {name} cannot be made: no {what}{pattern}")
        ids += new
    try:
        yield entry, data.asking(Ask(tuple(dict.fromkeys(ids)), options.type, options.op))
    except Lacking as error:
        how = f"scanlab-report list says what measures {kind} {name}"
        raise Refused(f"{kind} {name} cannot be made: no {error} ({how})") from None
