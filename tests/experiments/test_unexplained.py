"""Judgments that no pooled run explains: at random, or because somebody looked for relevant documents."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import toys
from commands import Outcome
from unexplained import with_found

from bayespool.collection import qrels_from_frame, write_qrels
from bayespool.collection.own import OwnJudgments
from bayespool.errors import InputError
from bayespool.experiments import (
    UnexplainedBand,
    UnexplainedJudgments,
    check_unexplained_judgments,
    load_example,
    simulate_example,
)
from bayespool.measures import parse_measure
from bayespool.posterior import PosteriorEstimator

DRAWS = {"draws": 500, "chains": 2}


@cache
def found_by(chance_relevant: float, chance_other: float, by_rank: float = 0) -> UnexplainedJudgments:
    return check_unexplained_judgments(with_found(chance_relevant, chance_other, by_rank), "P@20", **DRAWS)


@pytest.mark.slow
def test_rows_count_the_documents_outside_the_pool() -> None:
    collection, rows = with_found(0.4, 0.4), found_by(0.4, 0.4).bands
    assert [(row.runs, row.first, row.last) for row in rows] == [
        ("pooled", 1, 20),
        ("pooled", 11, 20),
        ("other", 1, 20),
        ("other", 1, 5),
        ("other", 6, 10),
        ("other", 11, 20),
    ]
    top = np.unique(collection.document[collection.pooled, :, :20])
    outside = top[(top >= 0) & ~np.append(collection.in_pool(), True)[top]]
    assert rows[0].n_documents == len(outside)
    assert rows[0].n_unexplained == collection.judged[outside].sum()
    assert rows[0].n_relevant == (collection.relevance[outside] > 0).sum()
    for whole, *bands in (rows[:2], rows[2:]):
        for name in ("n_documents", "n_unexplained", "n_relevant"):
            assert getattr(whole, name) == sum(getattr(band, name) for band in bands)
        assert whole.expected == pytest.approx(sum(band.expected for band in bands))


def whole(judgments: UnexplainedJudgments) -> list[UnexplainedBand]:
    """Those of all ranks."""
    return [band for band in judgments.bands if band.is_whole]


@pytest.mark.slow
@pytest.mark.parametrize("judged", [(0.4, 0.4), (0.9, 0.9, 5)], ids=["at random", "by rank"])
def test_judging_that_does_not_depend_on_relevance_shifts_nothing(judged: tuple[float, ...]) -> None:
    """Neither where documents are judged at random nor where those of high ranks are."""
    for row in whole(found_by(*judged)):
        assert row.lower <= row.n_relevant <= row.upper
        assert row.shift_lower < 0 < row.shift_upper
        assert abs(row.shift) < 0.35
        assert not row.depends_on_relevance


@pytest.mark.parametrize("judged", [(0.8, 0.2), pytest.param((0.2, 0.6), marks=pytest.mark.slow)])
def test_documents_that_were_looked_for_show(judged: tuple[float, float]) -> None:
    """The interval holds the shares of the relevant and the nonrelevant left over one another."""
    relevant, other = judged
    more = relevant > other
    row = whole(found_by(*judged))[0]
    assert row.n_relevant > row.upper if more else row.n_relevant < row.lower
    assert (row.shift < -0.3) == more
    assert (row.shift > 0.3) == (not more)
    assert (row.ratio > 1.5) == more
    assert row.depends_on_relevance
    for band in whole(found_by(*judged)):
        assert band.shift_lower < np.log((1 - relevant) / (1 - other)) < band.shift_upper
        assert band.shift * (other - relevant) > 0


def test_judgments_of_ones_own_are_none_that_the_campaign_found() -> None:
    collection = with_found(0.4, 0.4)
    outside = collection.judged & ~collection.in_pool()
    own = OwnJudgments(np.where(outside, collection.relevance, np.int16(-1)), outside)
    with pytest.raises(InputError, match="the pooled runs leave 0 judgments unexplained"):
        check_unexplained_judgments(dataclasses.replace(collection, own=own), "P@20", **DRAWS)
    with pytest.raises(InputError, match="leave 0 judgments unexplained"):
        check_unexplained_judgments(simulate_example().collection)


def test_hand_made_row() -> None:
    row = UnexplainedBand(parse_measure("P@10"), "other", 1, 10, 100, 30, 16, 10, 5, 15, 10, -0.7, -1.2, -0.2)
    assert row.ratio == 1.6
    assert np.isnan(dataclasses.replace(row, expected=0.0).ratio)
    assert row.depends_on_relevance
    assert dataclasses.replace(row, shift_lower=0.1, shift_upper=0.9).depends_on_relevance
    assert not dataclasses.replace(row, shift_upper=0.1).depends_on_relevance
    nothing_left = dataclasses.replace(row, shift=np.nan, shift_lower=np.nan, shift_upper=np.nan)
    assert not nothing_left.depends_on_relevance


def test_frame_has_a_row_each() -> None:
    frame = found_by(0.8, 0.2).to_frame()
    assert frame["measure"].unique().tolist() == ["P@20"]
    for name in ("shift", "shift_lower", "shift_upper", "ratio", "depends_on_relevance"):
        assert frame[name].tolist() == [getattr(band, name) for band in found_by(0.8, 0.2).bands]
    assert set(frame["ci_prob"]) == {0.95}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example's files with judgments that were looked for."""
    folder = tmp_path_factory.mktemp("found")
    simulate_example().write(folder)
    write_qrels(qrels_from_frame(toys.judgments(with_found(0.8, 0.2))), folder / "qrels.txt")
    return folder


