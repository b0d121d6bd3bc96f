"""Each option is described once: functions, commands, docstrings and tables agree with the classes."""

from __future__ import annotations

import inspect
import re
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

import bayespool
from bayespool import evidence as counts, experiments
from bayespool.comparisons.settings import ComparingSettings, ReversalSettings
from bayespool.errors import InputError
from bayespool.experiments import (
    BudgetSettings,
    CheckingSettings,
    CommonTopicsSettings,
    JudgesSettings,
    LeaveOutSettings,
    PoolWidthSettings,
    RunTypesSettings,
)
from bayespool.options import Option, ReadingRunsSettings, SamplingSettings, documented, options_of
from bayespool.posterior import PosteriorEstimator
from bayespool.scoring import ImputeSettings, JudgeNextSettings, ScoreSettings

ROOT = Path(__file__).resolve().parents[1]
FUNCTIONS: dict[type, Callable[..., Any]] = {
    LeaveOutSettings: bayespool.leave_out,
    PoolWidthSettings: experiments.vary_pool_width,
    CommonTopicsSettings: experiments.vary_common_topics,
    RunTypesSettings: experiments.leave_types_out,
    BudgetSettings: bayespool.budgets,
    ScoreSettings: bayespool.score,
    ImputeSettings: bayespool.impute,
    JudgeNextSettings: bayespool.judge_next,
    ComparingSettings: bayespool.compare,
    ReversalSettings: bayespool.reversals,
    CheckingSettings: bayespool.check_models,
    JudgesSettings: bayespool.check_judges,
    ReadingRunsSettings: bayespool.read_collection,
}
NOT_OPTIONS = {
    *("collection", "run_ids", "measure", "n_jobs", "folder", "progress", "report", "settings", "containers"),
    *("qrels", "runs", "pool", "own_judgments", "scores"),  # files, which are arguments of a command
}
OWN = {CheckingSettings: set(options_of(SamplingSettings)), PoolWidthSettings: {"runs"}}


@pytest.mark.parametrize("cls", FUNCTIONS, ids=lambda cls: cls.__name__)
def test_arguments_are_the_fields_with_their_defaults(cls: type) -> None:
    parameters = inspect.signature(FUNCTIONS[cls]).parameters
    for name, (_, default) in options_of(cls).items():
        if cls is ReversalSettings and name == "measures":
            name = "measure"
        expected = inspect.Parameter.empty if default is ... else default
        if cls is CheckingSettings and name == "models":
            expected = bayespool.posterior.MODEL_NAMES  # type: ignore[attr-defined]
        assert parameters[name].default == expected, name
    others = set(parameters) - set(options_of(cls)) - (NOT_OPTIONS - OWN.get(cls, set()))
    assert others <= OWN.get(cls, set()), "arguments that no field describes"


@pytest.mark.parametrize("cls", [*FUNCTIONS, SamplingSettings], ids=lambda cls: cls.__name__)
def test_choices_are_those_of_the_type(cls: type) -> None:
    names = {"Measure": object, "Estimator": object, "Strategy": object, "Estimand": counts.Estimand}
    hints = get_type_hints(cls, localns=names)
    for name, (what, _) in options_of(cls).items():
        hint = get_args(hints[name])[0] if what.many or type(None) in get_args(hints[name]) else hints[name]
        if what.choices:
            assert get_args(hint) == what.choices, name
        assert what.help.endswith((".", "…")), name


@pytest.mark.parametrize("cls", [c for c in FUNCTIONS if c not in (CheckingSettings, ReadingRunsSettings)])
def test_help_of_functions_describes_every_option(cls: type) -> None:
    text = FUNCTIONS[cls].__doc__ or ""
    assert "{options}" not in text
    for name, (what, _) in options_of(cls).items():
        if name in ("measures", "estimators") and f"\n{name} :" not in text:
            continue
        (described,) = re.findall(rf"^ *{name} : .*\n((?: +.*\n)+)", text, flags=re.MULTILINE)[:1]
        if not (cls is ScoreSettings and name in ("measures", "estimators")):
            assert " ".join(described.split()).startswith(what.help[:60]), name


def test_settings_of_posteriors_are_theirs() -> None:
    fields = PosteriorEstimator.__dataclass_fields__
    for name, (_, default) in options_of(SamplingSettings).items():
        assert name in fields
        if name != "priors":
            assert fields[name].default == default


def test_parameters_in_a_docstring() -> None:
    @documented(SamplingSettings)
    def function() -> None:
        """What it does.

        Parameters
        ----------
        {options}
        """

    lines = (function.__doc__ or "").splitlines()
    assert lines[4] == "priors : mapping of str to str, optional"
    assert lines[6:8] == [
        'engine : {"laplace", "nuts"}, default "laplace"',
        "    Fast approximation, or the reference sampler.",
    ]


def test_bounds_of_an_option() -> None:
    share = Option(help="A share.", of=float, above=0, most=1)
    share.check("share", 1)
    for wrong in (0, 1.5, float("nan")):
        with pytest.raises(InputError, match=r"share cannot be .*; above 0 and at most 1"):
            share.check("share", wrong)


def test_tables_of_the_page_are_made_from_the_classes() -> None:
    """``python docs/options.py`` writes them."""
    made = runpy.run_path(str(ROOT / "docs" / "options.py"))
    for name, n_tables in (("experiments.md", 7), ("pooling.md", 2)):
        page = (ROOT / "docs" / name).read_text(encoding="utf-8")
        assert page.count("<!-- options of ") == n_tables
        assert made["with_tables"](page) == page
