"""The page of a comparison: its outcome in sentences, and a table of what changed."""

from scanlab_report import comparison
from scanlab_report.comparison import FASTER, SLOWER, TOO_FEW, VERDICTS, Comparison, smallest_p
from scanlab_report.console import count
from scanlab_report.formats import Column, Table, code, plain, significant, size, with_interval
from scanlab_report.intervals import SIGNIFICANT, Interval
from scanlab_report.sources import source_of

_ENVIRONMENT = "device driver toolkit cccl cccl_newest compiler ecc sm_clock_mhz_max cpu git_commit"
"""Two runs may differ in these besides their times."""
_CODE = ("variant", "id", "scan", "benchmark", "case")
"""Columns whose values are names of code."""


def summary(compared: Comparison) -> list[str]:
    """The outcome, in sentences."""
    counts, cases = compared.every["verdict"].value_counts(), compared.cases
    outcome = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if verdict in counts)
    sentences = [f"{count(len(cases), 'case')} in both, B against A: {outcome}."]
    for what, rows in (
        ("**Wrong in B**, with a time in A", compared.broken),
        ("Without a time in A", compared.a.untimed),
        ("Without a time in B", compared.b.untimed),
    ):
        if len(rows):
            some = rows.drop_duplicates("reason").head(3).itertuples()
            such_as = "; ".join(f"{code(row.name)} ({plain(row.reason)})" for row in some)
            sentences.append(f"{what}: {count(len(rows), 'case')}, such as {such_as}.")
    if len(same := cases[cases["unchanged"]]):
        ends = " to ".join(significant(end) for end in same["ratio"].agg(["min", "max"]))
        named = ", ".join(map(code, sorted(set(same["variant"]))))
        sentences.append(
            f"Code that is the same in both ({named}) takes {ends} times as long in B: only what "
            "goes beyond such code, timed alike, is slower or faster."
        )
    elif "variant" in cases:
        sentences.append("No code is the same in both: whether a machine is the cause is unknown.")
    if by_means := int((cases["by"] == comparison.MEANS).sum()):
        missing = f"A file has no samples of {count(by_means, 'case')}"
        sentences.append(f"{missing}: their means are compared, by Welch's test.")
    low, high = 100 * cases["threshold"].min(), 100 * cases["threshold"].max()
    if low <= high:  # neither is NaN: some are known
        sentences.append(f"The threshold is {low:.2g}% to {high:.2g}%, {compared.origin}.")
    if unknown := int(cases["threshold"].isna().sum()):
        sentences.append(
            f"For {count(unknown, 'case')} no noise is on record, so that any of them may be "
            "slower: give --threshold."
        )
    least = len(cases) * smallest_p(cases).min(initial=1)
    if TOO_FEW in counts:
        sentences.append("Repetitions that are too few allow no verdict.")
    elif least >= SIGNIFICANT:
        sentences.append(
            "With so few repetitions a single case cannot be told from chance: "
            f"{int(least / SIGNIFICANT) + 1} cases must differ at once."
        )
    return sentences


def table(compared: Comparison) -> Table:
    """The cases that are slower or faster, the largest change first."""
    forms = dict.fromkeys(_CODE, code) | {"items": size}
    rows = compared.with_verdict(SLOWER, FASTER)
    named = [name for name in compared.a.case if name in _CODE or rows[name].nunique() > 1]
    ratios = zip(rows["ratio"], rows["low"], rows["high"], rows["count_a"], strict=True)
    rows = rows.assign(
        ratio=[Interval(*values) for values in ratios],
        median_a_us=rows["median_a_ns"] / 1e3,
        median_b_us=rows["median_b_ns"] / 1e3,
    )
    columns = [
        Column("verdict", "B is", right=False),
        *(Column(name, name, forms.get(name, str), right=name == "items") for name in named),
        Column("median_a_us", "A, µs", significant),
        Column("median_b_us", "B, µs", significant),
        Column("ratio", "B / A", with_interval),
        Column("p_corrected", "p, corrected", "{:.2g}".format),
    ]
    return Table("", columns, rows)


def sources(compared: Comparison) -> list[str]:
    """Path, device, date and commit of A and of B."""
    files = {"A": compared.a.file, "B": compared.b.file}
    line = lambda file: source_of([file], origin="").line()
    return [f"{side}: {file.path}: {line(file)}" for side, file in files.items()]


def page(compared: Comparison) -> str:
    """The whole page, in Markdown."""
    parts = ["# B against A", *map(plain, sources(compared)), " ".join(summary(compared))]
    for key in _ENVIRONMENT.split():
        a, b = (str(side.file.context.get(key, "unknown")) for side in (compared.a, compared.b))
        if a != b:
            parts.append(f"Not the same in both: {key} {code(a)} (A), {code(b)} (B).")
    if len((changes := table(compared)).rows):
        parts.append(changes.markdown().strip())
    return "\n\n".join(parts) + "\n"
