"""Scores of systems from runs that are replicates of them, and what their variance is due to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayespool.measures import Estimates, Measure, Values, equal_tailed_interval
from bayespool.measures.populations import population_draws, variance_of_topics
from bayespool.randomness import key_of

if TYPE_CHECKING:
    import pandas as pd

FloatArray = npt.NDArray[np.float64]


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
        """Variances by system, replicate, topic and unjudged documents, the last two means over systems."""
        topic, unjudged = float(self.of_topics.mean()), float(self.of_unjudged.mean())
        return {"system": self.system, "replicate": self.replicate, "topic": topic, "unjudged": unjudged}

    def interval(self, ci_prob: float, *, like_these: bool) -> tuple[FloatArray, FloatArray]:
        """Ends of the interval on these topics and runs, or on ones like these, shape (system,) each."""
        return equal_tailed_interval(self.there if like_these else self.draws, ci_prob)


def system_scores(
    values: Values, systems: Mapping[str, Sequence[int]], *, random_seed: int = 1
) -> SystemScores:
    r"""Score systems by the mean of their runs.

    Parameters
    ----------
    values : Values, shape (draw, run, topic)
        Joint draws of the runs, on two topics or more.
    systems : mapping of str to sequence of int
        Positions of the runs of each system.
    random_seed : int, default 1

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
    of_systems = np.stack([scores[:, list(runs)].mean(axis=1) for runs in groups], axis=1)
    means, n_runs = scores.mean(axis=2), np.array([len(runs) for runs in groups])
    draws = np.asarray(of_systems.mean(axis=2))
    squares = sum(((means[:, list(runs)] - draws[:, [s]]) ** 2).sum(axis=1) for s, runs in enumerate(groups))
    freedom = int((n_runs - 1).sum())
    replicate = float(np.mean(squares) / freedom) if freedom else float("nan")
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
        of_unjudged=draws.var(axis=0),
        replicate=replicate,
        system=_between(draws, replicate, n_runs),
    )


def _between(draws: FloatArray, replicate: float, n_runs: npt.NDArray[Any]) -> float:
    """Variance between systems: that of their means less what replicates add; NaN for one system."""
    if draws.shape[1] < 2:
        return float("nan")
    added = 0.0 if np.isnan(replicate) else float((replicate / n_runs).mean())
    return max(0.0, float(draws.var(axis=1, ddof=1).mean()) - added)


def scores_of_systems(
    systems: Iterable[tuple[str, str]], drawn: Sequence[Estimates], *, random_seed: int
) -> dict[tuple[Measure, str], SystemScores]:
    """Scores of systems, of pairs of run and system, by measure and method with draws."""
    pairs, scores = tuple(systems), dict[tuple[Measure, str], SystemScores]()
    for e in drawn:
        runs = dict[str, list[int]]()
        for run_id, system in pairs:
            if run_id in e.run_ids:
                runs.setdefault(system, []).append(e.run_ids.index(run_id))
        if runs and e.draws is not None:
            seed = key_of(random_seed, e.measure)
            scores[e.measure, e.method] = system_scores(e.draws, runs, random_seed=seed)
    return scores


def system_frame(
    of_systems: Mapping[tuple[Measure, str], SystemScores],
    scopes: Iterable[tuple[Measure, str, str]],
    ci_prob: float,
) -> pd.DataFrame:
    """Frame of `Comparison.system_scores`."""
    import pandas as pd

    names = ["measure", "method", "scope", "system", "n_runs", "value", "lower", "upper", "ci_prob"]
    shares = ["topics_variance", "replicates_variance", "unjudged_variance"]
    frames = []
    known = [key for key in scopes if key[2] != "another-assessor"]  # systems are scored by these judgments
    for measure, method, scope in known if of_systems else ():
        one, like_these = of_systems[measure, method], scope == "population"
        lower, upper = (np.clip(end, *measure.range) for end in one.interval(ci_prob, like_these=like_these))
        columns: dict[str, Any] = {"measure": str(measure), "method": method, "scope": scope}
        columns |= {"system": one.names, "n_runs": one.n_runs, "value": one.value}
        columns |= {"lower": lower, "upper": upper, "ci_prob": ci_prob}
        columns |= dict(zip(shares, one.shares if like_these else [np.nan] * 3, strict=True))
        frames.append(pd.DataFrame(columns).sort_values("value", ascending=False, kind="stable"))
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=[*names, *shares])


def variance_frame(of_systems: Mapping[tuple[Measure, str], SystemScores]) -> pd.DataFrame:
    """Frame of `Comparison.system_variance`."""
    import pandas as pd

    rows = []
    for (measure, method), one in of_systems.items():
        total = np.nansum(list(one.components.values())) or np.nan
        rows += [(str(measure), method, name, v, v / total) for name, v in one.components.items()]
    return pd.DataFrame(rows, columns=["measure", "method", "component", "variance", "share"])
