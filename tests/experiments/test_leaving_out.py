"""Leave-out experiments: folds and truth by hand, and the published tool."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from left_out import LEVELS, RANKINGS, column
from real import read_real
from toys import from_rankings, toy_collection

from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.experiments import leave_out


def test_organizations_left_out_of_the_toy() -> None:
    """North alone brought b c f, p r, and b on topic 3; south h i k, v w, and d on topic 3."""
    found = leave_out(toy_collection(), "P@3", estimators="as-judged")
    assert column(found, "fold").keys().isdisjoint({"u"})  # not pooled
    assert column(found, "fold") == {"n1": "north", "n2": "north", "s1": "south", "s2": "south"}
    nine = {"n1": (4, 1, 6), "n2": (4, 1, 6), "s1": (3, 1, 6), "s2": (1, 0, 3)}  # truth, bounds
    for name, place in {"truth": 0, "bound_lower": 1, "value": 1, "bound_upper": 2}.items():
        assert column(found, name) == {run: of_run[place] / 9 for run, of_run in nine.items()}, name
    assert column(found, "n_unjudged") == {"n1": 5, "n2": 5, "s1": 5, "s2": 3}
    summary = found.to_frame("summary").iloc[0]
    assert summary["mae"] == pytest.approx((3 + 3 + 2 + 1) / 36)
    assert summary["bias"] == pytest.approx(-(3 + 3 + 2 + 1) / 36)
    # truths 4 4 3 1: the first two fall behind the third, each past one, and share its place with the others
    assert summary["sre"] == 2 + 2 + 0 + 0
    # per topic, in thirds: n1 and n2 lack 1, 2, 0; s1 1, 1, 0; s2 1, 0, 0
    assert summary["topic_rmse"] == pytest.approx(np.sqrt((5 + 5 + 2 + 1) / 9 / 12))


def test_runs_left_out_of_the_toy() -> None:
    """Alone brought: n1 c; n2 f; s1 i, v and w; s2 k."""
    found = leave_out(toy_collection(), "P@3", estimators="as-judged", by="run")
    assert column(found, "fold") == {run: run for run in ("n1", "n2", "s1", "s2")}
    assert column(found, "organization") == {"n1": "north", "n2": "north", "s1": "south", "s2": "south"}
    assert column(found, "bound_lower") == {"n1": 3 / 9, "n2": 3 / 9, "s1": 2 / 9, "s2": 1 / 9}
    assert column(found, "n_unjudged") == {"n1": 1, "n2": 1, "s1": 3, "s2": 1}


def test_truth_below_the_pool_depth() -> None:
    """n2 has c at rank 4, which n1 brought into the pool at rank 3."""
    kwargs: dict[str, Any] = {"measures": "P@4", "estimators": "as-judged"}
    full = leave_out(toy_collection(), truth="full", **kwargs)
    repooled = leave_out(toy_collection(), **kwargs)
    assert column(full, "truth")["n2"] == 5 / 12
    assert column(repooled, "truth")["n2"] == 4 / 12
    assert column(repooled, "truth")["n1"] == 4 / 12
    for run, upper in column(repooled, "bound_upper").items():
        assert column(repooled, "truth")[run] <= upper
    # what the truth does not judge may be estimated: d and t of n1, c, g and t of n2
    complete = leave_out(toy_collection(), unseen="estimated", **kwargs)
    assert column(complete, "n_unjudged") == {"n1": 5 + 2, "n2": 5 + 2, "s1": 5 + 1, "s2": 3}
    assert column(repooled, "n_unjudged") == {"n1": 5, "n2": 5, "s1": 5, "s2": 3}
    # in truth d, s (n1), t (n2, where c is another one) and e (s1) are unjudged, too
    assert column(complete, "n_unknown") == {"n1": 2, "n2": 2, "s1": 1, "s2": 0}
    assert column(repooled, "n_unknown") == dict.fromkeys(("n1", "n2", "s1", "s2"), 0)


def test_means_over_the_topics_of_a_run() -> None:
    """s2 lacks topic 2."""
    found = leave_out(toy_collection(), "P@3", estimators=["as-judged", "background"], denominator="run")
    assert column(found, "truth")["s2"] == 1 / 6
    assert column(found, "bound_upper")["s2"] == 3 / 6
    assert column(found, "value")["s2"] == 0
    assert column(found, "value", "background")["s2"] == pytest.approx(3 / 6 * 0.03)
    assert column(found, "topic_rmse")["s2"] == pytest.approx(np.sqrt(1 / 9 / 2))
    assert np.isnan(found.true_scores("P@3")[3]).tolist() == [False, True, False]
    every = leave_out(toy_collection(), "P@3", estimators=["as-judged", "background"])
    pd.testing.assert_frame_equal(
        found.to_frame().query("run_id != 's2'"), every.to_frame().query("run_id != 's2'")
    )


def test_a_pool_made_shallower_first() -> None:
    """At depth 1 the north alone has b and p on topics 1 and 2; judgments below rank 1 are gone."""
    found = leave_out(toy_collection(), "P@1", estimators="as-judged", pool_depth=1)
    assert column(found, "truth") == {"n1": 1 / 3, "n2": 1 / 3, "s1": 1 / 3, "s2": 1 / 3}
    # a stays judged through n1 when the south goes, and through s1 when the north goes
    assert column(found, "bound_lower") == {"n1": 1 / 3, "n2": 0, "s1": 1 / 3, "s2": 0}
    with pytest.raises(InputError, match="pool depth 4"):
        leave_out(toy_collection(), "P@1", pool_depth=4)


def four_runs() -> Collection:
    return from_rankings(RANKINGS, LEVELS, pooled_run_ids=("a", "b", "c", "d"), pool_depth=2)


def test_the_best_runs_are_reported() -> None:
    found = leave_out(four_runs(), "P@2", estimators="as-judged", top=50)
    assert found.to_frame(reported_only=True)["run_id"].tolist() == ["a", "b"]
    assert found.to_frame()["run_id"].tolist() == ["a", "b", "c", "d"]
    assert found.to_frame("summary").loc[0, "n_runs"] == 2
    # 0.625 of four is rounded half up to three; of equal ones the earlier is taken
    for top, best in ((62.5, ["a", "b", "c"]), (25, ["a"])):
        found = leave_out(four_runs(), "P@2", estimators="as-judged", top=top)
        assert found.to_frame(reported_only=True)["run_id"].tolist() == best
    with pytest.raises(InputError, match="are no run at all"):
        leave_out(four_runs(), "P@2", top=5)


def test_a_pool_of_the_best_runs_alone() -> None:
    """With c and d kept, d's documents are judged; a pool of a, b and c alone does not know them."""
    kept = leave_out(four_runs(), "P@2", estimators="as-judged", top=75, top_pool="kept")
    assert kept.to_frame()["run_id"].tolist() == ["a", "b", "c"]
    assert kept.n_pooled_runs == {"P@2": 4}
    runs = {"a": "pq", "b": "rs", "c": "qp", "d": "xs"}
    levels = {"1": {"p": 1, "q": 0, "r": 0, "s": 1, "x": 1}}
    collection = from_rankings(
        {run: {"1": order} for run, order in runs.items()}, levels, pooled_run_ids=tuple(runs), pool_depth=2
    )
    found = leave_out(collection, "P@2", estimators="as-judged", top=50, top_pool="kept", by="run")
    # without a, nobody but c has p and q, and c is not in this pool
    assert column(found, "bound_lower")["a"] == 0
    everyone = leave_out(collection, "P@2", estimators="as-judged", top=50, by="run")
    assert column(everyone, "bound_lower")["a"] == 1 / 2


