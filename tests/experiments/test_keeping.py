"""A share of the judgments kept, against all of them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from small import small

from bayespool.collection import Collection, Judge
from bayespool.errors import InputError
from bayespool.experiments import keep_judgments
from bayespool.experiments.keeping import KeptJudgments, keep_share
from bayespool.posterior import PosteriorEstimator
from bayespool.posterior.lots import attribute_sample
from bayespool.posterior.unknowns import find_unknowns


def labeled() -> Collection:
    """The small collection with a judge that is right about nine documents in ten."""
    collection = small()
    right = np.random.default_rng(3).random(len(collection.relevance)) < 0.9
    relevant = collection.relevance > 0
    judge = Judge("nine", np.where(right, relevant, ~relevant).astype(float))
    return dataclasses.replace(collection, judges=(judge,))


def test_shares_are_of_each_topic_rounded_up_and_nested() -> None:
    collection = small()
    n_judged = np.bincount(collection.pair_topic[collection.judged])
    less, more = keep_share(collection, 0.1, 7), keep_share(collection, 0.35, 7)
    for kept, share in ((less, 0.1), (more, 0.35)):
        n = np.bincount(collection.pair_topic[kept], minlength=len(n_judged))
        assert n.tolist() == np.ceil(share * n_judged - 1e-9).astype(int).tolist()
    assert not (less & ~more).any()
    assert not (more & ~collection.judged).any()
    assert (keep_share(collection, 0.35, 8) != more).any()


def test_all_judgments_give_the_scores_and_half_of_them_half_of_precision() -> None:
    result = keep_judgments(small(), "P@10", keep=[0.5, 1], estimators="as-judged", n_samples=3)
    half, whole = result.to_frame("summary").to_dict("records")
    assert (whole["mae"], whole["kendall_tau_b"]) == (0, 1)
    rows = result.to_frame("runs").query("kept == 0.5")
    assert rows["value"].mean() == pytest.approx(rows["truth"].mean() / 2, rel=0.2)
    assert half["mae"] == pytest.approx((rows["truth"] - rows["value"]).abs().mean())
    taus = result.to_frame("samples").query("kept == 0.5")["kendall_tau_b"]
    assert (half["kendall_tau_b"], half["tau_least"]) == pytest.approx((taus.mean(), taus.min()))


@pytest.mark.filterwarnings("ignore::bayespool.errors.BayespoolWarning")
def test_labels_are_evidence_where_the_judgments_are_a_sample() -> None:
    """Of the same sample a posterior with labels is nearer to the truth than one without, and repeats."""
    asked = {"keep": [0.2], "n_samples": 4, "posterior_settings": "draws=50"}
    without = keep_judgments(small(), "P@10", **asked)
    with_labels, again = (keep_judgments(labeled(), "P@10", **asked) for _ in range(2))
    assert with_labels.settings.labels == ("as-judged", "judge-filled", "posterior-combined")
    mine, alone = (
        result.to_frame("summary").set_index("estimator").loc["posterior-combined"]
        for result in (with_labels, without)
    )
    assert mine["width"] < 0.85 * alone["width"]
    assert (mine["mae"], mine["kendall_tau_b"]) < (alone["mae"], 1)
    assert mine["kendall_tau_b"] > alone["kendall_tau_b"]
    assert with_labels.to_frame("runs").equals(again.to_frame("runs"))


def test_sentences_have_all_shares_and_narrow_intervals_a_note() -> None:
    result = keep_judgments(small(), "nDCG@10", keep=[0.5, 1], estimators="as-judged", n_samples=1)
    half = result.to_frame("summary").iloc[0]
    (said,) = result.sentences()
    assert f"nDCG@10: with 50 % (100 %) of {result.n_judged} judgments kept" in said
    assert f"is {half['kendall_tau_b']:.3f} (1.000) as judged" in said
    assert said.endswith(f"errors are {half['mae']:.4f} (0.0000) as judged")
    assert result.read()[0].caption.startswith("nDCG@10, ")
    assert not any("intervals contain only" in note for note in result.notes())
    rows = result._rows.assign(covered_95=np.arange(len(result._rows)) % 4 > 0)
    narrow = dataclasses.replace(result, _rows=rows.assign(n_unjudged=1))
    (said,) = (note for note in narrow.notes() if "intervals contain only" in note)
    share = narrow.to_frame("summary")["coverage_95"].min()
    assert said.startswith(f"nDCG@10 by as-judged: 95 % intervals contain only {100 * share:.1f} % of")


@pytest.mark.parametrize("keep", [[0], [1.5], []])
def test_shares_are_checked(keep: list[float]) -> None:
    with pytest.raises(InputError, match="keep"):
        keep_judgments(small(), "P@10", keep=keep)


def test_judgments_of_a_sample_go_to_the_runs_that_unjudged_documents_are_credited_to() -> None:
    collection = small()
    runs = collection.pooled_run_ids
    design, settings = KeptJudgments(), keep_judgments(collection, "P@10", estimators="as-judged").settings
    evidence = attribute_sample(
        design.conceal(collection, design.parts(collection, settings)[0], settings), runs, 30
    )
    pair = np.flatnonzero(evidence.attributed_run >= 0)
    unknowns = find_unknowns(evidence.without_judgments(evidence.judged), runs, 30, evidence_depth=30)
    credited = dict(zip(unknowns.pair.tolist(), unknowns.run_index[unknowns.run].tolist(), strict=True))
    assert evidence.attributed_run[pair].tolist() == [credited[p] for p in pair.tolist()]


@pytest.mark.filterwarnings("ignore::bayespool.errors.BayespoolWarning")
def test_a_sample_says_the_same_whether_or_not_a_pool_is_known() -> None:
    """All documents to complete were left out at random, so that the runs' support is known either way."""
    design, settings = KeptJudgments(), keep_judgments(small(), "P@10", estimators="as-judged").settings
    concealed = design.conceal(small(), design.parts(small(), settings)[0], settings)
    posterior, runs = PosteriorEstimator(draws=100), concealed.pooled_run_ids
    pools = (mask := np.ones(len(concealed.run_ids), dtype=bool), concealed.pool), (~mask, 0)
    (known,), (unknown,) = (posterior.estimate(concealed.with_pool(*pool), runs, "P@10") for pool in pools)
    assert unknown.value == pytest.approx(known.value, abs=0.004)
    assert unknown.std == pytest.approx(known.std, rel=0.1)
