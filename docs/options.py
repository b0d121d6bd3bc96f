"""Tables of commands and options; `conf.py` writes them into ``_generated`` for the pages."""

import re
from collections.abc import Iterable
from pathlib import Path

import click

from bayespool.cli import app, commands
from bayespool.cli.functions import parameters_of

TABLES = ("score", "leave-out", "random-pools", "budgets", "plan", "judge-next", "audit", "judges")


def table(header: str, rows: Iterable[str]) -> str:
    """Return a Markdown table of rows without their outer rules."""
    return "".join(f"| {row} |\n" for row in (header, re.sub("[^|]+", " --- ", header), *rows))


def options_of(command: str) -> list[click.Option]:
    """Return the options of a command, but for ``--help`` and ``--help-all``."""
    entry = commands()[command]
    params = entry.get_params(click.Context(entry, **entry.context_settings))
    return [p for p in params if isinstance(p, click.Option) and p.name not in ("help", "help_all")]


def option_rows(command: str) -> Iterable[str]:
    """Yield a row for each option that is a parameter of the command's function alone."""
    described = parameters_of(commands()[command].function)
    for option in options_of(command):
        if option.name in described and option.name not in ("posterior_settings", "random_seed"):
            parameter = described[option.name]
            kind = ", ".join(parameter.type) if isinstance(parameter.type, tuple) else ""
            default = parameter.default if isinstance(parameter.default, tuple) else (parameter.default,)
            shown = ", ".join(f"`{one}`" for one in default if one is not None)
            text = re.sub(r"\bbayespool\.[\w.]*\w", r"{py:obj}`\g<0>`", parameter.description)
            yield f"`{f'{option.opts[0]} {kind}'.strip()}` | `{option.name}` | {shown} | {text}"


def all_rows() -> Iterable[str]:
    """Yield a row for each option and each thing that it means, with the commands that have it."""
    found: dict[tuple[str, str], list[str]] = {}
    for command in commands():
        for option in options_of(command):
            flags = ", ".join(f"`{flag}`" for flag in (*reversed(option.opts), *option.secondary_opts))
            found.setdefault((flags, option.help or ""), []).append(f"`{command}`")
    for (flags, text), having in sorted(found.items(), key=lambda item: item[0][0].rpartition("`--")[2]):
        yield f"{flags} | {text} | {'all' if len(having) == len(commands()) else ', '.join(having)}"


def write_options(folder: Path) -> None:
    """Write every table that a page includes; a file that is as it should be is left alone."""
    rows = (f"{group} | `{n}` | {c.short_help}" for group, of in app.headings.items() for n, c in of.items())
    tables = {"commands": table(" | command | ", rows), "options": table("option | | commands", all_rows())}
    for command in TABLES:
        tables[f"options_of_{command}"] = table("option | argument | default | ", option_rows(command))
    folder.mkdir(exist_ok=True)
    for name, text in tables.items():
        if not (file := folder / f"{name}.md").is_file() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
