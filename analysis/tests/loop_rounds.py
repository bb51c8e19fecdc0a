"""Counts how often each loop of a kernel goes round in the tests, at most, in one go: three times or more, or it says why not.

usage: tests/mutation/loops [--build DIR] [--filter GTEST_FILTER]

Copies variants/scan into the build's folder with a counter in every loop, compiles what includes it anew, links that with the
objects that are there, and runs the tests. A loop that a test enters once or twice at a time hides what goes wrong between one
turn and the next.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEAST = 3
FILTER = "Variants.*:Chains.*:ScanThenPropagate.*:ReduceThenScan.*:RegisterTile.*:DecoupledLookback.*:ClosedForms.*:Padding.*:Reentry.*"

# Loops that never go round three times, by their heads, and why.
SHORT = {
    "for (const Choice& choice : choices)": "of the host: where no table fits, there are two",
    "for (int i : {a, b})": "a thread has two items",
    "for (const Word& word : words)": "a state has one word or two",
    "for (int i = 0; i < kWords; ++i)": "a state has one word or two",
    "for (int i = 0; i < state.kWords; ++i)": "a state has one word or two",
}

HEADER = """#pragma once
#include <cstdio>
#include <cstdlib>
namespace loop_rounds {
inline long most[MOST_LOOPS];  // rounds, and one more: 0 of a loop that was never entered
struct Writer {
  ~Writer() {
    std::FILE* out = std::fopen(std::getenv("LOOP_ROUNDS"), "w");
    for (long each : most) std::fprintf(out, "%ld\\n", each - 1);
    std::fclose(out);
  }
};
inline Writer writer;
struct Loop {
  int id;
  long rounds = 1;
  explicit Loop(int number) : id(number) {}
  ~Loop() {
    if (rounds > most[id]) most[id] = rounds;
  }
};
}  // namespace loop_rounds
"""


def split_loop(line: str) -> tuple[str, str, str] | None:
    """Indentation, head and body (the rest of the line) of a loop that begins on this line."""
    if not (found := re.match(r"(\s*)(?=(?:for|while) \()", line)):
        return None
    open_parentheses = 0
    for place, letter in enumerate(line):
        open_parentheses += (letter == "(") - (letter == ")")
        if letter == ")" and not open_parentheses:
            return found.group(1), line[found.end() : place + 1], line[place + 1 :].strip()
    return None


def with_counters(text: str, first: int) -> tuple[str, list[tuple[int, str]]]:
    """The source with a counter in each loop that is compiled without CUDA, numbered from ``first`` on; and their lines and heads."""
    loops: list[tuple[int, str]] = []
    lines = []
    conditions: list[bool] = []  # whether each #if that is open asks for CUDA
    for number, line in enumerate(text.splitlines(), 1):
        word = line.split()
        if word and word[0] in ("#if", "#ifdef", "#ifndef"):
            conditions.append("__CUDA" in line)
        elif word and word[0] == "#endif":
            conditions.pop()
        elif word and word[0] == "#else":
            conditions[-1] = False
        elif not any(conditions) and (found := split_loop(line)) and (found[2] == "{" or found[2].endswith(";")):
            indent, head, body = found
            count = f"if (::loop_rounds::Loop loop_here{{{first + len(loops)}}}; true) {head} {{ ++loop_here.rounds;"
            lines.append(indent + (count if body == "{" else f"{count} {body} }}"))
            loops.append((number, head))
            continue
        elif not any(conditions) and re.match(r"\s*(for|while|do)\b [({]", line):
            raise ValueError(f"line {number} begins a loop that is not understood: {line.strip()}")
        lines.append(line)
    return "\n".join(lines) + "\n", loops


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests/mutation/loops", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build/cpu", help="a build without CUDA that has scanlab_tests (default build/cpu)")
    parser.add_argument("--filter", default=FILTER, help="of the tests that are run (default: those of the variants)")
    options = parser.parse_args()
    build = options.build.resolve()
    copy = build / "loops"
    sources = sorted((ROOT / "variants/scan").glob("*.cu*"))
    loops: list[tuple[str, int, str]] = []
    (copy / "variants/scan").mkdir(parents=True, exist_ok=True)
    for source in sources:
        name = str(source.relative_to(ROOT))
        text, found = with_counters(source.read_text(encoding="utf-8"), len(loops))
        (copy / name).write_text(f'#include "loop_rounds.hpp"\n#line 1 "{name}"\n{text}', encoding="utf-8")
        loops += [(name, line, head) for line, head in found]
    (copy / "loop_rounds.hpp").write_text(HEADER.replace("MOST_LOOPS", str(len(loops))), encoding="utf-8")

    commands = []
    replaced = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        source = Path(entry["file"])
        inside = source.parent == ROOT / "variants/scan"
        if not inside and not (source.parent == ROOT / "tests" and '"variants/scan/' in source.read_text(encoding="utf-8")):
            continue
        words = shlex.split(entry["command"])
        was = words[words.index("-o") + 1]
        if "scanlab_with_examples" in was:
            continue
        replaced[was] = str(copy / f"{source.name}.o")
        words[words.index("-o") + 1] = replaced[was]
        words[words.index("-c") + 1] = str(copy / source.relative_to(ROOT) if inside else source)
        first = next(place for place, word in enumerate(words) if word.startswith(("-D", "-I")))
        commands.append([*words[:first], f"-I{copy}", *words[first:], "-O1"])
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for ran in pool.map(lambda command: subprocess.run(command, cwd=build, capture_output=True, text=True), commands):
            if ran.returncode:
                sys.exit(ran.stderr)

    program = copy / "scanlab_tests"
    link = subprocess.run(["ninja", "-C", build, "-t", "commands", "tests/scanlab_tests"], capture_output=True, text=True, check=True)
    words = [replaced.get(word, word) for word in shlex.split(link.stdout.splitlines()[-1])]
    words[words.index("-o") + 1] = str(program)
    words = words[words.index("&&") + 1 :] if words[0] == ":" else words
    words = words[: words.index("&&")] if "&&" in words else words
    subprocess.run(words, cwd=build, check=True)
    rounds = copy / "rounds.txt"
    subprocess.run([program, f"--gtest_filter={options.filter}", "--gtest_brief=1"], env={**os.environ, "LOOP_ROUNDS": str(rounds)}, check=True)

    few = 0
    for (name, line, head), most in zip(loops, map(int, rounds.read_text(encoding="utf-8").split()), strict=True):
        why = SHORT.get(head, "")
        few += most < LEAST and not why
        verdict = "never entered" if most < 0 else f"{most} rounds"
        mark = "" if most >= LEAST else f"  ({why})" if why else "  <-- too few"
        print(f"{name}:{line}: {verdict}: {head}{mark}")
    print(f"{len(loops)} loops, {few} of them go round less than {LEAST} times")
    return int(few > 0)


if __name__ == "__main__":
    sys.exit(main())
