"""Each option is described once: functions, commands, docstrings and tables agree with the classes."""

from __future__ import annotations

import inspect
import pickle
import re
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
import typer.main
from commands import Outcome

import bayespool
from bayespool import counts, experiments
from bayespool.cli import app
from bayespool.errors import InputError
from bayespool.estimators import ALL_ESTIMATORS
from bayespool.experiments.settings import experiment_settings
from bayespool.options import Option, ReadingRunsSettings, SamplingSettings, documented, options_of
from bayespool.posterior import PosteriorEstimator
from bayespool.settings import (
    CheckingSettings,
    CommonTopicsSettings,
    ComparingSettings,
    LeaveOutSettings,
    PoolWidthSettings,
    ReversalSettings,
    RunTypesSettings,
    ScoreSettings,
)

ROOT = Path(__file__).resolve().parents[1]
FUNCTIONS: dict[type, Callable[..., Any]] = {
    LeaveOutSettings: bayespool.leave_out,
    PoolWidthSettings: experiments.vary_pool_width,
    CommonTopicsSettings: experiments.vary_common_topics,
    RunTypesSettings: experiments.leave_types_out,
    ScoreSettings: bayespool.score,
    ComparingSettings: bayespool.compare,
    ReversalSettings: bayespool.reversals,
    CheckingSettings: bayespool.check_models,
    ReadingRunsSettings: bayespool.read_collection,
}
NOT_OPTIONS = {
    *("collection", "run_ids", "measure", "n_jobs", "folder", "progress", "report", "settings", "containers"),
    *("qrels", "runs", "pool", "own_judgments"),  # files, which are arguments of a command
}
OWN = {CheckingSettings: set(options_of(SamplingSettings)), PoolWidthSettings: {"runs"}}
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]


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
    names = {"Measure": object, "Estimator": object, "Estimand": counts.Estimand}
    hints = get_type_hints(cls, localns=names)
    for name, (what, _) in options_of(cls).items():
        hint = get_args(hints[name])[0] if what.many else hints[name]
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


def test_an_option_says_the_same_in_every_command() -> None:
    said: dict[str, set[str]] = {}
    for command in COMMANDS.values():
        for parameter in command.params:
            if parameter.param_type_name == "option":
                said.setdefault(parameter.opts[0], set()).add(parameter.help.strip())
    different = {flag for flag, helps in said.items() if len(helps) > 1}
    # what pools are drawn from is not what is left out of one; one measure or several; a file or a folder
    assert different <= {"--by", "--measure", "--output", "--qrels", "--table", "--control"}


@pytest.mark.parametrize(
    ("flag", "default"),
    [
        *(("--seed", 1), ("--max-holes", None), ("--pooled-runs", None), ("--pool-rule", "leading")),
        *(
            ("--known-depth", None),
            ("--pool-depth", None),
            ("--jobs", -1),
            ("--top", 100),
            ("--engine", "laplace"),
        ),
    ],
)
def test_an_option_has_one_default(flag: str, default: object) -> None:
    found = [p.default for c in COMMANDS.values() for p in c.params if flag in p.opts]
    assert set(found) == {default}


def test_depths_mean_one_thing() -> None:
    with_pools = {"leave-out", "pool-width", "common-topics", "run-types", "score", "compare"}
    found = {n for n, c in COMMANDS.items() if any("--pool-depth" in p.opts for p in c.params)}
    assert found == with_pools
    reading = {n for n, c in COMMANDS.items() if any("--known-depth" in p.opts for p in c.params)}
    assert reading == with_pools | {"reversals", "check"}


@pytest.mark.parametrize("command", ["leave-out", "pool-width", "common-topics", "run-types"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--estimators", "oracle"), "no estimator 'oracle'"),
        (("-m", "MAP"), "MAP"),
        (("--known-depth", 0), "--known-depth"),
        (("--pool-depth", 0), "--pool-depth"),
        (("--prior", "mu"), "prior 'mu' is not of the form"),
    ],
)
def test_wrong_options_are_told_before_anything_is_read(
    run: Callable[..., Outcome], tmp_path: Path, command: str, options: tuple[object, ...], message: str
) -> None:
    (tmp_path / "types.csv").write_text("run_id,type\na,x\n")
    more = ("--run-types", tmp_path / "types.csv") if command == "run-types" else ()
    done = run(command, "--qrels", tmp_path / "nowhere", "--pool", tmp_path / "nowhere", *more, *options)
    assert done.status in (1, 2)
    assert message in done.err
    assert "nowhere" not in done.err


def test_a_cutoff_below_the_pool_is_told_before_anything_is_read(
    run: Callable[..., Outcome], tmp_path: Path
) -> None:
    done = run("pool-width", "--qrels", tmp_path / "no", "--pool", tmp_path / "no", "--pool-depth", 5)
    assert done.status == 1
    assert "P@10 looks deeper than the pools, which are judged to depth 5" in done.err


def test_unknown_settings_name_the_experiments_own() -> None:
    with pytest.raises(InputError, match=r"unknown settings \['truth'\]; the experiment has .*types, runs"):
        experiments.leave_types_out(bayespool.load_example(), run_types={}, truth="full")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"top": None}, "top cannot be None"),
        ({"top": float("nan")}, "top cannot be nan"),
        ({"by": "topic"}, "by cannot be 'topic'; known: organization, run"),
        ({"pool_depth": 0}, "pool_depth cannot be 0; at least 1"),
    ],
)
def test_values_out_of_bounds(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        experiment_settings(LeaveOutSettings, "P@10", "lower-bound", **options)


def test_what_parts_depend_on() -> None:
    asked = experiment_settings(LeaveOutSettings, "P@10", "lower-bound", top=50)
    assert "top" in asked.describe()
    assert set(asked.describe()) - set(asked.describe_parts()) == {"top", "test"}
    kept = experiment_settings(LeaveOutSettings, "P@10", "lower-bound", top=50, top_pool="kept")
    assert kept.describe_parts()["top"] == 50
    pools = experiment_settings(PoolWidthSettings, ["P@5"], "lower-bound", widths=[2], run_types={"a": "x"})
    assert set(pools.describe()) - set(pools.describe_parts()) == {"widths", "n_samples"}
    assert pools.describe()["run_types"] == {"a": "x"}
    assert pickle.loads(pickle.dumps(pools)) == pools


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


def test_all_means_the_same_everywhere() -> None:
    asked = experiment_settings(LeaveOutSettings, "P@10", ["all"])
    assert asked.labels == ALL_ESTIMATORS
    points = [name for name in ALL_ESTIMATORS if not name.startswith("posterior")]
    scores = bayespool.score(bayespool.load_example(), "new-a", estimators="all", draws=20)
    assert [e.method for e in scores.estimates] == [*points, "posterior-combined"]


def test_tables_of_the_page_are_made_from_the_classes() -> None:
    """``python docs/options.py`` writes them."""
    made = runpy.run_path(str(ROOT / "docs" / "options.py"))
    page = (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8")
    assert page.count("<!-- options of ") == 7
    assert made["with_tables"](page) == page
