"""Prints the path of this interpreter if it has the packages of pyproject.toml and of its extra `test`, else fails and says what it lacks.

Nothing is imported but the standard library, and every package is imported once: metadata alone would not notice a
package that is broken, or built for another interpreter.
"""

import importlib
import re
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, version


def release(text):
    """The numbers that a version begins with."""
    return [int(number) for number in re.match(r"\d+(?:\.\d+)*", text).group().split(".")]


def lack(name, minimum):
    """What is wrong with the package `name`, or nothing."""
    try:
        found = version(name)
        importlib.import_module(name)
    except PackageNotFoundError:
        return f"{name} is not installed"
    except Exception as error:  # a broken package can raise anything
        return f"{name} cannot be imported: {error}"
    return "" if release(found) >= release(minimum) else f"{name} is {found}, older than {minimum}"


with open("pyproject.toml", "rb") as file:
    project = tomllib.load(file)["project"]
needed = [requirement.split(">=") for requirement in project["dependencies"] + project["optional-dependencies"]["test"]]
if lacks := [what for name, minimum in needed if (what := lack(name, minimum))]:
    sys.exit("; ".join(lacks))
print(sys.executable)
