"""Agreement of a judge's labels with the judgments: numbers, shares, and intervals over topics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bayespool.arrays import FloatArray, IndexArray
from bayespool.collection import Collection, Judge
from bayespool.collection.judges import judge_where_labeled
from bayespool.comparisons.draws import paired_t_in_draws
from bayespool.comparisons.significance import SIGNIFICANCE_LEVEL
from bayespool.corrections.labels import grade_relevance, is_on_scale, label_relevance
from bayespool.evidence import GradeCounts, LabelConfusion, auc, kappas, label_lift
from bayespool.evidence.bounds import score_bounds, unjudged_documents
from bayespool.evidence.ideals import NONRELEVANT, RELEVANT, states
from bayespool.evidence.labels import KINDS_OF_DOCUMENTS, grade_names, top_documents
from bayespool.experiments.decisions import wrong_shares
from bayespool.measures import Measure
from bayespool.measures.errors import kendall_tau_b, tau_ap
from bayespool.names import Estimand
from bayespool.posterior.preparation import DEPTHS
from bayespool.posterior.thresholds import find_thresholds
from bayespool.tables.files import records
from bayespool.tables.formatting import number, some_of

Row = dict[str, Any]
Confusions = Mapping[tuple[Measure, str], LabelConfusion]
"""Numbers of judged documents by label and relevance, for each measure and judge."""

_N_RESAMPLED = 1000
_N_RANKED = 201  # samples on which runs are ranked and tested, the topics themselves first
_N_BEST = 10  # runs of which the order at the top is asked
_NEARLY_ONE = 0.999  # of a correlation, on Fisher's scale
_MIN_NOTED_LIFT = 0.005
_LEAST_TAU = 0.9  # of a ranking that may stand for that by judgments
_MOST_FALSE = 0.05  # of differences


def find_confusions(collection: Collection, measures: Sequence[Measure]) -> Confusions:
    """Count judged documents by label and relevance for each measure and judge.

    Measures with the same levels and depth share one object.
    """

    @cache
    def confusion(judge: Judge, levels: tuple[int, ...], depth: int) -> LabelConfusion:
        return LabelConfusion.of(collection, judge, levels, cutoff=depth)

    levels = {m: tuple(threshold.rel for threshold in find_thresholds(collection, m)) for m in measures}
    return {
        (measure, judge.name): confusion(judge, levels[measure], max(measure.cutoff, DEPTHS["documents"]))
        for measure, judge in product(measures, collection.judges)
    }


def relevant_from(measure: Measure, confusion: LabelConfusion) -> tuple[int, ...]:
    """Return the relevance thresholds used by a measure: its own, or every level if it is graded."""
    return confusion.levels if measure.is_graded else confusion.levels[-1:]


def confusion_rows(confusions: Confusions) -> Iterator[Row]:
    """Yield rows of the table ``confusion`` in `bayespool.JudgeCheck`."""
    for (measure, judge), confusion in confusions.items():
        names, levels = (*grade_names(confusion.judge), "none"), (0, *confusion.levels)
        for documents in KINDS_OF_DOCUMENTS:
            yield {
                "measure": str(measure),
                "judge": judge,
                "documents": documents,
                "label": np.repeat(names, len(levels)),
                "relevance_from": list(levels * len(names)),
                "n": getattr(confusion, documents).ravel(),
            }


def calibration_rows(confusions: Confusions, ci_prob: float) -> Iterator[Row]:
    """Yield rows of the table ``calibration``, with Wilson intervals."""
    from statsmodels.stats.proportion import proportion_confint

    for first, *both in _counted(confusions):
        for documents, counted in zip(KINDS_OF_DOCUMENTS, both, strict=True):
            n, n_relevant = counted.n.astype(int), counted.n_relevant.astype(int)
            with np.errstate(invalid="ignore", divide="ignore"):  # NaN without documents
                share = n_relevant / n
                lower, upper = proportion_confint(n_relevant, n, alpha=1 - ci_prob, method="wilson")
            columns = {"label": list(grade_names(counted.judge)), "n": n, "n_relevant": n_relevant}
            columns |= {"share": share, "lower": lower, "upper": upper, "ci_prob": ci_prob}
            yield first | {"documents": documents} | columns


def agreement_rows(
    collection: Collection, confusions: Confusions, times: IndexArray, ci_prob: float
) -> Iterator[Row]:
    """Yield rows of the table ``agreement``, with intervals over `draw_topics`."""
    intervals = TopicIntervals(int(times[0].sum()), ci_prob)
    for (measure, judge), confusion in confusions.items():
        for rel in relevant_from(measure, confusion):
            hidden, other = (confusion.by_grade(documents, rel) for documents in KINDS_OF_DOCUMENTS)
            cut = find_cut(confusion, rel)
            for documents, counted in zip(KINDS_OF_DOCUMENTS, (hidden, other), strict=True):
                sampled = confusion.by_grade(documents, rel, times)
                table = np.einsum("st,tgl->sgl", times, getattr(confusion, f"topic_{documents}")[:, :-1])
                level = levels_of_grades(collection, confusion, measure.rel)
                cut_kappas = np.full(len(times), np.nan) if cut is None else kappas(sampled)[:, cut]
                yield {
                    "measure": str(measure),
                    "judge": judge,
                    "relevant_from": rel,
                    "documents": documents,
                    "n": int(counted.n.sum()),
                    "n_relevant": int(counted.n_relevant.sum()),
                    "promised": float((counted.n * other.rate).sum()) if other.n.any() else np.nan,
                    **intervals.columns("auc", auc(sampled), is_chance=True),
                    **intervals.columns("kappa", cut_kappas),
                    **intervals.columns("weighted_kappa", weighted_kappa(table, level)),
                    "label_from": np.nan if cut is None else counted.judge.thresholds[cut],
                    "ci_prob": ci_prob,
                }


def find_cut(confusion: LabelConfusion, rel: int) -> int | None:
    """Return the grade above which a label says relevant: where κ of other documents, if any, is greatest."""
    hidden, other = (confusion.by_grade(documents, rel) for documents in KINDS_OF_DOCUMENTS)
    reference = hidden if np.isnan(auc(other)) else other
    has_cut = not np.isnan(auc(reference)) and len(kappas(reference)) > 0
    return int(kappas(reference).argmax()) if has_cut else None


def draw_topics(n_topics: int, random_seed: int) -> IndexArray:
    """Return how often each topic counts: once, then as often as it is drawn, shape (1 + sample, topic).

    Documents are not drawn again within topics: what they differ by is in the differences of topics.
    """
    rng = np.random.default_rng(random_seed)
    drawn = rng.multinomial(n_topics, np.full(n_topics, 1 / n_topics), size=_N_RESAMPLED)
    return np.vstack([np.ones(n_topics, dtype=np.int64), drawn])


class TopicIntervals(NamedTuple):
    """Intervals of correlations, t intervals on Fisher's scale with the standard deviation of samples."""

    n_topics: int
    ci_prob: float

    def columns(self, name: str, values: FloatArray, *, is_chance: bool = False) -> Row:
        """Return a value, the first, and the ends of its interval, by the others, as columns.

        A probability, which is 1/2 without any agreement, is a correlation of twice that less 1.
        """
        from scipy.special import stdtrit

        value, ends = float(values[0]), np.full(2, np.nan)
        on_scale = np.arctanh((2 * values - 1 if is_chance else values).clip(-_NEARLY_ONE, _NEARLY_ONE))
        sampled = on_scale[1:][np.isfinite(on_scale[1:])]
        is_known = self.n_topics > 2 and len(sampled) > 0.9 * (len(values) - 1) and np.ptp(sampled) > 0
        if np.isfinite(value) and is_known:
            sd = sampled.std() * np.sqrt(self.n_topics / (self.n_topics - 1))
            width = stdtrit(self.n_topics - 1, (1 + self.ci_prob) / 2) * sd
            ends = np.tanh(on_scale[0] + np.array([-width, width]))
            ends = (1 + ends) / 2 if is_chance else ends
            # of 1 itself, which the scale does not have
            ends = np.array([min(ends[0], value), max(ends[1], value)])
        return {name: value, f"{name}_lower": float(ends[0]), f"{name}_upper": float(ends[1])}


