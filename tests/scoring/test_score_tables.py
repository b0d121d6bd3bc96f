"""Scores as tables, printed and summed up in sentences."""

from __future__ import annotations

import dataclasses
import io
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from compared import compared
from corrected import write_sample
from known_scores import POINT, with_posterior
from labeled import with_judge
from rich.console import Console
from snapshots import expected
from toys import toy_collection
from wide import headings, wide

from bayespool import load_example, read_scores
from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.measures import Values
from bayespool.measures.populations import estimate_population
from bayespool.notes import Note, noted
from bayespool.plots import draw_forest
from bayespool.pooling import describe_pool, read_collection
from bayespool.reading import qrels_from_frame
from bayespool.report.result import print_result
from bayespool.scoring import Scores, score
from bayespool.scoring.columns import RUN_COLUMNS
from bayespool.scoring.score_tables import conditions, far_runs, note_lines
from bayespool.tables.markup import Arrangement, TextTable, broken_heading
from bayespool.tables.table import COLUMNS

pytestmark = [
    pytest.mark.usefixtures("fits_of_all_tests"),
    pytest.mark.filterwarnings("ignore::bayespool.errors.PooledRunWarning"),
]


def scores_of(*measures: str, estimators: tuple[str, ...] = ("background", "smoothed")) -> Scores:
    return with_posterior(score(toy_collection(), ["s2", "u"], measures, estimators=estimators))


def rows(scores: Scores, **asked: Any) -> list[str]:
    """First cells of the rows of the only table."""
    (table,) = scores.read(Arrangement(**asked))
    return [row[0] for row in table.rows]


def test_rows_are_sorted_by_any_column() -> None:
    scores = scores_of("P@3")
    assert rows(scores) == rows(scores, sort="run") == ["s2", "u"]
    for by in ("mean", "interval", "bound-upper"):
        assert rows(scores, sort=by) == ["u", "s2"], by
    assert rows(scores, top=1) == ["u"]
    with pytest.raises(InputError, match="cannot sort by 'distance'"):
        scores.read(Arrangement(sort="distance"))


def test_missing_topics_stand_in_heading_sentence_and_file() -> None:
    scores = scores_of("P@3")
    clause = "1 of 3 topics missing from s2, counted as 0"
    assert scores.read()[0].caption == f"P@3, mean over 3 topics; {clause}"
    assert f"over 3 topics ({clause}): nothing that could change it is unjudged." in scores.sentences()[1]
    assert "missing" not in scores.sentences()[0]
    assert all(clause in scores.text(ending) for ending in (".tex", ".md", ".html"))
    assert scores.metadata["missing_topics"] == {"s2": ["2"]}


def with_smoothed(scores: Scores, *values: float) -> Scores:
    """The scores with other values of one correction."""
    others = [
        dataclasses.replace(e, value=np.array(values)) if e.estimator == "smoothed" else e
        for e in scores.estimates
    ]
    return dataclasses.replace(scores, estimates=tuple(others))


def test_runs_without_a_value_come_last_and_columns_without_any_are_left_out() -> None:
    without = with_smoothed(scores_of("P@3"), 0.1, np.nan)
    assert rows(without, sort="smoothed") == ["s2", "u"]
    assert rows(without, sort="smoothed", top=1) == ["s2"]
    (table,) = with_smoothed(scores_of("P@3"), np.nan, np.nan).read()
    assert "smoothed" not in headings(table)
    assert "background" in headings(table)


def test_an_estimator_stands_with_its_interval_and_all_is_the_wide_table() -> None:
    scores = scores_of("P@3")
    (one,) = scores.read(Arrangement(["posterior-known"]))
    assert headings(one) == ["run", "posterior known", "90 % interval"]
    (alone,) = scores.read(Arrangement(["interval"]))
    assert headings(alone) == ["run", "90 % interval"]
    of_runs = headings(scores.read(Arrangement([column.asked_as for column in RUN_COLUMNS]))[0])
    assert of_runs[:6] == ["run", "as judged", "lower bound", "upper bound", "residual", "unjudged"]
    estimates = ["posterior known", "90 % interval", "background", "smoothed"]
    assert headings(scores.read(Arrangement(["all"]))[0]) == [*of_runs, *estimates]
    shown = [name for name, column in zip(of_runs[1:], RUN_COLUMNS, strict=True) if column.is_shown]
    assert headings(scores.read()[0]) == ["run", *shown, *estimates]
    assert "residual" not in shown
    with pytest.raises(InputError, match="no column 'none'"):
        scores.read(Arrangement(["none"]))


