"""The command ``doctor``: packages, machine, and time of short fits."""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import os
import platform
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bayespool import __version__, experiments, scoring
from bayespool.cli.messages import tell
from bayespool.cli.options import stage_progress
from bayespool.cli.parameters import own_option
from bayespool.cli.results import is_as_json, print_document
from bayespool.errors import BayespoolError

COLLECTIONS = "BAYESPOOL_COLLECTIONS"
"""Environment variable with a folder of real collections, for tests and benchmarks."""

_SHORT_SAMPLING = {"draws": 50, "tune": 50, "chains": 1}
_NAMES = {
    "system": "system",
    "cores": "cores",
    "memory_free_mib": "free memory",
    "compiled_loops": "compiled loops",
    "collections": "collections",
}


@dataclass(frozen=True)
class Package:
    """Package that bayespool needs: version (None if missing), declared versions, problem (empty if none)."""

    name: str
    version: str | None
    declared: str
    problem: str = ""


@dataclass(frozen=True)
class Timing:
    """Seconds of a piece of work, None where it failed, and why it failed."""

    name: str
    seconds: float | None
    problem: str = ""


@dataclass(frozen=True)
class Installation:
    """Packages, machine and timings of `examine`."""

    packages: tuple[Package, ...]
    machine: dict[str, str | int | None]
    timings: tuple[Timing, ...]

    @property
    def problems(self) -> tuple[str, ...]:
        """Problems of packages and timings; empty where everything works."""
        checked: tuple[Package | Timing, ...] = (*self.packages, *self.timings)
        return tuple(f"{item.name}: {item.problem}" for item in checked if item.problem)


@own_option("--quick", type=bool, group="Design", help="Fit nothing: a look at packages and machine.")
def doctor(*, quick: bool) -> None:
    """Say what is installed, whether it works, and how fast it is.

    It imports every package that bayespool needs, fits the embedded example with both engines, and ends with
    status 1 if something is broken. Without --quick it takes up to a minute, most of which NUTS takes to
    compile.
    """
    with stage_progress() as say:
        installation = examine(quick=quick, report=say)
    if is_as_json():
        tables = {
            "packages": [asdict(package) for package in installation.packages],
            "machine": [{"name": name, "state": state} for name, state in installation.machine.items()],
            "timings": [asdict(timing) for timing in installation.timings],
        }
        print_document(tables, notes=installation.problems)
    else:
        tell("\n".join(_lines(installation)), err=False)
    if installation.problems:
        n = len(installation.problems)
        raise BayespoolError(f"{n} {'thing is' if n == 1 else 'things are'} broken; see above")


def _lines(installation: Installation) -> list[str]:
    width = max(len(name) for name in ("package", *(package.name for package in installation.packages)))
    lines = [f"{'package':<{width}}  {'installed':<14}  needed"]
    for package in installation.packages:
        state = f"  BROKEN: {package.problem}" if package.problem else ""
        lines.append(
            f"{package.name:<{width}}  {package.version or '–':<14}  {package.declared}{state}".rstrip()
        )
    lines += ["", "machine"]
    width = max(map(len, _NAMES.values()))
    lines += [f"{text:<{width}}  {_value(name, installation.machine[name])}" for name, text in _NAMES.items()]
    if installation.timings:
        width = max(len(timing.name) for timing in installation.timings)
        lines += ["", "fits of the embedded example"]
        for timing in installation.timings:
            took = f"BROKEN: {timing.problem}" if timing.seconds is None else f"{timing.seconds:.1f} s"
            lines.append(f"{timing.name:<{width}}  {took}")
    return [*lines, "", "something is broken" if installation.problems else "everything works"]


def _value(name: str, value: str | int | None) -> str:
    if value is None:
        return {"compiled_loops": "kept nowhere: name a folder in NUMBA_CACHE_DIR"}.get(name, "–")
    texts = {
        "memory_free_mib": f"{value:,} MiB" if isinstance(value, int) else "",
        "compiled_loops": f"kept in {value}",
    }
    return texts.get(name, str(value))


def examine(*, quick: bool = False, report: Callable[[str], None] | None = None) -> Installation:
    """Check packages and machine, and time short fits unless ``quick``; broken parts raise nothing."""
    say = report or (lambda stage: None)
    say("looking at packages")
    checked = packages()
    return Installation(checked, machine(), () if quick else timings(say))


def packages() -> tuple[Package, ...]:
    """Python, bayespool, every package in bayespool's metadata, each imported, and ArviZ if it is installed.

    Examples
    --------
    >>> [package.name for package in packages()][:2]
    ['Python', 'bayespool']
    """
    try:
        about = importlib.metadata.metadata("bayespool")
        needed = importlib.metadata.requires("bayespool") or []
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
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):  # not needed, but `to_arviz` is for it
        rows.append(Package("arviz", importlib.metadata.version("arviz"), ""))
    return tuple(rows)


def _package(name: str, declared: str) -> Package:
    """Package, or Python itself, with its problem."""
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
    needed = ",".join(sorted((str(part) for part in specifier), reverse=True))
    if not specifier.contains(version, prereleases=True):
        return Package(name, version, needed, f"{version} is installed, and {needed} is needed")
    return Package(name, version, needed, "" if name == "Python" else _import_problem(name))


def _import_problem(name: str) -> str:
    """Reason why a package cannot be imported; empty where it can."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            importlib.import_module(name.replace("-", "_"))
        except Exception as error:  # a broken package may raise anything
            return f"cannot be imported: {_one_line(error)}"
    return ""


def machine() -> dict[str, str | int | None]:
    """System, usable cores, free MiB, folder of compiled loops and of real collections (None without one)."""
    from bayespool.collection.memory import free_memory

    return {
        "system": f"{platform.system()} {platform.machine()}",
        "cores": _n_cores(),
        "memory_free_mib": free_memory() >> 20,
        "compiled_loops": _cache_folder(),
        "collections": _collections(),
    }


def timings(say: Callable[[str], None]) -> tuple[Timing, ...]:
    """Seconds of two fits of the example by the Laplace engine, and of a short one by NUTS."""
    laplace, nuts = "posterior-combined", "posterior-background"
    return (
        _timed("first fit, Laplace", say, lambda: _fit(laplace)),
        _timed("next fit, Laplace", say, lambda: _fit(laplace)),
        _timed("short fit, NUTS", say, lambda: _fit(nuts, engine="nuts", **_SHORT_SAMPLING)),
    )


def _timed(name: str, say: Callable[[str], None], work: Callable[[], object]) -> Timing:
    say(name)
    begun = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few draws fail the checks of the sampler
        try:
            work()
        except Exception as error:  # a broken package may raise anything
            return Timing(name, None, _one_line(error))
    return Timing(name, time.perf_counter() - begun)


def _fit(estimator: str, **settings: Any) -> object:
    example = experiments.simulate_example()
    return scoring.score(example.collection, example.new_run_ids, "P@10", estimators=estimator, **settings)


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
    except Exception:  # packages() reports a broken numba
        return None


def _collections() -> str | None:
    named = os.environ.get(COLLECTIONS)
    return f"{named}{'' if Path(named).is_dir() else ' (no such folder)'}" if named else None


def _one_line(error: BaseException) -> str:
    """An error in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())
