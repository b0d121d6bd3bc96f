"""Help in groups, on 80 columns."""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable
from pathlib import Path

from commands import Outcome

from bayespool.cli import COMMANDS, commands
from bayespool.cli.help import group_of
from bayespool.cli.parameters import GROUPS

ROOT = Path(__file__).resolve().parents[2]
BY_NAME = commands()


def headings(text: str) -> list[str]:
    return re.findall(r"^([A-Z][^:\n]*(?:: [^:\n]*)?):$", text, flags=re.MULTILINE)


def section(text: str, title: str) -> str:
    return text.split(f"\n{title}:\n")[1].split("\n\n")[0]


def test_every_option_of_a_command_has_a_group() -> None:
    for name in BY_NAME:
        groups = {p.name: group_of(p) for p in BY_NAME[name].params}
        assert [option for option, group in groups.items() if group not in GROUPS or group == "Help"] == [], (
            name
        )


def test_help_fits_80_columns_and_h_is_help(run: Callable[..., Outcome]) -> None:
    for name in [None, *BY_NAME]:
        asked = name.split() if name else []
        short, long = run(*asked, "-h"), run(*asked, "--help")
        assert short == long, name
        assert short.status == 0, name
        assert max(map(len, short.out.splitlines())) <= 80, name
        assert "<list[" not in short.out, name
        assert "range>" not in short.out, name
        assert "-h, --help" in short.out, name


def test_commands_stand_in_their_groups(run: Callable[..., Outcome]) -> None:
    shown = run("--help").out
    assert headings(shown) == [*COMMANDS, "Output", "Help"]
    for title, members in COMMANDS.items():
        lines = section(shown, title).splitlines()
        rows = [re.split(r"\s{2,}", line.strip()) for line in lines]
        assert [name for name, _ in rows] == [
            f.__name__.replace("check_", "check ").replace("_", "-") for f in members
        ]
        assert [line for _, line in rows] == list(members.values())


def test_options_stand_in_their_groups(run: Callable[..., Outcome]) -> None:
    shown = run("score", "--help").out
    groups = [title for title in headings(shown) if title in GROUPS]
    assert groups == ["Input", "Pool", "Estimation", "Sampling", "Output", "Help"]
    for title, option in (
        ("Input", "--qrels <path>"),
        ("Pool", "--known-depth <int>"),
        ("Estimation", "--estimators <text>"),
        ("Sampling", "--seed <int>"),
        ("Output", "--json"),
        ("Output", "-q, --quiet"),
    ):
        assert f"\n  {option} " in f"\n{section(shown, title)}"
    assert "Comparison" in headings(run("compare", "--help").out)
    assert "Design" in headings(run("leave-out", "--help").out)


def test_estimators_are_named_by_kind_and_the_default_ones_marked(run: Callable[..., Outcome]) -> None:
    shown = run("score", "--help").out
    points = section(shown, "Estimators: corrections as published (* by default)")
    posteriors = section(shown, "Estimators: posteriors, which have intervals (* by default)")
    assert "\n  background *  " in points
    assert "\n  lu-moffat-culpepper  " in points
    assert posteriors.startswith("  posterior-combined *  ")
    assert "posterior" not in points
    compared = run("compare", "--help").out
    assert " *  " not in section(compared, "Estimators: corrections as published")
    assert section(compared, "Estimators: posteriors, which have intervals (* by default)").count(" *  ") == 1
    alone = run("impute", "--help").out
    assert "corrections as published" not in alone
    assert "\n  posterior-ratio  " in alone


def test_top_is_a_choice_of_runs_in_a_study_and_of_rows_in_a_table() -> None:
    tops = {name: group_of(p) for name, command in BY_NAME.items() for p in command.params if p.name == "top"}
    assert tops["leave-out"] == "Design"
    assert tops["score"] == "Output"


def test_tables_of_the_page_are_those_of_the_commands(tmp_path: Path) -> None:
    runpy.run_path(str(ROOT / "docs" / "options.py"))["write_options"](tmp_path)
    page = (ROOT / "docs" / "command-line.md").read_text("utf-8")
    assert re.findall(r"_generated/options_in_(\w+)\.md$", page, flags=re.MULTILINE) == list(GROUPS)
    tables = "".join((tmp_path / f"options_in_{group}.md").read_text("utf-8") for group in GROUPS)
    flags = {flag for entry in BY_NAME.values() for p in entry.params for flag in p.opts if "-" in flag}
    assert {flag for flag in flags if f"`{flag}`" not in tables} == set()
    assert all(f"| `{name}` |" in (tmp_path / "commands.md").read_text("utf-8") for name in BY_NAME)
