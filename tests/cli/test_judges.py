"""The command ``judges``, and what other commands say of second judges."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import Outcome, arguments
from labeled import favoring_labels, with_judge

from bayespool import check_judges
from bayespool.collection import Collection
from bayespool.experiments import SimulationSettings, load_example, simulate
from bayespool.plots import draw_judges, render

Run = Callable[..., Outcome]


def write_labels(collection: Collection, path: Path) -> Path:
    """Labels of the collection's judge in the form of qrels."""
    (judge,) = collection.judges
    lines = []
    for pair in np.flatnonzero(judge.is_labeled).tolist():
        query_id = collection.query_ids[collection.pair_topic[pair]]
        lines.append(f"{query_id} 0 {collection.doc_id(pair)} {judge.label[pair]:g}\n")
    path.write_text("".join(lines), encoding="utf-8")
    return path


def favoring() -> Collection:
    """The example with a judge that favors the north."""
    return with_judge(load_example(), favoring_labels(), "friend")


@pytest.fixture
def labels(example: Path) -> Path:
    return write_labels(favoring(), example / "friend.txt")


def call(labels: Path, *more: object, command: str = "judges", new: bool = True) -> list[str]:
    """Ask of the example's files beside a file of labels."""
    files = arguments(labels.parent)[2 - new :]
    return [command, *files, "--judge", str(labels), *map(str, more)]


def test_what_labels_are_worth_is_drawn(run: Run, labels: Path) -> None:
    figure = labels.parent / "labels.svg"
    done = run(*call(labels, "--figure", figure))
    assert done.status == 0, done.err
    assert figure.read_bytes() == render(draw_judges(check_judges(favoring())), "svg")


SMALL = SimulationSettings(n_topics=8, n_candidates=60, n_organizations=3, max_runs=2, run_depth=40)


@pytest.mark.slow
def test_without_a_run_to_score_intervals_are_of_organizations_left_out(run: Run, tmp_path: Path) -> None:
    made = simulate(SMALL, random_seed=3)
    made.write(tmp_path)
    label = np.where(made.collection.relevance > 0, 1.0, 0.0)
    labels = write_labels(with_judge(made.collection, label), tmp_path / "friend.txt")
    quick = ("--draws", 130, "--seed", 3, "--engine", "laplace")
    done = run(*call(labels, "--intervals", *quick, "-m", "P@5", "-o", tmp_path / "out", new=False))
    assert done.status == 0, done.err
    rows = pd.read_csv(tmp_path / "out" / "runs.csv")
    pooled = made.collection.pooled_run_ids
    assert sorted(rows["run_id"]) == sorted(pooled)
    heading = f"P@5: mean width of 95 % intervals of {len(pooled)} pooled runs, each organization left out\n"
    assert "scores with and without labels: 3 of 3\n" in done.err
    _, _, shown = done.out.partition(heading)
    line = next(line for line in shown.splitlines() if line.startswith(" friend "))
    assert float(line.split()[1]) == pytest.approx(rows["width_without"].mean(), abs=6e-5)
    assert float(line.split()[2]) == pytest.approx(rows["width_with"].mean(), abs=6e-5)


def test_an_organization_can_be_taken_out_of_the_pool(run: Run, labels: Path) -> None:
    done = run(*call(labels, "--unpool", "south", new=False))
    assert done.status == 0, done.err
    assert "taken out of the pool: organization south" in done.err
    assert "Unjudged documents are those within rank 10 of the runs to score." in done.out


def test_wrong_input_is_said(run: Run, labels: Path) -> None:
    for change, message in [
        (lambda given: given[: given.index("--judge")], "no judge; --judge FILE or --judge NAME=FILE"),
        (
            lambda given: ["judges", *given[given.index("--judge") :], "--qrels", "no"],
            "no runs given; --pool",
        ),
        (lambda given: [*given, "-o", "/nowhere/out"], "there is no folder /nowhere"),
        (lambda given: [*given, "-m", "Judged@10"], "describes the judgments"),
        (lambda given: [*given, "--prior", "gamma=Normal(0,1)"], "has no prior 'gamma'"),
    ]:
        done = run(*change(call(labels)))
        assert done.status == 1, (change, message)
        assert message in done.err, (change, message)
        assert not done.out, (change, message)


@pytest.mark.slow
def test_score_warns_once_and_notes_the_runs_of_a_favored_organization(run: Run, labels: Path) -> None:
    posteriors = "posterior-ratio(draws=150),posterior-background(draws=150)"
    done = run(*call(labels, "--estimators", posteriors, "-m", "P@5", "-m", "P@10", command="score"))
    assert done.status == 0, done.err
    warned = [line for line in done.err.splitlines() if "judge friend" in line]
    (problem,) = check_judges(favoring()).problems
    assert warned == [f"warning: {problem}"]
    unpooled = run(
        *call(labels, "--estimators", "posterior-ratio(draws=150)", "--unpool", "north", command="score")
    )
    assert unpooled.status == 0, unpooled.err
    assert "posterior-ratio: labels of judge friend not used: it favors north" in unpooled.out
