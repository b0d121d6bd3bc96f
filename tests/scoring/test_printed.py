"""Tables of scores in the terminal."""

from __future__ import annotations

import dataclasses
import io
from typing import Any

import numpy as np
import pytest
from known_scores import POINT, with_posterior
from rich.console import Console
from toys import toy_collection
from wide import wide

from bayespool.experiments import load_example
from bayespool.measures import Values
from bayespool.report.terminal import print_result
from bayespool.scoring import Scores, score
from bayespool.tables.markup import Arrangement

pytestmark = pytest.mark.filterwarnings("ignore::bayespool.errors.PooledRunWarning")


def toy_scores() -> Scores:
    return score(toy_collection(), ["u", "s2"], "P@3", estimators=["as-judged", *POINT])


def printed(
    scores: Scores,
    *,
    width: int = 80,
    terminal: bool = False,
    per_topic: bool = False,
    arrangement: Arrangement | None = None,
) -> str:
    file = io.StringIO()
    console = Console(
        file=file, width=width, force_terminal=terminal, color_system=None, legacy_windows=False
    )
    print_result(scores.per_topic() if per_topic else scores, console, arrangement=arrangement)
    return "".join(f"{line.rstrip()}\n" for line in file.getvalue().splitlines())


WIDE = """\
P@3, mean over 3 topics

                      resid-     un-      as   back-   inter-  smooth-  systems   anti-    con-
 run   lower   upper     ual  judged  judged  ground  polated       ed  adjust.   prec.  densed
 ──────────────────────────────────────────────────────────────────────────────────────────────
 u    0.3333  0.8889  0.5556  55.6 %  0.3333  0.3500   0.4733   0.4848   0.3889  0.3488  0.4444
 s2   0.1111  0.1111  0.0000   0.0 %  0.1111  0.1111   0.1111   0.1111   0.1111  0.1111  0.1111

"""


NARROW = """\
P@3, mean over 3 topics

                 un-      as   back-   inter-  smooth-  systems   anti-    con-
 run   lower  judged  judged  ground  polated       ed  adjust.   prec.  densed
 ──────────────────────────────────────────────────────────────────────────────
 u    0.3333  55.6 %  0.3333  0.3500   0.4733   0.4848   0.3889  0.3488  0.4444
 s2   0.1111   0.0 %  0.1111  0.1111   0.1111   0.1111   0.1111  0.1111  0.1111

"""
LEGEND = (
    "As judged: unjudged documents are nonrelevant, as trec_eval has it. Lower: unjudged documents are "
    "nonrelevant. Unjudged: share of the ranks that the measure looks at."
)
TIES = "note: ranks of equal scores, which document ids order, descending: top 3: u 2 of 8"
NOTE = "note: s2: 1 of 3 topics missing from the run; nothing unjudged"


def below(table: str, text: str) -> str:
    """What is printed below a table, in one line."""
    assert text.startswith(table)
    return " ".join(text.removeprefix(table).split())


def test_numbers_of_the_snapshots_are_those_of_the_toy() -> None:
    """Topic 1: a1 l? d?; topic 2: v1 p1 z?; topic 3: e? f? and no third document."""
    lower, residual = np.array([1, 2, 0]) / 3, np.array([2, 1, 2]) / 3
    judged = 1 - residual
    expected = {
        "bound_lower": lower.mean(),
        "bound_upper": (lower + residual).mean(),
        "residual": residual.mean(),
        "as-judged": lower.mean(),
        # held out alone with u in their place, n1 loses c and n2 loses f, the others nothing of relevance
        "systems-adjustment": lower.mean() + 2 / 9 / 4,
        "background": (lower + 0.03 * residual).mean(),
        "interpolated": (lower + 0.42 * residual * lower / judged).mean(),
        "smoothed": (lower + 0.91 * residual * lower + 0.05 * residual**2).mean(),
        "condensed-list": (2 / 3 + 2 / 3 + 0) / 3,  # a h, v p, nothing
    }
    row = wide(toy_scores()).iloc[0]
    assert {name: row[name] for name in expected} == pytest.approx(expected)
    for name, value in expected.items():
        assert f" {value:.4f}" in WIDE.split("\n u ")[1].split("\n")[0], name


