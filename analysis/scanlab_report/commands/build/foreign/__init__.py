"""What build makes of the files of nvbench or Google Benchmark: the distributions, the times by an axis, and a table of medians.

They are never mixed with Scanlab's own: a report of those knows what each case is, and of these only what they are called.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from matplotlib.figure import Figure

from scanlab_report.commands.build.foreign import distributions, medians, time_by_axis
from scanlab_report.commands.build.foreign.shown import Shown, named
from scanlab_report.console import SOUND, count, refuse, say
from scanlab_report.layout import style
from scanlab_report.layout.table_formats import plain
from scanlab_report.read.foreign.cases import Foreign
from scanlab_report.written import in_place_of

_FIGURES: tuple[tuple[str, Callable[[list[Shown]], Figure | str], str], ...] = (
    ("distributions", distributions.draw, distributions.CAPTION), ("time_by_axis", time_by_axis.draw, time_by_axis.CAPTION),
)  # fmt: skip


def build(files: list[Foreign], options: argparse.Namespace) -> int:
    """Writes figures/ and tables/; what cannot be drawn is left out, with the reason, and what an earlier build left of it removed."""
    if not_theirs := [f"--{name}" for name, given in (("recorded", options.recorded), ("device", options.device), ("session", options.session), ("paper", options.paper), ("page", options.pages)) if given]:
        return refuse(f"{', '.join(not_theirs)}: of Scanlab's results alone, and {files[0].run.file} is of {files[0].kind}")
    out: Path = options.out
    shown = named(files)
    timed = [of for of in shown if not of.case.skipped]
    say(f"read {count(sum(len(of.case.samples) for of in timed), 'sample')} of {count(len(timed), 'case')} of {count(len(files), 'file')}")
    if untimed := len(shown) - len(timed):
        say(f"{count(untimed, 'case')} without a time: see tables/medians.md")
    sources = [f"{of.run.file.name} ({of.kind}): {', '.join(filter(None, (of.run.device, of.run.date[:10])))}" for of in files]
    left_out = []
    with in_place_of(out) as new, style.sheet():
        for part in ("figures", "tables"):
            (new / part).mkdir()
        for name, draw, caption in _FIGURES:
            drawn = draw(timed)
            if isinstance(drawn, str):
                say(f"figure {name} is left out: {drawn}.")
                left_out += [out / "figures" / (name + suffix) for suffix in (".pdf", ".png")]
                continue
            style.footer(drawn, [caption, *sources])
            style.save(drawn, [new / "figures" / (name + suffix) for suffix in (".pdf", ".png")])
            say(f"figure {name}: {'; '.join(sources)}")
        table = medians.build(shown)
        for suffix, text in ((".csv", table.csv()), (".tex", table.latex()), (".md", f"{table.caption}\n\n{table.markdown()}\n{plain('; '.join(sources))}\n")):
            (new / "tables" / f"medians{suffix}").write_text(text, encoding="utf-8")
        say(f"table medians: {'; '.join(sources)}")
    for stale in left_out:
        stale.unlink(missing_ok=True)
    say(f"written: {out / 'figures'}, {out / 'tables'}")
    return SOUND
