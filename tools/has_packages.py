"""Prints the path of this interpreter if it has the packages of pyproject.toml and its extra test.

It fails otherwise, and names the packages that are missing. Every package is imported: metadata
would not show that a package is broken, or built for another interpreter.
"""

import importlib
import re
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, version


def release(text):
    """The numbers that a version begins with."""
    return [int(number) for number in re.match(r"\d+(?:\.\d+)*", text).group().split(".")]


def find_fault(name, minimum):
    """The reason why a package cannot be used, or nothing."""
    try:
        installed = version(name)
        importlib.import_module(name)
    except PackageNotFoundError:
        return f"{name} is not installed"
    except Exception as error:  # a broken package can raise anything
        return f"{name} cannot be imported: {error}"
    older = release(installed) < release(minimum)
    return f"{name} is {installed}, older than {minimum}" if older else ""


with open("pyproject.toml", "rb") as file:
    project = tomllib.load(file)["project"]
needed = project["dependencies"] + project["optional-dependencies"]["test"]
if faults := list(filter(None, (find_fault(*package.split(">=")) for package in needed))):
    sys.exit("; ".join(faults))
print(sys.executable)
