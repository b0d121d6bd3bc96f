"""Errors on unknown names ask which one was meant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bayespool import check_models, leave_out, load_example, score
from bayespool.collection import run_from_frame
from bayespool.errors import InputError, did_you_mean, known_names
from bayespool.pooling import parse_strategy
from bayespool.scoring import ScoreSettings

EXAMPLE = load_example()
ANY: Any = score


def test_near_name_is_asked_for() -> None:
    for name, known, meant in [
        ("drawz", ["draws", "tune"], "did you mean 'draws'?"),
        ("NDCG", ["nDCG", "P"], "did you mean 'nDCG'?"),
        ("new_a", ["new-a", "new-b"], "did you mean 'new-a'?"),
        ("sigma_org", ["sigma_topic", "sigma_organization"], "did you mean 'sigma_organization'?"),
        ("sigma", ["sigma_topic", "sigma_organization"], ""),  # the beginning of both
        ("dr", ["draws"], ""),
        ("xyz", ["draws"], ""),
        ("xyz", [], ""),
        (3, ["30"], ""),
    ]:
        assert did_you_mean(name, known) == meant, (name, known)
        rest = f"known: {', '.join(known)}"
        assert known_names(name, known) == (f"{meant} {rest}" if meant else rest), (name, known)


CALLS: dict[str, tuple[Callable[[], object], str]] = {
    "estimator": (lambda: score(EXAMPLE, estimators="posterior-combind"), "'posterior-combined'"),
    "setting": (lambda: ANY(EXAMPLE, drawz=3), "'draws'"),
    "setting of the function": (lambda: ANY(EXAMPLE, ci_probb=0.9), "'ci_prob'"),
    "setting of an experiment": (lambda: leave_out(EXAMPLE, **{"chain": 3}), "'chains'"),  # type: ignore[arg-type]
    "setting in a text": (lambda: score(EXAMPLE, estimators="interpolated(estimate=1)"), "'estimand'"),
    "setting in a longer text": (lambda: score(EXAMPLE, estimators="posterior-ratio(drawss=1)"), "'draws'"),
    "prior": (
        lambda: score(EXAMPLE, priors={"sigma_topics": "HalfNormal(1)"}, estimators="posterior-ratio"),
        "'sigma_topic'",
    ),
    "beginning of a prior": (
        lambda: score(EXAMPLE, priors={"sigma_org": "HalfNormal(1)"}, estimators="posterior-ratio"),
        "'sigma_organization'",
    ),
    "option": (lambda: ScoreSettings(estimand="complet"), "'complete'"),  # type: ignore[arg-type]
    "engine": (lambda: score(EXAMPLE, engine="laplas", estimators="posterior-ratio"), "'laplace'"),
    "measure": (lambda: score(EXAMPLE, measures="ndgc@10"), "'nDCG'"),
    "parameter of a measure": (lambda: score(EXAMPLE, measures="RBP(persist=0.8)@10"), ""),
    "model": (lambda: check_models(EXAMPLE, models="ratios"), "'ratio'"),
    "strategy": (lambda: parse_strategy("combmnx"), "'combmnz'"),
    "run": (lambda: score(EXAMPLE, "new_a"), "'new-a'"),
    "run to unpool": (lambda: score(EXAMPLE, unpool="nort-1"), "'north-1'"),
    "organization": (lambda: EXAMPLE.unpool(organization="nort"), "'north'"),
    "column": (lambda: run_from_frame([{"qid": 1, "docno": 2, "scroe": 3}], "x"), "'scroe'"),
}


def test_error_asks_what_was_meant() -> None:
    for call, meant in CALLS.values():
        with pytest.raises(InputError) as refused:
            call()
        if meant:
            assert f"did you mean {meant}?" in str(refused.value), (call, meant)