def test_notes_say_once_of_which_runs_they_are() -> None:
    runs = [f"r{i}" for i in range(10)]
    of_all, of_some = noted(["of all", "both"], "scope"), noted(["of some"], "scope")
    said: dict[tuple[str, str], tuple[Note, ...]] = {(run, "P@5"): of_all for run in runs}
    said |= {(run, "P@10"): (of_some if i > 1 else ()) for i, run in enumerate(runs)}
    assert note_lines(said, runs, ["P@5", "P@10"]) == [
        "all runs: of all; both (P@5)",
        "r2, r3, r4, r5, r6 and 3 more: of some (P@10)",
    ]


@cache
def scored() -> Scores:
    """Corrections and a posterior, of few draws."""
    estimators = ["as-judged", "background", "posterior-ratio"]
    return score(
        load_example(), measures=["P@10", "nDCG@10"], estimators=estimators, posterior_settings="draws=50"
    )


def width_in_inches(table: TextTable) -> float:
    """Width of a table in 8 point Times, with 2.5 points beside each column."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    font = FontProperties(family="STIXGeneral", size=8)

    def of(text: str) -> float:
        lines = broken_heading(text).split("\n")
        return max(
            float(TextPath((0, 0), line, prop=font).get_extents().width) if line else 0 for line in lines
        )

    columns = [max(map(of, (column.heading, *column.cells))) for column in table.columns]
    return (sum(columns) + 5 * (len(columns) - 1)) / 72


def test_tables_fit_in_one_column_of_a_paper() -> None:
    """The columns of acmart are 3.33 inches wide."""
    column = Arrangement(width="column")
    two = scored()
    (text,) = two.read(dataclasses.replace(column, columns=["as-judged", "mean", "interval"]))
    names = dataclasses.replace(text.columns[0], cells=("bm25-rm3-monoT5",) * len(text.rows))
    scores = dataclasses.replace(text, columns=(names, *text.columns[1:]))
    assert headings(scores) == ["run", "measure", "as judged", "mean", "95 % interval"]
    assert [row[1] for row in scores.rows] == ["P@10"] * 2 + ["nDCG@10"] * 2
    assert scores.rows[0][2] == ".595"
    compared_runs = [
        text for text in compared("new-a", "new-b", "north-1").read(column) if text.medium == "paper"
    ]
    assert [text.label.partition(" ")[0] for text in compared_runs] == ["differences", "runs"]
    for text in (scores, *compared_runs):
        assert 1 < width_in_inches(text) <= 3.33
        assert text.is_compact
    latex = two.to_latex(width="column")
    assert latex.count(r"\begin{table}") == latex.count(r"\footnotesize") == 1
    assert "as\\\\judged" in latex
    both_columns = two.to_latex()
    assert both_columns.count(r"\begin{table*}") == both_columns.count(r"\small" + "\n") == 1
    with pytest.raises(InputError, match="width cannot be 'wide'"):
        Arrangement(width="wide")


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


PRINTED = Path(__file__).parent / "printed"
LEGEND = (
    "As judged: unjudged documents are nonrelevant, as trec_eval has it. The score lies between the bounds, "
    "however the run's own unjudged documents are judged. Unjudged: share of a run's documents at the ranks "
    "that the measure looks at."
)
LAMBDA = "λ: the indicator of pool bias, above 0 where anti-precision corrects."
NOTE = (
    "note: s2: 1 of 3 topics missing from the run, counted as 0 note: 2 minor notes left out; files have them"
)


def below(name: str, text: str) -> str:
    """What is printed below the table of this name, in one line."""
    heading, rows, _ = text.split("\n\n", 2)
    table = expected(PRINTED / f"{name}.txt", f"{heading}\n\n{rows}\n\n")
    assert text.startswith(table)
    return " ".join(text.removeprefix(table).split())


def test_numbers_of_the_snapshots_are_those_of_the_toy() -> None:
    """Topic 1: a1 l? d?; topic 2: v1 p1 z?; topic 3: e? f? and no third document."""
    lower, residual = np.array([1, 2, 0]) / 3, np.array([2, 1, 2]) / 3
    judged = 1 - residual
    by_hand = {
        "bound_lower": lower.mean(),
        "bound_upper": (lower + residual).mean(),
        "as-judged": lower.mean(),
        # held out alone with u in their place, n1 loses c and n2 loses f, the others nothing of relevance
        "systems-adjustment": lower.mean() + 2 / 9 / 4,
        "background": (lower + 0.03 * residual).mean(),
        "interpolated": (lower + 0.42 * residual * lower / judged).mean(),
        "smoothed": (lower + 0.91 * residual * lower + 0.05 * residual**2).mean(),
        "condensed-list": (2 / 3 + 2 / 3 + 0) / 3,  # a h, v p, nothing
    }
    row, wide_text = wide(toy_scores()).iloc[0], (PRINTED / "wide.txt").read_text("utf-8")
    assert {name: row[name] for name in by_hand} == pytest.approx(by_hand)
    for name, value in by_hand.items():
        assert f" {value:.4f}" in wide_text.split("\n u ")[1].split("\n")[0], name


def test_one_row_per_run_and_the_columns_that_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe is as wide as it has to be, or as the variable says; a terminal as wide as it is."""
    scores = toy_scores()
    assert below("wide", printed(scores)) == f"{LEGEND} {LAMBDA} {NOTE} {' '.join(scores.sentences())}"
    assert NOTE in below("wide", printed(scores, width=120, terminal=True))
    missing = "note: too narrow for λ, upper bound; the result's files have them"
    narrow = f"{LEGEND} {LAMBDA} {missing} {NOTE}"
    assert below("narrow", printed(scores, width=80, terminal=True)).startswith(narrow)
    monkeypatch.setenv("COLUMNS", "80")
    assert NOTE in below("narrow", printed(scores))
    assert NOTE in below("wide", printed(scores, width=120))


