"""The subcommands of ``scanlab-report``, one file each, found by :func:`every`.

A subcommand's module has its docstring, of which the first line is the help; ``EXAMPLE``, for the end of the help;
``arguments(parser)``, which declares its arguments; and ``run(options)``, which returns the exit status.
"""
