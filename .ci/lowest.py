"""Fails unless each package that pyproject.toml names is installed here in the lowest version that it allows.

A bound below what another package lets be installed says that a version works which nobody can have tried.
"""

import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
wrong, n_right = [], 0
for text in [*project["dependencies"], *project["optional-dependencies"]["test"]]:
    requirement = Requirement(text)
    if requirement.marker is not None and not requirement.marker.evaluate():
        continue
    (lowest,) = (Version(part.version) for part in requirement.specifier if part.operator == ">=")
    installed = Version(version(requirement.name))
    if installed == lowest:
        n_right += 1
    else:
        wrong.append(f"{requirement.name}: {lowest} is named, {installed} is installed")
if wrong:
    sys.exit("lower bounds of pyproject.toml that are not the lowest versions:\n" + "\n".join(wrong))
print(f"{n_right} packages in the lowest versions of pyproject.toml")
