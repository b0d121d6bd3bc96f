"""Warnings point at the line of the call, and errors on unknown names ask which one was meant."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

import pandas as pd
import pytest
from trec_files import refused

from bayespool import (
    build_collection,
    check_judges,
    check_models,
    compare,
    compare_budgets,
    discover_pool,
    judge_next,
    leave_out,
    load_example,
    parse_measure,
    qrels_from_frame,
    read_collection,
    read_run,
    read_runs,
    score,
)
from bayespool.collection import Collection, add_judges
from bayespool.errors import (
    BayespoolWarning,
    InputError,
    InputWarning,
    did_you_mean,
    known_names,
    warn_caller,
)
from bayespool.pooling import parse_strategy
from bayespool.reading import labels_from_frame, run_from_frame

LEVEL = "P(rel=9)@10"  # no document has it
POINT = "as-judged"


def caught_by(call: Callable[[], object]) -> list[tuple[str, str]]:
    """File and class of each of our warnings; what the call comes to is another test's."""
    with warnings.catch_warnings(record=True) as caught, contextlib.suppress(InputError):
        warnings.simplefilter("always")
        call()
    return [(w.filename, w.category.__name__) for w in caught if issubclass(w.category, BayespoolWarning)]


def test_line_is_that_of_the_call() -> None:
    with pytest.warns(InputWarning) as caught:
        warn_caller("look", InputWarning)
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    assert lines[caught[0].lineno - 1].strip() == 'warn_caller("look", InputWarning)'
    assert (caught[0].filename, str(caught[0].message)) == (__file__, "look")


def test_same_line_is_told_once_as_warnings_are() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            warn_caller("again", InputWarning)
    assert len(caught) == 1


def labeled() -> Collection:
    """The example with a judge who says the same of all documents."""
    example = load_example()
    labels = {example.query_ids[0]: {example.doc_id(0): 1, example.doc_id(1): 1}}
    return add_judges(example, {"llm": labels_from_frame(labels)})


class Lazy:
    """A property of functools stands between the caller and the package."""

    @cached_property
    def warned(self) -> None:
        return compare(load_example(), measures=LEVEL, estimators=POINT)


EXAMPLE = load_example()
TINY = ({"q": {"d": 1.0}}, {"q": {"d": 1, "e": 0}})
CALLS: dict[str, Callable[[], object]] = {
    "InputWarning of score": lambda: score(EXAMPLE, measures=LEVEL, estimators=POINT),
    "PooledRunWarning of score": lambda: score(EXAMPLE, "north-1", estimators=POINT),
    "NoPoolWarning of a model": lambda: score(
        build_collection({"q": {"x": 1.0, "d": 0.5}}, TINY[1]), "run", posterior_settings="draws=10"
    ),
    "InputWarning by a property": lambda: Lazy().warned,
    "InputWarning of judge_next": lambda: judge_next(
        EXAMPLE, "new-a", LEVEL, estimators="posterior-ratio(draws=10)"
    ),
    "InputWarning of check_judges": lambda: check_judges(labeled(), LEVEL),
    "InputWarning of leave_out": lambda: leave_out(EXAMPLE, LEVEL, estimators=POINT),
    "InputWarning of budgets": lambda: compare_budgets(EXAMPLE, LEVEL, strategies="take", budgets=[200]),
    "OrganizationWarning of a pool": lambda: read_collection({"q": {"d": 1}}, pool={"a": {"q": {"d": 1.0}}}),
    "NoPoolWarning of discover_pool": lambda: discover_pool(
        build_collection({"q": {"x": 1.0}}, TINY[1]), ["run"]
    ),
    "InputWarning of add_judgments": lambda: build_collection(
        {"q": {"d": 1.0, "x": 0.5}}, TINY[1]
    ).add_judgments(qrels_from_frame({"q": {"x": 1}, "p": {"x": 1}})),
}


