"""One table a module.

A module has ``NEEDS`` (evidence by name, see :mod:`analysis.evidence`) and ``build``, which takes the evidence by
those names and returns an :class:`analysis.table_formats.Table`. The driver finds modules here and writes each as
LaTeX, Markdown and CSV under the module's name.
"""
