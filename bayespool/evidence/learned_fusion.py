r"""Learned fusion: what the judged documents say of the pooled runs, and so of a document that these rank.

For a document :math:`d` of a topic let :math:`a_{dr} = 1/\log_2(1 + \text{rank})` in the pooled run
:math:`r`, 0 where the run lacks it. The judged documents in the top 30 of some pooled run teach, or in a
shallower top where they are hundreds on a topic:

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

from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from bayespool.arrays import BoolArray, FloatArray, IndexArray, IntArray, OrderArray
from bayespool.collection import Collection
from bayespool.collection.pools import sole_contributor
from bayespool.collection.rankings import ranked, within
from bayespool.compiled import compiled, one_thread

TOP_OF_RUNS = 30
"""Deepest rank, in some pooled run, of the judged documents that teach."""

MOST_TEACHERS = 250
"""Documents that teach, mean over topics, from which on only those of shallower ranks do."""

NOBODY = -2
"""In place of an organization to hold out; −1 is that of documents with several contributors."""

_DEPTHS = (TOP_OF_RUNS, 20, 15, 10)
_RIDGE = 10.0
_DOTS = 2.0  # weight of dot products, over the number of runs, beside cosines
_BASE_DOCUMENTS = 2.0  # documents of all topics in a topic's share of relevant documents
_ABSENT_RANK_FACTOR = 2  # times the longest pooled ranking: best rank of a document that no run has
# coefficients of the logistic regression: intercept, base, support, log best rank, ridge, Gaussian process
_PRIOR_MEAN = np.array([0.0, 1.0, 0.0, 0.0, 2.0, 4.0])
_PRIOR_SD = np.array([1.0, 0.5, 0.5, 0.5, 2.0, 2.0])
_MOST_STEPS, _SMALL_STEP, _LONG_STEP = 50, 1e-10, 3.0
_STEPS_OF_LINES = 20
_DIGITS = 5  # decimals of log odds; further ones depend on what was factorized, where in memory, and left it
_SHIFT_SD, _SLOPE_SD = 1.0, 0.3  # of a run's own line


@dataclass(frozen=True, eq=False)
class Teachers:
    """Judged documents in the top of pooled runs, by topics and pair codes."""

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
        """Number of topics, of which some may teach nothing."""
        return len(self.start) - 1

    def without(self, organization: int) -> BoolArray:
        """Documents that teach without an organization, shape (document,)."""
        _, best = self.support_without(organization)
        return np.asarray((self.sole != organization) & (best >= 1 / np.log2(1 + self.depth)))

    def support_without(self, organization: int) -> tuple[FloatArray, FloatArray]:
        """Runs of others that have each document, and its largest gain in them, shape (document,) each."""
        n_having, best, second, best_of = self._support
        own = np.flatnonzero(self.organization == organization)
        others = n_having - (self.gain[:, own] > 0).sum(axis=1)
        return others, np.where(best_of == organization, second, best)

    @cached_property
    def _support(self) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
        """Runs that have each document, its largest gain, that of other organizations, and whose it is."""
        best, second = np.zeros((2, len(self.pair)))
        best_of = np.full(len(self.pair), NOBODY, dtype=np.int32)
        for o in np.unique(self.organization):
            largest = self.gain[:, self.organization == o].max(axis=1)
            second = np.maximum(second, np.minimum(best, largest))
            best_of = np.where(largest > best, np.int32(o), best_of)
            best = np.maximum(best, largest)
        return (self.gain > 0).sum(axis=1).astype(float), best, second, best_of


@dataclass(frozen=True, eq=False)
class Lesson:
    """What documents teach without an organization."""

    coefficients: FloatArray  # of the logistic regression, shape (6,)
    base: FloatArray  # log odds of relevance on each topic, shape (topic,)
    weight: FloatArray  # of runs, by ridge regression, shape (run,)
    center: FloatArray  # weighted mean gain on each topic, shape (topic,)
    cosine: FloatArray  # weights of runs in directions of gains, shape (topic, run)
    dot: FloatArray  # weights of runs in gains themselves, shape (topic, run)
    left_out: FloatArray  # log odds of each teacher, learned from all others; NaN without it, (document,)


@dataclass(frozen=True, eq=False)
class LearnedFusion:
    """Lessons of a pool without each of its organizations.

    Attributes
    ----------
    collection : Collection
    teachers : Teachers
    pooled : ndarray of int, shape (run,)
        Positions of the pooled runs.
    lessons : dict of int to Lesson
        By organization held out, and `NOBODY`.
    rel, given : int
    """

    collection: Collection
    teachers: Teachers
    pooled: OrderArray
    lessons: dict[int, Lesson]
    rel: int
    given: int

    def log_odds(self, run: OrderArray, topic: OrderArray, pair: npt.NDArray[np.integer]) -> FloatArray:
        """Log odds of relevance of documents, without the organizations of their runs, shape (document,)."""
        own = self.collection.organization[run]
        held_out = np.array(sorted(self.lessons))
        unit = np.where(np.isin(own, held_out), own, NOBODY)
        gain, place = gains(self.collection, self.pooled, pair), np.searchsorted(held_out, unit)
        lessons = [self.lessons[o] for o in held_out.tolist()]
        sums = _sums(
            gain,
            topic.astype(np.int64),
            own.astype(np.int64),
            place.astype(np.int64),
            self.teachers.organization.astype(np.int64),
            np.stack([lesson.weight for lesson in lessons]),
            np.stack([lesson.cosine for lesson in lessons]),
            np.stack([lesson.dot for lesson in lessons]),
        )
        log_odds = np.empty(len(pair))
        longest = _longest(self.collection, self.pooled)
        for i, lesson in enumerate(lessons):
            rows = np.flatnonzero(place == i)
            ridge, process, n_having, n_runs, best = sums[rows].T
            ridge = ridge - lesson.center[topic[rows]]
            signs = _signs(lesson.base[topic[rows]], n_having, n_runs, best, longest, ridge, process)
            log_odds[rows] = _weighted(signs, lesson.coefficients)
        return np.round(log_odds, _DIGITS)

    def own_lines(self, runs: OrderArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """What each run knows beyond the others, from its own judged documents: three arrays of shape (run,).

        Of its documents' log odds the shift at their mean, the slope, and their mean.
        """
        collection = self.collection
        own, sole = collection.organization[runs], np.append(sole_contributor(collection), -1)
        top = collection.document[runs, :, :TOP_OF_RUNS]
        relevance = np.append(collection.relevance, -1)[top]
        row, topic, rank = np.nonzero((relevance >= self.given) & (sole[top] != own[:, None, None]))
        pair, relevant = top[row, topic, rank], relevance[row, topic, rank] >= self.rel
        log_odds = np.full(len(pair), np.nan)
        teacher = np.searchsorted(self.teachers.pair, pair)
        teaches = teacher < len(self.teachers.pair)
        teaches[teaches] = self.teachers.pair[teacher[teaches]] == pair[teaches]
        for o in np.unique(own).tolist():
            mine = np.flatnonzero(teaches & (own[row] == o))
            lesson = self.lessons[o if o in self.lessons else NOBODY]
            log_odds[mine] = lesson.left_out[teacher[mine]]
        others = np.flatnonzero(np.isnan(log_odds))
        log_odds[others] = self.log_odds(runs[row[others]], topic[others], pair[others])
        return _own_lines(log_odds, relevant.astype(float), row, len(runs))


_kept: WeakKeyDictionary[Collection, dict[tuple[int, int], LearnedFusion]] = WeakKeyDictionary()


def learned_fusion(collection: Collection, *, rel: int = 1, given: int = 0) -> LearnedFusion:
    """What the judged documents of relevance ``given`` teach of those of ``rel``; made once by collection."""
    of_rungs = _kept.setdefault(collection, {})
    if (rel, given) not in of_rungs:
        with one_thread():
            of_rungs[rel, given] = _learn(collection, rel, given)
    return of_rungs[rel, given]


def gains(collection: Collection, runs: OrderArray, pair: npt.NDArray[np.integer]) -> FloatArray:
    """1/log₂(1 + rank) of documents in runs, 0 where a run lacks it, shape (document, run)."""
    of_rank = np.append(0.0, 1 / np.log2(np.arange(2, collection.document.shape[2] + 2)))
    return worth_of_ranks(collection, runs, pair, of_rank)


def worth_of_ranks(
    collection: Collection, runs: OrderArray, pair: npt.NDArray[np.integer], worth: FloatArray
) -> FloatArray:
    """Worth of documents' ranks in runs, by rank from 1, the first where a run lacks it, (document, run)."""
    rank_of = np.zeros(len(collection.relevance) + 1, dtype=np.int32)
    of_runs = np.empty((len(pair), len(runs)))
    for column, run in enumerate(runs):
        document, ranks = ranked(collection.document, run)
        rank_of[document] = ranks + 1
        rank_of[-1] = 0
        of_runs[:, column] = worth[rank_of[pair]]
        rank_of[document] = 0
    return of_runs