def test_many_runs_fit_150_lines_of_80_columns() -> None:
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
    own = tuple((f"this run is {name} of a campaign with many runs and more to say",) for name in ids)
    many: dict[str, Any] = {"run_ids": ids, "notes": own, "std": None, "indicators": {}}
    estimates = tuple(
        dataclasses.replace(
            e, value=np.repeat(e.value, 129), per_topic=np.repeat(e.per_topic, 129, axis=0), **many
        )
        for e in one.estimates
    )
    scores = with_posterior(dataclasses.replace(one, run_ids=ids, bounds=(found,), estimates=estimates))
    *points, posterior = scores.estimates  # notes of points have no column here
    scores = dataclasses.replace(scores, estimates=(*points, dataclasses.replace(posterior, notes=own)))
    lines = printed(scores, terminal=True).splitlines()
    assert len(lines) <= 150
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
    kinds = {column.name: COLUMNS[column.name].kind for column in RUN_COLUMNS}
    of_runs, shares = ([name for name, kind in kinds.items() if kind == of] for of in ("score", "share"))
    values, percents = frame[[*of_runs, *POINT]].to_numpy().ravel(), 100 * frame[shares].to_numpy().ravel()
    expected = sorted([*(f"{value:.4f}" for value in values), *(f"{value:.1f}" for value in percents)])
    for width in (20, 40, 132):
        shown = {"per_topic": per_topic, "arrangement": Arrangement(["all"])}
        text = printed(scores, width=width, terminal=True, **shown)
        assert "…" not in text, width
        if width >= 40:
            assert max(map(len, text.splitlines()[1:])) <= width
        assert sorted(numbers_in(text.partition("As judged: ")[0])) == expected, width


@pytest.fixture(scope="module")
def scores() -> Scores:
    return with_posterior(score(load_example(), None, ["P@10"], estimators=["background"]))


def texts(scores: Any, name: str) -> tuple[TextTable, ...]:
    table = scores.table(name)
    return table.read() or (table.truncated(),)


def test_the_summary_is_in_plain_words(scores: Scores) -> None:
    assert scores.title == "Scores of new-a, new-b: P@10"
    assert scores.sentences()[0] == (
        "The P@10 of new-a is 0.640 (90 % interval 0.595–0.685, posterior-known), mean over 20 "
        "topics. As judged, with unjudged documents counted as nonrelevant, it is "
        "0.595; 9.0 % of its top 10 is unjudged."
    )
    assert scores.notes() == ()


