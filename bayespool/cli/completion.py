"""Names that the shell completes and the help lists, and completion in the shell, without heavy imports."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click
from click.shell_completion import get_completion_class

from bayespool import names
from bayespool.errors import InputError
from bayespool.tables.files import atomic_write, read_back

_STARTING_FILES = {"bash": ".bashrc", "zsh": ".zshrc", "fish": ".config/fish/completions/bayespool.fish"}


def estimators(kind: str) -> Mapping[str, str]:
    """Descriptions by name of estimators of a kind, "point" or "posterior"; registered ones once loaded."""
    if "bayespool.scoring.estimators" not in sys.modules:
        return names.POINT_ESTIMATORS if kind == "point" else names.POSTERIOR_ESTIMATORS
    from bayespool.scoring import ESTIMATOR_NAMES, ESTIMATORS

    return {name: ESTIMATORS[name].description for name in ESTIMATOR_NAMES if ESTIMATORS[name].kind == kind}


def strategies() -> Mapping[str, str]:
    """Descriptions of strategies by name; registered ones once they are loaded."""
    if "bayespool.pooling" not in sys.modules:
        return names.STRATEGIES
    from bayespool.pooling import STRATEGIES

    return {name: entry.description for name, entry in STRATEGIES.items()}


_NAMES: dict[str, Callable[[], list[str]]] = {
    "measures": lambda: list(names.MEASURES),
    "estimators": lambda: ["default", "all", "pairs", *estimators("point"), *estimators("posterior")],
    "posteriors": lambda: list(estimators("posterior")),
    "models": lambda: list(names.MODELS),
    "strategy": lambda: list(strategies()),
    "strategies": lambda: ["paper", "all", *strategies()],
}


def offered(kind: str, typed: str) -> list[str]:
    """Texts that the shell offers for the last of several names with commas between.

    Examples
    --------
    >>> offered("estimators", "background,posterior-rat")
    ['background,posterior-ratio']
    """
    before, comma, last = typed.rpartition(",")
    taken = before.split(",")
    return [
        f"{before}{comma}{name}"
        for name in _NAMES.get(kind, list)()
        if name.startswith(last) and name not in taken
    ]


def show_completion(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Print the shell's lines for completion, and end."""
    if wanted:
        click.echo(_script(context, _shell()))
        context.exit()


def install_completion(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Add the shell's lines for completion to the file that it starts with, and end."""
    if not wanted:
        return
    shell = _shell()
    path = Path.home() / _STARTING_FILES[shell]
    script = _script(context, shell).strip()
    before = read_back(path) or ""
    if script not in before:
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(path, f"{before}\n{script}\n".lstrip())
    click.echo(f"Completion for {shell} is in {path}; it works in the next shell.")
    context.exit()


def _shell() -> str:
    shell = Path(os.environ.get("SHELL", "")).name
    if shell not in _STARTING_FILES:
        raise InputError(
            f"no completion for the shell {shell or 'here'!r}",
            hint=f"there is one for {', '.join(_STARTING_FILES)}, as SHELL says",
        )
    return shell


def _script(context: click.Context, shell: str) -> str:
    completion: Any = get_completion_class(shell)
    return str(completion(context.command, {}, "bayespool", "_BAYESPOOL_COMPLETE").source())