def _teachers(collection: Collection, pooled: OrderArray, rel: int, given: int) -> Teachers:
    """Judged documents in the top of pooled runs."""
    for depth in _DEPTHS:
        teaches = np.zeros(len(collection.relevance) + 1, dtype=bool)
        teaches[within(collection.document, pooled, depth)] = True
        if np.count_nonzero(teaches[:-1] & collection.judged) <= MOST_TEACHERS * len(collection.query_ids):
            break
    pair = np.flatnonzero(teaches[:-1] & (collection.relevance >= given))
    topic = collection.pair_topic[pair].astype(np.intp)
    return Teachers(
        pair=pair,
        relevant=(collection.relevance[pair] >= rel).astype(float),
        topic=topic,
        start=np.searchsorted(topic, np.arange(len(collection.query_ids) + 1)),
        gain=gains(collection, pooled, pair),
        organization=collection.organization[pooled],
        sole=sole_contributor(collection)[pair],
        depth=depth,
    )


def _longest(collection: Collection, pooled: OrderArray) -> int:
    return max(1, int(collection.length[pooled].max(initial=0)))


def _learn(collection: Collection, rel: int, given: int) -> LearnedFusion:
    """Lessons without each organization that contributed, and with all of them."""
    pooled = np.flatnonzero(collection.pooled)
    teachers = _teachers(collection, pooled, rel, given)
    units = [NOBODY, *np.unique(collection.organization[collection.contributors]).tolist()]
    kept = {o: teachers.without(o) for o in units}
    shares = {o: _Shares.of(teachers, kept[o]) for o in units}
    processes = _processes(teachers, kept, shares)
    regression, longest = _Regression.of(teachers), _longest(collection, pooled)
    lessons = {}
    for o in units:
        cosine, dot, of_process = processes[o]
        weight, center, of_ridge = regression.without(o, kept[o], shares[o])
        rows, n_having, best = kept[o], *teachers.support_without(o)
        n_runs = np.full(rows.sum(), float((teachers.organization != o).sum()))
        signs = _signs(
            shares[o].base_without[rows],
            n_having[rows],
            n_runs,
            best[rows],
            longest,
            of_ridge[rows],
            of_process[rows],
        )
        coefficients = _logistic(signs, teachers.relevant[rows])
        left_out = np.full(len(teachers.pair), np.nan)
        left_out[rows] = np.round(signs @ coefficients, _DIGITS)
        lessons[o] = Lesson(coefficients, shares[o].base, weight, center, cosine, dot, left_out)
    return LearnedFusion(collection, teachers, pooled, lessons, rel, given)


