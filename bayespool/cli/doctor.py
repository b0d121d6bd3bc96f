"""The command ``doctor``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from bayespool.cli.messages import tell
from bayespool.cli.options import stage_progress
from bayespool.cli.parameters import own_option
from bayespool.cli.results import is_as_json, print_document
from bayespool.errors import BayespoolError

if TYPE_CHECKING:
    from bayespool.cli.installation import Installation

_NAMES = {
    "system": "system",
    "cores": "cores",
    "memory_free_mib": "free memory",
    "compiled_loops": "compiled loops",
    "collections": "collections",
}


@own_option("--quick", is_flag=True, group="Design", help="Fit nothing: a look at packages and machine.")
def doctor(*, quick: bool) -> None:
    """Say what is installed, whether it works, and how fast it is.

    It imports every package that bayespool needs, fits the embedded example with both engines, and ends with
    status 1 if something is broken. Without --quick it takes up to a minute, most of which NUTS takes to
    compile.
    """
    from bayespool.cli.installation import examine

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
