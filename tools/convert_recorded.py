#!/usr/bin/env python3
"""Give the recorded files the field's names, once: tools/convert_recorded.py, in the repository's root.

Only keys, ids and file names change. Each file is read before and after, and must differ in nothing else.
"""

import gzip
import json
import re
import subprocess
from pathlib import Path

KEYS = {
    "settled": "converged", "placement": "aliasing", "why_not": "refusal", "said": "stated", "found": "measured",
    "collected": "traced", "collected_us": "traced_us", "collection_percent": "tracing_overhead_percent",
    **{f"collected_{way}_us": f"traced_{way}_us" for way in ("in", "out", "both_in", "both_out")},
}
VALUES = {"scanlab-caveats/3": "scanlab-implicit-sync/3", "caveats": "implicit_sync"}
FILES = ((r"^duel(?=[_.])", "head_to_head"), (r"^caveats", "implicit_sync"))


def rename_file(name: str) -> str:
    for old, new in FILES:
        name = re.sub(old, new, name)
    return name


def converted(value: object, inside: str = "") -> object:
    """Rename a document's keys; `early` only among the settings of a variant, where `pdl` is the field's word."""
    if isinstance(value, dict):
        return {
            KEYS.get(key, "pdl" if key == "early" else key): converted(entry, key)
            for key, entry in value.items()
        }
    if isinstance(value, list):
        return [converted(entry, inside) for entry in value]
    if isinstance(value, str):
        if inside in ("schema", "kind"):
            return VALUES.get(value, value)
        if inside == "file":
            return rename_file(value)
        if inside == "name":
            return "pdl" if value == "early" else re.sub(r"\bearly:", "pdl:", value)
    return value


def substitute(text: str) -> str:
    for old, new in KEYS.items():
        text = re.sub(rf'"{old}"(?=\s*:)', f'"{new}"', text)
    for old, new in VALUES.items():
        text = re.sub(rf'("(?:schema|kind)"\s*:\s*)"{re.escape(old)}"', rf'\1"{new}"', text)
    text = re.sub(r'"early"(?=\s*:)', '"pdl"', text)
    text = re.sub(r'("name"\s*:\s*)"early"', r'\1"pdl"', text)
    text = re.sub(r'("name"\s*:\s*"[^"]*)\bearly:', r"\1pdl:", text)
    return re.sub(r'("file"\s*:\s*")(\w+)', lambda match: match[1] + rename_file(match[2]), text)


def parsed(text: str, lines: bool) -> object:
    return [json.loads(line) for line in text.splitlines()] if lines else json.loads(text)


def convert(path: Path) -> None:
    packed = path.suffix == ".gz"
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if packed else raw).decode()
    if ".json" in path.name and (new := substitute(text)) != text:
        lines = ".jsonl" in path.name
        if parsed(new, lines) != converted(parsed(text, lines)):
            raise SystemExit(f"{path}: more than names would change")
        path.write_bytes(gzip.compress(new.encode(), 9, mtime=0) if packed else new.encode())
    if (name := rename_file(path.name)) != path.name:
        subprocess.run(["git", "mv", path, path.with_name(name)], check=True)


if __name__ == "__main__":
    listed = subprocess.run(["git", "ls-files", "data/recorded", "data/devices", "data/tuned"], capture_output=True, text=True, check=True)
    for name in listed.stdout.split():
        convert(Path(name))
