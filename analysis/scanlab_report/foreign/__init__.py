"""Results files of other programs: nvbench's and plain Google Benchmark's JSON, each read by a module of its name.

Both become :class:`~scanlab_report.foreign.cases.Foreign`. A file that is neither, nor Scanlab's own, is refused with
what it seems to be, and where that was seen.
"""