def test_other_posteriors_are_said_beside_the_first(scores: Scores) -> None:
    """The posterior of known draws, and two of other names that are .01 and .02 higher."""
    more = [
        dataclasses.replace(e, estimator=f"posterior-{k}", value=e.value + k / 100)
        for e in scores.estimates
        if e.estimator == "posterior-known"
        for k in (1, 2)
    ]
    one, two = (dataclasses.replace(scores, estimates=(*scores.estimates, *more[:n])) for n in (1, 2))
    assert "mean over 20 topics; the other posterior gives 0.650. As judged," in one.sentences()[0]
    assert "mean over 20 topics; the other 2 posteriors give 0.650 to 0.660. As judged," in two.sentences()[0]


def test_live_scores_and_those_of_a_file_say_the_same(scores: Scores, tmp_path: Path) -> None:
    for name in ("scores.json", "scores.parquet", "scores.nc"):
        scores.save(tmp_path / name)
        stored = read_scores(tmp_path / name)
        assert (stored.title, stored.sentences()) == (scores.title, scores.sentences())
        assert stored.notes() == scores.notes()
        assert texts(stored, "scores") == texts(scores, "scores")
        assert stored.read() == scores.read()
        whole = [figure.name for figure in scores.figures()]
        assert [figure.name for figure in stored.figures()] == (
            ["forest-P_10"] if name.endswith("parquet") else whole  # which has one table
        )


def test_common_topics_that_are_not_fully_judged_head_no_summary() -> None:
    found = score(
        load_example(), "new-a", "P@10", estimators="topics-adjustment(common_query_ids=('701', '702'))"
    )
    assert found.sentences() == (
        "The P@10 of new-a lies between 0.595 and 0.685 over 20 topics, whatever the unjudged documents are: "
        "9.0 % of its top 10 is unjudged. As judged it is 0.595.",
    )
    assert "topics-adjustment: common topics are not fully judged" in " ".join(found.notes())


def test_a_posterior_is_said_and_drawn_before_a_correction_with_an_interval() -> None:
    adjustment = "topics-adjustment(common_query_ids=('702', '705', '707'))"
    found = with_posterior(score(load_example(), "new-a", "P@10", estimators=adjustment))
    assert found.to_frame()["estimator"].tolist() == ["topics-adjustment", "posterior-known"]
    assert "posterior-known), mean over 20 topics" in found.sentences()[0]
    assert "Posterior mean and interval (posterior-known): only unjudged" in found.read()[0].notes[0]
    assert "Intervals of corrections (topics-adjustment) are over" in found.read()[0].notes[0]
    labels = [text.get_text() for text in draw_forest(found).legends[0].get_texts()]
    assert "posterior-known, 90 %" in labels


def test_distance_and_checks_have_tables_and_figures_where_they_are_known() -> None:
    made = score(
        load_example(), None, "P@10", estimators="posterior-combined", posterior_settings="draws=100"
    )
    assert [table.name for table in made.tables()] == ["scores", "topics", "unjudged", "checks"]
    names = ["forest-P_10", "topics-P_10", "unjudged-10", "distance"]
    assert [figure.name for figure in made.figures()] == names
    (_, distances) = texts(made, "scores")
    assert list(distances.columns[1].values) == made.to_frame()["distance"].tolist()


def condition(collection: Collection) -> str:
    return conditions({"pool": dataclasses.asdict(describe_pool(collection))}, ["P@1"])


def test_conditions_say_what_posteriors_rest_on(tmp_path: Path) -> None:
    toy = toy_collection()
    assert condition(toy) == ""
    pool = {"pool": dataclasses.asdict(describe_pool(toy))}
    below = f"extrapolated below the pool depth of {toy.pool_depth}; a, b unlike the pool"
    assert conditions(pool, ["P@1", "nDCG@1000"], ["a", "b"]) == below
    assert conditions(pool | {"estimand": "pooled"}, ["nDCG@1000"]) == ""
    alone = dataclasses.replace(toy, pooled=np.zeros_like(toy.pooled))
    assert condition(alone) == "no pool, posteriors on priors alone"
    with warnings.catch_warnings(action="ignore"):
        of_judged = score(alone, alone.run_ids[0], "P@1", estimators="as-judged").metadata
    assert conditions(of_judged, ["P@1"]) == "no pool, no posterior"
    sparse = {"pool": dataclasses.asdict(describe_pool(alone)), "sparse_measures": ["P@1"]}
    assert conditions(sparse, ["P@1"]) == "no pool, no posterior"
    assert conditions(sparse, ["P@1", "P(rel=2)@1"]) == "no pool, posteriors on priors alone"
    sparse["pool"]["evidence"] = "priors and labels of a judge"
    assert conditions(sparse, ["P@1"]) == "no pool, posteriors on priors and labels of a judge"
    judged = with_judge(alone, np.where(alone.judged, 1.0, np.nan))
    assert condition(judged) == "no pool, posteriors on priors and labels of a judge"
    own = alone.add_judgments(qrels_from_frame({"1": {"l": 1, "d": 0}}))
    assert condition(own) == "no pool, posteriors on priors and judgments of your own"
    assert condition(toy.unpool(["s1", "s2"])) == "a pool of one organization, posteriors on priors alone"
    sample, _, run = write_sample(tmp_path)
    assert condition(read_collection(sample, run)) == "no pool, posteriors on the published sample"


