"""Tables of comparisons: their columns, and how readers see them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from bayespool.comparisons.compared import Compared
from bayespool.comparisons.pairs import COMMON_COLUMNS
from bayespool.measures.groups import MEAN_OF_GROUPS
from bayespool.names import AS_JUDGED, BY_DESIGN
from bayespool.report.provenance import cited_by
from bayespool.scoring.grouped import GROUP_COLUMNS
from bayespool.scoring.score_tables import conditions, ideal_sentence, missing_topics
from bayespool.tables import Citation, cite
from bayespool.tables.formatting import counted, level, percent, some_of
from bayespool.tables.markup import Arrangement
from bayespool.tables.table import Column, IntervalColumn, Pivot, Table, View, ViewColumn, WithSuperscripts

PAIR_COLUMNS = ("as-judged", "bounds", "p", "difference", "interval", "chance", "risk")
"""Names of available columns in tables of run pairs for papers."""
_WITHOUT_DRAWS = ("as-judged", "bounds", "p")
_WITH_DRAWS = ("as-judged", "p", "difference", "interval", "chance", "risk")
_IN_TERMINAL = ("as-judged", "bounds", "difference", "interval", "chance", "p", "risk")
_SPARE = ("bound_lower", "population prob_greater", "risk", "these-topics prob_greater", "as_judged")
_COLUMN_OF_PAIRS = ("p", "difference", "interval")  # in one column of a paper
PAIR_KEYS = ("difference", "chance", "p", "risk")
"""Names of available sort keys for run pairs.

