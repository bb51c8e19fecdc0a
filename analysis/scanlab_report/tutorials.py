"""The generated parts of docs/tutorials: lines of the kernels' sources, and recorded times."""

import re
import textwrap
from pathlib import Path

from scanlab_report import DATA, chapters, markers, shown
from scanlab_report.chapters import standings
from scanlab_report.console import Refused
from scanlab_report.data import Data
from scanlab_report.formats import Column, Table, code, digits, significant, size
from scanlab_report.groups import CEILING
from scanlab_report.page.views import source_line
from scanlab_report.pick import scans
from scanlab_report.sources import sources

ROOT = DATA.parent
"""The checkout: pages name sources by their place in it."""
PAGES = ROOT / "docs" / "tutorials"
MARKER = re.compile(r"<!-- ((code|speed|table) (.+?)):begin -->")


def filled(page: Path, data: Data) -> str:
    """The text of a page with its generated parts."""
    chapters.load_all()
    text = page.read_text(encoding="utf-8")
    for name, kind, words in MARKER.findall(text):
        try:
            if kind == "table":
                part = shown.markdown(shown.first_of(shown.TABLES[words], data)).strip()
            else:
                part = excerpt(words) if kind == "code" else speeds(data, words)
            text = markers.replaced(text, name, part)
        except Refused as error:
            raise Refused(f"{page}: {error}") from None
    return text


def excerpt(words: str) -> str:
    """Return lines of a source. `FILE LINE`: from the line that begins so, to where its braces
    close; `FILE FIRST … LAST`: up to the next line that begins with LAST; `FILE`: all of it."""
    name, _, line = words.partition(" ")
    file = ROOT / name
    if not file.is_file():
        raise Refused(f"there is no source {name}")
    text = file.read_text(encoding="utf-8")
    if line:
        first, _, last = map(re.escape, line.partition(" … "))
        if (number := len(re.findall(rf"^ *{first}", text, re.M))) != 1:
            raise Refused(f"{name}: {number} lines begin with: {line.partition(' … ')[0]}")
        rest = rf".*?\n *{last}" if last else r"(?:[^\n]*\}|.*?\n\1\})"
        found = re.search(rf"^( *){first}{rest}[^\n]*", text, re.M | re.S)
        if not found:
            raise Refused(f"{name}: no end of: {line}")
        text = found[0]
    language = {".py": "python", ".sh": "sh", ".txt": "text", ".toml": "toml"}.get(
        file.suffix, "cpp"
    )
    return f"```{language}\n{textwrap.dedent(text).rstrip()}\n```"


def speeds(data: Data, variants: str) -> str:
    """The time of each variant at its largest size, and its speed as a share of a device copy's."""
    cases = scans(data, all_of=(CEILING,))
    stands = standings.standings(data, cases).set_index("variant")
    if lost := [name for name in variants.split() if name not in stands.index]:
        raise Refused(f"no recorded times of {', '.join(lost)}")
    rows = stands.loc[variants.split()].reset_index()
    ratio = lambda row: 1.0 if row["variant"] == CEILING else row["of_memcpy"].value
    rows["share"] = rows.apply(ratio, axis=1)
    columns = (
        Column("variant", "variant", code, right=False),
        Column("items", "items", size),
        Column("median_us", "time, µs", digits(4)),
        Column("share", "speed, copy = 1", significant),
    )
    caption = (
        "Inclusive sums of 32-bit integers, cold cache. The last column is the time of a "
        "device copy over the time of the scan."
    )
    table, source = Table(caption, columns, rows), source_line(sources(data, cases)[0])
    return f"{table.markdown()}\n{caption} {source}."
