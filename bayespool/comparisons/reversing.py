"""Significance under few judgments that more judgments take back (Ravana & Moffat 2010, §4).

References
----------
S. D. Ravana and A. Moffat (2010). Estimating system effectiveness scores with incomplete evidence.
Proceedings of the 15th Australasian Document Computing Symposium.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from bayespool import __version__
from bayespool.arrays import AnyArray, FloatArray, IndexArray, IntArray, Progress
from bayespool.collection import Collection, rows
from bayespool.collection.collection import expect_collection
from bayespool.collection.rankings import ranked
from bayespool.comparisons.draws import DRAW_TESTS, significant_draws
from bayespool.comparisons.outcomes import Reversals
from bayespool.comparisons.pairs import pair_frame
from bayespool.comparisons.significance import adjust_p_values, applied_control, p_values
from bayespool.corrections import Constants, PlacedCorrection, fit_constants
from bayespool.errors import InputError
from bayespool.evidence import score_bounds
from bayespool.evidence.ideals import values_on_fuller
from bayespool.measures import Estimates, Estimator, Measure, Values
from bayespool.measures.errors import root_mean_squared_error
from bayespool.measures.estimates import estimate_checked
from bayespool.measures.parsing import parse_ranking_measures
from bayespool.names import AS_JUDGED, PairControl, SignificanceTest, Unseen
from bayespool.posterior import PosteriorEstimator
from bayespool.posterior.estimator import shared_settings
from bayespool.scoring.estimators import parse_estimators, with_as_judged
from bayespool.validation import check_choice, check_count, check_number, check_share, described, listed

_RANK_OF_UNEXPLAINED = np.iinfo(np.int32).max


def judgment_ranks(collection: Collection) -> IntArray:
    """Return the best rank of each document over the pooled runs, shape (pair,).

    The largest int32 for documents that no pooled run retrieved.
    """
    best = np.full(len(collection.relevance) + 1, _RANK_OF_UNEXPLAINED, dtype=np.int32)
    for run in np.flatnonzero(collection.pooled):
        document, ranks = ranked(collection.document, run)
        best[document] = np.minimum(best[document], ranks + 1)  # no ranking repeats a document
    return best[:-1]


def judgment_subset(collection: Collection, n_judgments: int, *, random_seed: int = 1) -> Collection:
    """Return the collection with only its first judgments, in rank order of the pooled runs.

    Parameters
    ----------
    collection : Collection
        With pooled runs.
    n_judgments : int
        Number of judgments to keep; all of them if there are no more.
    random_seed : int
        Of the order within a rank.

    Returns
    -------
    Collection
        Same runs, topics and pooled runs; fewer judgments, and a pool no deeper than they reach.

    Raises
    ------
    InputError
        No pooled run, or ``n_judgments`` below 1.

    Notes
    -----
    Each judgment is tagged with the smallest rank at which a contributing run retrieved its document;
    judgments are sorted by tag, and a prefix is kept (§4 of the paper).

    - *Ties.* The order of the hundreds to thousands of judgments with one tag, left open by the paper, is
      random: in the order of the file the first topics would have all of them and the last topics none.
    - *Judgments that no pooled run explains* come last, so that sets are nested and end with all judgments.
    - *The pool depth* becomes the deepest tag in the prefix (and no run's is ever more than it was). The
      other judgments with this tag are random holes. The last complete depth would be 0, and the pool empty,
      for a prefix within the first rank, such as 1,000 judgments of TREC-8, where 72 runs put 1,487 documents
      on rank 1 of 50 topics.
    - *Held-out evidence.* A hidden document is a judged one that only one organization retrieved within that
      depth. Every judgment of the prefix then has a contributor, and unjudged holes are never evidence. Which
      documents of the last tag are judged does not depend on who retrieved them or on their relevance, so the
      evidence is not biased. It covers the ranks down to that depth; beyond, it is extrapolated, as notes of
      results state.

    Examples
    --------
    >>> from bayespool import load_example
    >>> shallow = judgment_subset(load_example(), 300)
    >>> int(shallow.judged.sum()), shallow.pool_depth
    (300, 2)
    """
    if not collection.pooled.any():
        raise InputError(
            "no run was pooled, so that judgments have no order", hint="give the runs of the campaign"
        )
    if n_judgments < 1:
        raise InputError(f"too few judgments: {n_judgments}")
    judged = np.flatnonzero(collection.judged)
    if n_judgments >= len(judged):
        return collection
    rank = judgment_ranks(collection)[judged]
    shuffled = np.random.default_rng(random_seed).permutation(len(judged))
    order = shuffled[np.argsort(rank[shuffled], kind="stable")]
    is_removed = collection.judged
    is_removed[judged[order[:n_judgments]]] = False
    deepest = int(rank[order[n_judgments - 1]])
    fewer = collection.without_judgments(is_removed)
    return dataclasses.replace(fewer, pool=collection.pool.truncate(deepest))


def unpooled_copies(collection: Collection, run_ids: Iterable[str]) -> tuple[Collection, tuple[str, ...]]:
    """Return the collection with unpooled copies of pooled runs, and the names of the runs to score.

    A copy has the run's ranking and organization but did not contribute, so a posterior estimator gives it
    the effect of a new organization. The pooled runs remain evidence.
    """
    index = collection.run_index(run_ids)
    copied_runs = index[collection.pooled[index]]
    if not len(copied_runs):
        return collection, tuple(collection.run_ids[i] for i in index)
    mark = " (scored)"
    while any(run.endswith(mark) for run in collection.run_ids):
        mark += "'"
    name = {int(i): collection.run_ids[i] + mark for i in copied_runs}
    with_copied, score = np.append(np.arange(len(collection.run_ids)), copied_runs), collection.score
    with_copies = dataclasses.replace(
        collection,
        run_ids=(*collection.run_ids, *name.values()),
        document=rows(collection.document, with_copied),
        score=None if score is None else rows(score, with_copied),
        organization=collection.organization[with_copied],
        pooled=np.concatenate([collection.pooled, np.zeros(len(copied_runs), dtype=bool)]),
        pool=collection.pool.select_runs(with_copied),
    )
    return with_copies, tuple(name.get(int(i), collection.run_ids[i]) for i in index)


FIT_JUDGMENTS = (1_000, 2_000, 4_000, 10_000, 20_000, 40_000)
"""Numbers of judgments in the sets to which the paper fits its constants."""


def count_reversals(
    collection: Collection,
    run_ids: Iterable[str] | None = None,
    measures: object = "P@10",
    *,
    estimators: str | Estimator | Iterable[str | Estimator] = "interpolated,smoothed,posterior-combined",
    posterior_settings: str | PosteriorEstimator | None = None,
    judgments: int | Iterable[int] = (1_000, 10_000),
    fitted: bool = True,
    announce: float | Iterable[float] = (0.5, 0.8, 0.95),
    unseen: Unseen = "nonrelevant",
    test: SignificanceTest = "paired-t",
    level: float = 0.01,
    control: PairControl = "none",
    random_seed: int = 1,
    progress: Progress | None = None,
) -> Reversals:
    """Count significant differences under few judgments that all judgments reverse, per estimator.

    Parameters
    ----------
    collection : Collection
        With all judgments, and pooled runs to order them by.
    run_ids : iterable of str, optional
        Runs whose pairs to consider; default: all. Pooled ones are the contributing group, the others the
        non-contributing one, and pairs are formed within a group of two or more.
    measures : measure or iterable of measures, default "P@10"
        Measures of the rankings: P@10, nDCG@10, P(rel=2)@10, AP@100, ….
    estimators : str, Estimator or sequence of them, default "interpolated,smoothed,posterior-combined"
        Names with settings in parentheses, such as background(e=0.05), or 'default', 'all', 'pairs'.
        ``as-judged``, the scores as judged, is always among them.
    posterior_settings : str or PosteriorEstimator, optional
        Settings of the posteriors: 'draws=4000, engine=nuts, mu=Normal(-2,1)'.
    judgments : int or sequence of int, default (1000, 10000)
        Sizes of the smaller judgment sets. See `bayespool.comparisons.judgment_subset`; those not smaller
        than all judgments are passed over.
    fitted : bool, default True
        Also fit the constants of background, interpolated and smoothed to the contributing runs. Adds
        ``interpolated fitted`` and so on for those of the three that are asked for: with the constants of
        least RMSE on the contributing runs against all judgments, over the sizes
        `bayespool.comparisons.reversing.FIT_JUDGMENTS`; where there are not that many judgments, over those
        of them that are smaller and ``judgments``. The paper does so, in hindsight; nobody has these
        constants before judging.
    announce : float or sequence of float, default (0.5, 0.8, 0.95)
        Shares of completed judgments in which a pair is to be significant. For each estimator with draws, a
        test that is repeated in every draw, and each of these shares, one more estimator, named like
        ``posterior-combined>=0.95``, takes a pair as significant if it is so, the same way, in that share of
        the completed judgments or more. The estimator without a share tests posterior means, which takes the
        imputed for known and topics for more alike than they are.
    unseen : {"nonrelevant", "estimated"}
        Whether documents that the truth does not judge either are nonrelevant in estimates, too, or
        estimated. The papers estimate them, so that an estimate is of something else than the truth.
    test : {"paired-t", "wilcoxon", "randomization", "tukey-hsd"}
        Significance test of a pair.
    level : float, default 0.01
        Significant is an adjusted p-value of at most this. The default is the paper's.
    control : {"holm", "benjamini-hochberg", "none"}, default "none"
        Adjustment of p-values over all pairs of a group. The paper has none; tukey-hsd needs none.
    random_seed : int, default 1
        Random seed; the same inputs and seed give the same bytes.
    progress : callable, optional
        Called with a text on each stage of the work as it begins: ``progress(text, done=0, total=0)``.

    Returns
    -------
    Reversals

    Raises
    ------
    InputError
        No pooled run; no group of two runs; no judgment set smaller than all; unknown names.

    Notes
    -----
    Posterior estimators score contributing runs as copies that were not pooled
    (`bayespool.comparisons.reversing.unpooled_copies`), which have the effect of a new organization, like the
    other runs; the runs themselves remain evidence.

    All judgments may still leave documents unjudged in runs that did not contribute. Nobody can say then what
    they are: they count as nonrelevant under all judgments and stay so in every estimate, unless ``unseen``
    is ``"estimated"``, as in the paper. Stated probabilities are then graded only on pairs of runs with at
    most one unjudged rank in a hundred.

    Examples
    --------
    >>> from bayespool import load_example
    >>> from bayespool.comparisons import count_reversals
    >>> result = count_reversals(load_example(), judgments=[300], estimators=["smoothed"], fitted=False)
    >>> rates = result.rates().query("group == 'contributing' and against == 'same estimator'")
    >>> columns = ["estimator", "separability", "separability_all", "reversed"]
    >>> print(rates[columns].round(3).to_string(index=False))
    estimator  separability  separability_all  reversed
    as-judged         0.133              0.39     0.005
     smoothed         0.210              0.39     0.010
    """
    sizes = listed("judgments", judgments, check_count)
    shares = listed("announce", announce, check_number, least=0.5, most=1, may_be_empty=True)
    check_choice("unseen", unseen, Unseen)
    check_choice("test", test, SignificanceTest)
    check_share("level", level)
    check_choice("control", control, PairControl)
    check_count("random_seed", random_seed, least=0)
    rankings = parse_ranking_measures(measures)
    overrides = shared_settings(posterior_settings)
    parsed_estimators = parse_estimators(with_as_judged(estimators), overrides, random_seed=random_seed)
    given: dict[str, Any] = {"judgments": sizes, "fitted": fitted, "announce": shares, "unseen": unseen}
    given |= {"test": test, "level": level, "control": control, "random_seed": random_seed}
    settings = described(
        measures=rankings, estimators=parsed_estimators, **given, posterior_settings=posterior_settings
    )
    applied = applied_control(test, control)
    expect_collection(collection)
    groups, as_given = _groups(collection, run_ids), collection
    if unseen == "nonrelevant":
        collection = collection.judged_at_most(collection.judged)
    n_all = int(collection.judged.sum())
    fewer = sorted({int(n) for n in sizes if n < n_all})
    if not fewer:
        raise InputError(
            f"no judgment set is smaller than all {n_all} judgments", hint="ask for fewer judgments"
        )
    asked = [(e.name, e, rankings) for e in sorted(parsed_estimators, key=lambda e: e.name != AS_JUDGED)]
    constants: dict[tuple[str, str], Constants] = {}
    pooled = groups.get("contributing", ()) if fitted else ()
    for (name, estimator, _), measure in product(tuple(asked), rankings):
        if pooled and isinstance(estimator, PlacedCorrection):
            best = _fit(collection, pooled, measure, fewer, estimator, random_seed)
            constants[str(measure), name] = best
            asked.append((f"{name} fitted", estimator.with_constants(best.values), (measure,)))
    testing: dict[str, Any] = {"test": test, "level": level, "control": applied}
    experiment = _Experiment(collection, asked, shares, random_seed, progress or (lambda *_: None), **testing)
    subsets = {n: judgment_subset(collection, n, random_seed=random_seed) for n in (*fewer, n_all)}
    rows: list[tuple[dict[str, Any], pd.DataFrame]] = []
    holes: dict[tuple[str, str], FloatArray] = {}
    for group, runs in groups.items():
        holes |= {(str(m), group): score_bounds(as_given, runs, m).unjudged_share for m in rankings}
        judged = {m: score_bounds(collection, runs, m).low for m in rankings}
        for n, subset in subsets.items():
            rows += experiment.rows(group, runs, judged, n, subset)
    place = {str(measure): i for i, measure in enumerate(rankings)}
    rows.sort(key=lambda row: place[row[0]["measure"]])
    columns = ["measure", "group", "judgments", "estimator", "run_a", "run_b", "p_value", "sign"]
    pairs = pd.concat([each for _, each in rows], ignore_index=True)
    return Reversals(
        measures=rankings,
        groups=groups,
        n_judgments=(*fewer, n_all),
        pool_depth={n: subset.pool_depth for n, subset in subsets.items()},
        scores=pd.DataFrame([scores for scores, _ in rows]),
        pairs=pairs.reindex(columns=[*columns, "prob_significant", "reversal_risk"]),
        holes=holes,
        constants=constants,
        **testing,
        metadata={
            "bayespool": __version__,
            "fingerprint": as_given.fingerprint,
            **described(measures=measures, judgments=(*fewer, n_all), **testing, announce=shares),
            **{"unseen": unseen, "random_seed": random_seed, "settings": settings},
        },
    )


@dataclass(frozen=True)
class _Experiment:
    """Estimators of runs under fewer judgments, and the test of their pairs.

    ``estimators``: name, estimator and measures of each, the scores as judged first.
    """

    collection: Collection
    estimators: Sequence[tuple[str, Estimator, Sequence[Measure]]]
    shares: Sequence[float]
    random_seed: int
    say: Progress
    test: SignificanceTest
    level: float
    control: PairControl

    def rows(
        self, group: str, runs: tuple[str, ...], judged: Mapping[Measure, Values], n: int, subset: Collection
    ) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
        """Yield each estimator's row of scores and its rows of pairs, for a group under n judgments.

        ``judged``: scores as judged under all judgments.
        """
        complete = {m: values_on_fuller(subset, self.collection, runs, m) for m in judged}
        residuals = {m: float(score_bounds(subset, runs, m).residual.mean()) for m in judged}
        sign_now: dict[Measure, IndexArray] = {}  # of the scores as judged
        for name, estimator, measures in self.estimators:
            self.say(f"{group} runs, {n} judgments: {name}")
            for estimates in _estimate(estimator, subset, runs, measures):
                m, value = estimates.measure, estimates.value
                is_drawn = estimates.draws is not None and self.test in DRAW_TESTS
                truth = (complete if is_drawn else judged)[m]
                of_subset = {"pool_depth": subset.pool_depth, "residual": residuals[m]}
                errors = {
                    "value": float(value.mean()),
                    "rmse": root_mean_squared_error(truth.means(), value),
                    "topic_rmse": root_mean_squared_error(truth.scores(), estimates.per_topic),
                }
                for label, matrices in self._tests(name, estimates, sign_now.get(m)):
                    sign_now.setdefault(m, matrices["sign"])
                    keys: dict[str, Any] = {"measure": str(m), "group": group, "judgments": n}
                    pairs = pair_frame(runs, keys | {"estimator": label}, matrices)
                    separability = float((pairs["sign"] != 0).mean())
                    scores = keys | of_subset | {"estimator": label} | errors
                    yield scores | {"separability": separability}, pairs

    def _tests(
        self, name: str, estimates: Estimates, sign_now: IndexArray | None
    ) -> Iterator[tuple[str, dict[str, AnyArray]]]:
        """Yield an estimator, and for draws each share that announces, with matrices of shape (run, run)."""
        p = p_values(estimates.per_topic, self.test, random_seed=self.random_seed)
        p = adjust_p_values(p, self.control)
        sign = np.sign(np.subtract.outer(estimates.value, estimates.value)).astype(np.int64)
        tested = {"p_value": p, "sign": np.where(p <= self.level, sign, 0)}
        if estimates.draws is None or self.test not in DRAW_TESTS or sign_now is None:
            yield name, tested
            return
        drawn = significant_draws(
            estimates.draws.on_grid(), test=self.test, level=self.level, control=self.control
        )
        announced = {"prob_significant": drawn.prob_significant}
        yield name, tested | announced | {"reversal_risk": drawn.reversal_risk(sign_now > 0)}
        way = np.sign(drawn.n_greater - drawn.n_greater.T)  # half and half is neither
        for share in self.shares:
            is_frequent = np.maximum(drawn.n_greater, drawn.n_greater.T) >= share * drawn.n_draws
            sign = np.where(is_frequent, way, 0)
            yield f"{name}>={share:g}", {"p_value": np.full(p.shape, np.nan), "sign": sign}


def _groups(collection: Collection, run_ids: Iterable[str] | None) -> dict[str, tuple[str, ...]]:
    """Return runs in the contributing and non-contributing groups, omitting groups of one run."""
    index = collection.run_index(run_ids if run_ids is None else list(dict.fromkeys(run_ids)))
    groups = {
        name: tuple(collection.run_ids[i] for i in index if collection.pooled[i] == pooled)
        for name, pooled in (("contributing", True), ("non-contributing", False))
    }
    groups = {name: runs for name, runs in groups.items() if len(runs) > 1}
    if not groups:
        raise InputError("there is no pair of runs that both contributed to the pool, or both did not")
    return groups


def _fit(
    collection: Collection,
    runs: tuple[str, ...],
    measure: Measure,
    sizes: Sequence[int],
    estimator: PlacedCorrection,
    random_seed: int,
) -> Constants:
    """Fit an estimator's constants to scores as judged under all judgments."""
    fitting = {n for n in FIT_JUDGMENTS if n < int(collection.judged.sum())}
    if len(fitting) < len(FIT_JUDGMENTS):
        fitting |= set(sizes)
    subsets = (judgment_subset(collection, n, random_seed=random_seed) for n in sorted(fitting))
    counts = [score_bounds(subset, runs, measure) for subset in subsets]
    return fit_constants(estimator, counts, score_bounds(collection, runs, measure))


def _estimate(
    estimator: Estimator, collection: Collection, runs: tuple[str, ...], measures: Sequence[Measure]
) -> tuple[Estimates, ...]:
    """Return estimates for runs, of unpooled copies if the estimator is a posterior."""
    if isinstance(estimator, PosteriorEstimator):
        collection, runs = unpooled_copies(collection, runs)
    return estimate_checked(estimator, collection, runs, measures)
