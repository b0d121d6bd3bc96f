"""Write the tables of options in the pages: ``python docs/options.py``. A test holds the pages to it."""

import re
from pathlib import Path
from typing import Any

import typer.main

from bayespool import cli, experiments, options, scoring
from bayespool.cli.help import OPTION_GROUPS, group_of

PAGES = [
    Path(__file__).with_name(name)
    for name in ("experiments.md", "pooling.md", "judge-next.md", "command-line.md")
]
TABLES = {
    "leave-out": experiments.LeaveOutSettings,
    "pool-width": experiments.PoolWidthSettings,
    "common-topics": experiments.CommonTopicsSettings,
    "run-types": experiments.RunTypesSettings,
    "pool": experiments.StrategySettings,
    "budgets": experiments.BudgetSettings,
    "judge-next": scoring.JudgeNextSettings,
    "judges": experiments.JudgesSettings,
    "posteriors": options.SamplingSettings,
    "reading": options.ReadingSettings,
    "score": options.ScoringSettings,
}


def table(cls: type) -> str:
    """A Markdown table with a row for each option."""
    rows = ["| option | argument | default | |", "| --- | --- | --- | --- |"]
    for name, (what, default) in options.options_of(cls).items():
        flag = f"{what.flags(name)[0]} {', '.join(map(str, what.choices))}".strip()
        shown = "" if default is None or default is ... else _text(default)
        said = re.sub(r"`([a-z][\w.]*\.\w+)`", r"{py:obj}`\1`", f"{what.help} {what.more}".strip())
        rows.append(f"| `{flag}` | `{name}` | {shown} | {said} |")
    return "\n".join(rows)


def commands() -> str:
    """A Markdown table with a row for each command, by group."""
    rows = ["| | command | |", "| --- | --- | --- |"]
    for group, members in cli.COMMANDS.items():
        for place, (command, line) in enumerate(members.items()):
            name = command.__name__.replace("_", "-")
            rows.append(f"| {group if place == 0 else ''} | `{name}` | {line} |")
    return "\n".join(rows)


def options_in(group: str) -> str:
    """A Markdown table with a row for each option of a group, and for each thing that it means."""
    program: Any = typer.main.get_command(cli.app)
    found: dict[tuple[str, str], list[str]] = {}
    names = [name for of_group in OPTION_GROUPS.values() for name in of_group]
    places = {name: place for place, name in enumerate(names)}
    order: dict[tuple[str, str], int] = {}
    for name, command in {"": program, **program.commands}.items():
        for parameter in command.params:
            if group_of(name, parameter.name) == group:
                flags = ", ".join(f"`{flag}`" for flag in reversed(parameter.opts))
                key = (flags, re.sub(r"\s+", " ", parameter.help or ""))
                found.setdefault(key, []).append(name)
                order[key] = places[parameter.name]
    rows = ["| option | | commands |", "| --- | --- | --- |"]
    for flags, said in sorted(found, key=lambda key: order[key]):
        rows.append(f"| {flags} | {said} | {_who(found[flags, said], list(program.commands))} |")
    return "\n".join(rows)


def _who(names: list[str], commands: list[str]) -> str:
    """Which commands have an option, in few words; the program itself is the empty name."""
    if len([name for name in names if name]) == len(commands):
        return "all"
    if names == [""]:
        return "before the command"
    reading = [name for name in commands if name not in ("demo", "doctor")]
    lacking = [name for name in reading if name not in names]
    if len(lacking) > 4 or any(name not in reading for name in names):
        return ", ".join(f"`{name}`" for name in names)
    return "all that read files" + "".join(
        f"{', ' if place else ' but '}`{name}`" for place, name in enumerate(lacking)
    )


def with_tables(page: str) -> str:
    """The page with its tables made anew."""
    page = re.sub(
        r"(<!-- commands -->)\n.*?<!-- end -->",
        lambda m: f"{m[1]}\n\n{commands()}\n\n<!-- end -->",
        page,
        flags=re.DOTALL,
    )
    page = re.sub(
        r"(<!-- options in (\w+) -->)\n.*?<!-- end -->",
        lambda m: f"{m[1]}\n\n{options_in(m[2])}\n\n<!-- end -->",
        page,
        flags=re.DOTALL,
    )

    def made(found: re.Match[str]) -> str:
        return f"{found[1]}\n\n{table(TABLES[found[2]])}\n\n<!-- end -->"

    return re.sub(r"(<!-- options of ([\w-]+) -->)\n.*?<!-- end -->", made, page, flags=re.DOTALL)


def _text(default: object) -> str:
    listed = default if isinstance(default, tuple) else (default,)
    return ", ".join(f"`{one}`" for one in listed)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(with_tables(page.read_text(encoding="utf-8")), encoding="utf-8")
