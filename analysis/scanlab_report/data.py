"""Results as tables, whose column `file` is an index of `Data.files`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pandas as pd

from scanlab_report.schema.results import Variant
from scanlab_report.schema.samples import PRIMITIVES
from scanlab_report.tables import COLUMNS, MEASURED, ODD_SIZES

pd.set_option("mode.string_storage", "python")  # a call of Arrow costs more than it saves


@dataclass(frozen=True, eq=False)
class File:
    """A file of results: where it lies, whether it was measured now, and its context."""

    path: Path
    origin: str
    context: Mapping[str, Any] = field(default_factory=dict)
    variants: Mapping[str, Variant] = field(default_factory=dict)
    of_no_device: bool = False
    """Whether any machine makes the same file: emulator counts and simulations."""
    unowned: bool = False
    """Whether it is a table that does not name its run."""

    @property
    def kind(self) -> str:
        """`cuda`, `host`, `tuning`, or `odd_sizes`, which the command line names."""
        if re.search(rf"--sweep[ =]{ODD_SIZES}\b", str(self.context.get("argv", ""))):
            return ODD_SIZES
        return str(self.context.get("kind", "cuda"))

    @property
    def device(self) -> str:
        """The GPU, or the processor; empty of what any machine makes."""
        named = self.context.get("device") or self.context.get("cpu") or "unnamed device"
        return "" if self.of_no_device else str(named)

    @property
    def host(self) -> str:
        """The processor that the CPU baselines ran on."""
        cores = self.context.get("cores")
        return f"{self.context.get('cpu', 'unnamed CPU')}{f', {cores} cores' if cores else ''}"

    @property
    def date(self) -> str:
        return str(self.context.get("date", ""))

    @property
    def commit(self) -> str:
        commit = str(self.context.get("git_commit", ""))
        return "" if commit == "unknown" else commit

    @property
    def dirty(self) -> bool:
        return str(self.context.get("git_dirty")).lower() == "true"

    @property
    def revision(self) -> str:
        """The abbreviated commit; `+` marks a tree with uncommitted changes."""
        return self.commit and self.commit[:9] + "+" * self.dirty

    @property
    def on_gpu(self) -> bool:
        return self.kind != "host" and not self.of_no_device


class Session(NamedTuple):
    """Recorded files of one device that belong together."""

    folder: Path
    device: str
    date: str
    complete: bool
    files: frozenset[Path]
    gpus: int = 1

    @property
    def name(self) -> str:
        return self.folder.name


@dataclass(frozen=True)
class Publication:
    """A table of the literature, and its source."""

    table: pd.DataFrame
    source: Mapping[str, Any]

    @property
    def citation(self) -> str:
        """Authors and year, for a legend."""
        return str(self.source["short"])


class Variants(dict[str, Variant]):
    """The description of each variant, by id. One without any counts as a scan of ours."""

    def __missing__(self, id_: str) -> Variant:
        return Variant(
            label=id_, kind="scan", origin="variant", family="", overview=True, on_host=False
        )

    def ids(self, *wanted: str | Group) -> list[str]:
        """Ids, those of groups among them."""
        ids: list[str] = []
        for item in wanted:
            if isinstance(item, str):
                ids.append(item)
            else:
                ids += [id_ for id_, about in self.items() if item.has(about)]
        return ids


@dataclass(frozen=True)
class Group:
    """Variants that are alike; `name` stands for them in sentences."""

    name: str
    has: Callable[[Variant], bool]

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Ask:
    """The variants, type and operator that a user asks a figure for; empty: the figure chooses."""

    variants: tuple[str, ...] = ()
    type: str = ""
    op: str = ""


@dataclass
class Data:
    """Everything that was read, cut to the files in `kept`."""

    files: list[File] = field(default_factory=list)
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    settings: dict[str, dict[str, str]] = field(default_factory=lambda: {"": {}})
    """Settings that are not the defaults, by their name in the tables."""
    sessions: list[Session] = field(default_factory=list)
    published: dict[str, Publication] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    """The faults of the input, in sentences with their file and place."""
    first: str = ""
    """The device that comes before others of the same origin."""
    named: str = ""
    """The session that was asked for, if any."""
    ask: Ask = Ask()
    kept: frozenset[int] | None = None
    every: Data | None = None
    """All sessions of the device, where this is one of them."""
    of_all: Data | None = None
    """The data of all devices, where these are of one of them."""
    order: Variants | None = None
    """The variants of all devices, so that each looks the same on all of them."""

    def __post_init__(self) -> None:
        self._cut: dict[Any, Any] = {}

    def add_file(self, path: Path, origin: str, context: Any = None, **more: Any) -> int:
        """Add a file. Return its number."""
        self.files.append(File(path, origin, msgspec.to_builtins(context or {}), **more))
        return len(self.files) - 1

    def add_rows(self, table: str, file: int, rows: pd.DataFrame) -> None:
        """Add rows of a file to a table, which :meth:`finish` joins."""
        rows.insert(0, "file", file)
        self._cut.setdefault(("parts", table), []).append(rows)

    def finish(self) -> Data:
        """Join what was added, and find the runs of tables that do not name theirs."""
        parts = {key[1]: rows for key, rows in self._cut.items()}
        self._cut = {}
        self.tables = {name: pd.concat(rows, ignore_index=True) for name, rows in parts.items()}
        for number, file in enumerate(self.files):
            if file.unowned:
                self.files[number] = replace(file, **self._run_of(file))
        for name, case in _APART.items():
            rows = self.rows(name, lambda file: file.origin == MEASURED)
            devices = rows["file"].map(lambda number: self.files[number].device)
            for _, part in rows.groupby(devices, sort=False):
                self._complain_of_doubles(part, [column for column in case if column in rows])
        return self

    def _complain_of_doubles(self, rows: pd.DataFrame, case: list[str]) -> None:
        """Complain of each file that has a case of an earlier file."""
        cases = rows[["file", *case]].drop_duplicates()
        cases["before"] = cases.groupby(case, dropna=False)["file"].transform("first")
        again = cases[cases["file"] != cases["before"]]
        for (number, before), part in again.groupby(["file", "before"], sort=False):
            named = " ".join(str(v) for v in part[case].iloc[0] if v != "" and not pd.isna(v))
            both = f"has {len(part)} of the cases of {self.files[before].path}, such as {named}"
            file = self.files[number].path
            self.problems.append(f"{file}: {both}: leave one of the files out")

    def _run_of(self, file: File) -> dict[str, Any]:
        """Return the context of the run beside a table, as far as the runs there agree."""
        runs = [f for f in self.files if f.on_gpu and not f.unowned and f.origin == file.origin]
        here = [run for run in runs if run.path.parent == file.path.parent] or runs[:1]
        if not here:
            return {"of_no_device": True}
        several = len({run.commit for run in here}) > 1
        only = {"kind": here[0].kind, "device": here[0].device}
        return {"context": only if several else here[0].context}

    def __getitem__(self, name: str) -> pd.DataFrame:
        """A table, without the rows of other files."""
        if name not in self._cut:
            table = self.tables.get(name)
            if table is None:
                table = pd.DataFrame(columns=["file", *COLUMNS[name]])
            elif self.kept is not None:
                table = table[table["file"].isin(list(self.kept))]
            self._cut[name] = table
        return self._cut[name]

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return the result of `make`, computed once for these data: many figures need the same."""
        if key not in self._cut:
            self._cut[key] = make()
        return self._cut[key]

    def numbers(self, wanted: Callable[[File], bool] = lambda file: True) -> list[int]:
        """The numbers of the kept files that are wanted."""
        kept = range(len(self.files)) if self.kept is None else sorted(self.kept)
        return [number for number in kept if wanted(self.files[number])]

    def rows(self, table: str, wanted: Callable[[File], bool]) -> pd.DataFrame:
        """The rows of a table that are of wanted files."""
        rows = self[table]
        return rows[rows["file"].isin(self.numbers(wanted))]

    def cut(self, wanted: Callable[[File], bool], **changes: Any) -> Data:
        """The same without the rows of other files."""
        return replace(self, kept=frozenset(self.numbers(wanted)), **changes)

    @cached_property
    def devices(self) -> list[str]:
        """The GPUs that something was measured on, in the order of `ranked`."""
        return ranked([self.files[n] for n in self.numbers(lambda file: file.on_gpu)], self.first)

    @cached_property
    def variants(self) -> Variants:
        """The newest description of each variant, over all sessions."""
        data = self.every or self
        timed = set(data["scan"]["file"])
        files = [data.files[n] for n in data.numbers() if n in timed]
        files.sort(key=lambda file: file.date)
        about = Variants({id_: variant for file in files for id_, variant in file.variants.items()})
        if self.order is not None:
            return Variants({id_: about.get(id_, variant) for id_, variant in self.order.items()})
        return about

    def on(self, device: str, alike: bool = False) -> Data:
        """Return the data as if there were no other GPU. Counts, simulations and other hosts
        stay. `alike`: variants keep the order of all devices."""
        if self.devices in ([], [device]):
            return self

        def stays(file: File) -> bool:
            if file.kind == "host":
                return device in (self._gpus_beside(file) or [device])
            return file.of_no_device or file.device == device

        every = self.every and self.every.on(device)
        order = self.variants if alike else None
        whole = self.of_all or self
        cut = lambda: self.cut(stays, every=every, order=order, of_all=whole)
        return self.once(("on", device, alike), cut)

    def _gpus_beside(self, host: File) -> set[str]:
        """The GPUs whose session lists a file of a host, else those measured in its folder."""
        if listed := {s.device for s in self.sessions if host.path.resolve() in s.files}:
            return listed & {self.files[n].device for n in self.numbers(lambda f: f.on_gpu)}
        numbers = self.numbers(lambda f: f.on_gpu and f.path.parent == host.path.parent)
        return {self.files[n].device for n in numbers}

    def asking(self, ask: Ask) -> Data:
        """The same, for a figure that a user asked for."""
        return replace(self, ask=ask)

    @cached_property
    def places(self) -> dict[str, dict[int, int]]:
        """The place of each file by table: that with most variants first; of equals, the newest."""
        order = {}
        for name, counted in _COUNTED.items():
            timed = self[name].groupby("file")[counted].nunique().to_dict()
            first = sorted(timed, key=lambda n: (timed[n], self.files[n].date, n), reverse=True)
            order[name] = {number: place for place, number in enumerate(first)}
        return order


_COUNTED = dict.fromkeys(PRIMITIVES, "variant")
_COUNTED |= {"schedule": "id", "stream_scan": "way", "distributed": "algorithm"}
_APART = {
    "counters": ["variant", "padding", "type", "op", "items", "mode", "load"],
    "traffic": ["variant", "settings", "type", "op", "mode", "items"],
    "waits": ["variant", "tile", "settings", "items", "type", "ranks", "rank", "role"],
    "tile_times": ["variant", "settings", "items", "type", "tile"],
    "repeats": ["variant", "type", "op", "mode"],
}
"""Columns that name a case. No two files that were measured now on one device may have a case."""


def ranked(files: Iterable[File], first: str = "") -> list[str]:
    """Return the devices of some files in order: GPUs before CPUs, measured now before recorded,
    then the device that shall be `first`, then the last measured."""
    rank: dict[str, tuple[bool, bool, bool, str]] = {}
    for file in files:
        own = (file.kind != "host", file.origin == MEASURED, file.device == first, file.date)
        rank[file.device] = max(rank.get(file.device, own), own)
    return sorted(rank, key=rank.__getitem__, reverse=True)