@pytest.fixture(scope="module")
def over_topics() -> Scores:
    made = score(load_example(), None, ["P@10", "P@5"], estimators=["background"], scope="population")
    return with_posterior(made)


def test_the_frame_has_both_intervals_and_says_what_the_second_is_over(over_topics: Scores) -> None:
    frame = over_topics.to_frame().query("run_id == 'new-b' and measure == 'P@10'").set_index("estimator")
    there = estimate_population(over_topics["P@10", "posterior-known"], 0.9)
    row = frame.loc["posterior-known"]
    assert (row["lower"], row["population_lower"]) == (pytest.approx(0.35), there.lower[1])
    assert (row["population_by"], row["unjudged_variance"]) == ("draws", there.unjudged_share[1])
    corrected = frame.loc["background"]
    assert corrected["population_by"] == "bootstrap"
    assert np.isnan(corrected["unjudged_variance"])
    assert corrected["population_lower"] < corrected["value"] < corrected["population_upper"]
    assert "population_lower" not in over_topics.to_frame(per_topic=True)
    here = score(load_example(), "new-a", "P@10", estimators="background")
    assert "population_lower" not in here.to_frame()


def test_both_intervals_stand_beside_an_estimator(over_topics: Scores) -> None:
    """Of the corrections too, where nothing else has one."""
    (table,) = over_topics.read()
    assert [row[:2] for row in table.rows] == [
        (run, measure) for measure in ("P@10", "P@5") for run in over_topics.run_ids
    ]
    shown = ["posterior known", "90 % interval", "on topics like these", "due to unjudged"]
    assert headings(table)[-5:] == [*shown, "background"]
    assert all("–" in row[i] != "–" for row in table.rows for i in (-4, -3))
    points = tuple(e for e in over_topics.estimates if e.draws is None)
    (table,) = dataclasses.replace(over_topics, estimates=points).read()
    assert headings(table)[-2:] == ["background", "on topics like these"]
    assert all("–" in row[-1] != "–" for row in table.rows)
    assert "a bootstrap over topics" in table.notes[0]


def test_a_sentence_says_whether_judgments_or_topics_are_missing(over_topics: Scores) -> None:
    there = estimate_population(over_topics["P@10", "posterior-known"], 0.9)
    share = there.unjudged_share[1]
    sentence = next(text for text in over_topics.sentences() if text.startswith("The P@10 of new-b"))
    assert f"interval is {there.lower[1]:.3f}–{there.upper[1]:.3f}. Judging everything" in sentence
    assert f"{100 * (1 - np.sqrt(1 - share)):.1f} % narrower" in sentence
    assert sentence.endswith("judge more documents.") == (share > 1 / 3)
    assert "topics like these" not in dataclasses.replace(over_topics, scope="these-topics").sentences()[0]


def test_one_topic_is_refused_before_anything_is_estimated() -> None:
    one = read_collection(
        {"q": {"d": 1}},
        {"mine": {"q": {"e": 2.0, "d": 1.0}}},
        pool={"theirs": {"q": {"d": 2.0}}},
        organizations={"theirs": "them"},
    )
    with pytest.raises(InputError, match="one topic says nothing"):
        score(one, measures="P@1", estimators="background", scope="population")


def test_runs_of_which_nothing_is_unjudged_are_not_marked() -> None:
    """Bounds over an ideal ranking that runs share are apart even for a run that is judged."""
    rows = {"run_id": ["open", "judged", "nearly"], "bound_lower": [0.2] * 3, "bound_upper": [0.4] * 3}
    frame = pd.DataFrame({**rows, "unjudged": [0.5, 0.0, 0.04], "distance": [9.0] * 3, "new_kind": [1.0] * 3})
    assert far_runs(frame) == {"open"}
