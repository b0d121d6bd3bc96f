r"""Learned fusion: relevance predicted from ranks in pooled runs, trained on judged documents.

For a document :math:`d` of a topic let :math:`a_{dr} = 1/\log_2(1 + \text{rank})` in the pooled run
:math:`r`, 0 where the run lacks it. The judged documents in the top 30 of some pooled run, or in a
shallower top where they are hundreds on a topic, are training documents of:

1. a ridge regression of relevance on :math:`a_d` over all topics, both less their means on the topic: good
   runs weigh more;
2. on each topic a Gaussian process with the kernel :math:`\cos(a_d, a_e) + 2\,a_d \cdot a_e / R` for R runs
   and noise of variance 1: documents that the same runs retrieve at like ranks are relevant alike;
3. a logistic regression of relevance on what 1 and 2 predict of each document *from all others*, the topic's
   share of relevant documents without it, how many runs have it, and its best rank in them.

With an organization held out, its runs and the judgments that it alone contributed take part in none of this.
The Gaussian process is a ridge regression on 2R features of runs, so that an organization's columns and rows
leave its inverse by Schur complements: each topic is factorized once.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from weakref import ref

import numpy as np
import numpy.typing as npt
from scipy.linalg.blas import dtrmm

from bayespool.arrays import BoolArray, FloatArray, IndexArray, IntArray, OrderArray
from bayespool.collection import Collection
from bayespool.collection.packing import joined_pool
from bayespool.collection.pools import sole_contributor
from bayespool.collection.rankings import within
from bayespool.compiled import compiled, one_thread
from bayespool.evidence.pooled_ranks import pooled_ranks, rank_gains

TOP_OF_RUNS = 30
"""Maximum rank in a pooled run for training documents."""

MOST_TRAINING_DOCUMENTS = 250
"""Maximum mean number of training documents per topic, kept by lowering the maximum rank."""

FUSION_UNITS = 1e5
"""Log odds are whole numbers over it."""

NO_HOLDOUT = -2
"""Code for holding out no organization.

It is not −1, which stands for a document with several contributors.
"""

_DEPTHS = (TOP_OF_RUNS, 20, 15, 10)
_RIDGE = 10.0
_DOTS = 2.0  # weight of dot products, over the number of runs, beside cosines
_BASE_DOCUMENTS = 2.0  # documents of all topics in a topic's share of relevant documents
_ABSENT_RANK_FACTOR = 2  # times the longest pooled ranking: best rank of a document that no run has
# coefficients of the logistic regression: intercept, base, support, log best rank, ridge, Gaussian process
_PRIOR_MEAN = np.array([0.0, 1.0, 0.0, 0.0, 2.0, 4.0])
_PRIOR_SD = np.array([1.0, 0.5, 0.5, 0.5, 2.0, 2.0])
_MOST_STEPS, _SMALL_STEP, _LONG_STEP = 50, 1e-10, 3.0
_STEPS_OF_LINES, _SMALL_STEP_OF_LINES = 20, 1e-9
_AT_A_TIME = 256  # documents
_MOST_INVERTED = 2**18  # numbers in matrices inverted at a time
_DIGITS = 5  # decimals of log odds; further ones depend on what was factorized, where in memory, and left it
_SHIFT_SD, _SLOPE_SD = 1.0, 0.3  # of a run's own line


@dataclass(frozen=True, eq=False)
class TrainingDocuments:
    """Judged documents in the top of pooled runs, sorted by topic and pair code."""

    pair: OrderArray  # shape (document,)
    relevant: FloatArray  # 1 or 0, shape (document,)
    topic: OrderArray  # shape (document,)
    start: OrderArray  # of topics, shape (topic + 1,)
    gain: FloatArray  # 1/log₂(1 + rank) in pooled runs, 0 where a run lacks it, shape (document, run)
    organization: IntArray  # of the pooled runs, shape (run,)
    sole: IntArray  # organization that alone contributed the document, or −1, shape (document,)
    depth: int  # deepest rank in some pooled run

    @property
    def n_topics(self) -> int:
        """Number of topics, including those without training documents."""
        return len(self.start) - 1

    def without(self, organization: int) -> BoolArray:
        """Return which documents remain for training without an organization, shape (document,)."""
        _, best = self.support_without(organization)
        return np.asarray((self.sole != organization) & (best >= 1 / np.log2(1 + self.depth)))

    def support_without(self, organization: int) -> tuple[FloatArray, FloatArray]:
        """Return each document's number of retrieving runs and largest gain, ignoring one organization.

        Shape (document,) each.
        """
        n_having, best, second, best_of = self._support
        own = np.flatnonzero(self.organization == organization)
        others = n_having - (self.gain[:, own] > 0).sum(axis=1)
        return others, np.where(best_of == organization, second, best)

    @cached_property
    def _support(self) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
        """Number of retrieving runs and largest gains per document, and the best run's organization."""
        best, second = np.zeros((2, len(self.pair)))
        best_of = np.full(len(self.pair), NO_HOLDOUT, dtype=np.int32)
        for o in np.unique(self.organization):
            largest = self.gain[:, self.organization == o].max(axis=1)
            second = np.maximum(second, np.minimum(best, largest))
            best_of = np.where(largest > best, np.int32(o), best_of)
            best = np.maximum(best, largest)
        return (self.gain > 0).sum(axis=1).astype(float), best, second, best_of


