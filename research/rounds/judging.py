"""How fast do intervals narrow when documents are judged round by round, chosen by judge_next or by chance?

    python -m research.rounds.judging --rounds 8 --budget 10

On the embedded example, whose truth answers for the assessor. A round's posterior says how wide intervals
should be after the next: the column ``expected`` of the row after it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
import pandas as pd

from bayespool import Collection, judge_next, parse_measure
from bayespool.experiments import simulate_example
from bayespool.posterior import PosteriorEstimator
from bayespool.reading import Qrels

ORDERS = ("judge-next", "random")


def judge_in_rounds(
    collection: Collection,
    run_ids: Sequence[str],
    answers: Qrels,
    posterior: PosteriorEstimator,
    *,
    measure: str = "P@10",
    budget: int = 10,
    n_rounds: int = 4,
    orders: Sequence[str] = ORDERS,
    ci_prob: float = 0.95,
) -> pd.DataFrame:
    """Judge in rounds with known answers, a row per order, round and run, with the interval at the time.

    Rounds end early where nothing is unjudged; ``answers`` are of every document that may be chosen.
    """
    columns = answers.query_id.to_pylist(), answers.doc_id.to_pylist(), answers.relevance.tolist()
    known = {(query_id, doc_id): level for query_id, doc_id, level in zip(*columns, strict=True)}
    rows = []
    for order in orders:
        judged, expected = collection, np.full(len(run_ids), np.nan)
        rng = np.random.default_rng(posterior.random_seed)
        for round_ in range(n_rounds + 1):
            completion = posterior.complete(judged, run_ids, measure)
            (values,) = completion.evaluate(parse_measure(measure))
            lower, upper = values.interval(ci_prob)
            n_judgments = int((judged.judged & ~collection.judged).sum())
            for i, run in enumerate(run_ids):
                row = {"order": order, "n_judgments": n_judgments, "run_id": run}
                row |= {"value": values.means().mean(axis=0)[i], "lower": lower[i], "upper": upper[i]}
                rows.append(row | {"width": upper[i] - lower[i], "expected": expected[i]})
            if round_ == n_rounds or not len(completion.unknowns):
                break
            if order == "random":
                pair = rng.permutation(completion.unknowns.pair)[:budget]
            else:
                step = judge_next(
                    judged, run_ids, measure, estimators=posterior, budget=budget, ci_prob=ci_prob
                )
                pair, expected = step.pair, step.remaining
            topics = (collection.query_ids[t] for t in collection.pair_topic[pair])
            levels = [known[topic, collection.doc_id(p)] for topic, p in zip(topics, pair, strict=True)]
            judged = judged.with_own_judgments(pair, np.array(levels, dtype=np.int16))
    return pd.DataFrame(rows)


def main() -> None:
    """Judge the example's new runs, and print mean and widest interval after each round."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--measure", default="P@10")
    parser.add_argument("--model", default="combined")
    parser.add_argument("--budget", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=4)
    asked = parser.parse_args()
    example = simulate_example()
    frame = judge_in_rounds(
        example.collection,
        example.new_run_ids,
        example.truth,
        PosteriorEstimator(model=asked.model),
        measure=asked.measure,
        budget=asked.budget,
        n_rounds=asked.rounds,
    )
    rounds = frame.groupby(["order", "n_judgments"], sort=False)
    print(rounds[["width", "expected"]].mean().assign(widest=rounds["width"].max()).round(4).to_string())


if __name__ == "__main__":
    main()