def test_warning_of_a_public_function_names_the_file_of_the_call(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text(
        "q Q0 d 1 0.5 a\nbad\n" + "".join(f"q Q0 d{i} 1 0.4 a\n" for i in range(20))
    )
    reading = {"InputWarning of read_runs": lambda: read_runs(tmp_path / "a.run", strict=False)}
    for name, call in (CALLS | reading).items():
        found = caught_by(call)
        assert name.partition(" ")[0] in [category for _, category in found], name
        assert {filename for filename, _ in found} == {__file__}, name


def test_warning_of_another_experiment_in_the_folder_names_the_file_of_the_call(tmp_path: Path) -> None:
    leave_out(EXAMPLE, estimators=POINT, folder=tmp_path)
    found = caught_by(lambda: leave_out(EXAMPLE, estimators=POINT, folder=tmp_path, truth="full"))
    assert found == [(__file__, "ExperimentChangedWarning")]


def test_near_name_is_asked_for() -> None:
    for name, known, meant in [
        ("drawz", ["draws", "tune"], "draws"),
        ("NDCG", ["nDCG", "P"], "nDCG"),
        ("sigma_org", ["sigma_topic", "sigma_organization"], "sigma_organization"),
        ("sigma", ["sigma_topic", "sigma_organization"], ""),  # the beginning of both
        ("dr", ["draws"], ""),
        ("xyz", [], ""),
        (3, ["30"], ""),
    ]:
        asked, rest = f"did you mean {meant!r}?" if meant else "", f"known: {', '.join(known)}"
        assert did_you_mean(name, known) == asked, (name, known)
        assert known_names(name, known) == f"{asked} {rest}".lstrip(), (name, known)


MEANT: dict[str, Callable[[], object]] = {
    "posterior-combined": lambda: score(EXAMPLE, estimators="posterior-combind"),
    "draws": lambda: score(EXAMPLE, posterior_settings="drawz=3", estimators="posterior-ratio"),
    "chains": lambda: leave_out(EXAMPLE, posterior_settings="chain=3"),
    "estimand": lambda: score(EXAMPLE, estimators="interpolated(estimate=1)"),
    "sigma_topic": lambda: score(
        EXAMPLE, posterior_settings="sigma_topics=HalfNormal(1)", estimators="posterior-ratio"
    ),
    "complete": lambda: score(EXAMPLE, estimand="complet"),  # type: ignore[arg-type]
    "laplace": lambda: score(EXAMPLE, posterior_settings="engine=laplas", estimators="posterior-ratio"),
    "nDCG": lambda: score(EXAMPLE, measures="ndgc@10"),
    "ratio": lambda: check_models(EXAMPLE, models="ratios"),
    "combmnz": lambda: parse_strategy("combmnx"),
    "new-a": lambda: score(EXAMPLE, "new_a"),
    "north-1": lambda: score(EXAMPLE, unpool="nort-1"),
    "north": lambda: EXAMPLE.unpool(organization="nort"),
    "scroe": lambda: run_from_frame([{"qid": 1, "docno": 2, "scroe": 3}], "x"),
}


def test_error_asks_what_was_meant() -> None:
    for meant, call in MEANT.items():
        assert f"did you mean {meant!r}?" in str(refused(call)), meant


def test_an_input_error_is_a_value_error_and_says_its_reason_once(tmp_path: Path) -> None:
    ids = [f"document {i:09}" for i in range(100_000)]
    path = tmp_path / "a.parquet"
    pd.DataFrame({"query_id": "q", "doc_id": ids, "score": 1.0}).to_parquet(path, compression="gzip")
    wrong: dict[str, Callable[[], object]] = {
        "depth: k cannot be 0; at least 1": lambda: parse_strategy("depth(k=0)"),
        "constant e cannot be 7; at least 0 and at most 1": lambda: score(
            EXAMPLE, estimators="background(e=7)"
        ),
        "measure 'RBP(p=7)': RBP: p cannot be 7; above 0 and below 1": lambda: parse_measure("RBP(p=7)"),
        f"{path}: holds more than 1 MiB; allow": lambda: read_run(path, max_file_size=1),
    }
    for said, call in wrong.items():
        error = refused(call)
        assert isinstance(error, ValueError)
        assert str(error).startswith(said)