@dataclass(frozen=True, eq=False)
class FusionFit:
    """Fusion coefficients fitted with one organization held out."""

    coefficients: FloatArray  # of the logistic regression, shape (6,)
    base: FloatArray  # log odds of relevance on each topic, shape (topic,)
    weight: FloatArray  # of runs, by ridge regression, shape (run,)
    center: FloatArray  # weighted mean gain on each topic, shape (topic,)
    cosine: FloatArray  # weights of runs in directions of gains, shape (topic, run)
    dot: FloatArray  # weights of runs in gains themselves, shape (topic, run)
    left_out: FloatArray  # log odds of each training document by all others, else NaN, (document,)


@dataclass(frozen=True, eq=False)
class LearnedFusion:
    """Fusion models for a pool, fitted with each organization held out in turn.

    Attributes
    ----------
    of : weakref.ref
        To the collection, which holds on to this, and not the other way round.
    training : TrainingDocuments
    pooled : ndarray of int, shape (run,)
        Positions of the pooled runs.
    fits : dict of int to FusionFit
        By organization held out, and `NO_HOLDOUT`.
    rel, given : int
    """

    of: ref[Collection]
    training: TrainingDocuments
    pooled: OrderArray
    fits: dict[int, FusionFit]
    rel: int
    given: int

    @property
    def collection(self) -> Collection:
        """The collection, which must be in use elsewhere."""
        collection = self.of()
        assert collection is not None
        return collection

    def log_odds(self, run: OrderArray, topic: OrderArray, pair: npt.NDArray[np.integer]) -> FloatArray:
        """Return the log odds that documents are relevant, learned without their run's organization.

        Shape (document,).
        """
        own = self.collection.organization[run]
        if not len(pair):
            return np.zeros(0)
        known = np.isin(own, np.array(list(self.fits)))
        units, place = np.unique(np.where(known, own, NO_HOLDOUT), return_inverse=True)
        fits = [self.fits[o] for o in units.tolist()]
        sums = _sums(
            pooled_ranks(self.collection, pair),
            rank_gains(self.collection),
            topic.astype(np.int64),
            own.astype(np.int64),
            place.astype(np.int64),
            self.training.organization.astype(np.int64),
            *(np.stack([getattr(each, part) for each in fits]) for part in ("weight", "cosine", "dot")),
        )
        log_odds = np.empty(len(pair))
        longest = _longest(self.collection, self.pooled)
        for i, fit in enumerate(fits):
            rows = np.flatnonzero(place == i)
            ridge, process, n_having, n_runs, best = sums[rows].T
            ridge = ridge - fit.center[topic[rows]]
            design = _logit_features(fit.base[topic[rows]], n_having, n_runs, best, longest, ridge, process)
            log_odds[rows] = _weighted(design, fit.coefficients)
        return np.round(log_odds, _DIGITS)

    def run_skill_regression(self, runs: OrderArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Regress judged relevance on the fusion log odds in each run, three arrays of shape (run,).

        Of its documents' log odds the shift at their mean, the slope, and their mean.
        """
        collection = self.collection
        own, sole = collection.organization[runs], np.append(sole_contributor(collection), -1)
        top = collection.document[runs, :, :TOP_OF_RUNS]
        relevance = np.append(collection.relevance, -1)[top]
        row, topic, rank = np.nonzero((relevance >= self.given) & (sole[top] != own[:, None, None]))
        pair, relevant = top[row, topic, rank], relevance[row, topic, rank] >= self.rel
        log_odds = np.full(len(pair), np.nan)
        teacher = np.searchsorted(self.training.pair, pair)
        is_training = teacher < len(self.training.pair)
        is_training[is_training] = self.training.pair[teacher[is_training]] == pair[is_training]
        for o in np.unique(own).tolist():
            rows = np.flatnonzero(is_training & (own[row] == o))
            fit = self.fits[o if o in self.fits else NO_HOLDOUT]
            log_odds[rows] = fit.left_out[teacher[rows]]
        others = np.flatnonzero(np.isnan(log_odds))
        log_odds[others] = self.log_odds(runs[row[others]], topic[others], pair[others])
        return _fit_run_skill(log_odds, relevant.astype(float), row, len(runs))


def learned_fusion(
    collection: Collection, *, rel: int = 1, given: int = 0, held_out: bool = True
) -> LearnedFusion:
    """Return the cached fusion model for P(relevance ≥ rel | relevance ≥ given).

    One that is not ``held_out`` is for documents of runs whose organizations contributed nothing.
    """
    learned, key = _learned(collection), (rel, given, held_out)
    if key not in learned:
        joined = joined_pool(collection)
        if joined is not None and not held_out:
            of_pool = learned_fusion(joined.pool, rel=rel, given=given, held_out=False)
            learned[key] = _join(of_pool, collection, joined.places)
        else:
            with one_thread():
                learned[key] = _learn(collection, rel, given, held_out=held_out)
    return learned[key]


def forget_learned_fusion(collection: Collection) -> None:
    """Forget the fusion models of a collection, which may be as large as its rankings."""
    _learned(collection).clear()


def _learned(collection: Collection) -> dict[tuple[int, int, bool], LearnedFusion]:
    return collection.memo.once("learned fusion", dict[tuple[int, int, bool], LearnedFusion])


def _join(fusion: LearnedFusion, collection: Collection, places: OrderArray) -> LearnedFusion:
    """Return the fusion model of a pool for the documents of a collection with runs joined to it."""
    pooled = np.flatnonzero(collection.pooled)
    training = dataclasses.replace(
        fusion.training, pair=places[fusion.training.pair], organization=collection.organization[pooled]
    )
    return dataclasses.replace(fusion, of=ref(collection), training=training, pooled=pooled)


def _training_documents(
    collection: Collection, pooled: OrderArray, rel: int, given: int
) -> TrainingDocuments:
    """Return the judged documents in the top of pooled runs."""
    for depth in _DEPTHS:
        is_training = np.zeros(len(collection.relevance) + 1, dtype=bool)
        is_training[within(collection.document, pooled, depth)] = True
        n_training = np.count_nonzero(is_training[:-1] & collection.judged)
        if n_training <= MOST_TRAINING_DOCUMENTS * len(collection.query_ids):
            break
    pair = np.flatnonzero(is_training[:-1] & (collection.relevance >= given))
    topic = collection.pair_topic[pair].astype(np.intp)
    return TrainingDocuments(
        pair=pair,
        relevant=(collection.relevance[pair] >= rel).astype(float),
        topic=topic,
        start=np.searchsorted(topic, np.arange(len(collection.query_ids) + 1)),
        gain=rank_gains(collection)[pooled_ranks(collection, pair)],
        organization=collection.organization[pooled],
        sole=sole_contributor(collection)[pair],
        depth=depth,
    )


def _longest(collection: Collection, pooled: OrderArray) -> int:
    return max(1, int(collection.length[pooled].max(initial=0)))


def _learn(collection: Collection, rel: int, given: int, *, held_out: bool) -> LearnedFusion:
    """Return fusion models fitted with all organizations and, if wanted, without each that contributed."""
    pooled = np.flatnonzero(collection.pooled)
    training = _training_documents(collection, pooled, rel, given)
    contributing = np.unique(collection.organization[collection.contributors])
    units = [NO_HOLDOUT, *(contributing.tolist() if held_out else [])]
    kept = {o: training.without(o) for o in units}
    shares = {o: _Shares.of(training, kept[o]) for o in units}
    processes = _processes(training, kept, shares)
    regression, longest = _Regression.of(training), _longest(collection, pooled)
    fits = {}
    for o in units:
        cosine, dot, process_values = processes[o]
        weight, center, ridge_values = regression.without(o, kept[o], shares[o])
        rows, n_having, best = kept[o], *training.support_without(o)
        n_runs = np.full(rows.sum(), float((training.organization != o).sum()))
        columns = (n_having[rows], n_runs, best[rows], longest, ridge_values[rows], process_values[rows])
        design = _logit_features(shares[o].base_without[rows], *columns)
        coefficients = _logistic(design, training.relevant[rows])
        left_out = np.full(len(training.pair), np.nan)
        left_out[rows] = np.round(coefficients @ design, _DIGITS)
        fits[o] = FusionFit(coefficients, shares[o].base, weight, center, cosine, dot, left_out)
    return LearnedFusion(ref(collection), training, pooled, fits, rel, given)


@dataclass(frozen=True, eq=False)
class _Shares:
    """Shares of relevant documents per topic among the training documents kept."""

    n: FloatArray  # teachers of each topic, shape (topic,)
    centered: FloatArray  # relevance less the topic's mean, 0 for those that do not teach, (document,)
    change: FloatArray  # of the others' mean without each document, shape (document,)
    base: FloatArray  # log odds of each topic, shape (topic,)
    base_without: FloatArray  # the same without each document, shape (document,)

    @classmethod
    def of(cls, training: TrainingDocuments, kept: BoolArray) -> _Shares:
        relevant = np.where(kept, training.relevant, 0.0)
        n = np.bincount(training.topic, kept, training.n_topics).astype(float)
        n_relevant = np.bincount(training.topic, relevant, training.n_topics).astype(float)
        overall = (n_relevant.sum() + 0.5) / (n.sum() + 1)
        mean = n_relevant / np.maximum(n, 1)
        centered = np.where(kept, relevant - mean[training.topic], 0.0)

        def log_odds(some: FloatArray, every: FloatArray) -> FloatArray:
            share = (some + _BASE_DOCUMENTS * overall) / (every + _BASE_DOCUMENTS)
            return np.asarray(np.log(share / (1 - share)))

        others = n[training.topic] - kept
        return cls(
            n=n,
            centered=centered,
            change=centered / np.maximum(others, 1),
            base=log_odds(n_relevant, n),
            base_without=log_odds(n_relevant[training.topic] - relevant, others),
        )


@dataclass(frozen=True, eq=False)
class _Regression:
    """Ridge regression of relevance on gains over all topics, prepared for leaving organizations out."""

    training: TrainingDocuments
    total: FloatArray  # of gains on each topic, shape (topic, run)
    square: FloatArray  # gains' × gains, shape (run, run)

    @classmethod
    def of(cls, training: TrainingDocuments) -> _Regression:
        total = np.zeros((training.n_topics, training.gain.shape[1]))
        np.add.at(total, training.topic, training.gain)
        return cls(training, total, training.gain.T @ training.gain)

    def without(
        self, organization: int, kept: BoolArray, shares: _Shares
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return run weights, weighted mean gains per topic, and leave-one-out predictions."""
        training, removed = self.training, np.flatnonzero(~kept)
        gain, topic = training.gain, training.topic
        lost, total = gain[removed], self.total.copy()
        np.subtract.at(total, topic[removed], lost)
        mean = total / np.maximum(shares.n, 1)[:, None]
        is_own = training.organization == organization
        normal = self.square - lost.T @ lost - mean.T @ total + _RIDGE * np.eye(len(is_own))
        normal[is_own] = normal[:, is_own] = 0.0
        normal[is_own, is_own] = 1.0
        root = np.linalg.inv(np.linalg.cholesky(normal))  # of the inverse, which is root' × root
        root[is_own] = 0.0
        weight = root.T @ (root @ (gain.T @ shares.centered))
        leverage = self._squared_lengths(mean, root) + 1 / np.maximum(shares.n, 1)[topic]
        mean = np.where(shares.n[:, None] > 0, mean, total.sum(axis=0) / max(shares.n.sum(), 1.0))
        center = mean @ weight
        residual = shares.centered - (gain @ weight - center[topic])
        several = kept & (shares.n[topic] > 1)
        # a value left out is y − residual/(1 − leverage); the topic's mean without the document goes off it
        free = np.where(several, 1 - leverage, 1.0)
        left_out = shares.centered - residual / free + shares.change
        return weight, center, np.where(several, left_out, 0.0)

    def _squared_lengths(self, mean: FloatArray, root: FloatArray) -> FloatArray:
        """Return the squared length of root × each document's gains less its topic's mean ones."""
        gain, topic, lower = self.training.gain, self.training.topic, np.asfortranarray(root)
        squared = np.empty(len(gain))
        for first in range(0, len(gain), _AT_A_TIME):  # that few stay in the processor's cache
            rows = slice(first, first + _AT_A_TIME)
            turned = dtrmm(1.0, lower, (gain[rows] - mean[topic[rows]]).T, lower=1, overwrite_b=1)
            np.einsum("rd,rd->d", turned, turned, out=squared[rows])
        return squared


def _processes(
    training: TrainingDocuments, kept: dict[int, BoolArray], shares: dict[int, _Shares]
) -> dict[int, tuple[FloatArray, FloatArray, FloatArray]]:
    """Return Gaussian-process weights and leave-one-out predictions for each held-out organization.

    Weights are by cosine and by dot product.
    """
    n_runs, n_topics = len(training.organization), training.n_topics
    scale, n_columns = np.sqrt(_DOTS / max(n_runs, 1)), 2 * n_runs
    weights, left_out = np.zeros((n_topics, len(kept), n_columns)), np.zeros((len(kept), len(training.pair)))
    kept_of, own = (
        np.array(list(kept.values())),
        np.array([np.tile(training.organization == o, 2) for o in kept]),
    )
    centered, change = (np.array([getattr(shares[o], part) for o in kept]) for part in ("centered", "change"))
    every_answer = np.stack([centered, kept_of, change])
    length = np.sqrt((training.gain**2).sum(axis=1, keepdims=True))
    every_feature = np.concatenate([training.gain / length, scale * training.gain], axis=1)
    start, size = training.start.tolist(), max(1, _MOST_INVERTED // max(n_columns, 1) ** 2)
    present = np.flatnonzero(np.diff(training.start))
    for some in np.array_split(present, -(-len(present) // size)) if len(present) else ():
        of_topics = [every_feature[start[t] : start[t + 1]] for t in some]
        inverses = np.linalg.inv([features.T @ features + np.eye(n_columns) for features in of_topics])
        for t, features, inverse in zip(some.tolist(), of_topics, inverses, strict=True):
            rows = slice(start[t], start[t + 1])
            solved = features @ inverse
            hat, answers = solved @ features.T, every_answer[:, :, rows]
            fitted = answers[:2] @ hat
            multiplier, left_out[:, rows] = _leave_out(
                inverse, solved, hat, own, kept_of, start[t], answers, fitted
            )
            of_rows = centered[:, rows] + multiplier[:, n_columns:]
            weights[t] = (of_rows @ features + multiplier[:, :n_columns]) @ inverse
    weights[:, own] = 0.0
    return {
        o: (weights[:, i, :n_runs], scale * weights[:, i, n_runs:], left_out[i]) for i, o in enumerate(kept)
    }


@compiled
def _leave_out(
    inverse: FloatArray,
    solved: FloatArray,
    hat: FloatArray,
    own: BoolArray,
    kept: BoolArray,
    first: int,
    answers: FloatArray,
    fitted: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return multipliers that leave columns and documents out of a ridge regression, and predictions.

    What others predict of each document, shape (unit, document). Multipliers, of shape (unit, column and
    document), are added to sums of features and to answers.

    Parameters
    ----------
    inverse, solved, hat : ndarray, shape (column or document, column or document)
        Of features' × features + 1; features × inverse; and this × features'.
    own : ndarray of bool, shape (unit, column)
        Columns that a unit leaves out.
    kept : ndarray of bool, shape (unit, document of all topics)
        Documents that it does not leave out; those of this topic begin with the ``first``.
    answers : ndarray, shape (3, unit, document)
        Answers, 0 for documents left out; 1 for the others; minus what leaving one out adds to the mean.
    fitted : ndarray, shape (2, unit, document)
        Answers and ones as predicted with nothing left out.
    """
    # Weights w that are 0 in columns C, without rows R, solve S·w = F'y + E_C·λ + F_R'·ν for S = F'F + 1,
    # with multipliers λ, and ν = F_R·w. The matrix of this system in (λ, ν) is positive in λ and negative in
    # ν, so that elimination needs no pivots. Predictions are y − (y − fitted)/(1 − leverage).
    n_units, n, n_columns = answers.shape[1], answers.shape[2], len(inverse)
    multiplier, left_out = np.zeros((n_units, n_columns + n)), np.zeros((n_units, n))
    products = np.empty((n_columns + n, n_columns + n))
    products[:n_columns, :n_columns], products[n_columns:, n_columns:] = inverse, hat
    products[n_columns:, :n_columns], products[:n_columns, n_columns:] = solved, solved.T
    for u in range(n_units):
        out = np.flatnonzero(np.concatenate((own[u], ~kept[u, first : first + n])))
        size, system = len(out), np.empty((len(out), len(out) + n))
        leverage, of_answers, of_ones = np.empty(n), np.empty(n), np.empty(n)
        for i in range(n):
            leverage[i] = hat[i, i]
            of_answers[i], of_ones[i] = fitted[0, u, i], fitted[1, u, i]
        for a in range(size):
            row = out[a]
            for b in range(size):
                system[a, b] = products[row, out[b]]
            for i in range(n):
                system[a, size + i] = products[row, n_columns + i]
            if row >= n_columns:
                system[a, a] -= 1.0
            for b in range(a):
                times = system[a, b] / system[b, b]
                for k in range(b, size + n):
                    system[a, k] -= times * system[b, k]
            answer, one = 0.0, 0.0
            for i in range(n):
                answer += system[a, size + i] * answers[0, u, i]
                one += system[a, size + i] * answers[1, u, i]
            for i in range(n):
                times = system[a, size + i] / system[a, a]
                of_answers[i] -= answer * times
                of_ones[i] -= one * times
                leverage[i] -= system[a, size + i] * times
            multiplier[u, row] = -answer
        for a in range(size - 1, -1, -1):
            for b in range(a + 1, size):
                multiplier[u, out[a]] -= system[a, b] * multiplier[u, out[b]]
            multiplier[u, out[a]] /= system[a, a]
        for i in range(n):
            if answers[1, u, i] > 0:
                answer, change = answers[0, u, i], answers[2, u, i]
                off = answer - of_answers[i] + change * (1.0 - of_ones[i])
                left_out[u, i] = answer + change - off / (1.0 - leverage[i])
    return multiplier, left_out


def _logit_features(
    base: FloatArray,
    n_having: npt.NDArray[np.number],
    n_runs: FloatArray,
    best: FloatArray,
    longest: int,
    ridge: FloatArray,
    process: FloatArray,
) -> FloatArray:
    """Return the predictors of the logistic regression, shape (6, document)."""
    with np.errstate(divide="ignore"):
        rank = np.where(best > 0, np.exp2(1 / best) - 1, float(_ABSENT_RANK_FACTOR * longest))
    support = np.log((n_having + 0.5) / (n_runs + 1))
    return np.stack([np.ones(len(base)), base, support, np.log(rank), ridge, process])


def _logistic(design: FloatArray, relevant: FloatArray) -> FloatArray:
    """Return the posterior mode of the logistic regression coefficients, shape (6,)."""
    x = _PRIOR_MEAN.copy()
    for _ in range(_MOST_STEPS):
        chance = 1 / (1 + np.exp(-(x @ design)))
        gradient = design @ (relevant - chance) - (x - _PRIOR_MEAN) / _PRIOR_SD**2
        curvature = (design * (chance * (1 - chance))) @ design.T + np.diag(1 / _PRIOR_SD**2)
        step = np.linalg.solve(curvature, gradient)
        x = x + step / max(1.0, np.abs(step).max() / _LONG_STEP)
        if np.abs(step).max() < _SMALL_STEP:
            break
    return x


def _fit_run_skill(
    log_odds: FloatArray, relevant: FloatArray, row: OrderArray, n_rows: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return each row's fitted intercept and slope on log odds, and its mean log odds."""
    n = np.bincount(row, minlength=n_rows)
    center = np.bincount(row, log_odds, n_rows) / np.maximum(n, 1)
    off, shift, slope = log_odds - center[row], np.zeros(n_rows), np.zeros(n_rows)
    moving = np.ones(n_rows, dtype=np.bool_)  # a row stops by itself, whatever other rows there are
    for _ in range(_STEPS_OF_LINES):
        chance = 1 / (1 + np.exp(-(log_odds + shift[row] + slope[row] * off)))
        error, spread = relevant - chance, chance * (1 - chance)
        shift_gradient = np.bincount(row, error, n_rows) - shift / _SHIFT_SD**2
        slope_gradient = np.bincount(row, error * off, n_rows) - slope / _SLOPE_SD**2
        a = np.bincount(row, spread, n_rows) + 1 / _SHIFT_SD**2
        spread *= off
        b = np.bincount(row, spread, n_rows)
        c = np.bincount(row, spread * off, n_rows) + 1 / _SLOPE_SD**2
        shift_step = np.clip((c * shift_gradient - b * slope_gradient) / (a * c - b**2), -1, 1)
        slope_step = np.clip((a * slope_gradient - b * shift_gradient) / (a * c - b**2), -0.3, 0.3)
        shift, slope = shift + np.where(moving, shift_step, 0), slope + np.where(moving, slope_step, 0)
        moving &= np.maximum(np.abs(shift_step), np.abs(slope_step)) > _SMALL_STEP_OF_LINES
        if not moving.any():
            break
    return shift, slope, center


def _weighted(design: FloatArray, coefficients: FloatArray) -> FloatArray:
    """Return each document's weighted sum of predictors, bit-identical with any other documents."""
    total = np.zeros(design.shape[1])
    for k in range(len(coefficients)):
        total += design[k] * coefficients[k]
    return total


@compiled
def _sums(
    ranks: IntArray,
    gain: FloatArray,
    topic: IndexArray,
    own: IndexArray,
    unit: IndexArray,
    organization: IndexArray,
    weight: FloatArray,
    cosine: FloatArray,
    dot: FloatArray,
) -> FloatArray:
    """Return ridge and Gaussian-process sums, numbers of runs, and the largest gain for each document.

    Shape (document, 5).
    """
    sums = np.zeros((len(ranks), 5))
    for i in range(len(ranks)):
        u, t, cosine_sum, dot_sum, square = unit[i], topic[i], 0.0, 0.0, 0.0
        for j in range(ranks.shape[1]):
            if organization[j] == own[i]:
                continue
            sums[i, 3] += 1
            a = gain[ranks[i, j]]
            if a > 0:
                sums[i, 0] += weight[u, j] * a
                cosine_sum += cosine[u, t, j] * a
                dot_sum += dot[u, t, j] * a
                square += a * a
                sums[i, 2] += 1
                sums[i, 4] = max(sums[i, 4], a)
        if square > 0:
            sums[i, 1] = cosine_sum / np.sqrt(square) + dot_sum
    return sums