def asked(folder: Path, *more: str) -> list[str]:
    given = {"qrels": "qrels.txt", "pool": "pool", "organizations": "organizations.csv"}
    files = [part for name, file in given.items() for part in (f"--{name}", str(folder / file))]
    return ["check", "unexplained", *files, "--known-depth", "10", *more]


@pytest.mark.slow
def test_command_prints_writes_and_warns(run: Callable[..., Outcome], files: Path) -> None:
    outcome = run(*asked(files, "-m", "P@20", "--draws", "250", "-o", str(files / "out")))
    assert outcome.status == 0, outcome.err
    assert "P@20: judgments that no pooled run explains, predicted without them" in outcome.out
    assert "note: P@20: of pooled runs more are relevant than documents of their chances" in outcome.out
    row = found_by(0.8, 0.2).bands[0]
    line = next(line for line in outcome.out.splitlines() if line.strip().startswith("pooled"))
    assert line.split()[:6] == [
        "pooled",
        "1",
        "20",
        *map(str, (row.n_documents, row.n_unexplained, row.n_relevant)),
    ]
    table = pd.read_csv(files / "out" / "unexplained.csv")
    assert table["n_relevant"][0] == row.n_relevant
    assert table["runs"].tolist()[:2] == ["pooled", "pooled"]


def test_options_of_another_check_are_refused(run: Callable[..., Outcome], files: Path) -> None:
    outcome = run(*asked(files, "--simulations", "3"))
    assert outcome.status == 2
    assert "--simulations" in outcome.err


@pytest.mark.slow
def test_shift_moves_the_estimate() -> None:
    example = load_example()
    lower, same, higher = (
        PosteriorEstimator(shift=shift).estimate(example, "new-b")[0].draws for shift in (-0.5, 0.0, 0.5)
    )
    assert lower is not None
    assert same is not None
    assert higher is not None
    plain = PosteriorEstimator().estimate(example, "new-b")[0].draws
    assert plain is not None
    assert np.array_equal(same.amount, plain.amount)
    assert (lower.amount <= same.amount).all()  # the same random numbers, another chance
    assert (same.amount <= higher.amount).all()
    assert lower.expected() < same.expected() < higher.expected()
