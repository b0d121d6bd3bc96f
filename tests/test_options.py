"""Each option is described once: functions, commands, docstrings and tables agree with the classes."""

from __future__ import annotations

import inspect
import re
import runpy
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_type_hints

import click
import pytest
from click.testing import CliRunner

import bayespool
from bayespool import posterior, scoring
from bayespool.auditing import AuditSettings
from bayespool.cli.parameters import settings_option
from bayespool.errors import InputError
from bayespool.options import (
    Option,
    PosteriorSettings,
    ReadingRunsSettings,
    SamplingSettings,
    Settings,
    _in_python,
    option,
    options_of,
    takes,
)
from bayespool.posterior import CompletionSettings, PosteriorEstimator
from bayespool.scoring import ImputeSettings, JudgeNextSettings, ScoreSettings
from bayespool.scoring.settings import PyTerrierSettings

ROOT = Path(__file__).resolve().parents[1]
FUNCTIONS: dict[type, Callable[..., Any]] = {
    ScoreSettings: bayespool.score, ImputeSettings: bayespool.impute, JudgeNextSettings: bayespool.judge_next,
    AuditSettings: bayespool.audit,
    CompletionSettings: posterior.complete,
    PyTerrierSettings: scoring.pyterrier_measure, ReadingRunsSettings: bayespool.read_collection,
}  # fmt: skip
NOT_OPTIONS = {
    *("collection", "run_ids", "n_jobs", "folder", "progress", "report", "settings", "containers"),
    *("qrels", "runs", "pool", "organizations", "own_judgments", "second_assessors"),
    *("scores", "reading"),  # arguments of a command
}


def test_arguments_are_the_fields_with_their_defaults() -> None:
    for cls in FUNCTIONS:
        parameters = inspect.signature(FUNCTIONS[cls]).parameters
        options = options_of(cls)
        own = {"progress"} if "folder" in parameters else set()  # of an experiment: a function
        for name, (_, default) in options.items():
            if name not in own:
                assert parameters[name].default == (inspect.Parameter.empty if default is ... else default), (
                    name
                )
        assert set(parameters) - set(options) <= NOT_OPTIONS, "arguments that no field describes"


def test_choices_are_those_of_the_type() -> None:
    unknown = ("Measure", "Estimator", "Strategy", "StoppingRule", "PosteriorEstimator")
    for cls in [*FUNCTIONS, SamplingSettings]:
        hints = get_type_hints(cls, localns=dict.fromkeys(unknown, object))
        for name, (what, _) in options_of(cls).items():
            several = what.multiple and get_args(hints[name])
            hint = get_args(hints[name])[0] if several or type(None) in get_args(hints[name]) else hints[name]
            assert get_args(hint) == what.choices or not what.choices or what.is_open, name
            assert what.help.endswith((".", "…")), name


def test_help_of_functions_describes_every_option() -> None:
    for cls in [c for c in FUNCTIONS if c is not ReadingRunsSettings]:
        text = FUNCTIONS[cls].__doc__ or ""
        assert "{options}" not in text, cls
        for name, (what, _) in options_of(cls).items():
            (described,) = re.findall(rf"^ *{name} : .*\n((?: +.*\n)+)", text, flags=re.MULTILINE)[:1]
            if name != "progress":
                assert " ".join(described.split()).startswith(_in_python(what.help)[:60]), name


def test_settings_of_posteriors_are_theirs() -> None:
    fields = PosteriorEstimator.__dataclass_fields__
    for name, (_, default) in options_of(PosteriorSettings).items():
        assert name in fields
        if name != "priors":
            assert fields[name].default == default
    assert set(fields) - set(options_of(PosteriorSettings)) == {"model", "estimand", "random_seed"}


def test_bounds_of_an_option() -> None:
    share = Option(help="A share.", type=float, above=0, most=1)
    share.check("share", 1)
    for wrong in (0, 1.5, float("nan")):
        with pytest.raises(InputError, match=r"share cannot be .*; above 0 and at most 1"):
            share.check("share", wrong)
    assert ScoreSettings(random_seed=2**40).random_seed == 2**40
    with pytest.raises(InputError, match="n_runs cannot be 2147483648; at most 2,147,483,647"):
        Option(help="Runs.", type=int).check("n_runs", 2**31)


