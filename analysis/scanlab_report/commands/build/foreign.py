"""Writes the figures and the table of nvbench's or Google Benchmark's files.

They are never mixed with Scanlab's own: a report of those knows what each case is, and of these only their names.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from scanlab_report import style
from scanlab_report.chapters import others
from scanlab_report.console import SOUND, count, refuse, say
from scanlab_report.data import Data
from scanlab_report.formats import plain
from scanlab_report.shown import FIGURES, Lacking
from scanlab_report.written import in_place_of

_OF_SCANLAB = {"recorded": "recorded", "device": "device", "session": "session", "paper": "paper", "pages": "page"}
"""Options of Scanlab's results alone, and how each is written."""


def build(data: Data, options: argparse.Namespace) -> int:
    """Writes figures/ and tables/ of the rows of `other`; a figure that cannot be drawn is left out, with the reason, and that of an earlier
    build removed."""
    rows = data["other"]
    files = [data.files[number] for number in dict.fromkeys(rows["file"])]
    first = f"{files[0].path} is of {files[0].context['program']}"
    if own := [file.path for file in data.files if file not in files] + [verification.file for verification in data.verifications]:
        return refuse(f"{first} and {own[0]} is Scanlab's own: build each alone, into a folder of its own")
    if given := [f"--{written}" for name, written in _OF_SCANLAB.items() if getattr(options, name)]:
        return refuse(f"{', '.join(given)}: of Scanlab's results alone, and {first}")
    out: Path = options.out
    timed = rows[rows["skipped"] == ""]
    say(f"read {count(sum(map(len, timed['samples'])), 'sample')} of {count(len(timed), 'case')} of {count(len(files), 'file')}")
    if untimed := len(rows) - len(timed):
        say(f"{count(untimed, 'case')} without a time: see tables/medians.md")
    sources = [f"{file.path.name} ({file.context['program']}): {', '.join(filter(None, (file.device, file.date[:10])))}" for file in files]
    left_out = []
    with in_place_of(out) as new, style.sheet():
        for part in ("figures", "tables"):
            (new / part).mkdir()
        for name in ("distributions", "time_by_axis"):
            targets = [f"{name}{suffix}" for suffix in (".pdf", ".png")]
            try:
                made = FIGURES[name].make(data)
            except Lacking as error:
                say(f"figure {name} is left out: no {error}.")
                left_out += [out / "figures" / target for target in targets]
                continue
            style.footer(made.content, [made.caption, *sources])
            style.save(made.content, [new / "figures" / target for target in targets])
            say(f"figure {name}: {'; '.join(sources)}")
        table = others.medians(data).content
        page = f"{table.caption}\n\n{table.markdown()}\n{plain('; '.join(sources))}\n"
        for suffix, text in ((".csv", table.csv()), (".tex", table.latex()), (".md", page)):
            (new / "tables" / f"medians{suffix}").write_text(text, encoding="utf-8")
        say(f"table medians: {'; '.join(sources)}")
    for stale in left_out:
        stale.unlink(missing_ok=True)
    say(f"written: {out / 'figures'}, {out / 'tables'}")
    return SOUND
