"""Generated parts of hand-written pages, kept between markers."""

from pathlib import Path

from scanlab_report.console import Refused


def begin(name: str) -> str:
    """The marker above a generated part."""
    return f"<!-- {name}:begin -->"


def end(name: str) -> str:
    """The marker below a generated part."""
    return f"<!-- {name}:end -->"


def text_of(page: Path) -> str:
    """The text of a page; Refused if it cannot be read."""
    try:
        return page.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"cannot be read: {getattr(error, 'strerror', error)}") from None


def find(text: str, name: str) -> tuple[int, int]:
    """Where the generated part lies, just inside the markers; Refused if they are not sound."""
    before, _, rest = text.partition(begin(name))
    part, marker, after = rest.partition(end(name))
    if not marker or begin(name) in rest or end(name) in before + after:
        both = f"{begin(name)} and {end(name)}"
        raise Refused(f"it needs the markers {both}, once each and in this order")
    start = len(before) + len(begin(name))
    return start, start + len(part)


def replaced(text: str, name: str, generated: str) -> str:
    """The page with the part between the markers replaced, and nothing else."""
    start, stop = find(text, name)
    return f"{text[:start]}\n{generated.strip()}\n{text[stop:]}"