Largest difference, surest order, smallest p-value or largest risk comes first.
"""

TEST_NAMES = {
    "paired-t": "paired t test",
    "wilcoxon": "Wilcoxon's signed-rank test",
    "randomization": "randomization test",
    "tukey-hsd": "Tukey's HSD",
}
TESTS_CITED = {
    "paired-t": "student-1908",
    "wilcoxon": "wilcoxon-1945",
    "randomization": "fisher-1935",
    "holm": "holm-1979",
    "benjamini-hochberg": "benjamini-hochberg-1995",
    "dunnett": "dunnett-1955",
}
"""Citation keys for significance tests and multiplicity controls."""
_CONTROLS = {
    "none": "unadjusted",
    "holm": "Holm over {n} pairs",
    "benjamini-hochberg": "Benjamini–Hochberg over {n} pairs",
    "tukey-hsd": "over {n} pairs",
    "dunnett": "Dunnett over {n} pairs",
}
_SCOPES = {
    "these-topics": "these {n} topics: only unjudged documents are uncertain",
    "population": "a population of topics: the {n} topics are a sample, too",
}
_SOURCES = {
    "these-topics": "unjudged\ndocuments",
    "population": "topics\nlike these",
    "groups": "groups\nlike these",
}
"""Sources of the uncertainty in intervals and probabilities, by scope."""
_COEFFICIENTS = {"generalizability": "Eρ², order\nof runs", "dependability": "Φ, scores\nthemselves"}
_MAX_PAIRS_LISTED = 45  # ten runs; of more only some
_MAX_PAIRS_IN_SHORT = 20

PAIR = {
    "run_a": Column("run a", "run", "The first run of the pair."),
    "run_b": Column("run b", "run", "The second run of the pair."),
}
_RISK = Column("risk of\nreversal", "chance", "Probability that judging takes it back.")
COMPARISON_COLUMNS = PAIR | {
    "scope": Column(
        "scope", "text", "these-topics: only unjudged documents are uncertain; population: the topics, too."
    ),
    "test": Column("test", "text", "The significance test."),
    "difference": Column("a − b", "difference", "Score of run a minus that of run b, by the estimator."),
    "prob_greater": Column("a > b", "chance", "Probability that run a scores higher."),
    "prob_equal": Column("a = b", "chance", "Probability that both score the same."),
    "prob_less": Column("a < b", "chance", "Probability that run a scores lower."),
    "rope": Column("rope", "score", "Largest difference that is practically none."),
    "p": Column("p", "p-value", "Adjusted p-value of the difference as judged."),
    "risk": _RISK,
    "measures": Column("measures", "text", "The measures, which share their completed judgments."),
    "n_measures": Column("number of\nmeasures", "count", "Number of measures."),
    "prob_all_greater": Column("a > b\non all", "chance", "Share of draws: a higher on every measure."),
    "prob_all_less": Column("a < b\non all", "chance", "Share of draws: a lower on every measure."),
    "prob_disagree": Column("they\ndisagree", "chance", "Share of draws in which measures disagree."),
    "prob_tied": Column("a = b on\nsome", "chance", "Probability of a tie without such a disagreement."),
    "label": Column("", "text", "A letter for the run; none where there are more than 25."),
    "better_than": Column("better\nthan", "text", "Letters of the runs that are significantly worse."),
    "expected_rank": Column("expected\nrank", "size", "Mean rank, 1 the best."),
    "rank_lower": Column("first rank", "count", "First rank that the run may have, with all runs at once."),
    "rank_upper": Column("last rank", "count", "Last rank that the run may have, with all runs at once."),
    "tier": Column("tier", "count", "Tier, 1 the best: its runs are not distinguished from its first one."),
    "among_best": Column("among\nthe best", "flag", "Whether no run is significantly better."),
    "prob_best": Column("probability to\nbe best", "chance", "Probability of rank 1; tied runs share it."),
    "expected": Column("expected\nscore", "score", "The score without the winner's curse."),
    "system": Column("system", "text", "The system; or a run of any system."),
    "n_runs": Column("runs", "count", "Number of its runs."),
    "variance": Column("variance", "score", "Variance of the score, of which there are these shares.", 6),
    "systems_variance": Column("due to\nsystems", "share", "Share of the variance due to the systems."),
    "topics_variance": Column("due to\ntopics", "share", "Share of the variance due to the topics."),
    "runs_variance": Column("due to\nruns", "share", "Share of the variance due to the runs."),
    "unjudged_variance": Column("due to\nunjudged", "share", "Share due to unjudged documents."),
    "effect_size": Column(
        "effect\nsize",
        "coefficient",
        "Standardized mean difference d; of wilcoxon the rank-biserial correlation r.",
    ),
    "p_value": Column("p", "p-value", "P-value, unadjusted but for Tukey's."),
    "control": Column("control", "text", "Adjustment of the p-values for all pairs."),
    "p_adjusted": Column("adjusted\np", "p-value", "P-value adjusted for all pairs."),
    "level": Column("level", "chance", "Level of significance."),
    "significant": Column("significant", "flag", "Whether it is declared significant: none in doubt."),
    "prob_significant": Column("probability,\nall judged", "chance", "Of significance if all is judged."),
    "prob_significant_greater": Column("probability,\na higher", "chance", "Probability of a lead of a."),
    "prob_significant_less": Column("probability,\na lower", "chance", "Probability of a lead of b."),
    "reversal_risk": _RISK,
    "prob_sign_change": Column(
        "change\nof sign", "chance", "Probability of the other sign if all is judged."
    ),
    "n_common": Column("common\ntopics", "count", "Number of topics that both runs have."),
    "difference_common": Column(
        "a − b on\ncommon", "difference", "The same difference on the topics that both runs have."
    ),
    "p_common": Column("p on\ncommon", "p-value", "Adjusted p-value on the topics that both runs have."),
    "coefficient": Column(
        "coefficient", "text", "generalizability: Eρ² of the order of runs; dependability: Φ."
    ),
}
_DIFFERENCE_COLUMNS = COMPARISON_COLUMNS | {
    "lower": Column("from", "difference", "Lower end of the interval of the difference."),
    "upper": Column("to", "difference", "Upper end of the interval of the difference."),
    "as_judged": Column("a − b\nas\njudged", "difference", "The same with unjudged documents nonrelevant."),
    "bound_lower": Column("bound,\nfrom", "difference", "Least difference of all completed judgments."),
    "bound_upper": Column("bound,\nto", "difference", "Greatest difference of all completed judgments."),
}
_CONTRAST_COLUMNS = (
    _DIFFERENCE_COLUMNS
    | GROUP_COLUMNS
    | {
        "system_a": Column("system a", "text", "The first system of the pair."),
        "system_b": Column("system b", "text", "The second system of the pair."),
        "standard_error": Column(
            "s. e.", "score", "Standard error of the difference as judged, over samples."
        ),
        "p_adjusted": Column(
            "p", "p-value", "P-value as judged, adjusted over pairs, and over single groups."
        ),
    }
)
_CAPTIONS = {
    "differences": "Differences of pairs of runs",
    "groups": "Differences of runs by group of topics, and as a mean of groups",
    "system_differences": "Differences of systems",
    "runs": "Runs, their ranks, and the runs that each is significantly better than",
    "across_measures": "Pairs of runs on several measures at once",
    "variance": "Scores of systems, and what their variance is due to",
    "significance": "Significance tests",
    "reliability": "Reliability of the comparison",
}
"""Table captions, keyed by the method that returns the frame."""
_CONTRASTS = ("groups", "system_differences")  # where groups or systems are asked for


def comparison_tables(comparison: Compared, arrangement: Arrangement) -> tuple[Table, ...]:
    """Return the tables for a comparison, with run pairs sorted and truncated as arranged."""
    arrangement.check(PAIR_COLUMNS, PAIR_KEYS)
    frames = {name: getattr(comparison, name)() for name in _CAPTIONS}
    frames = {name: frame for name, frame in frames.items() if len(frame) or name not in _CONTRASTS}
    if arrangement.sort or arrangement.top:
        order = pd.concat([comparison.pairs_in_order(m, arrangement) for m in comparison.measures])
        frames |= {n: order.merge(frame) for n, frame in frames.items() if {*order} <= {*frame}}
    views = {name: tuple(_table_views(comparison, arrangement, name, frames[name])) for name in frames}
    within = f"within\n±{comparison.rope:g}"
    rope = {"prob_equivalent": Column(within, "chance", "Probability of a difference within the rope.")}
    ranks = {
        f"prob_rank_{rank}": Column(f"rank {rank}", "chance", f"Probability of rank {rank}; ties share it.")
        for rank in range(1, len(comparison.run_ids) + 1)
    }
    columns = {"differences": _DIFFERENCE_COLUMNS | rope, "runs": COMPARISON_COLUMNS | ranks}
    columns |= dict.fromkeys(_CONTRASTS, _CONTRAST_COLUMNS)
    return tuple(
        Table(name, _CAPTIONS[name], frame, columns.get(name, COMPARISON_COLUMNS), views[name])
        for name, frame in frames.items()
    )


def _table_views(
    comparison: Compared, arrangement: Arrangement, name: str, frame: pd.DataFrame
) -> Iterator[View]:
    """Yield the views of a table: one for each measure and scope, or for each measure and test."""
    lists_pairs = (arrangement.top or comparison.n_pairs) <= _MAX_PAIRS_LISTED
    if name in _CONTRASTS:
        yield from _contrast_views(comparison, frame)
    elif comparison.compares_systems and name in ("differences", "runs"):
        for view in _views_of_runs(comparison, arrangement, name, frame, lists_pairs):
            yield replace(view, medium="report")
    else:
        yield from _views_of_runs(comparison, arrangement, name, frame, lists_pairs)


def _views_of_runs(
    comparison: Compared, arrangement: Arrangement, name: str, frame: pd.DataFrame, lists_pairs: bool
) -> Iterator[View]:
    """Yield the views of a table of runs, or of the variance of systems."""
    n_pairs, is_several = comparison.n_pairs, len(comparison.run_ids) > 2
    if name == "differences":
        yield from _pair_views(comparison, arrangement, lists_pairs)
        yield from _with_ideals(comparison, _views(comparison, frame, _DIFFERENCES_VIEW, "measure", "scope"))
    elif name == "significance":
        yield from _test_views(comparison, frame, lists_pairs)
    elif name == "across_measures":
        view = _ACROSS_VIEW if n_pairs <= _MAX_PAIRS_LISTED else _MOST_DISAGREEING_VIEW
        yield from _views(comparison, frame, view, "measures", "scope")
    elif name == "variance":
        yield from _views(comparison, frame, _VARIANCE_VIEW, "measure", "scope")
    elif name == "runs" and is_several:
        yield from _run_views(comparison, frame, lists_pairs)
    elif name == "reliability" and is_several:  # the variance between two is noise
        yield from _views(comparison, frame, _RELIABILITY_VIEW, "measure")


def mean_test_text(comparison: Compared) -> str:
    """Return the display name for the test of a mean of groups, or of systems."""
    contrasts = comparison.contrasts
    assert contrasts is not None
    control = "holm" if comparison.control == "dunnett" else comparison.control
    return f"{contrasts.test_name}, {control_name(control, '', len(contrasts.pairs[0]))}"


def _contrast_views(comparison: Compared, frame: pd.DataFrame) -> Iterator[View]:
    """Yield a view of each measure: differences by group, as a mean of groups, and of systems."""
    contrasts = comparison.contrasts
    assert contrasts is not None
    noun, n_pairs = "system" if contrasts.units.are_systems else "run", len(contrasts.pairs[0])
    names = [f"{noun}_a", f"{noun}_b"]
    n_groups = 0 if contrasts.groups is None else len(contrasts.groups.names)
    for measure in comparison.measures:
        estimator = comparison.shown_estimator(measure)
        where: dict[str, Any] = {"measure": str(measure), "estimator": estimator}
        title, note = f"Differences in {measure}", f"p as judged: {mean_test_text(comparison)}"
        if contrasts.units.are_systems:
            title += " of systems, means of their runs"
            note += "; topics like these: runs are a sample, too"
        if n_groups:
            is_short = n_pairs * n_groups > _MAX_PAIRS_IN_SHORT
            title += ", by group of topics and" * (not is_short)
            title += f" as a mean of {n_groups} groups with equal weight"
            note += f"; of single groups adjusted over {n_groups * n_pairs:,} differences"
            names = [*["group", "n_topics"] * (not is_short), f"{noun}_a", f"{noun}_b"]
            where |= {"group": MEAN_OF_GROUPS} if is_short else {}
        shown = _WITHOUT_DRAWS if estimator == AS_JUDGED else _IN_TERMINAL
        columns = _pair_columns([{"p": "p_adjusted"}.get(name, name) for name in shown if name != "risk"])
        metadata = comparison.scores.metadata
        texts = (missing_topics(metadata), conditions(metadata, [measure]))
        yield View(
            title="; ".join(filter(None, [title, *texts])),
            names=tuple(names),
            columns=columns,
            where=where,
            note=f"{note}. {_measure_ideal(comparison, measure)}".strip(),
            spare=("bound_lower", "n_topics"),
        )


def citations_with_tests(
    metadata: Mapping[str, Any], tests: Sequence[str], *keys: str
) -> tuple[Citation, ...]:
    """Return citations for a result, its tests, their multiplicity control and further keys."""
    return cite([*cited_by(metadata), *(TESTS_CITED[name] for name in tests if name in TESTS_CITED), *keys])


def control_name(control: str, test: str, n_pairs: int) -> str:
    """Return the display name for the multiplicity control applied to a test."""
    if n_pairs == 1:
        return "one pair"
    return _CONTROLS[test if test == "tukey-hsd" else control].format(n=n_pairs)


def test_text(comparison: Compared, test: str) -> str:
    """Return the display name for a test and its multiplicity control."""
    return f"{TEST_NAMES[test]}, {control_name(comparison.control, test, comparison.n_pairs)}"


def _views(comparison: Compared, frame: pd.DataFrame, view: View, *by: str) -> Iterator[View]:
    """Yield copies of a view, one for the rows that have each combination of values in the columns ``by``."""
    n, prob = len(comparison.scores.query_ids), level(comparison.ci_prob)
    if "scope" in by:
        frame = frame[frame["scope"].isin(comparison.metadata["scope"])]
    for values in frame[list(by)].drop_duplicates().itertuples(index=False):
        where = dict(zip(by, values, strict=True))
        about = _SCOPES[where.get("scope", "population")].format(n=n)
        condition = conditions(
            comparison.scores.metadata, str(where.get("measure", where.get("measures"))).split(", ")
        )
        clauses = [text for text in (about, missing_topics(comparison.scores.metadata), condition) if text]
        texts = where | {"about": "; ".join(clauses), "prob": prob}
        title, note = (text.format(**texts) for text in (view.title, view.note))
        yield replace(view, title=title, note=note, where=where)


_BOUNDS = ("bound_lower", "bound_upper")
_DIFFERENCES_VIEW = View(
    title="{measure}, {about}",
    names=("run_a", "run_b", "estimator"),
    columns=(
        *("difference", IntervalColumn(signed=True), IntervalColumn(*_BOUNDS, "bounds", signed=True)),
        *("prob_greater", "prob_equal", "prob_less", "prob_equivalent"),
    ),
    spare=("prob_equivalent", "prob_equal", "prob_less"),
    medium="named",
)
_VARIANCE_VIEW = View(
    title="{measure}, systems, {about}",
    names=("system", "estimator"),
    columns=(
        *("n_runs", "value", IntervalColumn(), "variance", "systems_variance"),
        *("topics_variance", "runs_variance", "unjudged_variance"),
    ),
    note="A system scores the mean of its runs; for a population its runs are a sample, too.",
    spare=("variance", "systems_variance"),
)
_RELIABILITY_VIEW = View(
    title="{measure}, a population of topics: reliability of the comparison",
    names=("estimator",),
    columns=(Pivot(("value", IntervalColumn()), "coefficient", _COEFFICIENTS),),
    medium="report",
)
_LEADERBOARD_VIEW = View(
    title="{measure}, leaderboard, {about} ({estimator})",
    names=("run_id",),
    columns=(
        *("value", IntervalColumn(), IntervalColumn("rank_lower", "rank_upper", "ranks")),
        *("tier", "expected_rank", "prob_best"),
    ),
    sort="-value",
    note="Ranks are right for all runs at once with a probability of {prob}. A tier holds runs that are not "
    "distinguished from its first one.",
)
_EXPECTED_NOTE = " The expected score leaves out what of a lead is due to the choice of topics."
_TESTS_VIEW = View(
    title="{measure}, a population of topics: significance at ",
    names=("run_a", "run_b", "estimator"),
    columns=(
        *("difference", "effect_size", "p_value", "p_adjusted"),
        *("significant", "prob_significant", "reversal_risk", "prob_sign_change"),
    ),
    spare=("p_value", "effect_size", "prob_significant", "significant"),
    medium="report",
)
_ACROSS_VIEW = View(
    title="{measures} at once, {about}",
    names=("run_a", "run_b", "estimator"),
    columns=("prob_all_greater", "prob_all_less", "prob_disagree", "prob_tied"),
    spare=("prob_tied",),
    medium="report",
)
_MOST_DISAGREEING_VIEW = replace(
    _ACROSS_VIEW,
    title=f"{{measures}} at once, {{about}}: the {_MAX_PAIRS_IN_SHORT} pairs of most disagreement",
    sort="-prob_disagree",
    top=_MAX_PAIRS_IN_SHORT,
)


def _test_views(comparison: Compared, significance: pd.DataFrame, lists_pairs: bool) -> Iterator[View]:
    """Yield views of significance tests, limited to the riskiest run pairs if there are many."""
    tests_view = _TESTS_VIEW
    if missing_topics(comparison.scores.metadata):
        columns = _TESTS_VIEW.columns
        tests_view = replace(_TESTS_VIEW, columns=(*columns[:4], *COMMON_COLUMNS, *columns[4:]))
    for view in _views(comparison, significance, tests_view, "measure", "test"):
        title = f"{view.title}{comparison.level:g} ({test_text(comparison, view.where['test'])})"
        condition = conditions(comparison.scores.metadata, [view.where["measure"]])
        title = "; ".join(filter(None, [title, missing_topics(comparison.scores.metadata), condition]))
        rows = significance[(significance[list(view.where)] == view.where).all(axis=1)]
        view = replace(view, note=_verdict_note(comparison, rows, "; p is that of means over them"))
        if lists_pairs:
            yield replace(view, title=title)
            continue
        n_significant = (rows["significant"].fillna(False) & (rows["estimator"] == AS_JUDGED)).sum()
        n_at_risk = int(((rows["reversal_risk"] > 0) & (rows["estimator"] == AS_JUDGED)).sum())
        key, words = "p_value", "least p-value"
        if n_at_risk:
            key, words = "-reversal_risk", "largest risk of reversal"
            view = replace(view, where={**view.where, "estimator": AS_JUDGED})
        top = min(_MAX_PAIRS_IN_SHORT, n_at_risk or len(rows))
        title += f": {n_significant} of {comparison.n_pairs} pairs significant as judged; "
        yield replace(view, title=f"{title}the {top} with the {words}", sort=key, top=top)


def _verdict_note(comparison: Compared, rows: pd.DataFrame, p_text: str = "") -> str:
    """Return a note on what is shown as significant in the tests of one measure, and what is not."""
    has_passages = (
        rows[["run_a", "run_b"]].isin(list(comparison.scores.metadata.get("passages", ()))).any(axis=1)
    )
    is_silent = rows["significant"].isna() & rows["p_adjusted"].notna() & ~has_passages
    is_confirmed = rows["p_common"] <= comparison.level
    is_confirmed &= rows["difference_common"] * rows["difference"] > 0
    is_by_missing = (rows["n_common"] < len(comparison.scores.query_ids)) & ~is_confirmed
    is_in_spite = is_silent & (rows["p_adjusted"] <= comparison.level)
    silent = rows[is_in_spite & ~is_by_missing]
    repeated = rows.loc[rows["prob_significant"].notna(), "estimator"].unique()
    name = str(rows["measure"].iloc[0])
    drawn = {estimator for measure, estimator, _ in comparison.draws if str(measure) == name}
    sentences, share = [], level(comparison.announce)
    if len(repeated):
        sentences.append(
            f"By {', '.join(repeated)} a difference is significant that is so in {share} of the completed "
            f"judgments or more{p_text}."
        )
        announced = rows[rows["prob_significant"].notna() & rows["significant"].fillna(False)]
        ways = announced[["prob_significant_greater", "prob_significant_less"]].max(axis=1)
        sentences += [
            f"Of what {estimator} declares significant {percent(share)} is expected to lose significance."
            for estimator, share in (1 - ways).groupby(announced["estimator"], sort=False).mean().items()
        ]
    elif of_means := [estimator for estimator in silent["estimator"].unique() if estimator in drawn]:
        sentences.append(
            f"p of {', '.join(of_means)} is no verdict: a test takes means over draws as known, and they "
            "vary less over topics than judgments will."
        )
    measure = next(m for m in comparison.measures if str(m) == name)
    shown, decides = comparison.shown_estimator(measure), comparison.decides(measure)
    if is_silent.any() and not decides:
        why = "no posterior says how likely that is"
        if drawn:
            why = f"on priors alone a posterior decides only if it is named (--estimators {shown})"
        sentences.append(f"No verdict where judging could give the difference the other sign or none: {why}.")
    elif decides and not drawn.issuperset(silent["estimator"]):
        why = f"{shown} gives that order of the two a probability under {1 - comparison.level / 2:g}"
        if shown in repeated:
            why = f"{shown} does not declare it significant"
        sentences.append(f"No verdict, whatever p is, where {why}.")
    if has_passages.any():
        sentences.append("No verdict, whatever p is, of runs with ids that match only if a suffix is cut.")
    if (is_in_spite & is_by_missing).any():
        sentences.append("No verdict, whatever p is, where the topics that both runs have do not confirm it.")
    return " ".join(sentences)


def _pair_views(comparison: Compared, arrangement: Arrangement, lists_pairs: bool) -> Iterator[View]:
    """Yield a view of run pairs for a paper and, where these are few, one for the terminal."""
    significance = comparison.significance()
    for measure in comparison.measures:
        estimator = comparison.shown_estimator(measure)
        by_width = _COLUMN_OF_PAIRS if arrangement.width == "column" else _WITH_DRAWS
        usual = {"paper": by_width, "terminal": _IN_TERMINAL}
        for medium in ("paper", *["terminal"] * lists_pairs):
            names = tuple(arrangement.columns or usual[medium])
            if arrangement.columns is None and estimator == AS_JUDGED:
                names = _WITHOUT_DRAWS
            if estimator == BY_DESIGN:  # what few answers say as judged is no comparison
                names = tuple(name for name in names if name not in ("as-judged", "p", "risk"))
            if missing_topics(comparison.scores.metadata) and "p" in names:
                names = (*names[: names.index("p") + 1], *COMMON_COLUMNS[1:], *names[names.index("p") + 1 :])
            title, legend, clauses = _pairs_texts(comparison, arrangement, str(measure), names, estimator)
            view = View(
                title=" ".join([f"{title}.", *legend, *(f"{text}." for text in clauses)]),
                names=("run_a",) if len(comparison.baseline) == 1 else ("run_a", "run_b"),
                columns=_pair_columns(names),
                where={"measure": str(measure), "estimator": estimator},
                keep_empty=True,
                medium=medium,
            )
            if medium == "terminal":
                of_test = {"measure": str(measure), "test": comparison.tests[0]}
                verdict = _verdict_note(
                    comparison, significance[(significance[list(of_test)] == of_test).all(axis=1)]
                )
                note = f"{_measure_ideal(comparison, measure)} {verdict * ('p' in names)}".strip()
                view = replace(view, title="; ".join([title, *clauses]), note=note, spare=_SPARE)
            yield view


def _pair_columns(names: Sequence[str]) -> tuple[ViewColumn, ...]:
    """Return the columns of a view of run pairs, given the names that people type."""
    parts: dict[str, str | IntervalColumn] = {
        "as-judged": "as_judged",
        "bounds": IntervalColumn(*_BOUNDS, "bounds", signed=True),
        "interval": IntervalColumn(signed=True),
        "chance": "prob_greater",
    }
    of_scope = [name for name in names if name in ("interval", "chance")]
    in_scopes = Pivot(tuple(parts[name] for name in of_scope), "scope", _SOURCES)
    if len(of_scope) > 1:
        heads = {scope: text.replace("\n", " ") for scope, text in _SOURCES.items()}
        in_scopes = replace(in_scopes, labels=heads, grouped=True)
    columns: dict[str, ViewColumn] = {
        "" if name in of_scope else name: in_scopes if name in of_scope else parts.get(name, name)
        for name in names
    }
    return tuple(columns.values())


def _run_views(comparison: Compared, runs: pd.DataFrame, lists_pairs: bool) -> Iterator[View]:
    """Yield views with leaderboards, and a table of runs for papers."""
    drawn = runs.dropna(subset="value")
    views = _views(comparison, drawn, _LEADERBOARD_VIEW, "measure", "estimator", "scope")
    is_of_both = len(comparison.metadata["scope"]) > 1
    for view in views if lists_pairs else _with_ideals(comparison, views):
        if view.where["scope"] == "population":
            view = replace(view, columns=(*view.columns, "expected"), note=view.note + _EXPECTED_NOTE)
        if comparison.baseline or (is_of_both and view.where["scope"] != "population"):
            view = replace(view, medium="report")
        yield view
    if not runs["label"].all():
        return
    n_topics, test = counted(len(comparison.scores.query_ids), "topic"), comparison.tests[0]
    title = (
        f"{counted(len(comparison.run_ids), 'run')} on {n_topics}. As judged: unjudged documents are "
        f"nonrelevant. Letters: significantly better as judged than these runs at {comparison.level:g} "
        f"({test_text(comparison, test)})"
    )
    if missing := missing_topics(comparison.scores.metadata):
        title = f"{title}, on all topics and on those that both runs have; {missing}"
    is_open = any(bounds.has_unjudged.any() for bounds in comparison.scores.bounds)
    title += ", unless too uncertain to declare significant." if is_open else "."
    columns: tuple[Any, ...] = (WithSuperscripts("as_judged", "better_than"),)
    where: dict[str, Any] = {name: runs[name].iloc[0] for name in ("estimator", "scope")}
    if where["estimator"] != AS_JUDGED and where["scope"] == "these-topics":
        columns += ("value", IntervalColumn())
        title += f" Estimate and interval ({where['estimator']}): only unjudged documents are uncertain."
    ideals = ideal_sentence(comparison.scores.metadata.get("ideals", {}))
    yield View(
        title=" ".join(filter(None, [title, ideals, _condition_sentence(comparison, comparison.measures)])),
        names=("label", "run_id"),
        columns=(Pivot(columns, "measure", grouped=True),),
        where=where,
        medium="paper",
    )


_UNCERTAIN = {
    "these-topics": "only unjudged documents are uncertain",
    "population": "topics like these, of which these are a sample, as for p",
}
_PAIR_SENTENCES = {
    ("as-judged",): "As judged: unjudged documents are nonrelevant.",
    ("bounds",): "Bounds: the difference is between them whatever the unjudged documents in reach are.",
    ("difference", "interval", "chance"): "Differences and intervals by {estimator}: {uncertain}.",
    ("risk",): "Risk: the probability that a difference is not significant with everything judged.",
    ("p",): "p: {test}.",
    ("p_common",): "On common: on the topics that both runs have.",
}
"""Sentences of a caption on the columns that are shown."""


def _pairs_texts(
    comparison: Compared, arrangement: Arrangement, measure: str, names: Sequence[str], estimator: str
) -> tuple[str, list[str], list[str]]:
    """Return the title of a table of run pairs, sentences on its columns, and conditions."""
    n, topics = comparison.n_pairs, counted(len(comparison.scores.query_ids), "topic")
    n_shown = min(arrangement.top or n, n)
    which = counted(n, "pair") if n_shown == n else f"{n_shown} of {n} pairs"
    of = f"of {which} of runs"
    if comparison.baseline:
        b = " (run b)" * (len(comparison.baseline) == 1)
        of = f"to {some_of(comparison.baseline, 3)}{b}"
    texts = {"estimator": estimator, "test": test_text(comparison, comparison.tests[0])}
    scopes = [scope for of, by, scope in comparison.draws if (str(of), by) == (measure, estimator)]
    texts["uncertain"] = "; then ".join(_UNCERTAIN[scope] for scope in scopes)
    sentences = [text.format(**texts) for of, text in _PAIR_SENTENCES.items() if {*of} & {*names}]
    if ideal := _measure_ideal(comparison, measure):
        sentences.append(ideal)
    condition = conditions(comparison.scores.metadata, [measure])
    clauses = [text for text in (missing_topics(comparison.scores.metadata), condition) if text]
    return f"Differences in {measure} {of} on {topics}", sentences, clauses


def _measure_ideal(comparison: Compared, measure: object) -> str:
    """Return a sentence on the ideal rankings of a measure; empty for one without."""
    ideals = comparison.scores.metadata.get("ideals", {})
    return ideal_sentence({str(measure): ideals[str(measure)]}) if str(measure) in ideals else ""


def _with_ideals(comparison: Compared, views: Iterable[View]) -> Iterator[View]:
    """Yield views with a sentence on its ideal ranking below the first of each measure."""
    ideals = dict(comparison.scores.metadata.get("ideals", {}))
    for view in views:
        measure = str(view.where["measure"])
        sentence = ideal_sentence({measure: ideals.pop(measure)}) if measure in ideals else ""
        yield replace(view, note=f"{view.note} {sentence}".strip())


def _condition_sentence(comparison: Compared, measures: Sequence[object]) -> str:
    """Return the conditions of posteriors as a sentence of a caption; mostly empty."""
    condition = conditions(comparison.scores.metadata, measures)
    return f"{condition[0].upper()}{condition[1:]}." if condition else ""