def test_wrong_values_are_refused_in_python() -> None:
    for given, message in [
        ({"draws": "many"}, "draws cannot be 'many'; a whole number"),
        ({"draws": 1.5}, "draws cannot be 1.5; a whole number"),
        ({"joint": "no"}, "joint cannot be 'no'; True or False"),
        ({"shift": "0.9"}, "shift cannot be '0.9'; a number"),
        ({"chains": None}, "chains cannot be None; leave it out for its default"),
        ({"drawz": 3}, r"unknown settings \['drawz'\]; did you mean 'draws'\? score has measures, .*draws"),
        ({"settings": ScoreSettings(), "draws": 9}, "draws beside settings; give one or the other"),
    ]:
        with pytest.raises(InputError, match=message):
            bayespool.score(bayespool.load_example(), **given)


@dataclass(frozen=True, kw_only=True)
class WiderSettings(ScoreSettings):
    """Settings for `bayespool.score`, and one more."""

    tone: Literal["plain", "grand"] = option("plain", Option(help="Tone of the notes.", group="Output"))


@takes(WiderSettings)
def wider_score(collection: Any, run_ids: Any = None, *, settings: WiderSettings) -> Any:
    """Score.

    Parameters
    ----------
    {options}
    """
    return settings.tone, bayespool.score(collection, run_ids, settings=settings)


def test_a_new_option_of_score_is_one_field() -> None:
    example = bayespool.load_example()
    # the function: keyword, signature, docstring, check, suggestion
    tone, scores = wider_score(example, "new-a", estimators="background", tone="grand")
    assert (tone, scores.metadata["settings"]["tone"]) == ("grand", "grand")
    assert inspect.signature(wider_score).parameters["tone"].default == "plain"
    assert 'tone : {"plain", "grand"}, default "plain"\n    Tone of the notes.' in (wider_score.__doc__ or "")
    for wrong, said in (
        ({"tone": "loud"}, "tone cannot be 'loud'; known: plain, grand"),
        ({"tones": 1}, "'tone'"),
    ):
        with pytest.raises(InputError, match=said):
            wider_score(example, **wrong)

    # the command: option, choices, help under its heading, completion
    held: list[WiderSettings] = []

    @click.command(context_settings={"help_option_names": ["-h"]})
    @settings_option(WiderSettings)
    def command(*, settings: WiderSettings) -> None:
        held.append(settings)

    assert CliRunner().invoke(command, ["--tone", "grand", "--estimators", "background"]).exit_code == 0
    assert (held[0].tone, [e.name for e in held[0].estimators]) == ("grand", ["background"])
    refused = CliRunner().invoke(command, ["--tone", "loud"])
    assert (refused.exit_code, "'loud' is not one of 'plain', 'grand'" in refused.output) == (2, True)
    assert "--tone <plain|grand>" in CliRunner().invoke(command, ["-h"]).output
    # tables of the documentation
    made = runpy.run_path(str(ROOT / "docs" / "options.py"))
    assert "| `--tone plain, grand` | `tone` | `plain` | Tone of the notes. |" in made["table"](WiderSettings)


def test_settings_are_checked_once_and_held_immutable() -> None:
    class Counted(str):
        parsed = 0

    def parse(text: str) -> str:
        Counted.parsed += 1
        return text

    @dataclass(frozen=True, kw_only=True)
    class Few(Settings):
        name: str = option("a", Option(help="A name.", parse=parse))
        sizes: tuple[int, ...] = option((1, 2), Option(help="Sizes.", multiple="listed", least=1))

    few = Few.of(name="b", sizes=[3, 4])
    assert (few.name, few.sizes, Counted.parsed) == ("b", (3, 4), 1)
    assert few.describe() == {"name": "b", "sizes": (3, 4)}
    with pytest.raises(InputError, match="sizes cannot be 0; at least 1"):
        Few.of(sizes=[3, 0])
    with pytest.raises(InputError, match="sizes cannot be empty; leave it out, or name some"):
        Few.of(sizes=[])


def test_tables_that_pages_include_are_made_when_these_are_built(tmp_path: Path) -> None:
    docs = ROOT / "docs"
    runpy.run_path(str(docs / "options.py"))["write_options"](tmp_path)
    made = {file.name for file in tmp_path.glob("*.md")}
    pages = "".join(page.read_text(encoding="utf-8") for page in docs.glob("*.md"))
    included = re.findall(
        r"^```\{include\} _generated/(commands\.md|options_\S+)\n```$", pages, flags=re.MULTILINE
    )
    assert sorted(included) == sorted(made)
    text = (tmp_path / "options_of_leave-out.md").read_text(encoding="utf-8")
    row = next(line for line in text.splitlines() if "`--by " in line)
    assert row.startswith("| `--by organization, run, cluster, type` | `by` | `organization` | ")
