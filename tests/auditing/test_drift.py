"""Drift of a judge: evidence by integration and enumeration, verdicts, and the command."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import Outcome
from each import cases
from scipy.integrate import quad
from scipy.stats import beta

from bayespool import qrels_from_frame
from bayespool.auditing import JudgeDrift, detect_drift, judge_evidence, system_evidence
from bayespool.errors import InputError
from bayespool.reading import labels_from_frame

N, N_TOPICS = 200, 40


def evidence_of(n: int, away: int, toward: int, rate: float = 0.01) -> float:
    """Evidence that a judge changed, after n relevant anchors of which so many changed each way."""
    relevant, first = np.ones(n, dtype=bool), np.arange(n) >= toward
    later = first.copy()
    later[:toward], later[toward : toward + away] = True, False
    return float(np.exp(judge_evidence(relevant, first, later, repeat_rate=rate)["judge"][-1]))


def test_evidence_is_the_integral_over_rates_above_times_that_over_directions() -> None:
    rates, ways = beta(0.5, 5), beta(0.5, 0.5)
    above = quad(lambda p: (p / 0.1) ** 5 * ((1 - p) / 0.9) ** 15 * rates.pdf(p), 0.1, 1)[0] / rates.sf(0.1)
    way = quad(lambda q: 2**5 * q**4 * (1 - q) * ways.pdf(q), 0, 1)[0]
    assert evidence_of(20, 4, 1, 0.1) == pytest.approx(above * way, rel=1e-6)


@cases("rate", [0.02, 0.1])
def test_evidence_has_expectation_1_at_most_while_the_judge_is_the_same(rate: float) -> None:
    """Enumerated over ten anchors: exactly 1 at the stated rate, less at a lower one."""
    n, expected = 10, 0.0
    for changed in range(n + 1):
        for away in range(changed + 1):
            chance = (
                comb(n, changed) * comb(changed, away) * (rate / 2) ** changed * (1 - rate) ** (n - changed)
            )
            expected += chance * evidence_of(n, away, changed - away, 0.1)
    assert expected == pytest.approx(1) if rate == 0.1 else expected < 0.9


def test_asked_twice_the_evidence_has_expectation_1_whatever_the_judge_contradicts_itself() -> None:
    relevant, expected = np.array([True, False, True]), 0.0
    chances = np.array([0.7, 0.4, 0.1])
    for bits in product((False, True), repeat=9):
        says = np.array(bits).reshape(3, 3)
        chance = np.prod(np.where(says, chances, 1 - chances))
        expected += chance * np.exp(judge_evidence(relevant, says[0], says[2], says[1])["judge"][-1])
    assert expected == pytest.approx(1)


def test_the_system_is_what_anchors_do_not_explain() -> None:
    rng = np.random.default_rng(1)
    change = rng.normal(0, 0.15, 100)
    still, moved = np.zeros(300), (np.arange(300) % 5 == 0) * 1.0
    assert system_evidence(still, change) < 0
    assert system_evidence(still, change + 0.2) > np.log(40)
    assert system_evidence(moved, change + 0.2) < 0
    assert system_evidence(moved, change) > np.log(40)
    assert system_evidence(still, np.zeros(0)) == 0


def world(*, worse: int = 0, shift: float = 0.0, noise: int = 0) -> tuple[list[Any], Any]:
    """Labels of two dates (of the first twice with noise), and people; ``worse`` anchors are wrong later."""
    rng = np.random.default_rng(2)
    relevant = {f"d{i}": int(i % 4 == 0) for i in range(N)}
    first = {d: 1 - x if i % 10 == 9 else x for i, (d, x) in enumerate(relevant.items())}
    right = [d for d in first if first[d] == relevant[d]]
    later = first | {d: 1 - first[d] for d in right[:worse]}
    again = first | {d: 1 - first[d] for d in right[N // 2 : N // 2 + noise]}
    later |= {d: 1 - first[d] for d in right[N // 2 + noise : N // 2 + 2 * noise]}
    dates: list[Any] = [{"anchors": first}, {"anchors": later}]
    for t in range(N_TOPICS):
        for k, date in enumerate(dates):
            says = rng.random(10) < 0.3 + shift * k
            date[f"q{t}"] = {f"d{k}x{i}": int(x) for i, x in enumerate(says)}
    return [*dates, {"anchors": again}], {"anchors": relevant}


def drift(*, twice: bool = False, **changes: Any) -> JudgeDrift:
    (first, later, again), people = world(**changes)
    old = [labels_from_frame(first), *[labels_from_frame(again)] * twice]
    return detect_drift({"may": old, "june": labels_from_frame(later)}, qrels_from_frame(people))


def test_verdicts() -> None:
    same = drift()
    assert (same.verdict, same.direction) == ("none", "")
    assert same.sentences()[0].startswith("no drift is shown: may and june differ on 0 of 200 anchors")
    judge = drift(worse=20)
    assert (judge.verdict, judge.direction) == ("judge", "worse")
    row = judge.drift.iloc[0]
    assert (row["n"], row["n_worse"], row["n_better"], row["n_topics"]) == (200, 20, 0, N_TOPICS)
    assert row["kappa_new"] < row["kappa_old"]
    assert row["evidence_judge"] == pytest.approx(1e6)  # the most that is shown
    system = drift(shift=0.3)
    assert system.verdict == "system"
    assert system.sentences()[0].startswith("what is judged changed, not the judge: ")


def test_a_judge_that_contradicts_itself_is_known_by_asking_twice() -> None:
    assert drift(noise=12).verdict == "judge"
    asked_twice = drift(noise=12, twice=True)
    assert asked_twice.verdict == "none"
    assert "as often as from itself, asked twice" in asked_twice.sentences()[0]
    assert drift(worse=20, twice=True).verdict == "judge"


def test_refusals() -> None:
    (first, later, _), people = world()
    labels = {"may": labels_from_frame(first), "june": labels_from_frame(later)}
    with pytest.raises(InputError, match="labels of two dates of one judge"):
        detect_drift({"may": labels["may"]}, qrels_from_frame(people))
    with pytest.raises(InputError, match="no anchor has a label of both dates"):
        detect_drift(labels, qrels_from_frame({"other": {"d": 1}}))
    with pytest.raises(InputError, match="repeat_rate"):
        detect_drift(labels, qrels_from_frame(people), repeat_rate=0.5)
    more = {"anchors": {**people["anchors"], "unlabeled": 1}}
    (note,) = detect_drift(labels, qrels_from_frame(more)).notes()
    assert note.startswith("1 anchor without a label of both dates")


def test_the_command(run: Callable[..., Outcome], tmp_path: Path) -> None:
    (first, later, _), people = world(worse=20)
    for name, values in (("may", first), ("june", later), ("people", people)):
        lines = [f"{t} 0 {d} {x}\n" for t, of in values.items() for d, x in of.items()]
        (tmp_path / f"{name}.txt").write_text("".join(lines))
    judges = ("judges", "--judge", tmp_path / "may.txt", "--judge", tmp_path / "june.txt")
    found = run(*judges, "--anchors", tmp_path / "people.txt")
    assert found.status == 0
    assert found.out.startswith(
        "the judge changed: may and june differ on 20 of 200 anchors, and one that is"
    )
    assert "its agreement with people is worse (κ 0.7" in found.out
    kept = run(*judges, "--anchors", tmp_path / "people.txt", "--repeat-rate", 0.15)
    assert "one that is the same differs on 15.0 % or less" in kept.out
    refused = run(*judges, "--anchors", tmp_path / "people.txt", "--qrels", tmp_path / "people.txt")
    assert "--anchors beside runs or --qrels" in refused.err
    assert "--repeat-rate without --anchors" in run(*judges, "--repeat-rate", 0.1).err
