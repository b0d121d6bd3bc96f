"""Were judgments that no pooled run explains made because the documents are relevant?

    python -m research.rounds.unexplained --qrels qrels.txt --pool runs/ --organizations organizations.csv

Such judgments are of missing runs, of earlier rounds, or of a search for relevant documents. They are taken
away and predicted. The models assume that, given the predictors, judging did not depend on relevance; the
shift is how far the log odds of the documents left unjudged are off if it did. A model that is wrong for
judged and unjudged documents alike cannot be told from such a search.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

from bayespool import Collection, parse_measure, read_collection
from bayespool.measures import Measure
from bayespool.posterior import Completion, PosteriorEstimator, find_selection

BAND_ENDS = (5, 10, 20, 30, 50, 100)
MOST_DRAWS = 400  # of log odds, which are in memory for all documents at once


def predict_unexplained(
    collection: Collection,
    posterior: PosteriorEstimator,
    measures: Sequence[str] = ("P@30",),
    ci_prob: float = 0.95,
) -> pd.DataFrame:
    """Predict judgments that no pooled run explains, a row per measure, kind of runs and band of ranks.

    Kinds of runs are pooled ones, below the pool depth, and others, outside the pool; the first band of each
    has all ranks. Judgments of one's own are left aside.
    """
    unexplained = collection.judged & ~collection.in_pool() & ~collection.is_own
    without, rows = collection.without_judgments(unexplained), []
    for measure in map(parse_measure, measures):
        for kind, chosen in (("pooled", collection.pooled), ("other", ~collection.pooled)):
            runs = [collection.run_ids[r] for r in np.flatnonzero(chosen)]
            if runs:
                completion = posterior.complete(without, runs, measure)
                named = {"measure": str(measure), "runs": kind}
                for row in _bands(collection, completion, unexplained, measure, ci_prob):
                    rows.append(named | row)
    frame = pd.DataFrame(rows)
    return frame.assign(depends_on_relevance=(frame["shift_lower"] > 0) | (frame["shift_upper"] < 0))


def _bands(
    collection: Collection,
    completion: Completion,
    unexplained: np.ndarray,
    measure: Measure,
    ci_prob: float,
) -> Iterator[dict[str, float]]:
    unknowns, tails = completion.unknowns, [(1 - ci_prob) / 2, (1 + ci_prob) / 2]
    judged, best = unexplained[unknowns.pair], unknowns.best_rank
    top = 1 if measure.is_graded else len(completion.levels) - 1
    is_relevant = collection.relevance[unknowns.pair] >= completion.levels[top]
    log_odds = _log_odds(completion, top)
    topics = [t for t in range(len(collection.query_ids)) if len(judged[unknowns.on_topic(t)])]
    drawn = np.concatenate([completion.block(t) >= top for t in topics], axis=1)
    ends = [0, *(b for b in BAND_ENDS if b < measure.cutoff), measure.cutoff]
    rng = np.random.default_rng(completion.random_seed)
    for first, last in [(1, measure.cutoff), *((a + 1, b) for a, b in pairwise(ends))]:
        band = (best >= first) & (best <= last)
        some = band & judged
        if not some.any():
            continue
        n_drawn = drawn[:, some].sum(axis=1)
        shift = find_selection(log_odds[:, band], judged[band], is_relevant[band], rng).shift
        lower, upper = np.quantile(n_drawn, tails)
        shift_lower, shift_middle, shift_upper = np.quantile(shift, [tails[0], 0.5, tails[1]])
        yield {
            "first": first,
            "last": last,
            "n_documents": int(band.sum()),
            "n_unexplained": int(some.sum()),
            "n_relevant": int((some & is_relevant).sum()),
            "expected": n_drawn.mean(),
            "lower": lower,
            "upper": upper,
            "expected_rest": drawn[:, band & ~judged].sum(axis=1).mean(),
            "shift": shift_middle,
            "shift_lower": shift_lower,
            "shift_upper": shift_upper,
        }


def _log_odds(completion: Completion, top: int) -> np.ndarray:
    """Compute log odds of reaching a level in draws of the parameters, shape (draw, document)."""
    thinned = slice(None, None, -(-completion.n_draws // MOST_DRAWS))
    worth = (np.arange(len(completion.levels)) >= top).astype(float)
    n_topics = len(completion.unknowns.start) - 1
    parts = [completion.expected(t, worth, thinned)[0] for t in range(n_topics)]
    chance = np.clip(np.concatenate(parts, axis=1), 1e-12, 1 - 1e-12)
    return np.log(chance) - np.log1p(-chance)


def main() -> None:
    """Predict the judgments of a collection, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    for name in ("qrels", "pool", "organizations"):
        parser.add_argument(f"--{name}", type=Path, required=name != "organizations")
    parser.add_argument("--measures", default="P@30")
    parser.add_argument("--model", default="combined")
    asked = parser.parse_args()
    collection = read_collection(asked.qrels, pool=asked.pool, organizations=asked.organizations)
    posterior = PosteriorEstimator(model=asked.model)
    frame = predict_unexplained(collection, posterior, asked.measures.split(","))
    print(frame.round(2).to_string(index=False))


if __name__ == "__main__":
    main()
