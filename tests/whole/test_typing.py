"""What a type checker says of a user's calls: right ones pass, slips of the pen do not."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from bayespool import (
    budgets,
    check_judges,
    compare,
    complete,
    impute,
    judge_next,
    leave_out,
    read_collection,
    reversals,
    score,
)
from bayespool.collection.build import Building, build_collection
from bayespool.experiments import leave_types_out, vary_common_topics, vary_pool_width
from bayespool.experiments.found import check_found
from bayespool.pooling.loading import ReadOptions
from bayespool.posterior import CompletionOptions, PosteriorEstimator, PosteriorOptions
from bayespool.posterior.keywords import (
    CompareOptions,
    ExperimentOptions,
    FoundOptions,
    ImputeOptions,
    JudgesOptions,
)
from bayespool.scoring import ScoreOptions, pyterrier_measure

ROOT = Path(__file__).resolve().parents[2]

# Ten calls of a user; a line that ends in a comment is to fail with an error of that kind.
CALLS = """
import pandas as pd

from bayespool import (
    build_collection, compare, impute, judge_next, leave_out, load_example, read_collection, read_run, score
)

frame = pd.DataFrame({"qid": ["q1"], "docno": ["d1"], "score": [0.5]})
example = load_example()

score(example, "new-a", ["P@10", "nDCG@10"], draws=500, engine="laplace", priors={"mu": "Normal(-2, 1)"})
score(frame, {"q1": {"d1": 1}}, "P@10", pool="runs/", organizations={"bm25": "north"}, draws=500)
score({"mine": frame, "old": read_run("old.run")}, qrels="irds:toy", strict=False, chains=2)
read_collection("qrels.txt", [frame, "my.run"], pool={"a": {"q1": {"d1": 0.5}}}, known_depth=10)
compare(build_collection({"a": frame, "b": frame}, frame), ["a", "b"], joint=False, draws=100)
score(example, drawz=3)  # call-overload
score(frame, {"q1": {"d1": 1}}, draws="many")  # call-overload
score(3, "qrels.txt")  # call-overload
leave_out(example, "P@10", drawz=3)  # call-arg
impute(example, draws=20, target_accept="0.9")  # arg-type
judge_next(example, "new-a", pool="runs/")  # call-arg
build_collection(frame, frame, pool_dept=10)  # call-arg
""".lstrip()


@pytest.mark.slow  # it reads the whole package
def test_right_calls_pass_and_wrong_ones_fail_on_their_lines(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    file = tmp_path / "calls.py"
    file.write_text(CALLS, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--show-error-codes", str(file)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    errors = re.findall(r"calls\.py:(\d+): error: .*\[([\w-]+)\]$", done.stdout, flags=re.MULTILINE)
    found = list(dict.fromkeys(errors))
    lines = enumerate(CALLS.splitlines(), 1)
    expected = [(str(n), line.rpartition("# ")[2]) for n, line in lines if "  # " in line]
    assert found == expected, done.stdout + done.stderr


FIELDS = set(PosteriorEstimator.__dataclass_fields__)
# TypedDict → functions that take it, and settings of the estimator that it leaves out, for which these
# functions have an argument of their own or none
OPTIONS: dict[Any, tuple[tuple[Callable[..., Any], ...], set[str]]] = {
    PosteriorOptions: ((judge_next, reversals), {"model", "estimand", "random_seed"}),
    ScoreOptions: ((score, pyterrier_measure), {"model", "estimand", "random_seed"}),
    CompareOptions: ((compare,), {"model", "estimand", "random_seed", "joint", "together"}),
    ImputeOptions: ((impute,), {"model", "estimand", "random_seed", "joint", "together", "draws"}),
    ExperimentOptions: (
        (leave_out, budgets, vary_pool_width, vary_common_topics, leave_types_out),
        {"model", "estimand", "random_seed", "progress", "together"},
    ),
    JudgesOptions: ((check_judges,), {"estimand", "random_seed"}),
    FoundOptions: ((check_found,), {"random_seed"}),
    CompletionOptions: ((complete,), set()),
}


@pytest.mark.parametrize("options", OPTIONS, ids=[options.__name__ for options in OPTIONS])
def test_typed_settings_are_those_of_the_estimator(options: Any) -> None:
    functions, left_out = OPTIONS[options]
    typed, fields = get_type_hints(options), get_type_hints(PosteriorEstimator)
    reading = get_type_hints(ReadOptions) if options is ScoreOptions else {}
    assert set(typed) - set(reading) == FIELDS - left_out
    assert {name: typed[name] for name in FIELDS - left_out} == {
        name: fields[name] for name in FIELDS - left_out
    }
    assert not options.__required_keys__
    for function in functions:
        (settings,) = (p for p in inspect.signature(function).parameters.values() if p.kind is p.VAR_KEYWORD)
        assert settings.annotation == f"Unpack[{options.__name__}]", function


def test_no_public_function_takes_just_anything() -> None:
    import bayespool

    functions = [getattr(bayespool, name) for name in bayespool.__all__ if name[0].islower()]
    found = []
    for function in (*functions, read_collection, vary_pool_width, vary_common_topics, leave_types_out):
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind is parameter.VAR_KEYWORD and "Unpack" not in str(parameter.annotation):
                found.append(f"{function.__name__}(**{parameter.name}: {parameter.annotation})")
    assert not found


def parameters_of(function: Callable[..., Any]) -> dict[str, str]:
    """Keyword arguments and their types."""
    found = inspect.signature(function).parameters.values()
    return {p.name: str(p.annotation) for p in found if p.kind is p.KEYWORD_ONLY}


def test_typed_arguments_of_reading_are_those_of_read_collection() -> None:
    written = {name: hint.__forward_arg__ for name, hint in ReadOptions.__annotations__.items()}
    asked = parameters_of(read_collection)
    assert set(asked) - set(written) == {"progress", "scores"}, "which score has no use for"
    assert written == {name: asked[name] for name in written}


def test_typed_arguments_of_building_are_those_of_build_collection() -> None:
    written = {name: hint.__forward_arg__ for name, hint in Building.__annotations__.items()}
    assert written == parameters_of(build_collection)
