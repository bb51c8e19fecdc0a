"""What a page on one variant says."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np

from scanlab_report.commands.build import report
from scanlab_report.console import count
from scanlab_report.derive.head_to_head import TYPES
from scanlab_report.derive.sizes import power_of_two
from scanlab_report.figures import throughput
from scanlab_report.layout.table_formats import Column, Table, code, records, significant, size, whole, with_interval
from scanlab_report.read.published import Publication
from scanlab_report.read.records import Results, Verification, ideal_bytes, not_default
from scanlab_report.select.counted import Conflicts, Counts, Traffic
from scanlab_report.select.evidence import AllTimingEvidence, Key, Scanned
from scanlab_report.select.experiments import bench
from scanlab_report.select.needs import Gathered, Need, by_device, chosen, gather
from scanlab_report.select.timings import ANY_TYPE, AllTimings, Selection
from scanlab_report.select.variants import BEST, CEILING, CUBS, HOST, NEWEST_VENDOR, VENDOR
from scanlab_report.stats import intervals
from scanlab_report.stats.intervals import Interval

_COUNTED = "tools/count {what} build/cuda/scanlab results/{file}.csv --variant {variant} --items {items}"
"""What counts one variant by the hardware."""
_MANY = 24
"""Sizes in a table; of more those at powers of two are enough."""
_THROUGHPUT = cast("dict[str, Need]", throughput.NEEDS)


def _code(of: Verification) -> tuple[str, str]:
    """The device and the commit that a verification is of."""
    commit = str(of.context.get("git_commit", ""))[:9] or "unknown"
    return str(of.context.get("device", "")), f"commit {commit}" + ("+" if str(of.context.get("git_dirty")) == "true" else "")


@dataclass(frozen=True)
class Page:
    """One variant in some results; its figures go to the folder ``out``."""

    variant: str
    results: Results
    publications: dict[str, Publication]
    out: Path
    paths: Sequence[Path] = ()
    """What was given to read, which commands on the page name."""

    @property
    def stem(self) -> str:
        """Of its files' names: a name of a variant may hold what one of a file may not."""
        return re.sub(r"[^\w-]+", "_", self.variant)

    @property
    def on_host(self) -> bool:
        return self.variant in self.results.variants.ids(HOST)

    def text(self) -> str:
        """The whole page, in Markdown."""
        about = self.results.variants[self.variant]
        parts = [f"# {self.variant}", f"{about.title or about.label}.", "## Verification", *self._verified(), *self._timed()]
        if not self.on_host:  # whose code neither the emulator nor a GPU runs
            parts += ["## Bank conflicts, counted by the emulator", self._counted(), "## Bank conflicts, counted by the hardware", self._conflicts(),
                      "## Bytes of device memory, counted by the hardware", self._traffic()]  # fmt: skip
        return "\n\n".join(part.strip() for part in parts) + "\n"

    # ------------------------------------------------------------------------------------------------ verified

    def _verified(self) -> Iterator[str]:
        """A sentence per backend and code, the newest first: all verifications of it together."""
        found: dict[tuple[str, ...], list[Verification]] = {}
        for of in sorted(self.results.verifications, key=lambda of: str(of.context.get("date", "")), reverse=True):
            if (checks := of.of.get(self.variant)) and checks.passed + checks.failed:
                found.setdefault((str(of.context["backend"]), *_code(of)), []).append(of)
        for verifications in found.values():
            yield self._verdict(verifications)
        if not found:
            yield f"Not verified in these results. To verify it: `build/{'cpu' if self.on_host else 'cuda'}/scanlab verify --variant {shlex.quote(self.variant)} --json results/verify.jsonl`"

    def _verdict(self, verifications: list[Verification]) -> str:
        checks, context = [of.of[self.variant] for of in verifications], verifications[0].context
        where = {"cuda": context.get("device"), "simt": "the SIMT emulator", "host": context.get("cpu") or "the host"}[str(context["backend"])]
        seeds = ", ".join(sorted({str(of.context.get("seed") or "unknown") for of in verifications}))
        by = f"On {where}, seed {seeds}, {_code(verifications[0])[1]}, {str(context.get('date', ''))[:10]}."
        failed = sum(of.failed for of in checks)
        count = f"{whole(sum(of.passed for of in checks))} checks passed, {whole(failed)} failed, {whole(sum(of.skipped for of in checks))} skipped"
        if failed:
            return f"**Wrong**: {count}. {by} The first that failed: {next(of.wrong for of in checks if of.wrong)}."
        broken_off = " It was interrupted: not all checks were made." if any(of.interrupted for of in verifications) else ""
        return f"**Verified**: {count}; types {', '.join(sorted({type_ for of in checks for type_ in of.types}))}. {by}{broken_off}"

    # ------------------------------------------------------------------------------------------------ timed

    def _timed(self) -> Iterator[str]:
        gathered = gather({"timings": AllTimings(of=self.variant)}, self.results, self.publications)
        timings = gathered.found.get("timings")
        combinations = self._combinations(timings) if isinstance(timings, AllTimingEvidence) else []
        if not isinstance(timings, AllTimingEvidence) or not combinations:
            yield "## Throughput"
            timed = self.results.timings[self.results.timings["variant"] == self.variant]
            if len(timed) and self.on_host:
                yield f"Timed on a host alone, whose times are not on this page. To have them in a table: `scanlab-report export{self._given} --out tidy`"
                return
            settings = set(timed["settings"]) - {""}
            why = f"Timed with {' and with '.join(sorted(settings))} alone, and this page is of default settings" if settings else "Not timed on a GPU in these results"
            yield f"{why}. To time it: `{bench((self.variant, 'memcpy', 'cub*'))}`"
            return
        shown = [of for of in combinations if of[1] == combinations[0][1]]
        for kind, op in shown:
            yield f"## Throughput, {kind}" + (f", {op}" if op != "plus" else "")
            yield self._figure(timings, kind, op)
            yield self._table(timings, kind, op)
        yield f"{report.footer_line(gathered.provenances)}; {gathered.provenances[0].repeated}."
        verified = {str(of.context.get("git_commit", ""))[:9] for of in self.results.verifications if self.variant in of.of}
        if verified and verified.isdisjoint(commit[:9] for commit in gathered.provenances[0].commits):
            yield f"**The code that was verified is not the code that was timed**: commit {', '.join(sorted(verified))} was verified."
        if others := list(dict.fromkeys(op for _, op in combinations if (combinations[0][1] != op))):
            yield f"Also timed with {', '.join(others)}: `scanlab-report figure throughput{self._given} --variants {shlex.quote(self.variant)} --op {others[0]}`"
        if not any(self._matches(timings, key, (CUBS,)) for key in timings.keys(op=shown[0][1])):
            yield f"No CUB was timed beside it. To time both: `{bench((self.variant, 'memcpy', 'cub*'), shown[0][0], shown[0][1])}`"

    @property
    def _given(self) -> str:
        """The paths in a command."""
        return "".join(f" {shlex.quote(str(path))}" for path in self.paths)

    def _combinations(self, timings: AllTimingEvidence) -> list[tuple[str, str]]:
        """The types and operators that it was timed with, plus first, types as they are preferred."""
        timed = {(key.type, key.op) for key in timings.samples if timings.of(key, self.variant) is not None}
        return sorted(timed, key=lambda of: (of[1] != "plus", of[1], ANY_TYPE.index(of[0]) if of[0] in ANY_TYPE else len(TYPES)))

    def _matches(self, timings: AllTimingEvidence, key: Key, theirs: Sequence) -> bool:
        return timings.match(key, self.variant, theirs) is not None

    def _table(self, timings: AllTimingEvidence, kind: str, op: str) -> str:
        keys = [key for key in timings.keys(type=kind, op=op) if timings.of(key, self.variant) is not None]
        first = min(keys, key=lambda key: (key.mode != "inclusive", key.cache != "cold", key.launch != "stream"))
        keys = [key for key in keys if (key.mode, key.cache, key.launch) == (first.mode, first.cache, first.launch)]
        others = 0
        if len(keys) > _MANY and (powers := [key for key in keys if power_of_two(key.items)]):
            keys, others = powers, len(keys) - len(powers)
        rows = []
        for key in keys:
            samples = timings.of(key, self.variant)
            assert samples is not None
            time = intervals.median_interval(samples)
            moved = ideal_bytes(kind, op, key.items)
            copy, cub = timings.match(key, self.variant, (CEILING,)), timings.match(key, self.variant, (CUBS,))
            rows.append({"items": key.items, "time_us": time.value / 1e3, "rate": Interval(moved / time.value, moved / time.high, moved / time.low, time.count),
                         "of_memcpy": copy and copy.ratio, "of_cub": cub and cub.ratio, "cub": cub.rival if cub else ""})  # fmt: skip
        table = Table(
            f"{first.mode} {Scanned(kind, op).scan}, {first.cache} cache, launched in a {first.launch}".capitalize() + ": median time, throughput counting 2n items, "
            "and the times of a device copy (memcpy, of many items the ceiling) and of the fastest CUB over its own, with 95% intervals in brackets.",
            (Column("items", "n", size), Column("time_us", "time, µs", lambda v: significant(v, 4)), Column("rate", "GB/s", with_interval),
             Column("of_memcpy", "× memcpy", with_interval), Column("of_cub", "× CUB", with_interval),
             Column("cub", "fastest CUB", lambda v: code(v) if v else "—", right=False)),
            records(rows),
        )  # fmt: skip
        left_out = f"\n\n{count(others, 'size')} that {'is' if others == 1 else 'are'} no power of two {'is' if others == 1 else 'are'} left out." if others else ""
        return f"{table.caption}\n\n{table.markdown()}{left_out}"

    def _figure(self, timings: AllTimingEvidence, kind: str, op: str) -> str:
        """Throughput beside the copy and CUB; of the first type also as PDF for a paper."""
        rivals = [name for name in (BEST, VENDOR, NEWEST_VENDOR) if name != self.variant]
        selection = Selection((self.variant, *rivals), kind, op)
        on: Mapping[str, Gathered] = by_device(chosen(_THROUGHPUT, selection), self.results, self.publications)
        if reasons := [reason for of in on.values() for reason in of.reasons]:
            ways = {f"{key.mode} ones launched in a {key.launch}" for key in timings.keys(type=kind, op=op) if timings.of(key, self.variant) is not None}
            if "inclusive ones launched in a stream" not in ways:  # who sees times below would not know why they do not count
                reasons = [f"it is of inclusive scans launched in a stream, and these results have {' and '.join(sorted(ways))}"]
            return f"No figure: {' and '.join(reasons)}. To measure it: `{bench((self.variant, 'memcpy', 'cub*'), kind, op)}`"
        name = f"throughput_{kind}.png"
        report.save(throughput, on, [self.out / name])
        paper = self.out / f"{self.stem}.pdf"
        if paper.exists():
            return f"![Throughput of {self.variant}, {kind}]({name})"
        report.save(throughput, on, [paper], "ieee-column")
        return f"![Throughput of {self.variant}, {kind}]({name})\n\n[{paper.name}]({paper.name}) is the same for a column of a paper."

    # ------------------------------------------------------------------------------------------------ counted

    def _counted(self) -> str:
        found = [e for e in self.results.explanations if e.variant == self.variant]
        if not found:
            return f"Not counted in these results. To count them: `build/cpu/scanlab explain {shlex.quote(self.variant)} --json > results/{self.stem}.json`"
        newest = gather({"counts": Counts((self.variant,), op=found[0].op)}, self.results, self.publications)
        used = newest.found["counts"].explanations  # type: ignore[attr-defined]
        defaults = self.results.variants[self.variant].defaults
        rows = {(e.type, e.items): e for e in sorted(used, key=lambda e: e.mode) if not not_default(e.content.parameters, defaults)}
        table = Table("", (Column("type", "type", right=False), Column("items", "n", size), Column("requests", "shared-memory requests", whole),
                           Column("mean", "transactions per request", significant), Column("worst", "worst", whole)),
                      records([{"type": e.type, "items": e.items, "requests": e.totals.shared_requests,
                                "mean": e.totals.banks32.mean_degree if e.totals.shared_requests else None,
                                "worst": e.totals.banks32.max_degree if e.totals.shared_requests else None}
                               for _, e in sorted(rows.items())]))  # fmt: skip
        return f"Of 32 banks; 1 transaction per request is free of conflicts.\n\n{table.markdown()}\n{report.footer_line(newest.provenances)}"

    def _conflicts(self) -> str:
        found = gather({"conflicts": Conflicts()}, self.results, self.publications)
        cases = found.found["conflicts"].rows if not found.reasons else None  # type: ignore[attr-defined]
        rows = cases[cases["variant"] == self.variant] if cases is not None else None
        if rows is None or rows.empty:
            return "Not counted in these results. To count them: `" + self._by_hardware("conflicts", "bank_conflicts", "2048") + "`"
        for setting, default in self.results.variants[self.variant].defaults.items():
            if setting in rows:
                rows = rows[rows[setting].isna() | (rows[setting] == default)]
        case = [name for name in ("type", "op", "mode", "items") if name in rows]
        counted = {"shared_load_wavefronts": "load transactions", "shared_store_wavefronts": "store transactions",
                   "shared_load_conflicts": "load conflicts", "shared_store_conflicts": "store conflicts"}  # fmt: skip
        summed = rows.groupby(case, as_index=False)[list(counted)].sum()
        columns = [Column(name, "n" if name == "items" else name, size if name == "items" else str, right=name == "items") for name in case]
        table = Table("", [*columns, *(Column(key, name, whole) for key, name in counted.items())], summed)
        return f"Of shared memory, over all launches of one scan.\n\n{table.markdown()}\n{report.footer_line(found.provenances)}"

    def _traffic(self) -> str:
        found = gather({"traffic": Traffic()}, self.results, self.publications)
        cases = found.found["traffic"].cases if not found.reasons else None  # type: ignore[attr-defined]
        rows = cases[(cases["variant"] == self.variant) & (cases["settings"] == "")] if cases is not None else None
        if rows is None or rows.empty:
            return "Not counted in these results. To count them: `" + self._by_hardware("traffic", "dram_bytes", "2^18:2^28:x4") + "`"
        once = np.array([ideal_bytes(row.type, row.op, int(row.items)) / 2 for row in rows.itertuples()])
        shown = rows.assign(read=rows["dram_bytes_read"] / once, written=rows["dram_bytes_written"] / once)
        ratio = significant
        table = Table("", (Column("type", "type", right=False), Column("op", "operator", right=False), Column("items", "n", size), Column("read", "read", ratio), Column("written", "written", ratio)), shown)
        return f"Over the bytes of n items: a scan that reads and writes once has 1 and 1.\n\n{table.markdown()}\n{report.footer_line(found.provenances)}"

    def _by_hardware(self, what: str, file: str, items: str) -> str:
        return _COUNTED.format(what=what, file=file, variant=re.sub(r"[^\w*]", "", self.variant), items=items)
