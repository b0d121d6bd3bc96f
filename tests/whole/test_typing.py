"""What a type checker says of a user's calls: right ones pass, slips of the pen do not."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import bayespool
from bayespool import read_collection
from bayespool.errors import InputError
from bayespool.experiments import vary_common_topics, vary_pool_width
from bayespool.scoring.asked import Asked, AskedKeywords

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = bayespool.load_example()

# Calls of a user; a line that ends in a comment is to fail with an error of that kind. What a function
# returns is known, too. Slips in options are seen when settings are made: `test_slips_in_options_are_told`.
CALLS = """
from typing import Any

import pandas as pd

import bayespool
from bayespool import (
    Question, build_collection, compare, impute, judge_next, leave_out, load_example, read_collection,
    read_run, score,
)

frame = pd.DataFrame({"qid": ["q1"], "docno": ["d1"], "score": [0.5]})
example = load_example()
anything: Any = None

score(example, "new-a", ["P@10", "nDCG@10"], posterior_settings="draws=500, mu=Normal(-2, 1)").run_ids
one = read_collection({"q1": {"d1": 1}}, frame, pool="runs/", organizations={"bm25": "north"})
score(one, measures="P@10", posterior_settings="draws=500").to_frame()
two = read_collection("irds:toy", {"mine": frame, "old": read_run("old.run")}, strict=False)
score(two, posterior_settings="chains=2")
read_collection("qrels.txt", [frame, "my.run"], pool={"a": {"q1": {"d1": 0.5}}}, known_depth=10)
both = build_collection({"a": frame, "b": frame}, frame)
compare(both, ["a", "b"], posterior_settings="joint=False, draws=100").differences()
leave_out(example, "P@10", posterior_settings="draws=3").settings.labels
score(example).runs_ids  # attr-defined
score(example, estimator="background")  # call-arg
impute(example, draws=20).qrels("0")  # arg-type
judge_next(example, "new-a").settings  # attr-defined
leave_out(example, "P@10", drawz=3)  # call-arg
Question(example, "new-a", ideal="mine")  # arg-type
Question(example, "new-a").score().run_id  # attr-defined
Question(example, "new-a").judge_next(budget="5")  # arg-type
read_collection("qrels.txt", pool_dept=10)  # call-arg
build_collection(frame, frame, pool_dept=10)  # call-arg
""".lstrip()


def calls_with_every_option() -> Iterator[str]:
    """Two lines for each public function: a call with all its options, and one with a misspelled option."""
    for name in bayespool.__all__:
        if inspect.isfunction(function := getattr(bayespool, name)):
            parameters = list(inspect.signature(function).parameters.values())
            has_asked = any(p.kind is p.VAR_KEYWORD for p in parameters)
            shared = inspect.signature(Asked).parameters if has_asked else {}
            parameters = [p for p in parameters if p.kind is not p.VAR_KEYWORD]
            parameters += [shared[name] for name in AskedKeywords.__annotations__ if has_asked]
            required = [p for p in parameters if p.default is p.empty]
            given = [f"{p.name}=anything" if p.kind is p.KEYWORD_ONLY else "anything" for p in required]
            if options := [f"{p.name}={p.default!r}" for p in parameters if p.default is not p.empty]:
                yield f"bayespool.{name}({', '.join([*given, *options])})"
                yield f"bayespool.{name}({', '.join([*given, *options[:-1], f'x{options[-1]}'])})  # call-arg"


@pytest.mark.slow  # it reads the whole package
def test_right_calls_pass_and_wrong_ones_fail_on_their_lines(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    file = tmp_path / "calls.py"
    lines = [*CALLS.splitlines(), *calls_with_every_option()]
    assert len(lines) > 70
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--show-error-codes", str(file)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    errors = re.findall(r"calls\.py:(\d+): error: .*\[([\w-]+)\]$", done.stdout, flags=re.MULTILINE)
    found = list(dict.fromkeys(errors))
    expected = [(str(n), line.rpartition("# ")[2]) for n, line in enumerate(lines, 1) if "  # " in line]
    assert found == expected, done.stdout + done.stderr


SLIPS: dict[str, tuple[Callable[[], object], str]] = {
    "type": (
        lambda: bayespool.score(EXAMPLE, posterior_settings="draws=many"),
        "settings of 'posterior(draws=many)': draws must be a whole number",
    ),
    "collection": (lambda: bayespool.score(3, "qrels.txt"), "a int where a Collection is expected"),
    "number": (
        lambda: bayespool.impute(EXAMPLE, draws=20, posterior_settings="target_accept=high"),
        "settings of 'posterior(target_accept=high)': target_accept must be a number",
    ),
}


def test_slips_in_options_are_told() -> None:
    for call, message in SLIPS.values():
        with pytest.raises(InputError) as refused:
            call()
        assert str(refused.value).startswith(message)


def test_no_public_function_takes_just_anything() -> None:
    functions = filter(inspect.isfunction, (getattr(bayespool, name) for name in bayespool.__all__))
    found = []
    for function in (*functions, read_collection, vary_pool_width, vary_common_topics):
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind is parameter.VAR_KEYWORD and parameter.annotation != "Unpack[AskedKeywords]":
                found.append(f"{function.__name__}(**{parameter.name}: {parameter.annotation})")
    assert not found
