"""Types of runs that are left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn_pools import LOST, Spy, kinds_of, toy
from real import read_real

from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.evidence import score_bounds
from bayespool.experiments import leave_out
from bayespool.experiments.resampling import whole_pool
from bayespool.measures import parse_measure

BY_TYPE: dict[str, Any] = {"by": "type", "estimators": "as-judged"}


def test_types_of_the_toy() -> None:
    kinds = {"a": "automatic", "b": "automatic", "c": "manual"}
    result = leave_out(toy(), "P@2", by="type", run_types=kinds, estimators="as-judged")
    rows = result.to_frame().set_index(["fold", "run_id"])
    for kind, pool, run in (("manual", "ab", "c"), ("automatic", "c", "a"), ("automatic", "c", "b")):
        row = rows.loc[(kind, run)]
        assert row["value"] - row["truth"] == -sum(LOST[pool, run]) / 2
    assert rows["organization"].tolist() == ["one", "two", "three"]
    summary = result.to_frame("types").set_index("type")
    assert summary["n_runs"].to_dict() == {"automatic": 2, "manual": 1}
    assert summary["n_pool_runs"].to_dict() == {"automatic": 1, "manual": 2}
    assert summary["bias"].to_dict() == {"automatic": -0.375, "manual": -0.25}
    # c falls from .75 to .5 and below a; a falls to .5, below c, and b from .5 to 0 passes nobody, being last
    assert summary["sre"].to_dict() == {"automatic": 1, "manual": 1}


def test_estimators_keep_the_organizations_and_see_no_run_of_the_type(example: Collection) -> None:
    seen: list[Collection] = []
    kinds = kinds_of(example)
    leave_out(example, by="type", run_types=kinds, types=["manual"], estimators={"spy": Spy(seen)})
    (reduced,) = seen
    assert np.array_equal(reduced.organization, example.organization)
    assert {kinds[run] for run in reduced.pooled_run_ids} == {"automatic"}
    automatic = [run for run in example.pooled_run_ids if kinds[run] == "automatic"]
    assert np.array_equal(reduced.relevance >= 0, example.in_pool(example.run_index(automatic)))


def test_types_that_cannot_be(example: Collection) -> None:
    refused: list[tuple[dict[str, Any], str]] = [
        ({"run_types": {"x": "manual"}}, "21 runs of the pool have no type"),
        ({"run_types": dict.fromkeys(example.run_ids, "manual")}, "are of type 'manual'"),
        ({"types": ["interactive"]}, "type 'interactive'"),
        ({"types": []}, "types cannot be empty"),
    ]
    for asked, message in refused:
        with pytest.raises(InputError, match=message):
            leave_out(example, **BY_TYPE | {"run_types": kinds_of(example)} | asked)


# Of the 129 runs of TREC-8, as the pages of NIST's TREC browser have it.
MANUAL = (
    "8manexT3D1N0", "CL99SD", "CL99SDopt1", "CL99SDopt2", "CL99XT", "CL99XTopt", "GE8MTD2", "READWARE",
    "READWARE2", "cirtrc82", "disco1", "iit99ma1", "orcl99man",
)  # fmt: skip


@pytest.mark.slow
def test_manual_runs_of_trec_8_are_what_the_paper_says(collections: Path) -> None:
    """Webber & Park, §2.1: 24 % of the relevant documents come from manual runs alone, 17 % from automatic
    ones alone, and eleven manual runs are the best eleven; §3.1: leaving automatic runs out does not mend
    the bias against them.
    """
    collection = read_real(collections / "trec8-adhoc")
    kinds = {run: "manual" if run in MANUAL else "automatic" for run in collection.run_ids}
    relevant = collection.relevance > 0
    manual, automatic = (
        collection.in_pool(collection.run_index([r for r in collection.pooled_run_ids if kinds[r] == kind]))
        for kind in ("manual", "automatic")
    )
    assert round(float((relevant & manual & ~automatic).sum() / relevant.sum()), 2) == 0.24
    assert round(float((relevant & automatic & ~manual).sum() / relevant.sum()), 2) == 0.17
    result = leave_out(
        collection, by="type", run_types=kinds, types=["manual"], runs="all", pool_depth=10,
        estimators=["as-judged", "systems-adjustment", "condensed-list"],
    )  # fmt: skip
    whole = whole_pool(collection, "all", 10)
    best = np.argsort(-score_bounds(whole, None, parse_measure("P@10")).low.means(), kind="stable")[:11]
    assert {whole.run_ids[run] for run in best} <= set(MANUAL)
    summary = result.to_frame("summary").set_index("estimator")["bias"].round(3)
    # docs/experiments.md
    assert summary.to_dict() == {"as-judged": -0.134, "systems-adjustment": -0.129, "condensed-list": 0.014}
