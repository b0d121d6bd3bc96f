"""Pairs of runs as a paper has them."""

from __future__ import annotations

import pytest
from compared import compared

from bayespool.comparisons.comparison import AS_THEY_STAND
from bayespool.comparisons.tables import in_order, order_of_pairs
from bayespool.errors import InputError
from bayespool.tables.arrangement import Arrangement

# runs of the pool are compared beside new ones
pytestmark = pytest.mark.filterwarnings("ignore::bayespool.errors.PooledRunWarning")
RUNS = ("new-a", "new-b", "north-1")


def test_a_pair_has_what_is_judged_beside_what_may_be() -> None:
    found = compared(*RUNS)
    (table,) = found.paper().tables
    assert table.header[:4] == ("Run A", "Run B", "A − B\nas judged", "p")
    assert [row[:2] for row in table.rows] == [
        ("new-a", "new-b"),
        ("new-a", "north-1"),
        ("new-b", "north-1"),
    ]
    here = found.differences().set_index(["method", "scope", "run_a", "run_b"])
    row = here.loc[("posterior-ratio", "these-topics", "new-a", "north-1")]
    assert table.rows[1][2:4] == ("+0.0450", "0.2063")
    assert table.rows[1][4] == f"{row['difference']:+.4f}"
    assert table.rows[1][5] == f"{row['lower']:+.4f} to {row['upper']:+.4f}"
    assert table.rows[1][6:] == (f"{row['prob_greater']:.3f}", "–")
    assert "paired t test, Holm over 3 pairs" in table.caption
    some = found.paper(Arrangement(["p"], sort="p", top=1)).tables[0]
    assert (some.header, len(some.rows)) == (("Run A", "Run B", "p"), 1)
    assert "1 of 3 pairs" in some.caption


@pytest.mark.parametrize("key", ["difference", "chance", "p", "risk"])
def test_pairs_are_sorted(key: str) -> None:
    found = compared(*RUNS)
    frames = found.differences(), found.significance()
    order = order_of_pairs(*frames, Arrangement(sort=key), as_judged=AS_THEY_STAND)
    assert sorted(order) == [("new-a", "new-b"), ("new-a", "north-1"), ("new-b", "north-1")]
    tested = frames[1][frames[1]["test"] == "paired-t"].set_index(["method", "run_a", "run_b"])
    if key == "p":
        p = [tested.loc[(AS_THEY_STAND, *pair), "p_adjusted"] for pair in order]
        assert p == sorted(p)
    if key == "difference":
        here = frames[0][frames[0]["scope"] == "these-topics"].set_index(["method", "run_a", "run_b"])
        sizes = [abs(here.loc[("posterior-ratio", *pair), "difference"]) for pair in order]
        assert sizes == sorted(sizes, reverse=True)
    shown = in_order(frames[1], order[:1])
    assert set(zip(shown["run_a"], shown["run_b"], strict=True)) == {order[0]}


def test_what_pairs_do_not_have_is_refused() -> None:
    found = compared(*RUNS)
    with pytest.raises(InputError, match="cannot sort by 'mean'"):
        found.to_latex(sort="mean")
    with pytest.raises(InputError, match="no column 'lower'"):
        found.to_latex(columns=["lower"])
