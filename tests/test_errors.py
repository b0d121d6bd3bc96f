"""Warnings point at the line of the call, whichever public function it is and however deep they come up."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

import pytest

from bayespool import (
    budgets,
    build_collection,
    check_judges,
    compare,
    discover_pool,
    impute,
    judge_next,
    leave_out,
    load_example,
    qrels_from_frame,
    read_collection,
    read_qrels,
    read_run,
    read_runs,
    score,
)
from bayespool.collection import Collection, add_judges, labels_from_frame
from bayespool.errors import BayespoolWarning, InputError, InputWarning, warn_caller
from bayespool.experiments import vary_common_topics, vary_pool_width

LEVEL = "P(rel=9)@10"  # no document has it
POINT = "as-judged"
QUICK = "posterior-ratio"
TYPES = {run: "odd" if run.startswith("north") else "usual" for run in load_example().pooled_run_ids}


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


def lenient(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


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
CALLS: dict[str, tuple[str, Callable[[], object]]] = {
    "score": ("InputWarning", lambda: score(EXAMPLE, measures=LEVEL, estimators=POINT)),
    "score, in memory": (
        "NoPoolWarning",
        lambda: score(read_collection(TINY[1], TINY[0]), estimators=POINT),
    ),
    "score, pooled": ("PooledRunWarning", lambda: score(EXAMPLE, "north-1", estimators=POINT)),
    "score, a model without a pool": (
        "NoPoolWarning",
        lambda: score(build_collection(*TINY), "run", draws=10),
    ),
    "compare": ("InputWarning", lambda: compare(EXAMPLE, measures=LEVEL, estimators=POINT)),
    "compare, by a property": ("InputWarning", lambda: Lazy().warned),
    "impute": ("InputWarning", lambda: impute(EXAMPLE, measures=LEVEL, estimator=QUICK, draws=2)),
    "judge_next": ("InputWarning", lambda: judge_next(EXAMPLE, "new-a", LEVEL, estimator=QUICK, draws=10)),
    "check_judges": ("InputWarning", lambda: check_judges(labeled(), LEVEL)),
    "leave_out": ("InputWarning", lambda: leave_out(EXAMPLE, LEVEL, estimators=POINT)),
    "budgets": ("InputWarning", lambda: budgets(EXAMPLE, LEVEL, strategies="take", budgets=[200])),
    "vary_pool_width": (
        "InputWarning",
        lambda: vary_pool_width(EXAMPLE, LEVEL, widths=[2], n_samples=2, estimators=POINT),
    ),
    "vary_common_topics": (
        "InputWarning",
        lambda: vary_common_topics(EXAMPLE, LEVEL, widths=[4], n_common=[5], n_samples=2, estimators=POINT),
    ),
    "read_collection": ("NoPoolWarning", lambda: read_collection(TINY[1], TINY[0])),
    "read_collection, organizations": (
        "OrganizationWarning",
        lambda: read_collection({"q": {"d": 1}}, pool={"a": {"q": {"d": 1.0}}}),
    ),
    "discover_pool": (
        "NoPoolWarning",
        lambda: discover_pool(build_collection({"q": {"x": 1.0}}, TINY[1]), ["run"]),
    ),
    "add_judges": ("InputWarning", labeled),
    "add_judgments": (
        "InputWarning",
        lambda: build_collection({"q": {"d": 1.0, "x": 0.5}}, TINY[1]).add_judgments(
            qrels_from_frame({"q": {"x": 1, "y": 1}})
        ),
    ),
}


def test_warning_of_a_public_function_names_the_file_of_the_call() -> None:
    for category, call in CALLS.values():
        found = caught_by(call)
        assert category in [name for _, name in found], (category, call)
        assert {filename for filename, _ in found} == {__file__}, (category, call)


def test_warnings_of_readers_name_the_file_of_the_call(tmp_path: Path) -> None:
    run = lenient(
        tmp_path / "a.run", "q Q0 d 1 0.5 a\nbad line\n" + "".join(f"q Q0 d{i} 1 0.4 a\n" for i in range(10))
    )
    qrels = lenient(
        tmp_path / "qrels.txt", "q 0 d 1\nbad line\n" + "".join(f"q 0 d{i} 0\n" for i in range(10))
    )
    for call in (
        lambda: read_run(run, strict=False),
        lambda: read_runs([run], strict=False),
        lambda: read_qrels(qrels, strict=False),
        lambda: read_collection(qrels, run, strict=False),
    ):
        found = caught_by(call)
        assert "InputWarning" in [name for _, name in found]
        assert {filename for filename, _ in found} == {__file__}


def test_warning_of_another_experiment_in_the_folder_names_the_file_of_the_call(tmp_path: Path) -> None:
    leave_out(EXAMPLE, estimators=POINT, folder=tmp_path)
    found = caught_by(lambda: leave_out(EXAMPLE, estimators=POINT, folder=tmp_path, truth="full"))
    assert found == [(__file__, "ExperimentChangedWarning")]
