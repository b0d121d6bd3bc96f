"""Audits of the best of several runs: one set of draws, intervals for all differences together."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from audits import FAST, answers, true_values

from bayespool import audit, load_example, qrels_from_frame, read_audit
from bayespool.auditing import LeaderAudit, Urn
from bayespool.errors import InputError, InputWarning

pytestmark = pytest.mark.usefixtures("fits_of_all_tests")

RUNS = ("south-1", "north-1", "south-2", "west-1")


@cache
def planned(measure: str = "P@10") -> LeaderAudit:
    """Four runs that left the pool, with twenty documents drawn."""
    found = audit(load_example(), (), measure, **{"budget": 20, "unpool": RUNS, **FAST})
    assert isinstance(found, LeaderAudit)
    return found


def to_the_end(found: LeaderAudit, budget: int = 30) -> LeaderAudit:
    while not found.is_done:
        found = found.go_on(answers(found), budget=budget)
    return found


def test_all_differences_have_the_same_draws_and_share_the_error() -> None:
    found = to_the_end(planned())
    first = found.audits[0]
    assert first.ci_prob == pytest.approx(1 - 0.05 / 3)
    for one in found.audits:
        assert one.walked.chosen.tolist() == first.walked.chosen.tolist()
        assert one.walked.probability.tolist() == first.walked.probability.tolist()
        better, worse = found.p_values[one.run_ids[1]]
        assert (better, worse) == (min(1, 3 * one.p_values[0]), min(1, 3 * one.p_values[1]))
        assert better < 0.05


def test_probabilities_are_as_the_sum_of_what_differences_need() -> None:
    """At the first draw, before any judgment: Σ |c| × (√(m(1 − m)) + 1)."""
    found = planned()
    size = sum(np.maximum(np.abs(urn.low), np.abs(urn.high)) for urn in found.urns)
    m = found.urns[0].chance.clip(0.01, 0.99)
    odds = size * (np.sqrt(m * (1 - m)) + 1)
    first = found.audits[0].walked
    assert first.probability[0] == pytest.approx(odds[first.chosen[0]] / odds.sum())


@pytest.mark.parametrize("text", ["P@10", "nDCG@10"])
def test_it_says_who_is_the_best_and_stops(text: str) -> None:
    found = to_the_end(planned(text))
    of = text.replace("@", "(ideal='shared')@") if "n" in text else text
    values = dict(zip(RUNS, true_values(of, RUNS), strict=True))
    for run, (low, high) in found.intervals.items():
        assert low <= values[found.leader] - values[run] <= high
    verdicts = set(found.leader_is.values())
    assert verdicts <= {"better", "worse"}
    best = verdicts == {"better"}
    assert (max(values, key=values.__getitem__) == found.leader) == best
    said = "north-1 is the best of 4 runs; guaranteed at 95 % for all together, by "
    assert found.summary()[1].startswith(said) == best
    assert found.summary()[-2] == "stop: each difference has a sign"
    assert found.n_judged < len(found.urns[0])


def test_a_run_with_the_same_documents_is_equal() -> None:
    found, _ = simulated(np.random.default_rng(5), "right")
    nothing = np.zeros(len(found.known))
    same = dataclasses.replace(found.urns[0], low=nothing, high=nothing, least=-0.1, most=0.1)
    found = dataclasses.replace(found, urns=(*found.urns, same), run_ids=(*found.run_ids, "e"))
    assert found.leader_is["e"] == "equal"
    assert any(text.startswith("a is equal to e; guaranteed") for text in found.summary())
    assert not any("is the best" in text for text in found.summary())
    first, waits = int(found.audits[0].walked.chosen[0]), np.full(len(found.known), -1)
    assert dataclasses.replace(found, relevance=waits).leader_is["e"] == "open"
    waits[first] = found.relevance[first]
    assert dataclasses.replace(found, relevance=waits).leader_is["e"] == "equal"


def test_a_list_without_a_new_judgment_or_with_another_one_is_told() -> None:
    found = planned()
    with pytest.warns(InputWarning, match="no judgment is new"):
        again = found.go_on(found.qrels())
    assert again.n_judged == 0
    first, urn = found.go_on(answers(found, 1)), found.urns[0]
    i = int(first.audits[0].walked.chosen[0])
    turned = {urn.query_ids[i]: {urn.doc_ids[i]: int(1 - min(first.relevance[i], 1))}}
    with pytest.raises(InputError, match="keeps its judgments"):
        first.go_on(qrels_from_frame(turned))


def test_it_informs_a_collection() -> None:
    found = planned()
    done = found.go_on(answers(found))
    example = load_example().unpool(organization="north")
    for organization in ("south", "west"):
        example = example.unpool(organization=organization)
    assert int(done.inform(example).is_own.sum()) == 20


@cache
def certificate(folder: Path) -> str:
    found = planned()
    found.go_on(answers(found), budget=10).save(folder / "leader.json")
    return (folder / "leader.json").read_text()


def test_a_certificate_is_read_back_and_goes_on(tmp_path: Path) -> None:
    text = certificate(tmp_path)
    again = read_audit(tmp_path / "leader.json")
    assert isinstance(again, LeaderAudit)
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == text
    assert to_the_end(again).intervals == to_the_end(planned().go_on(answers(planned()), budget=10)).intervals
    planned().save(tmp_path / "empty.json")
    assert read_audit(tmp_path / "empty.json").n_judged == 0


def judgment(document: dict[str, Any]) -> None:
    row = next(row for row in document["documents"] if row["relevance"] >= 0)
    row["relevance"] = 1 - min(row["relevance"], 1)


CHANGES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "step 30: probability is": lambda d: d["steps"][-1].update(probability=0.123),
    "holds no whole": lambda d: d["metadata"]["runs"].reverse(),  # another leader
    "holds no whole audit": judgment,
    "against south-2: leader_is is open, and better": lambda d: d["differences"][1].update(
        leader_is="better"
    ),
    "against west-1: lower is": lambda d: d["differences"][2].update(lower=0.123),
    "step 1: seed 2 and the judgments before draw": lambda d: d["metadata"].update(random_seed=2),
}


def test_every_change_is_found(tmp_path: Path) -> None:
    text = certificate(tmp_path)
    for words, change in CHANGES.items():
        document = json.loads(text)
        change(document)
        (tmp_path / "changed.json").write_text(json.dumps(document))
        with pytest.raises(InputError, match=words):
            read_audit(tmp_path / "changed.json")


def simulated(rng: np.random.Generator, model: str) -> tuple[LeaderAudit, np.ndarray]:
    """Four runs over 60 documents; a model that is right, useless or adverse; the truth of differences."""
    places = (rng.random((4, 60)) < 0.5).astype(float) / 100
    p = 1 / (1 + np.exp(-rng.normal(-0.5, 1.5, 60)))
    m = {"right": p, "useless": rng.permutation(p), "adverse": 1 - p}[model]
    worth = (rng.random(60) < p).astype(float)
    places = places[np.argsort(-(places @ m), kind="stable")]
    used = (places != places[0]).any(axis=0)
    n, chance, names = int(used.sum()), m[used], tuple(map(str, np.flatnonzero(used)))
    spread, urns = np.sqrt(chance * (1 - chance)), []
    for c in (places[0] - places[1:])[:, used]:
        least, most = np.minimum(c, 0).sum(), np.maximum(c, 0).sum()
        ends = (0.0, 0.0, least, most, 0.0, 1.0)
        urns.append(Urn(names, names, c, c, chance, spread, np.zeros(n), *ends, (0.0, 1.0)))
    relevance, seed = worth[used].astype(np.int64), int(rng.integers(10**6))
    given = {"known": np.arange(n), "random_seed": seed, "ci_prob": 0.95, "until": None, "details": {}}
    found = LeaderAudit(
        urns=tuple(urns), run_ids=("a", "b", "c", "d"), measure="P@10", relevance=relevance, **given
    )
    return found, places @ worth


@pytest.mark.slow
@pytest.mark.parametrize("model", ["useless", "adverse"])
def test_no_difference_is_ever_missed_in_19_of_20_audits(model: str) -> None:
    missed, n = 0, 200
    for seed in range(n):
        found, values = simulated(np.random.default_rng([seed, 2]), model)
        ends = [audit.intervals for audit in found.audits]
        truth = zip(ends, values[0] - values[1:], strict=True)
        missed += any(((low > t + 1e-9) | (high < t - 1e-9)).any() for (low, high), t in truth)
    assert missed <= n * 0.05 + 3 * np.sqrt(n * 0.05 * 0.95)


def test_its_figures_are_of_the_closest_run_first(tmp_path: Path) -> None:
    found = planned()
    done = found.go_on(answers(found), budget=5)
    names = [figure.name for figure in done.figures()]
    closest = min(done.intervals, key=lambda run: done.intervals[run][0])
    assert names[0] == f"audit-{closest}"
    assert len(names) == 3
    assert b"<svg" in done.figures()[0].render()
    figure = done.draw()
    assert len(figure.legends) == 1
    panels = [axes.get_ylabel() for axes in figure.axes]
    assert panels == [f"P@10 of {audit.name}" for audit in done.closest_first]
    assert closest in panels[0]
