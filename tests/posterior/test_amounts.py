"""From drawn documents to amounts: whatever the way, they are those of the completed rankings."""

from __future__ import annotations

import numpy as np
from fits import TARGETS
from graded_example import graded_example

from bayespool.evidence.ideals import ranked_levels, tally_of
from bayespool.measures import MEASURES, parse_measure
from bayespool.posterior import complete

NAMES = [
    "P(rel=2)@10",
    "Success(rel=3)@5",
    "RR@30",
    "R@30",
    "AP@30",
    "AP(rel=2)@30",
    "nDCG@10",
    "nDCG(dcg='exp-log2')@30",
    "nDCG(ideal='judged')@10",
    "nDCG(ideal='shared')@10",
    "DCG@10",
    "SDCG(max_rel=3)@10",
    "RBP(p=0.8)@10",
    "ERR@10",
    "INST@10",
    "AntiP@10",
    "Judged@10",
]


def test_amounts_are_those_of_completed_rankings() -> None:
    """Judgments completed by hand, one draw at a time, and scored as if they were the collection's."""
    assert {parse_measure(name).name for name in NAMES} == set(MEASURES)
    collection = graded_example()
    completion = complete(collection, TARGETS, ["nDCG@30"], model="ratio", draws=3, chains=1)
    index, levels = collection.run_index(TARGETS), (0, *collection.levels)
    u, measures = completion.unknowns, [parse_measure(name) for name in NAMES]
    found = completion.evaluate(*measures)
    for draw in range(completion.n_draws):
        relevance = collection.relevance.copy()
        for t in range(len(collection.query_ids)):
            level = np.array(completion.levels)[completion.block(t, slice(draw, draw + 1))[0]]
            relevance[u.pair[u.on_topic(t)]] = level
        table = np.append(np.maximum(relevance, -1), np.int16(-2))
        for measure, values in zip(measures, found, strict=True):
            ranked = table[collection.document[index, :, : measure.cutoff]]
            if measure.of_judgments:
                ranked = ranked_levels(collection, index, measure.cutoff)
            for row in range(len(index)):
                of_ideal = {"judged": index[:0], "shared": index}.get(
                    getattr(measure, "ideal", ""), index[[row]]
                )
                near = collection.document[of_ideal, :, : max(measure.cutoff, 10)]
                made_of = collection.relevance.copy()
                made_of[near[near >= 0]] = relevance[near[near >= 0]]
                tally = tally_of(collection, levels, relevance=made_of)
                expected = measure.values(measure.read(ranked[[row]]), tally).amount[0]
                np.testing.assert_allclose(
                    values.amount[draw, row], expected, rtol=1e-12, atol=1e-12, err_msg=str(measure)
                )
