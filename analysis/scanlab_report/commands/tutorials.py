"""Bring the tutorials up to date: lines of the kernels' sources, and recorded times.

It writes the parts of the pages of docs/tutorials that stand between markers.
"""

import argparse

from scanlab_report import opened, tutorials
from scanlab_report.console import SOUND, refuse, say
from scanlab_report.pick import Lacking
from scanlab_report.written import write

EXAMPLE = """  scanlab-report tutorials data/recorded"""

arguments = opened.add_paths


def run(options: argparse.Namespace) -> int:
    data = opened.opened(options.paths or [opened.RECORDED])
    data = data.on(data.devices[0]) if data.devices else data
    try:
        pages = {page: tutorials.filled(page, data) for page in tutorials.PAGES.rglob("*.md")}
    except Lacking as error:
        return refuse(f"the tutorials are left as they are: no {error}")
    for page, text in pages.items():
        if page.read_text(encoding="utf-8") != text:
            write(page, text)
            say(f"Written: {page}")
    return SOUND
