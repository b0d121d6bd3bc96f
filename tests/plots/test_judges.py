"""What labels are worth, as the table of calibration has it."""

from __future__ import annotations

import numpy as np
import pytest
from drawn import cut_off, line, overlapping
from labeled import labeled_toy

from bayespool import check_judges
from bayespool.errors import InputError
from bayespool.plots import draw_judges, plot_labels


def test_share_relevant_by_label() -> None:
    check = check_judges(labeled_toy(), "P@3", ci_prob=0.8)
    axes = plot_labels(check)
    table = check.to_frame("calibration")
    for kind, ends in zip(("other", "hidden"), axes.collections, strict=True):
        rows = table[table["documents"] == kind]
        points = line(axes, f"{kind} documents, 80 %")
        np.testing.assert_array_equal(points[:, 1], rows["share"])
        assert points[:, 0].round().tolist() == [0, 1, 2]
        drawn = np.array(ends.get_segments())  # type: ignore[attr-defined]
        np.testing.assert_allclose(drawn[:, :, 1], rows[["lower", "upper"]])
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0", "1", "2"]
    assert axes.get_xlabel() == "label of llm"
    assert not overlapping(axes.figure)
    assert not cut_off(axes.figure)
    for wrong, said in (
        ({"judge": "gpt"}, "the result has no judge 'gpt'; it has llm"),
        ({"relevant_from": 3}, "the result has no level of relevance '3'"),
        ({"measure": "P@5"}, "the result has no P@5"),
    ):
        with pytest.raises(InputError, match=said):
            plot_labels(check, **wrong)  # type: ignore[arg-type]
    assert len(draw_judges(check_judges(labeled_toy(), "nDCG@3")).axes) == 2, "a panel per level"
