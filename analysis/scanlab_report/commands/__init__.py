"""The subcommands of ``scanlab-report``, one file each, found by its ``__main__``, the program.

A subcommand's module has its docstring, of which the first line is the help; ``EXAMPLE``, for the
end of the help; ``arguments(parser)``, which declares its arguments; and ``run(options)``, which
returns the exit status.
"""

from pkgutil import iter_modules

NAMES = [module.name for module in iter_modules(__path__) if module.name != "__main__"]
