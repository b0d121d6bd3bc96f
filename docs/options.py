"""Tables of commands and options; `conf.py` writes them into ``_generated`` for the pages."""

import re
from pathlib import Path
from typing import Any

from bayespool import auditing, cli, experiments, options, scoring
from bayespool.cli.help import option_group
from bayespool.cli.parameters import GROUPS, Argument

TABLES = {
    "leave-out": experiments.LeaveOutSettings,
    "pool-width": experiments.PoolWidthSettings,
    "common-topics": experiments.CommonTopicsSettings,
    "budgets": experiments.BudgetSettings,
    "judge-next": scoring.JudgeNextSettings,
    "audit": auditing.AuditSettings,
    "judges": experiments.JudgesSettings,
    "posteriors": options.SamplingSettings,
    "score": scoring.ScoreSettings,
}


def table(cls: type) -> str:
    """A Markdown table with a row for each option."""
    rows = ["| option | argument | default | |", "| --- | --- | --- | --- |"]
    shared = options.options_of(options.PosteriorSettings) if cls is not options.SamplingSettings else {}
    for name, (what, default) in options.options_of(cls).items():
        if what.python_only or (name in shared and shared[name][0].help == what.help):
            continue  # the table of posteriors has them
        flag = f"{what.flags(name)[0]} {', '.join(map(str, what.choices))}".strip()
        shown = "" if default is None or default is ... else _text(default)
        meaning = re.sub(r"`([a-z][\w.]*\.\w+)`", r"{py:obj}`\1`", f"{what.help} {what.details}".strip())
        rows.append(f"| `{flag}` | `{name}` | {shown} | {meaning} |")
    return "\n".join(rows)


def commands() -> str:
    """A Markdown table with a row for each command, by group."""
    rows = ["| | command | |", "| --- | --- | --- |"]
    for group, members in cli.COMMANDS.items():
        for place, (command, line) in enumerate(members.items()):
            name = command.__name__.replace("check_", "check ").replace("_", "-")
            rows.append(f"| {group if place == 0 else ''} | `{name}` | {line} |")
    return "\n".join(rows)


def options_in(group: str) -> str:
    """A Markdown table with a row for each option of a group, and for each thing that it means."""
    commands: dict[str, Any] = {"": cli.app, **cli.commands()}
    found: dict[tuple[str, str], list[str]] = {}
    for name, command in commands.items():
        for parameter in command.params:
            if option_group(parameter) == group:
                flags = ", ".join(f"`{flag}`" for flag in reversed(parameter.opts))
                described = parameter.description if isinstance(parameter, Argument) else parameter.help
                found.setdefault((flags, re.sub(r"\s+", " ", described or "")), []).append(name)
    rows = ["| option | | commands |", "| --- | --- | --- |"]
    for flags, described in found:
        rows.append(f"| {flags} | {described} | {_who(found[flags, described], list(cli.commands()))} |")
    return "\n".join(rows)


def _who(names: list[str], commands: list[str]) -> str:
    """Which commands have an option, in few words; the program itself is the empty name."""
    if len([name for name in names if name]) == len(commands):
        return "all"
    if names == [""]:
        return "before the command"
    reading = [name for name in commands if name != "demo"]
    lacking = [name for name in reading if name not in names]
    if len(lacking) > 4 or any(name not in reading for name in names):
        return ", ".join(f"`{name}`" for name in names)
    return "all that read files" + "".join(
        f"{', ' if place else ' but '}`{name}`" for place, name in enumerate(lacking)
    )


def write_options(folder: Path) -> None:
    """Write every table that a page includes; a file that is as it should be is left alone."""
    tables = {"commands": commands()}
    tables |= {f"options_of_{name}": table(cls) for name, cls in TABLES.items()}
    tables |= {f"options_in_{group}": options_in(group) for group in GROUPS}
    folder.mkdir(exist_ok=True)
    for name, text in tables.items():
        file = folder / f"{name}.md"
        if not file.is_file() or file.read_text(encoding="utf-8") != f"{text}\n":
            file.write_text(f"{text}\n", encoding="utf-8")


def _text(default: object) -> str:
    listed = default if isinstance(default, tuple) else (default,)
    return ", ".join(f"`{one}`" for one in listed)
