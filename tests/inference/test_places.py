"""Where parameters stand: every one once, and the larger of two plates local."""

from __future__ import annotations

import numpy as np

from bayespool.inference.arrow import ParameterPositions
from bayespool.models.priors import LOG_ODDS, SCALE, SLOPE
from bayespool.models.structure import Coefficient, Group, Structure


def places(n_topics: int, n_organizations: int, n_predictors: int = 3) -> ParameterPositions:
    groups = {
        "topic": Group(SCALE, n_topics, "topic"),
        "organization": Group(SCALE, n_organizations, "organization"),
        "interaction": Group(SCALE, n_topics * n_organizations, "organization_topic", is_cell=True),
        "slope": Group(SCALE, n_organizations * n_predictors, "organization_predictor", is_slope=True),
    }
    coefficients = {"mu": Coefficient(LOG_ODDS), "beta": Coefficient(SLOPE, n_predictors, "predictor")}
    return ParameterPositions(Structure(coefficients, groups, ()))


def test_every_parameter_stands_once_and_what_leaves_fewer_others_is_local() -> None:
    """Of 3 slopes: organizations are local where four times their number is more than the topics."""
    for n_topics, n_organizations, *expected in (
        (50, 4, 20, 50, 1), (16, 4, 20, 16, 1), (15, 4, 19, 4, 4), (9, 30, 13, 30, 4), (5, 1, 7, 5, 1),
    ):  # fmt: skip
        found = places(n_topics, n_organizations)
        layout, every = found.layout, np.arange(found.layout.size)
        assert [layout.n_global, layout.n_groups, layout.width] == expected
        taken = np.concatenate([every[where] for where in found.slices.values()])
        assert sorted(taken.tolist()) == every.tolist()
        assert "interaction" not in found.slices
        assert "interaction" in found.scales


def test_an_organizations_effect_and_slopes_stand_together() -> None:
    found = places(9, 30)
    every = np.arange(found.layout.size)
    effects, slopes = every[found.slices["organization"]], every[found.slices["slope"]].reshape(30, 3)
    assert np.array_equal(slopes, effects[:, None] + [1, 2, 3])
