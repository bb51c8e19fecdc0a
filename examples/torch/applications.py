"""Applications of scans by PyTorch and by Scanlab: WHERE of SQL, top-p sampling, a CSR matrix.

As a program, compares the results and prints both times; --out FILE writes these as results that
scanlab-report reads (PyTorch 2.4, nvcc, a GPU of compute capability 9.0).
"""

import argparse
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import torch
from torch.utils.benchmark import Timer

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "examples/torch")]

import scanlab_cumsum  # noqa: E402

from baselines.python import provenance  # noqa: E402
from baselines.python.libraries import Library  # noqa: E402
from baselines.python.protocol import Plan  # noqa: E402

scanlab_cumsum.build("scanlab_select")


def sum_by_key(keys, values):
    """The fastest of several ways; segment_reduce and coalesce take several times as long. Sums of
    floats vary from run to run."""
    unique, run = torch.unique_consecutive(keys, return_inverse=True)
    return unique, torch.zeros(len(unique), device="cuda").index_add_(0, run, values)


PYTORCH = SimpleNamespace(
    cumsum=torch.cumsum, masked_select=torch.masked_select, sum_by_key=sum_by_key
)
SCANLAB = SimpleNamespace(
    cumsum=scanlab_cumsum.cumsum,
    masked_select=torch.ops.scanlab.masked_select,
    sum_by_key=torch.ops.scanlab.sum_by_key,
)
LIBRARIES = {"torch": PYTORCH, "scanlab": SCANLAB}


def where(by, column, limit):
    """SELECT column WHERE column > limit."""
    return (by.masked_select(column, column > limit),)


def top_p(by, probabilities, p):
    """The most probable tokens of each row that have p together, and how many these are.

    probabilities: (rows, vocabulary), in descending order in each row."""
    before = by.cumsum(probabilities, -1) - probabilities
    kept = before < p
    return by.masked_select(probabilities, kept), kept.sum(-1)


def csr(by, keys, values, rows, columns):
    """Row pointers, columns and values of the matrix whose entries (row * columns + column, value)
    are sorted; those of one place are added up, as finite elements want it."""
    unique, sums = by.sum_by_key(keys, values)
    pointers = torch._convert_indices_from_coo_to_csr(unique // columns, rows)
    return pointers, unique % columns, sums


def column_of(items):
    return torch.rand(items, device="cuda"), 0.9


def probabilities_of(rows, vocabulary=2**17):
    """A softmax, in multiples of 2^-24, so that its sums are exact in any order."""
    logits = 3 * torch.randn(rows, vocabulary, device="cuda")
    sorted_ones = logits.softmax(-1).sort(descending=True).values
    return (sorted_ones * 2**24).floor() / 2**24, 0.9


def entries_of(items, columns=2**20):
    places = torch.randint(2**40, (items // 4,), device="cuda")
    keys = places[torch.randint(len(places), (items,), device="cuda")].sort().values
    return keys, torch.randint(-9, 9, (items,), device="cuda").float(), columns, columns


ROUNDS = 10
CASES = [(where, column_of, 2**20), (where, column_of, 2**24), (where, column_of, 2**28)]
CASES += [(top_p, probabilities_of, 1), (top_p, probabilities_of, 16)]
CASES += [(top_p, probabilities_of, 256), (csr, entries_of, 2**20), (csr, entries_of, 2**24)]
CASES += [(csr, entries_of, 2**26)]


def measure():
    """The samples of all cases, as entries of results."""
    for function, make, size in CASES:
        given = make(size)
        results = [function(by, *given) for by in LIBRARIES.values()]
        for theirs, ours in zip(*results, strict=True):
            assert ours.equal(theirs), (function.__name__, size)
        del results, theirs, ours
        case = {"kind": "application", "application": function.__name__, "type": "f32"}
        case |= {"op": "plus", "mode": "inclusive", "settings": {}, "cache": "warm"}
        case |= {"launch": "stream", "items": given[0].numel()}
        case |= {"rows": size if function is top_p else 1, "outcome": "timed", "verified": True}
        timers, runs = {}, {}
        for variant, by in LIBRARIES.items():
            names = {"function": function, "by": by, "given": given}
            timers[variant] = Timer("function(by, *given)", globals=names)
            median = timers[variant].blocked_autorange(min_run_time=0.05).median
            print(f"{function.__name__:6} {size:>10}  {variant:8} {median * 1e6:10.1f} us")
            runs[variant] = max(1, round(0.02 / median))
        for k in range(ROUNDS):
            for variant, timer in timers.items():
                ns = timer.timeit(runs[variant]).mean * 1e9
                yield case | {"variant": variant, "round": k, "real_time": ns}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the times to FILE")
    options = parser.parse_args()
    if options.out and (options.out.exists() or not options.out.parent.is_dir()):
        parser.error(f"{options.out} exists, or its folder does not: name another file")
    torch.manual_seed(1)
    entries = list(measure())
    if options.out:
        program = "examples/torch/applications.py"
        context = provenance.context(Plan(["f32"], [], ROUNDS), program, f"python {program}")
        context |= {"torch": torch.__version__, "torch_cuda": torch.version.cuda}
        for variant, label in (("torch", "PyTorch"), ("scanlab", "Scanlab")):
            about = Library.about(SimpleNamespace(label=label, title=f"applications by {label}"))
            context["variants"][variant] = about | {"source": program}
        options.out.write_text(json.dumps({"context": context, "benchmarks": entries}, indent=1))
