"""Intervals of an audit by judgments, as its table has them."""

from __future__ import annotations

import numpy as np
import pytest
from audits import answers, planned
from drawn import cut_off, line, overlapping

from bayespool.plots import plot_audit


@pytest.mark.usefixtures("fits_of_all_tests")
def test_lines_and_band_are_the_steps() -> None:
    found = planned().go_on(answers(planned()))
    steps = found.to_frame("steps").head(found.n_judged)
    axes = plot_audit(found)
    np.testing.assert_array_equal(line(axes, "estimate"), steps[["step", "estimate"]])
    np.testing.assert_array_equal(line(axes, "posterior's interval"), steps[["step", "posterior_lower"]])
    (band,) = axes.collections
    corners = {tuple(corner) for corner in band.get_paths()[0].vertices.tolist()}
    assert {(0, found.urn.least), (0, found.urn.most)} <= corners
    assert set(steps[["step", "lower"]].itertuples(index=False, name=None)) <= corners
    assert set(steps[["step", "upper"]].itertuples(index=False, name=None)) <= corners
    assert axes.get_ylabel() == "P@10 of new-b"
    assert not overlapping(axes.figure)
    assert not cut_off(axes.figure)
    assert len(plot_audit(planned()).collections) == 1, "before any judgment, too"