def weighted_kappa(table: IndexArray, level: IndexArray) -> FloatArray:
    """Return Cohen's κ with quadratic weights between the levels of labels and of judgments.

    Parameters
    ----------
    table : ndarray of int64, shape (..., grade, level)
        Numbers of documents.
    level : ndarray of int, shape (grade,)
        The level that each grade stands for.
    """
    distance = (level[:, None] - np.arange(table.shape[-1])) ** 2
    n = table.sum(axis=(-2, -1))
    by_chance = table.sum(axis=-1, keepdims=True) * table.sum(axis=-2, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        kappa: FloatArray = 1 - n * (distance * table).sum(axis=(-2, -1)) / (distance * by_chance).sum(
            axis=(-2, -1)
        )
    return kappa


def levels_of_grades(collection: Collection, confusion: LabelConfusion, rel: int) -> IndexArray:
    """Return the level of relevance that each grade stands for, shape (grade,)."""
    judge = confusion.judge
    if is_on_scale(collection, judge):
        relevance = np.array([np.nanmin(judge.label), *judge.thresholds])
    else:
        relevance = grade_relevance(collection, judge, rel)
    return np.searchsorted(np.array(confusion.levels), relevance, side="right")


def replicate_rows(
    collection: Collection, confusions: Confusions, times: IndexArray, ci_prob: float
) -> Iterator[Row]:
    """Yield rows of the table ``replicates``: of judges that were asked several times."""
    intervals = TopicIntervals(int(times[0].sum()), ci_prob)
    for (measure, name), confusion in confusions.items():
        replicates = confusion.judge.replicates
        if replicates is None:
            continue
        pairs = list(combinations(replicates, 2))
        both = sum(int((~np.isnan(a) & ~np.isnan(b)).sum()) for a, b in pairs)
        same = sum(int((a == b).sum()) for a, b in pairs) / both if both else np.nan
        depth = max(measure.cutoff, DEPTHS["documents"])
        singles = [
            LabelConfusion.of(collection, Judge(name, label), confusion.levels, cutoff=depth)
            for label in replicates
        ]
        for rel, documents in product(relevant_from(measure, confusion), KINDS_OF_DOCUMENTS):
            mean, *one = (auc(each.by_grade(documents, rel, times)) for each in (confusion, *singles))
            yield {
                "measure": str(measure),
                "judge": name,
                "relevant_from": rel,
                "documents": documents,
                "n_replicates": len(replicates),
                "same": same,
                "auc_one": float(np.mean(one, axis=0)[0]),
                "auc": float(mean[0]),
                **intervals.columns("gain", mean - np.mean(one, axis=0)),
                "ci_prob": ci_prob,
            }


def ranking_rows(
    collection: Collection, measures: Sequence[Measure], times: IndexArray, ci_prob: float
) -> Iterator[Row]:
    """Yield rows of the table ``ranking``: the collection's runs ranked by labels and by judgments."""
    intervals, times = TopicIntervals(int(times[0].sum()), ci_prob), times[:_N_RANKED]
    pooled = [collection.run_ids[r] for r in np.flatnonzero(collection.pooled)]
    for measure, judge in product(measures, collection.judges if len(pooled) > 2 else ()):
        relevance = label_relevance(collection, judge, measure.rel)
        labeled = judge_where_labeled(collection, judge, relevance)
        truth, value = (score_bounds(c, pooled, measure).low.scores() for c in (collection, labeled))
        best = np.argsort(-truth.mean(axis=1), kind="stable")[:_N_BEST]
        rows: Row = {"measure": str(measure), "judge": judge.name, "n_runs": len(pooled), "ci_prob": ci_prob}
        for name, correlation, runs in (
            ("kendall_tau_b", kendall_tau_b, slice(None)),
            ("tau_ap", tau_ap, slice(None)),
            ("tau_of_best", kendall_tau_b, best),
        ):
            means = (times @ truth[runs].T, times @ value[runs].T)
            correlations = np.array([correlation(*pair) for pair in zip(*means, strict=True)])
            rows |= intervals.columns(name, correlations)
        orders = (_significant_orders(scores, times) for scores in (value, truth))
        shares = wrong_shares(*orders)
        rows |= intervals.columns("false", shares["false"] + shares["swapped"], is_chance=True)
        rows |= intervals.columns("missed", shares["missed"], is_chance=True)
        yield rows


def _significant_orders(scores: FloatArray, times: IndexArray) -> IndexArray:
    """Return the order of significantly different runs in samples of topics, else 0, shape (sample, pair).

    1 is for a better first run. Paired t tests with Holm's adjustment over all pairs.
    """
    first, second = np.triu_indices(len(scores), 1)
    topics = np.array([np.repeat(np.arange(len(n)), n) for n in times])
    drawn = scores[:, topics].transpose(1, 0, 2)
    total = drawn.sum(axis=2)
    difference = total[:, :, None] - total[:, None, :]
    significant = paired_t_in_draws(drawn, difference, SIGNIFICANCE_LEVEL, "holm", (first, second))
    return np.asarray(np.where(significant, np.sign(difference), 0)[:, first, second], dtype=np.int64)


def coverage_rows(
    collection: Collection, run_ids: Sequence[str], confusions: Confusions, estimand: Estimand
) -> Iterator[Row]:
    """Yield rows of the table ``coverage``."""
    for (measure, judge), confusion in confusions.items():
        unjudged = np.zeros(0, dtype=np.int32)
        if run_ids:
            *_, pairs = unjudged_documents(collection, run_ids, cutoff=measure.cutoff, estimand=estimand)
            unjudged = np.unique(pairs)
        is_labeled, judged = confusion.judge.is_labeled, collection.judged
        n = np.array([judged.sum(), confusion.hidden.sum(), len(unjudged)], dtype=int)
        n_labeled = [is_labeled[judged].sum(), confusion.hidden[:-1].sum(), is_labeled[unjudged].sum()]
        with np.errstate(invalid="ignore"):  # NaN without documents
            share = np.array(n_labeled, dtype=int) / n
        first = {"measure": str(measure), "judge": judge, "documents": ["judged", "hidden", "unjudged"]}
        yield first | {"n": n, "n_labeled": list(map(int, n_labeled)), "share": share}


def organization_rows(
    collection: Collection, confusions: Confusions, times: IndexArray, ci_prob: float
) -> Iterator[Row]:
    """Yield rows of the table ``organizations``: of judged documents in the top 10 of each one's runs."""
    intervals = TopicIntervals(int(times[0].sum()), ci_prob)
    for (measure, name), confusion in confusions.items():
        judge = confusion.judge
        for threshold in find_thresholds(collection, measure):
            lifts = label_lift(collection, judge, rel=threshold.rel, given=threshold.given)
            state = states(collection.relevance, threshold.rel, threshold.given)
            cut = find_cut(confusion, threshold.rel)
            for o in np.flatnonzero(lifts.n).tolist():
                pair = top_documents(collection, judge, o)
                pair = pair[np.isin(state[pair], (RELEVANT, NONRELEVANT)) & judge.is_labeled[pair]]
                counts = np.zeros((len(collection.query_ids), 2, 2), dtype=np.int64)
                is_high = judge.grade[pair] > (np.inf if cut is None else cut)
                is_relevant = state[pair] == RELEVANT
                np.add.at(
                    counts, (collection.pair_topic[pair], *(x.astype(int) for x in (is_relevant, is_high))), 1
                )
                sampled = np.einsum("st,trh->srh", times, counts)
                with np.errstate(invalid="ignore"):
                    rates = sampled / sampled.sum(axis=2, keepdims=True)
                yield {
                    "measure": str(measure),
                    "judge": name,
                    "relevant_from": threshold.rel,
                    "given": threshold.given,
                    "organization": collection.organizations[o],
                    "n": int(lifts.n[o]),
                    **intervals.columns("false_negative_rate", rates[:, 1, 0], is_chance=True),
                    **intervals.columns("false_positive_rate", rates[:, 0, 1], is_chance=True),
                    "lift": lifts.lift[o],
                    "se": lifts.error[o],
                    "usual": lifts.usual,
                    "limit": lifts.limit[o],
                    "favored": lifts.is_favored[o],
                    "ci_prob": ci_prob,
                }


def _counted(confusions: Confusions) -> Iterator[tuple[Row, GradeCounts, GradeCounts]]:
    """Yield the first cells of a row, with hidden and other documents counted by grade."""
    for (measure, judge), confusion in confusions.items():
        for rel in relevant_from(measure, confusion):
            hidden, other = (confusion.by_grade(documents, rel) for documents in KINDS_OF_DOCUMENTS)
            yield {"measure": str(measure), "judge": judge, "relevant_from": rel}, hidden, other


def describe_favor(organizations: pd.DataFrame, judge: str) -> str:
    """Return the organization closest to being favored by a judge, or what is usual if one is favored."""
    (most,) = records(organizations.nlargest(1, "lift"))
    usual, limit, value = (number(50 + 100 * most[name], 1) for name in ("usual", "limit", "lift"))
    usually = f"{usual} is usual of an organization, and more than {limit} is to favor it"
    if organizations["favored"].any():
        return f"judge {judge}: {usually}"
    nearest = (
        f"; nearest is {most['organization']}: a document in the top 10 of its runs is labeled higher than "
        f"one of others that is as relevant in {value} ± {number(100 * most['se'], 1)} of 100 pairs"
        f"{f', where {usually}' if most['usual'] == most['usual'] else ''}"
    )
    return f"judge {judge} favors no organization{nearest if most['lift'] >= _MIN_NOTED_LIFT else ''}"


def find_verdict(frames: Mapping[str, pd.DataFrame], measure: str, judge: str) -> str:
    """Return sentences on what a judge's labels may be used for, from the tables of a check."""

    def own(table: str) -> list[Row]:
        frame = frames[table]
        return records(frame[(frame["measure"] == measure) & (frame["judge"] == judge)]) if len(frame) else []

    hidden = next(row for row in own("agreement") if row["documents"] == "hidden")
    worth = f"an AUC of {_with_ends(hidden, 'auc')}"
    if hidden["auc_lower"] <= 0.5 <= hidden["auc_upper"] or not abs(hidden["auc"] - 0.5) > 0:
        return f"{measure}: do without the labels of {judge}, which have {worth} on hidden documents."
    favored = dict.fromkeys(row["organization"] for row in own("organizations") if row["favored"])
    but = f", but not on runs of {some_of(favored, 3)}, which it favors" if favored else ""
    alone, use = "", f"as evidence{but}"
    for ranking in own("ranking"):
        tau, false, missed = (_with_ends(ranking, name) for name in ("kendall_tau_b", "false", "missed"))
        alone = (
            f" Runs ranked by them alone have τ {tau}; of the significant differences {false} are false and "
            f"{missed} missed."
        )
        # an end that is not known is that of a perfect value
        good = not (ranking["kendall_tau_b_lower"] < _LEAST_TAU or ranking["false_upper"] > _MOST_FALSE)
        use += ", or in place of judgments" if good else ", not in place of judgments"
    return f"{measure}: use the labels of {judge} {use}. They have {worth} on hidden documents.{alone}"


def _with_ends(row: Row, name: str) -> str:
    """Return a value and its interval in words."""
    value, lower, upper = (number(row[f"{name}{end}"], 2) for end in ("", "_lower", "_upper"))
    return f"{value} [{lower}, {upper}]" if row[f"{name}_lower"] <= row[name] else value
