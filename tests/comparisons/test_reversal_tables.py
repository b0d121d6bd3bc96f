"""What readers see of reversals."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from compared import printed
from drawn import contents
from small import small

from bayespool.comparisons import Reversals, reversals
from bayespool.experiments import load_example
from bayespool.plots import draw_reversals
from bayespool.report.reading import read_result
from bayespool.report.terminal import print_result

pytestmark = [
    pytest.mark.usefixtures("fits_of_all_tests"),
    # runs of the pool are compared beside new ones
    pytest.mark.filterwarnings("ignore::bayespool.errors.PooledRunWarning"),
]
TABLES = ("rates", "trends", "p_values", "risks", "calibration", "grades")


@cache
def found() -> Reversals:
    return reversals(load_example(), judgments=[300], estimators=["smoothed", "posterior-ratio"], draws=20)


def test_the_terminal_has_the_frames_numbers() -> None:
    text = printed(lambda console: print_result(found(), console))
    rates = found().rates()
    row = rates[(rates["method"] == "smoothed") & (rates["group"] == "contributing")].iloc[0]
    shown = [line.split() for line in text.splitlines() if line.startswith(" smoothed ")]
    assert shown[0][1] == f"{100 * row['separability']:.1f}"
    assert shown[0][7] == f"{100 * row['reversed']:.1f}"
    (mean,) = (
        found()
        .trends()
        .query("method == 'smoothed' and group == 'contributing' and judgments == 300")["value"]
    )
    assert f"{mean:.4f}" in text
    constants = found().constants["P@10", "smoothed"]
    assert f"smoothed, P@10: fitted constants C = {constants.c:.2f}, E = {constants.e:.3f}" in text
    assert "announced" in text
    unjudged, note = (line for line in text.splitlines() if line.startswith("note: "))
    assert "15.5 % of the non-contributing runs' ranks unjudged, something of 2 of 2 runs" in unjudged
    assert "300 judgments reach down to rank 2 of the pooled runs" in note


def test_the_same_table_is_not_printed_twice() -> None:
    """Of runs that are judged in full both ways of counting agree."""
    rates, shares = found().rates(), ["separability", "separability_all", "kept", "reversed", "gained"]
    titles = [view.title for view in found().table("rates").views]
    for group, runs in found().groups.items():
        of_group = rates[rates["group"] == group]
        same, as_judged = (
            of_group.loc[of_group["against"] == against, shares].to_numpy()
            for against in ("same method", "as-judged")
        )
        expected = 1 if np.array_equal(same, as_judged) else 2
        assert sum(f"{len(runs)} {group} runs" in title for title in titles) == expected
    assert not any("21 contributing" in title and "against the scores as judged" in title for title in titles)


def test_tables_are_those_of_their_methods_and_are_read_back(tmp_path: Path) -> None:
    assert tuple(table.name for table in found().tables()) == TABLES
    for name in TABLES:
        found().save(tmp_path / f"{name}.csv", table=name)
        assert len(pd.read_csv(tmp_path / f"{name}.csv")) == len(getattr(found(), name)())
    risks = pd.read_csv(tmp_path / "risks.csv")
    np.testing.assert_array_equal(risks["reversal_risk"].notna(), risks["significant"])
    found().save(tmp_path / "all.json")
    again = read_result(tmp_path / "all.json")
    assert again.read() == found().read()
    assert contents(again.figures()[0].draw()) == contents(draw_reversals(found()))  # type: ignore[misc]


def test_what_announces_no_chance_has_no_grades() -> None:
    plain = reversals(small(), judgments=[100], estimators=["smoothed"], fitted=False)
    assert "announced" not in printed(lambda console: print_result(plain, console))
    assert plain.summary() == ()
    cited = [citation.key for citation in plain.citations()]
    assert {"ravana-moffat-2010", "student-1908"} <= set(cited)