@dataclass(frozen=True, eq=False)
class _Shares:
    """Shares of relevant documents among some teachers."""

    n: FloatArray  # teachers of each topic, shape (topic,)
    centered: FloatArray  # relevance less the topic's mean, 0 for those that do not teach, (document,)
    change: FloatArray  # of the others' mean without each document, shape (document,)
    base: FloatArray  # log odds of each topic, shape (topic,)
    base_without: FloatArray  # the same without each document, shape (document,)

    @classmethod
    def of(cls, teachers: Teachers, kept: BoolArray) -> _Shares:
        relevant = np.where(kept, teachers.relevant, 0.0)
        n = np.bincount(teachers.topic, kept, teachers.n_topics).astype(float)
        n_relevant = np.bincount(teachers.topic, relevant, teachers.n_topics).astype(float)
        overall = (n_relevant.sum() + 0.5) / (n.sum() + 1)
        mean = n_relevant / np.maximum(n, 1)
        centered = np.where(kept, relevant - mean[teachers.topic], 0.0)

        def log_odds(some: FloatArray, every: FloatArray) -> FloatArray:
            share = (some + _BASE_DOCUMENTS * overall) / (every + _BASE_DOCUMENTS)
            return np.asarray(np.log(share / (1 - share)))

        others = n[teachers.topic] - kept
        return cls(
            n=n,
            centered=centered,
            change=centered / np.maximum(others, 1),
            base=log_odds(n_relevant, n),
            base_without=log_odds(n_relevant[teachers.topic] - relevant, others),
        )


