"""Documents left out of a published sample by lot: the judged ones of their strata are evidence for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayespool import read_collection, score
from bayespool.collection import Collection, qrels_from_frame
from bayespool.evidence import PREDICTORS
from bayespool.models.lots import LOTS
from bayespool.posterior import PosteriorEstimator
from bayespool.posterior.lots import chances_of_topics, left_out_by_lot, with_sample_as_evidence

pytestmark = pytest.mark.filterwarnings("ignore::bayespool.errors.NoPoolWarning")

N_TOPICS, DEPTH = 12, 20
POSTERIOR = PosteriorEstimator(draws=500, chains=2)


def sampled(share_relevant: float, *, known: bool = True, n_more: int = 0, seed: int = 1) -> Collection:
    """Runs of ``DEPTH`` documents per topic, half of which are judged, and listed ones that no run has."""
    rng, run, judged = np.random.default_rng(seed), dict[str, Any](), dict[str, Any]()
    for t in range(N_TOPICS):
        documents = [f"d{i:02d}" for i in range(DEPTH + n_more)]
        relevance = (rng.random(len(documents)) < share_relevant).astype(int)
        lot = rng.permutation(len(documents)) % 2 == 0
        run[f"q{t:02d}"] = {d: float(-i) for i, d in enumerate(documents[:DEPTH])}
        judged[f"q{t:02d}"] = dict(zip(documents, np.where(lot, relevance, -1).tolist(), strict=True))
    judged["q00"]["d00"] = 1  # so that there is a relevant document
    qrels = qrels_from_frame(judged)
    return read_collection(qrels, {"r": run}, negative="sampled" if known else "listed")


def test_relevant_documents_that_no_run_finds_count_for_ideal_rankings() -> None:
    """Half of 40 documents on each topic are relevant, of which the run finds half: recall is a half, too."""
    collection = sampled(0.5, n_more=DEPTH)
    (found,), (unknown,) = (
        POSTERIOR.estimate(c, "r", "R@20") for c in (collection, sampled(0.5, known=False, n_more=DEPTH))
    )
    assert found.value[0] == pytest.approx(0.5, abs=0.06)
    assert unknown.value[0] > found.value[0] + 0.04
    completion = POSTERIOR.complete(collection, "r", "R@20")
    assert completion.lots.n_elsewhere.sum(axis=(0, 2)).mean() == pytest.approx(N_TOPICS * DEPTH / 4, rel=0.2)


def test_what_could_not_be_sampled_is_not_completed_by_the_sample() -> None:
    collection = sampled(0.5)
    by_lot = left_out_by_lot(collection)
    assert by_lot.tolist() == (collection.relevance < 0).tolist()
    gone = np.arange(len(by_lot)) % 3 == 0
    less = left_out_by_lot(collection.without_judgments(gone))
    assert less.tolist() == (by_lot & ~gone).tolist()
    evidence = with_sample_as_evidence(collection, ("r",))
    assert (evidence.added_for >= 0).tolist() == collection.judged.tolist()
    assert not left_out_by_lot(sampled(0.5, known=False)).any()


@pytest.mark.filterwarnings("ignore::bayespool.errors.DiagnosticsWarning")
def test_observed_judgments_and_levels_go_through() -> None:
    collection = sampled(0.5)
    completion = POSTERIOR.complete(collection, "r", "P@20")
    documents = completion.unknowns.doc_ids(0)
    seen = completion.observe(qrels_from_frame({"q00": dict.fromkeys(documents, 1)}))
    assert (seen.block(0) == 1).all()
    assert len(seen.lots.posteriors[0].mixture.source) == completion.n_draws
    assert set(completion.fits) >= {"lots"}
    one, again = (score(collection, "r", ["AP@20", "nDCG@10"], draws=50, chains=2) for _ in range(2))
    assert one.to_frame().equals(again.to_frame())


def test_chances_of_topics() -> None:
    """With many documents they are shares; with few they are drawn to those of other topics."""
    assert set(LOTS.predictors) <= set(PREDICTORS)
    n = np.array([1000, 1000, 1000, 1000, 0])
    chances = chances_of_topics(np.array([200, 210, 190, 200, 0]), n, 4000, np.random.default_rng(1))
    assert chances.shape == (5, 4000)
    assert chances.mean(axis=1) == pytest.approx([0.2] * 5, abs=0.03)
    assert chances[0].std() < chances[4].std()
