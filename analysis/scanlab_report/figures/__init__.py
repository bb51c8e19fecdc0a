"""One figure a module.

A module has ``CAPTION`` (what is drawn and what the bars mean), ``NEEDS`` (evidence by name, see
:mod:`scanlab_report.select.needs`) and ``draw``, which takes the evidence by those names and returns a
figure. It may have ``details``, which takes the same and returns what the caption says of this evidence;
``FOLLOWS``, which of --variants, --type and --op of ``scanlab-report figure`` it can follow; and ``WIDE``, if it needs both columns of a
page. In a caption ``{items}``, ``{scan}`` and ``{variant}`` stand for those that are shown, and of ``{this|that}`` that is said where
variants were asked for. The driver finds
modules here, adds the footer, and writes the files under the module's name. Of devices a module knows nothing: where several
GPUs answer its needs, the driver draws it for each and sets the drawings one below the other, headed by the devices' names.
CPUs have few lines, and stand among those of each GPU where a figure needs :class:`scanlab_report.select.timings.Hosts`.
"""