# --- the published tool ------------------------------------------------------------------------------------


# Reduced pool and systems adjustment as the published tool of 2020 prints them: MAE, SRE, SRE* by t, τ_b.
PUBLISHED = {
    ("trec2-adhoc", "organization", 75): {
        ("P@10", "reduced"): (0.0085, 32, 0, 0.9133),
        ("P@100", "reduced"): (0.0293, 122, 10, 0.7322),
        ("P@100", "adjusted"): (0.0168, 62, 3, 0.7379),
    },
    ("trec2011-medical", "run", 100): {
        ("P@10", "reduced"): (0.0391, 126, 7, 0.8393),
        ("P@10", "adjusted"): (0.0329, 138, 1, 0.8354),
        ("P@100", "reduced"): (0.0039, 40, 0, 0.9662),
        ("P@100", "adjusted"): (0.0033, 35, 0, 0.9626),
    },
    ("trec2011-medical", "organization", 75): {
        ("P@10", "reduced"): (0.0700, 223, 10, 0.6958),
        ("P@10", "adjusted"): (0.0391, 121, 1, 0.6958),
        ("P@100", "reduced"): (0.0067, 90, 0, 0.8649),
        ("P@100", "adjusted"): (0.0037, 64, 0, 0.8749),
    },
    ("trec2011-medical", "run", 75): {
        ("P@10", "reduced"): (0.0447, 106, 6, 0.7223),
        ("P@10", "adjusted"): (0.0412, 141, 0, 0.7124),
    },
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "by", "top"), PUBLISHED)
def test_the_published_tool_is_reproduced(collections: Path, name: str, by: Any, top: float) -> None:
    collection = read_real(collections / name)
    adjusted = "systems-adjustment(substitute=False, within_bounds=False)"
    asked: dict[str, Any] = {
        "top_pool": "kept",
        "unseen": "estimated",
        "denominator": "run",
        "test": "paired-t",
    }
    asked |= {"by": by, "top": top, "pool_depth": collection.pool_depth}
    estimators = {"reduced": "as-judged", "adjusted": adjusted}
    found = leave_out(collection, ["P@10", "P@100"], estimators=estimators, **asked)
    summary = found.to_frame("summary").set_index(["measure", "estimator"])
    for key, expected in PUBLISHED[name, by, top].items():
        row = summary.loc[key]
        ours = (round(row["mae"], 4), row["sre"], row["sre_star"], round(row["kendall_tau_b"], 4))
        assert ours == expected, key
