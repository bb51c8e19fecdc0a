"""Packages of which each module is one of a kind: a figure, a table, a command."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType


def modules(package: ModuleType) -> Iterator[tuple[str, ModuleType]]:
    """Yield the modules of a package by name, except the module that makes it a program."""
    for name in sorted(module.name for module in pkgutil.iter_modules(package.__path__)):
        if name != "__main__":
            yield name, importlib.import_module(f"{package.__name__}.{name}")
