"""The command ``doctor``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from bayespool.cli.messages import tell
from bayespool.cli.options import stage_progress
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


def doctor(
    quick: Annotated[
        bool, typer.Option("--quick", help="Fit nothing: a look at packages and machine.")
    ] = False,
) -> None:
    """Say what is installed, whether it works, and how fast it is.

    It imports every package that bayespool needs, fits the embedded example with both engines, and ends with
    status 1 if something is broken. Without --quick it takes up to a minute, most of which NUTS takes to
    compile.
    """
    from bayespool.cli.installation import examine

    with stage_progress() as say:
        found = examine(quick=quick, report=say)
    if is_as_json():
        tables = {
            "packages": [asdict(one) for one in found.packages],
            "machine": [{"name": name, "value": value} for name, value in found.machine.items()],
            "timings": [asdict(one) for one in found.timings],
        }
        print_document(tables, notes=found.problems)
    else:
        tell("\n".join(_lines(found)), err=False)
    if found.problems:
        n = len(found.problems)
        raise BayespoolError(f"{n} {'thing is' if n == 1 else 'things are'} broken; see above")


def _lines(found: Installation) -> list[str]:
    width = max(len(name) for name in ("package", *(one.name for one in found.packages)))
    lines = [f"{'package':<{width}}  {'installed':<14}  needed"]
    for one in found.packages:
        state = f"  BROKEN: {one.problem}" if one.problem else ""
        lines.append(f"{one.name:<{width}}  {one.version or '–':<14}  {one.declared}{state}".rstrip())
    lines += ["", "machine"]
    width = max(map(len, _NAMES.values()))
    lines += [f"{shown:<{width}}  {_value(name, found.machine[name])}" for name, shown in _NAMES.items()]
    if found.timings:
        width = max(len(one.name) for one in found.timings)
        lines += ["", "fits of the embedded example"]
        for timing in found.timings:
            took = f"BROKEN: {timing.problem}" if timing.seconds is None else f"{timing.seconds:.1f} s"
            lines.append(f"{timing.name:<{width}}  {took}")
    return [*lines, "", "something is broken" if found.problems else "everything works"]


def _value(name: str, value: str | int | None) -> str:
    if value is None:
        return {"compiled_loops": "kept nowhere: name a folder in NUMBA_CACHE_DIR"}.get(name, "–")
    shown = {
        "memory_free_mib": f"{value:,} MiB" if isinstance(value, int) else "",
        "compiled_loops": f"kept in {value}",
    }
    return shown.get(name, str(value))