@dataclass(frozen=True, eq=False)
class _Regression:
    """Ridge regression of relevance on gains over all topics, ready for organizations to leave it."""

    teachers: Teachers
    total: FloatArray  # of gains on each topic, shape (topic, run)
    square: FloatArray  # gains' × gains, shape (run, run)

    @classmethod
    def of(cls, teachers: Teachers) -> _Regression:
        return cls(teachers, _by_topic(teachers, teachers.gain), teachers.gain.T @ teachers.gain)

    def without(
        self, organization: int, kept: BoolArray, shares: _Shares
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Weights of runs, weighted mean gains of topics, and what others predict of each document."""
        teachers, gone = self.teachers, np.flatnonzero(~kept)
        gain, topic = teachers.gain, teachers.topic
        lost, total = gain[gone], self.total.copy()
        np.subtract.at(total, topic[gone], lost)
        mean = total / np.maximum(shares.n, 1)[:, None]
        columns = np.flatnonzero(teachers.organization != organization)
        own = np.ix_(columns, columns)
        normal = (self.square - lost.T @ lost - mean.T @ total)[own] + _RIDGE * np.eye(len(columns))
        inverse = np.zeros_like(self.square)
        inverse[own] = np.linalg.inv(normal)
        weight = inverse @ (gain.T @ shares.centered)
        solved, of_mean = gain @ inverse, mean @ inverse
        leverage = np.einsum("dr,dr->d", solved, gain) + (of_mean * mean).sum(axis=1)[topic]
        leverage -= 2 * _times_of_topic(solved, mean, teachers)
        leverage += 1 / np.maximum(shares.n, 1)[topic]
        mean = np.where(shares.n[:, None] > 0, mean, total.sum(axis=0) / max(shares.n.sum(), 1.0))
        center = mean @ weight
        residual = shares.centered - (gain @ weight - center[topic])
        several = kept & (shares.n[topic] > 1)
        # a value left out is y − residual/(1 − leverage); the topic's mean without the document goes off it
        free = np.where(several, 1 - leverage, 1.0)
        left_out = shares.centered - residual / free + shares.change
        return weight, center, np.where(several, left_out, 0.0)


def _processes(
    teachers: Teachers, kept: dict[int, BoolArray], shares: dict[int, _Shares]
) -> dict[int, tuple[FloatArray, FloatArray, FloatArray]]:
    """Gaussian processes: weights of runs by cosine and dot product, and left-out values, by organization."""
    n_runs, n_topics = len(teachers.organization), teachers.n_topics
    processes = {
        o: (np.zeros((n_topics, n_runs)), np.zeros((n_topics, n_runs)), np.zeros(len(teachers.pair)))
        for o in kept
    }
    scale = np.sqrt(_DOTS / max(n_runs, 1))
    organization = np.tile(teachers.organization, 2)
    for t in range(n_topics):
        rows = slice(int(teachers.start[t]), int(teachers.start[t + 1]))
        gain = teachers.gain[rows]
        if not len(gain):
            continue
        length = np.sqrt((gain**2).sum(axis=1, keepdims=True))
        process = _Process.of(np.hstack([gain / length, scale * gain]))
        for o, (cosine, dot, left_out) in processes.items():
            columns = np.flatnonzero(organization == o)
            weights, left_out[rows] = process.without(
                columns, kept[o][rows], shares[o].centered[rows], shares[o].change[rows]
            )
            cosine[t], dot[t] = weights[:n_runs], scale * weights[n_runs:]
    return processes


@dataclass(frozen=True, eq=False)
class _Process:
    """Ridge regression of penalty 1 on a topic's documents, ready for columns and rows to leave it."""

    features: FloatArray  # shape (document, feature)
    inverse: FloatArray  # of features' × features + 1, shape (feature, feature)
    leverage: FloatArray  # shape (document,)
    solved: FloatArray  # features × inverse, shape (document, feature)

    @classmethod
    def of(cls, features: FloatArray) -> _Process:
        inverse = np.asarray(np.linalg.inv(features.T @ features + np.eye(features.shape[1])), dtype=float)
        solved = features @ inverse
        return cls(features, inverse, (solved * features).sum(axis=1), solved)

    def without(
        self, columns: OrderArray, kept: BoolArray, centered: FloatArray, change: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Weights of features without some columns and rows, and what others predict of each row.

        The answers are ``centered``, 0 where not kept; with a row left out the mean of the others changes by
        minus ``change``.
        """
        features, gone = self.features, np.flatnonzero(~kept)
        answers = np.column_stack([centered, kept.astype(float)])
        weights = self.inverse @ (features.T @ answers)
        leverage = self.leverage
        lost = self.solved[gone].T
        if len(columns):
            own = np.linalg.inv(self.inverse[np.ix_(columns, columns)])
            weights = weights - self.inverse[:, columns] @ (own @ weights[columns])
            weights[columns] = 0.0
            of_rows = self.solved[:, columns]
            leverage = leverage - ((of_rows @ own) * of_rows).sum(axis=1)
            lost = lost - self.inverse[:, columns] @ (own @ lost[columns])
            lost[columns] = 0.0
        if len(gone):
            away = features[gone]
            rest = np.linalg.inv(np.eye(len(gone)) - away @ lost)
            weights = weights + lost @ (rest @ (away @ weights))
            to_lost = features @ lost
            leverage = leverage + ((to_lost @ rest) * to_lost).sum(axis=1)
        fitted, ones = (features @ weights).T
        free = 1 - leverage
        # what others predict of z is z − (z − fitted)/(1 − leverage), for z = centered + change
        left_out = centered + change - (centered - fitted + change * (1 - ones)) / free
        return weights[:, 0], np.where(kept, left_out, 0.0)


def _by_topic(teachers: Teachers, values: FloatArray) -> FloatArray:
    """Sums over the teachers of each topic, shape (topic, …)."""
    total = np.zeros((teachers.n_topics, values.shape[1]))
    for t in range(teachers.n_topics):
        total[t] = values[teachers.start[t] : teachers.start[t + 1]].sum(axis=0)
    return total


def _times_of_topic(values: FloatArray, of_topic: FloatArray, teachers: Teachers) -> FloatArray:
    """Products of each document's values with its topic's, shape (document,)."""
    products = np.empty(len(values))
    for t in range(teachers.n_topics):
        rows = slice(int(teachers.start[t]), int(teachers.start[t + 1]))
        products[rows] = values[rows] @ of_topic[t]
    return products


def _signs(
    base: FloatArray,
    n_having: npt.NDArray[np.number],
    n_runs: FloatArray,
    best: FloatArray,
    longest: int,
    ridge: FloatArray,
    process: FloatArray,
) -> FloatArray:
    """Predictors of the logistic regression, shape (document, 6); ``best`` is the largest gain."""
    with np.errstate(divide="ignore"):
        rank = np.where(best > 0, np.exp2(1 / best) - 1, float(_ABSENT_RANK_FACTOR * longest))
    support = np.log((n_having + 0.5) / (n_runs + 1))
    return np.column_stack([np.ones(len(base)), base, support, np.log(rank), ridge, process])


def _logistic(signs: FloatArray, relevant: FloatArray) -> FloatArray:
    """Coefficients of highest posterior density, shape (6,)."""
    x = _PRIOR_MEAN.copy()
    for _ in range(_MOST_STEPS):
        chance = 1 / (1 + np.exp(-(signs @ x)))
        gradient = signs.T @ (relevant - chance) - (x - _PRIOR_MEAN) / _PRIOR_SD**2
        curvature = (signs * (chance * (1 - chance))[:, None]).T @ signs + np.diag(1 / _PRIOR_SD**2)
        step = np.linalg.solve(curvature, gradient)
        x = x + step / max(1.0, np.abs(step).max() / _LONG_STEP)
        if np.abs(step).max() < _SMALL_STEP:
            break
    return x


def _own_lines(
    log_odds: FloatArray, relevant: FloatArray, row: OrderArray, n_rows: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Lines in log odds, a shift at their mean and a slope, that are added to fit each row's documents."""
    n = np.bincount(row, minlength=n_rows)
    center = np.bincount(row, log_odds, n_rows) / np.maximum(n, 1)
    off, shift, slope = log_odds - center[row], np.zeros(n_rows), np.zeros(n_rows)
    for _ in range(_STEPS_OF_LINES):  # as many for each row, whatever other rows there are
        chance = 1 / (1 + np.exp(-(log_odds + shift[row] + slope[row] * off)))
        error, spread = relevant - chance, chance * (1 - chance)
        of_shift = np.bincount(row, error, n_rows) - shift / _SHIFT_SD**2
        of_slope = np.bincount(row, error * off, n_rows) - slope / _SLOPE_SD**2
        a = np.bincount(row, spread, n_rows) + 1 / _SHIFT_SD**2
        b = np.bincount(row, spread * off, n_rows)
        c = np.bincount(row, spread * off**2, n_rows) + 1 / _SLOPE_SD**2
        shift = shift + np.clip((c * of_shift - b * of_slope) / (a * c - b**2), -1, 1)
        slope = slope + np.clip((a * of_slope - b * of_shift) / (a * c - b**2), -0.3, 0.3)
    return shift, slope, center


def _weighted(signs: FloatArray, coefficients: FloatArray) -> FloatArray:
    """Sums of weighted columns, to the bit the same for a row whatever other rows there are."""
    total = np.zeros(len(signs))
    for k in range(len(coefficients)):
        total += signs[:, k] * coefficients[k]
    return total


@compiled
def _sums(
    gain: FloatArray,
    topic: IndexArray,
    own: IndexArray,
    unit: IndexArray,
    organization: IndexArray,
    weight: FloatArray,
    cosine: FloatArray,
    dot: FloatArray,
) -> FloatArray:
    """Ridge, Gaussian process, runs that have a document, runs, and largest gain, shape (document, 5)."""
    sums = np.zeros((len(gain), 5))
    for i in range(len(gain)):
        u, t, of_cosine, of_dot, square = unit[i], topic[i], 0.0, 0.0, 0.0
        for j in range(gain.shape[1]):
            if organization[j] == own[i]:
                continue
            sums[i, 3] += 1
            a = gain[i, j]
            if a > 0:
                sums[i, 0] += weight[u, j] * a
                of_cosine += cosine[u, t, j] * a
                of_dot += dot[u, t, j] * a
                square += a * a
                sums[i, 2] += 1
                sums[i, 4] = max(sums[i, 4], a)
        if square > 0:
            sums[i, 1] = of_cosine / np.sqrt(square) + of_dot
    return sums
