"""What the scores by design say of posteriors and of labels."""

from __future__ import annotations

import dataclasses

import answered
import numpy as np
import pytest

from bayespool import score
from bayespool.scoring.checked_by_design import ESTIMATORS_BY_DESIGN, check_notes

pytestmark = pytest.mark.filterwarnings("ignore::bayespool.errors.BayespoolWarning")


def test_a_kind_judge_is_refused_its_level_and_keeps_its_order() -> None:
    """Its labels are too high for both runs, by nearly as much."""
    scores = score(answered.answered(120, 2), measures="P@10", estimators=["by-design", "judge-filled"])
    first = scores.notes()[0]
    assert first.kind == "refuted"
    assert "of two judge-filled is outside of the interval by design" in first
    assert first.endswith("the difference by labels of 1 of 1 pairs is within that by design")


def test_the_posterior_is_the_default_beside_it_and_checked() -> None:
    scores = score(answered.answered(160, 2), measures="P@10", posterior_settings="draws=100")
    assert [e.estimator for e in scores.estimates] == list(ESTIMATORS_BY_DESIGN)
    design, posterior = scores.estimates
    (said,) = [text for text in scores.sentences() if "by design" in text]
    assert said.startswith(f"by design, whatever labels are worth: P@10 of one has {design.value[0]:.3f} (")
    lower, upper = design.interval(0.95)
    assert list(check_notes(scores.estimates, 0.95)) == []
    assert ((lower <= posterior.value) & (posterior.value <= upper)).all()
    off = dataclasses.replace(posterior, value=np.array([posterior.value[0], upper[1] + 0.01]))
    (note,) = check_notes([design, off], 0.95)
    assert note.startswith("P@10: of two posterior-combined is outside of the interval by design")
    assert note.endswith("quote the scores by design")
    between = np.diff(posterior.interval(0.95), axis=0)
    assert (between < upper - lower).all()
