"""What is installed, on what machine, whether it works, and how fast it is."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import platform
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bayespool import __version__
from bayespool.collection.memory import free_memory

COLLECTIONS = "BAYESPOOL_COLLECTIONS"
"""Environment variable that names a folder of real collections, for tests and benchmarks."""

_DISTRIBUTION = "bayespool"
_SHORT = {"draws": 50, "tune": 50, "chains": 1}  # of a sampler that is only to show that it runs


@dataclass(frozen=True)
class Package:
    """A package that bayespool needs, as it is found.

    Attributes
    ----------
    name : str
    version : str or None
        None where it is not installed.
    declared : str
        Versions that bayespool works with; empty where any will do, or it is not known.
    problem : str
        Empty where all is well.
    """

    name: str
    version: str | None
    declared: str
    problem: str = ""


@dataclass(frozen=True)
class Timing:
    """How long a piece of work took.

    Attributes
    ----------
    name : str
    seconds : float or None
        None where it failed.
    problem : str
        Why it failed.
    """

    name: str
    seconds: float | None
    problem: str = ""


@dataclass(frozen=True)
class Installation:
    """What `examine` found."""

    packages: tuple[Package, ...]
    machine: dict[str, str | int | None]
    timings: tuple[Timing, ...]

    @property
    def problems(self) -> tuple[str, ...]:
        """What is broken, in words; none where everything works."""
        checked: tuple[Package | Timing, ...] = (*self.packages, *self.timings)
        return tuple(f"{one.name}: {one.problem}" for one in checked if one.problem)


def examine(*, quick: bool = False, report: Callable[[str], None] | None = None) -> Installation:
    """What is installed, the machine, and how long a short fit takes; it never fails for what is broken.

    Parameters
    ----------
    quick : bool, default False
        Fit nothing.
    report : callable, optional
        Called with a line on each stage of the work as it begins.

    Returns
    -------
    Installation
    """
    say = report or (lambda stage: None)
    say("looking at packages")
    found = packages()
    return Installation(found, machine(), () if quick else timings(say))


def packages() -> tuple[Package, ...]:
    """Python, bayespool, and every package that bayespool's metadata ask for, each imported.

    Examples
    --------
    >>> [package.name for package in packages()][:2]
    ['Python', 'bayespool']
    """
    try:
        about = importlib.metadata.metadata(_DISTRIBUTION)
        needed = importlib.metadata.requires(_DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        reason = "is not installed, only on the path: which packages it needs is not known"
        return (_package("Python", ""), Package("bayespool", __version__, "", reason))
    rows = [_package("Python", about["Requires-Python"] or ""), Package("bayespool", __version__, "")]
    try:
        from packaging.requirements import Requirement
    except ImportError:
        return (*rows, Package("packaging", None, "", "is not installed"))
    for requirement in map(Requirement, needed):
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            rows.append(_package(requirement.name, str(requirement.specifier)))
    return tuple(rows)


def _package(name: str, declared: str) -> Package:
    """A package, or Python itself, with what is wrong with it."""
    if name == "Python":
        version = platform.python_version()
    else:
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            return Package(name, None, declared, "is not installed")
    try:
        from packaging.specifiers import SpecifierSet
    except ImportError:
        return Package(name, version, declared)
    specifier = SpecifierSet(declared)
    shown = ",".join(sorted((str(one) for one in specifier), reverse=True))
    if not specifier.contains(version, prereleases=True):
        return Package(name, version, shown, f"{version} is installed, and {shown} is needed")
    return Package(name, version, shown, "" if name == "Python" else _import_problem(name))


def _import_problem(name: str) -> str:
    """Why a package cannot be imported; empty where it can."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            importlib.import_module(name.replace("-", "_"))
        except Exception as error:  # what is broken may raise anything
            return f"cannot be imported: {_in_words(error)}"
    return ""


def machine() -> dict[str, str | int | None]:
    """The machine: system, cores, free memory in MiB, where compiled loops are kept, real collections.

    ``cores`` are those that this process may use. ``compiled_loops`` is None where nothing can be kept, so
    that each process compiles them anew; ``collections`` is None where the environment names none.
    """
    free = free_memory()
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "cores": _n_cores(),
        "memory_free_mib": None if free is None else free >> 20,
        "compiled_loops": _cache_folder(),
        "collections": _collections(),
    }


def timings(say: Callable[[str], None]) -> tuple[Timing, ...]:
    """Seconds of a fit of the embedded example by the Laplace engine, the first time and again, and of a
    short one by NUTS, most of which is compiling.
    """
    laplace, nuts = "posterior-combined", "posterior-background"
    return (
        _timed("first fit, Laplace", say, lambda: _fit(laplace)),
        _timed("next fit, Laplace", say, lambda: _fit(laplace)),
        _timed("short fit, NUTS", say, lambda: _fit(nuts, engine="nuts", **_SHORT)),
    )


def _timed(name: str, say: Callable[[str], None], work: Callable[[], object]) -> Timing:
    say(name)
    begun = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few draws pass no check of a sampler
        try:
            work()
        except Exception as error:  # what is broken may raise anything
            return Timing(name, None, _in_words(error))
    return Timing(name, time.perf_counter() - begun)


def _fit(estimator: str, **settings: Any) -> object:
    from bayespool.experiments import simulate_example
    from bayespool.scoring import score

    example = simulate_example()
    return score(example.collection, example.new_run_ids, "P@10", estimators=estimator, **settings)


def _n_cores() -> int:
    try:
        from joblib import cpu_count
    except ImportError:
        return os.cpu_count() or 1
    return int(cpu_count())


def _cache_folder() -> str | None:
    from bayespool.compiled import cache_folder

    try:
        return cache_folder()
    except Exception:  # a broken numba is told among the packages
        return None


def _collections() -> str | None:
    named = os.environ.get(COLLECTIONS)
    return f"{named}{'' if Path(named).is_dir() else ' (no such folder)'}" if named else None


def _in_words(error: BaseException) -> str:
    """An error in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())