def test_one_row_per_run_and_the_columns_that_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe is as wide as it has to be, or as the variable says; a terminal as wide as it is."""
    scores = toy_scores()
    assert below(WIDE, printed(scores)) == f"{LEGEND} {TIES} {NOTE} {' '.join(scores.summary())}"
    assert NOTE in below(WIDE, printed(scores, width=120, terminal=True))
    narrow = f"{LEGEND} note: too narrow for residual, upper; the result's files have them {TIES} {NOTE}"
    assert below(NARROW, printed(scores, width=80, terminal=True)).startswith(narrow)
    monkeypatch.setenv("COLUMNS", "80")
    assert NOTE in below(NARROW, printed(scores))
    assert NOTE in below(WIDE, printed(scores, width=120))


def test_many_runs_fit_148_lines_of_80_columns() -> None:
    """129 runs, each with a note of its own: the longest lists of runs and of notes are shortened."""
    one = score(toy_collection(), ["u"], ["P@3"], estimators=POINT)
    ids = tuple(f"run-with-a-name-{i}" for i in range(129))

    def often(values: Values) -> Values:
        return Values(np.repeat(values.amount, 129, axis=0), values.unit)

    (found,) = one.bounds
    names = ("low", "high", "least", "most")
    counts = ("n_judged", "n_unjudged", "n_missing")
    found = dataclasses.replace(
        found,
        run_ids=ids,
        **{name: often(getattr(found, name)) for name in names},
        **{name: np.repeat(getattr(found, name), 129, axis=0) for name in counts},
    )
    noted = tuple(f"this run is number {i} of a campaign with many runs and more to say" for i in range(129))
    many: dict[str, Any] = {"run_ids": ids, "notes": noted, "std": None}
    estimates = tuple(
        dataclasses.replace(
            e, value=np.repeat(e.value, 129), per_topic=np.repeat(e.per_topic, 129, axis=0), **many
        )
        for e in one.estimates
    )
    scores = with_posterior(dataclasses.replace(one, run_ids=ids, bounds=(found,), estimates=estimates))
    *points, posterior = scores.estimates  # notes of points have no column here
    scores = dataclasses.replace(scores, estimates=(*points, dataclasses.replace(posterior, notes=noted)))
    lines = printed(scores, terminal=True).splitlines()
    assert len(lines) <= 148
    assert max(map(len, lines)) <= 80
    (counted,) = [line for line in lines if "more to note" in line]
    assert counted.endswith("and the result's notes()")
    assert sum(line.startswith(" run-with") for line in lines) == 129


def numbers_in(text: str) -> list[str]:
    return [word for word in text.split() if word.replace(".", "").isdigit() and "." in word]


@pytest.mark.parametrize("per_topic", [False, True])
def test_no_number_is_cut_short_however_narrow_the_terminal(per_topic: bool) -> None:
    """All 23 runs of the example, or two runs on 20 topics: more columns than fit side by side."""
    example = load_example()
    scores = score(example, None if per_topic else example.run_ids, "P@15", estimators=POINT)
    frame = wide(scores, per_topic=per_topic)
    values = frame[["bound_lower", "bound_upper", "residual", *POINT]].to_numpy().ravel()
    expected = sorted([*(f"{value:.4f}" for value in values), *(f"{100 * s:.1f}" for s in frame["unjudged"])])
    for width in (20, 40, 132):
        shown = {"per_topic": per_topic, "arrangement": Arrangement(["all"])}
        text = printed(scores, width=width, terminal=True, **shown)
        assert "…" not in text, width
        if width >= 40:
            assert max(map(len, text.splitlines())) <= width
        assert sorted(numbers_in(text.partition("Lower: ")[0])) == expected, width
