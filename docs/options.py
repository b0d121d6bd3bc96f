"""Tables of commands and options, as `outputs.py` writes them into the pages."""

from __future__ import annotations

import re
from collections.abc import Iterable

import click

from bayespool.cli import app, commands


def table(header: str, rows: Iterable[str]) -> str:
    """Return a Markdown table of rows without their outer rules."""
    return "".join(f"| {row} |\n" for row in (header, re.sub("[^|]+", " --- ", header), *rows))


def options_of(command: str) -> list[click.Option]:
    """Return the options of a command, but for ``--help`` and ``--help-all``."""
    entry = commands()[command]
    params = entry.get_params(click.Context(entry, **entry.context_settings))
    return [p for p in params if isinstance(p, click.Option) and p.name not in ("help", "help_all")]


def command_table() -> str:
    """Return the commands by what they are for."""
    rows = (f"{group} | `{n}` | {c.short_help}" for group, of in app.headings.items() for n, c in of.items())
    return table(" | command | ", rows)


def option_table() -> str:
    """Return each option and each thing that it means, with the commands that have it."""
    found: dict[tuple[str, str], list[str]] = {}
    for command in commands():
        for option in options_of(command):
            flags = ", ".join(f"`{flag}`" for flag in (*reversed(option.opts), *option.secondary_opts))
            found.setdefault((flags, option.help or ""), []).append(f"`{command}`")
    rows = (
        f"{flags} | {escape(text)} | {'all' if len(having) == len(commands()) else ', '.join(having)}"
        for (flags, text), having in sorted(found.items(), key=lambda item: item[0][0].rpartition("`--")[2])
    )
    return table("option | | commands", rows)


def escape(text: str) -> str:
    """Return a help text as text of a Markdown table, without what HTML or Markdown would take for markup."""
    return re.sub(r"(?<!\\)([|<*])", r"\\\1", " ".join(text.split()))
