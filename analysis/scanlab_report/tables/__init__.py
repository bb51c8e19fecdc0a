"""One table a module.

A module has ``NEEDS`` (evidence by name, see :mod:`scanlab_report.select.needs`) and ``build``, which takes the evidence by
those names and returns an :class:`scanlab_report.layout.table_formats.Table`. It may have ``FOLLOWS``, as a figure. The driver finds modules here and writes each as
LaTeX, Markdown and CSV under the module's name.
"""
