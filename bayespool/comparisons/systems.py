"""Scores of systems from runs that are replicates of them, and what their variance is due to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayespool.arrays import FloatArray
from bayespool.measures import Estimates, Measure, Values, equal_tailed_interval
from bayespool.measures.populations import population_draws, unjudged_share, variance_of_topics
from bayespool.randomness import key_of

if TYPE_CHECKING:
    import pandas as pd


_SHARES_BY_ANOTHER = ("unjudged_variance", "assessor_variance")


@dataclass(frozen=True, eq=False)
class SystemScores:
    """Scores of systems, means over their runs, and the parts of their variance.

    Attributes
    ----------
    names : tuple of str
        The systems.
    n_runs : tuple of int
        Number of runs of each.
    value : ndarray of float, shape (system,)
        Posterior means.
    draws : ndarray of float, shape (draw, system)
        Means on these topics, of these runs.
    there : ndarray of float, shape (draw, system)
        Means on topics and of runs like these.
    of_topics, of_replicates, of_unjudged : ndarray of float, shape (system,)
        Variance of a system's mean due to the choice of topics, of runs and to unjudged documents;
        ``of_replicates`` is NaN where no system has two runs.
    of_assessor : ndarray of float, shape (system,), or None
        That due to another assessor, of scores by one.
    replicate, system : float
        Variance between runs of a system, and between systems, of means over these topics; ``system`` is at
        least 0.
    """

    names: tuple[str, ...]
    n_runs: tuple[int, ...]
    value: FloatArray
    draws: FloatArray
    there: FloatArray
    of_topics: FloatArray
    of_replicates: FloatArray
    of_unjudged: FloatArray
    replicate: float
    system: float
    of_assessor: FloatArray | None = None

    @property
    def shares(self) -> FloatArray:
        """Shares of topics, runs and unjudged documents in a system's variance, shape (3, system); runs have
        none where no system has two, and all are NaN where nothing varies.
        """
        parts = np.array([self.of_topics, np.nan_to_num(self.of_replicates), self.of_unjudged])
        with np.errstate(invalid="ignore"):
            return np.asarray(parts / parts.sum(axis=0))

    @property
    def components(self) -> dict[str, float]:
        """Variances by system, replicate, topic, unjudged documents and, of scores by one, another assessor;
        from the third on means over systems.
        """
        topic, unjudged = float(self.of_topics.mean()), float(self.of_unjudged.mean())
        parts = {"system": self.system, "replicate": self.replicate, "topic": topic, "unjudged": unjudged}
        return parts if self.of_assessor is None else parts | {"assessor": float(self.of_assessor.mean())}

    @property
    def shares_on_these(self) -> FloatArray:
        """Shares of unjudged documents and of another assessor on these topics, shape (2, system)."""
        assert self.of_assessor is not None
        parts = np.array([self.of_unjudged, self.of_assessor])
        with np.errstate(invalid="ignore"):
            return np.asarray(parts / parts.sum(axis=0))

    def interval(self, ci_prob: float, *, like_these: bool) -> tuple[FloatArray, FloatArray]:
        """Ends of the interval on these topics and runs, or on ones like these, shape (system,) each."""
        return equal_tailed_interval(self.there if like_these else self.draws, ci_prob)


def system_scores(
    values: Values,
    systems: Mapping[str, Sequence[int]],
    *,
    random_seed: int = 1,
    exchanged: Values | None = None,
) -> SystemScores:
    r"""Score systems by the mean of their runs.

    Parameters
    ----------
    values : Values, shape (draw, run, topic)
        Joint draws of the runs, on two topics or more.
    systems : mapping of str to sequence of int
        Positions of the runs of each system.
    random_seed : int, default 1
    exchanged : Values, shape (pair, 2, run, topic), optional
        Of scores by another assessor, as `bayespool.measures.Estimates` has them.

    Returns
    -------
    SystemScores

    Notes
    -----
    In each draw a system's mean over the population of topics is that of `population_draws`, of its mean over
    runs on each topic. Where a system has two runs or more, that of the population of its runs is off by
    :math:`z \\sqrt{SS / \\chi^2_\\nu} / \\sqrt{R}`, with :math:`SS` the sum of squares of runs' means within
    systems, :math:`\\nu` its degrees of freedom, of all systems together, and :math:`R` the system's runs.

    Examples
    --------
    >>> scores = np.array([[[4, 6], [6, 8], [1, 3]]])  # a draw of three runs on two topics
    >>> found = system_scores(Values(scores, 10), {"a": [0, 1], "b": [2]})
    >>> found.value.tolist(), round(found.replicate, 4), found.of_replicates.round(4).tolist()
    ([0.6, 0.2], 0.02, [0.01, 0.02])
    """
    scores, groups = values.scores(), list(systems.values())
    of_systems = _means_over_runs(scores, groups)
    means, n_runs = scores.mean(axis=2), np.array([len(runs) for runs in groups])
    draws = np.asarray(of_systems.mean(axis=2))
    squares = sum(((means[:, list(runs)] - draws[:, [s]]) ** 2).sum(axis=1) for s, runs in enumerate(groups))
    freedom = int((n_runs - 1).sum())
    replicate = float(np.mean(squares) / freedom) if freedom else float("nan")
    of_unjudged, of_assessor = draws.var(axis=0), None
    if exchanged is not None:
        share = unjudged_share(draws, _means_over_runs(exchanged.scores(), groups).mean(axis=-1))
        of_unjudged, of_assessor = (np.nan_to_num(part * of_unjudged) for part in (share, 1 - share))
    there = population_draws(of_systems, random_seed=random_seed)
    if freedom:
        rng = np.random.default_rng([random_seed, 1])
        scale = np.sqrt(squares / rng.chisquare(freedom, size=len(draws)))
        there += rng.normal(size=draws.shape) * scale[:, None] / np.sqrt(n_runs)
    return SystemScores(
        names=tuple(systems),
        n_runs=tuple(n_runs.tolist()),
        value=draws.mean(axis=0),
        draws=draws,
        there=there,
        of_topics=variance_of_topics(of_systems),
        of_replicates=replicate / n_runs,
        of_unjudged=of_unjudged,
        of_assessor=of_assessor,
        replicate=replicate,
        system=_between(draws, replicate, n_runs),
    )


def _means_over_runs(scores: FloatArray, groups: Sequence[Sequence[int]]) -> FloatArray:
    """Means over the runs of systems, shape (..., system, topic), of scores of shape (..., run, topic)."""
    return np.stack([scores[..., list(runs), :].mean(axis=-2) for runs in groups], axis=-2)


def _between(draws: FloatArray, replicate: float, n_runs: npt.NDArray[Any]) -> float:
    """Variance between systems: that of their means less what replicates add; NaN for one system."""
    if draws.shape[1] < 2:
        return float("nan")
    added = 0.0 if np.isnan(replicate) else float((replicate / n_runs).mean())
    return max(0.0, float(draws.var(axis=1, ddof=1).mean()) - added)


OfSystems = Mapping[tuple[Measure, str, bool], SystemScores]
"""By measure, method with draws, and whether these are of scores by another assessor."""


def scores_of_systems(
    systems: Iterable[tuple[str, str]], estimates: Sequence[Estimates], *, random_seed: int
) -> OfSystems:
    """Scores of systems, of pairs of run and system."""
    pairs, scores = tuple(systems), dict[tuple[Measure, str, bool], SystemScores]()
    for e in estimates:
        runs = dict[str, list[int]]()
        for run_id, system in pairs:
            if run_id in e.run_ids:
                runs.setdefault(system, []).append(e.run_ids.index(run_id))
        seed = key_of(random_seed, e.measure)
        for by_another, drawn, exchanged in ((False, e.draws, None), (True, e.by_another, e.exchanged)):
            if runs and drawn is not None:
                scores[e.measure, e.method, by_another] = system_scores(
                    drawn, runs, random_seed=seed, exchanged=exchanged
                )
    return scores


def system_frame(
    of_systems: OfSystems, scopes: Iterable[tuple[Measure, str, str]], ci_prob: float
) -> pd.DataFrame:
    """Frame of `Comparison.system_scores`."""
    import pandas as pd

    names = ["measure", "method", "scope", "system", "n_runs", "value", "lower", "upper", "ci_prob"]
    shares = ["topics_variance", "replicates_variance", "unjudged_variance"]
    frames = []
    for measure, method, scope in scopes if of_systems else ():
        by_another, like_these = scope == "another-assessor", scope == "population"
        one = of_systems[measure, method, by_another]
        lower, upper = (np.clip(end, *measure.range) for end in one.interval(ci_prob, like_these=like_these))
        columns: dict[str, Any] = {"measure": str(measure), "method": method, "scope": scope}
        columns |= {"system": one.names, "n_runs": one.n_runs, "value": one.value}
        columns |= {"lower": lower, "upper": upper, "ci_prob": ci_prob}
        columns |= dict(zip(shares, one.shares if like_these else [np.nan] * 3, strict=True))
        if by_another:
            columns |= dict(zip(_SHARES_BY_ANOTHER, one.shares_on_these, strict=True))
        frames.append(pd.DataFrame(columns).sort_values("value", ascending=False, kind="stable"))
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=[*names, *shares])


def variance_frame(of_systems: OfSystems) -> pd.DataFrame:
    """Frame of `Comparison.system_variance`."""
    import pandas as pd

    rows, is_asked = [], any(by_another for *_, by_another in of_systems)
    for (measure, method, by_another), one in of_systems.items():
        total = np.nansum(list(one.components.values())) or np.nan
        if by_another == is_asked:
            rows += [(str(measure), method, name, v, v / total) for name, v in one.components.items()]
    return pd.DataFrame(rows, columns=["measure", "method", "component", "variance", "share"])
