"""Intervals of an audit by judgments, as its table has them."""

from __future__ import annotations

import numpy as np
from audits import answers, planned
from drawn import cut_off, line, overlapping

from bayespool.plots import plot_audit


def test_lines_and_band_are_the_steps() -> None:
    found = planned().go_on(answers(planned()))
    steps = found.to_frame("steps").head(found.n_judged)
    axes = plot_audit(found)
    np.testing.assert_array_equal(line(axes, "estimate"), steps[["step", "estimate"]])
    np.testing.assert_array_equal(line(axes, "posterior's interval"), steps[["step", "posterior_lower"]])
    (band,) = axes.collections
    corners = {tuple(corner) for corner in band.get_paths()[0].vertices.tolist()}
    ends = [steps[["step", end]].itertuples(index=False, name=None) for end in ("lower", "upper")]
    assert {(0, found.urn.least), (0, found.urn.most), *ends[0], *ends[1]} <= corners
    assert axes.get_ylabel() == "P@10 of new-b"
    assert not overlapping(axes.figure)
    assert not cut_off(axes.figure)
    assert len(plot_audit(planned()).collections) == 1, "before any judgment, too"
