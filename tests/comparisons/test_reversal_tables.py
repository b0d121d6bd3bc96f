"""What readers see of reversals."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from drawn import contents

from bayespool.comparisons import Reversals, count_reversals
from bayespool.errors import InputError
from bayespool.experiments import load_example
from bayespool.plots import draw_reversals
from bayespool.report.stored import read_result

pytestmark = [
    pytest.mark.usefixtures("fits_of_all_tests"),
    # runs of the pool are compared beside new ones
    pytest.mark.filterwarnings("ignore::bayespool.errors.PooledRunWarning"),
]
TABLES = ("rates", "trends", "p_values", "risks", "calibration", "grades")  # and the fitted constants


@cache
def found() -> Reversals:
    return count_reversals(
        load_example(),
        judgments=[300],
        estimators=["smoothed", "posterior-ratio"],
        posterior_settings="draws=20",
    )


def test_tables_are_those_of_their_methods_and_are_read_back(tmp_path: Path) -> None:
    assert tuple(table.name for table in found().tables()) == (*TABLES, "constants")
    (constants,) = found().to_frame("constants").to_dict("records")
    assert constants == {
        **{"measure": "P@10", "estimator": "smoothed"},
        **{f"constant_{name}": x for name, x in found().constants["P@10", "smoothed"].values.items()},
        "rmse": found().constants["P@10", "smoothed"].rmse,
    }
    for name in TABLES:
        found().save(tmp_path / f"{name}.csv", table=name)
        assert len(pd.read_csv(tmp_path / f"{name}.csv")) == len(getattr(found(), name)())
    risks = pd.read_csv(tmp_path / "risks.csv")
    np.testing.assert_array_equal(risks["reversal_risk"].notna(), risks["significant"])
    found().save(tmp_path / "all.json")
    again = read_result(tmp_path / "all.json")
    assert again.read() == found().read()
    for name in TABLES:
        pd.testing.assert_frame_equal(getattr(again, name)(), getattr(found(), name)())
    with pytest.raises(InputError, match="no 'gradable'; it has rates, trends, p_values, risks, "):
        again.gradable("P@10", "contributing")
    assert not hasattr(again, "pairs")
    assert contents(again.figures()[0].draw()) == contents(draw_reversals(found()))  # type: ignore[misc]
