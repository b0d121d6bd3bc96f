"""Notes that change the reading come first, bookkeeping is counted, and notes alike become one."""

from __future__ import annotations

import pytest

from bayespool.report.notes import brief_notes, ranged, severity, without_numbers

UNLIKE = "posterior-combined: unlike the pool (distance {}; {} if what is unjudged is as relevant)"


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        ("no pool: posteriors rest on priors alone; what cures it: judging 3 unjudged documents", 0),
        (f"w1-n05: {UNLIKE.format(3.7, 0.454)}", 0),
        ("all runs: extrapolated below the pool depth of 10", 0),
        ("u: posterior-ratio: diagnostics failed: R-hat is 1.015, should be under 1.01", 0),
        ("u: topics-adjustment: its interval has no width: it lost the same on each common topic", 0),
        ("u: topics-adjustment: common topics are not fully judged, so that it has no interval", 0),
        ("ranks of equal scores, which document ids order, descending: top 10: u 9 of 10", 1),
        ("judged twice: 20 documents, 10.0 % of them with another level", 1),
        ("u: posterior-ratio: judge umbrela labels 16 of 18 unjudged documents", 1),
        ("all runs: anti-precision: defined for P@n alone", 2),
        ("systems-adjustment(by='run'): adjustment cut to the upper bound", 2),
        ("ranks of equal scores, which document ids order, descending: top 10: u 2 of 8", 2),
        ("all runs: 12 runs that the list of organizations lacks are treated as one organization, yours", 2),
    ],
)
def test_severities(note: str, expected: int) -> None:
    assert severity(note) == expected


def test_bookkeeping_is_counted_after_the_gravest() -> None:
    notes = [
        "u: nothing unjudged",
        "judged twice: 2 documents",
        "no pool: priors",
        "u: nothing unjudged",
        "b: nothing unjudged",
    ]
    counted = "2 minor notes left out; files have them"
    assert brief_notes(notes) == ["no pool: priors", "judged twice: 2 documents", counted]


def test_ranges_stand_for_numbers_and_names_stay() -> None:
    texts = [UNLIKE.format(3.7, 0.454), UNLIKE.format(10.1, 0.4), UNLIKE.format(4.5, 0.5)]
    assert ranged(texts) == UNLIKE.format("3.7 to 10.1", "0.4 to 0.5")
    assert len(set(map(without_numbers, texts))) == 1
    assert without_numbers("as if new: run-1, P@10, a_2 taken out") == "as if new: run-1, P@10, a_2 taken out"
