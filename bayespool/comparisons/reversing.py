"""Significance under few judgments that more judgments take back (Ravana & Moffat 2010, §4).

References
----------
S. D. Ravana and A. Moffat (2010). Estimating system effectiveness scores with incomplete evidence.
Proceedings of the 15th Australasian Document Computing Symposium.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Unpack

import numpy as np

from bayespool import __version__
from bayespool.collection import Collection
from bayespool.comparisons.comparison import AS_THEY_STAND
from bayespool.comparisons.outcomes import Outcome, Reversals
from bayespool.comparisons.repeated_tests import DRAW_TESTS, SignificantDraws, significant_draws
from bayespool.comparisons.settings import ReversalSettings
from bayespool.comparisons.shallow import judgment_subset, unpooled_copies
from bayespool.comparisons.significance import Control, SignificanceTest, adjust_p_values, p_values
from bayespool.corrections import Constants, Interpolated, LowerBound, Smoothed, fit_constants
from bayespool.errors import InputError
from bayespool.evidence import score_bounds
from bayespool.evidence.ideals import values_on_fuller
from bayespool.measures import Estimates, Estimator, Measure, parse_measure
from bayespool.measures.estimates import ask
from bayespool.measures.normalized import with_ideal
from bayespool.options import documented, options_of
from bayespool.posterior import PosteriorEstimator, PosteriorOptions
from bayespool.posterior.keywords import refuse_unknown_settings
from bayespool.scoring import named_estimators, parse_estimator
from bayespool.scoring.estimators import refuse_idle_priors
from bayespool.scoring.scoring import refuse_of_judgments

FIT_JUDGMENTS = (1_000, 2_000, 4_000, 10_000, 20_000, 40_000)
"""Sizes of the judgment sets that the paper fits its constants over."""

_FITTED = {"interpolated": Interpolated, "smoothed": Smoothed}


@documented(ReversalSettings)
def reversals(
    collection: Collection,
    run_ids: Iterable[str] | None = None,
    measure: object = "P@10",
    *,
    judgments: Sequence[int] = (1_000, 10_000),
    estimators: Sequence[str | Estimator] = ("interpolated", "smoothed", "posterior-combined"),
    fitted: bool = True,
    announce: Sequence[float] = (0.5, 0.8, 0.95),
    test: SignificanceTest = "paired-t",
    level: float = 0.01,
    control: Control = "none",
    random_seed: int = 1,
    report: Callable[[str], None] | None = None,
    **settings: Unpack[PosteriorOptions],
) -> Reversals:
    """Count the significant differences under few judgments that all judgments reverse, by method.

    Parameters
    ----------
    collection : Collection
        With all judgments, and pooled runs to order them by.
    run_ids : iterable of str, optional
        Runs whose pairs to consider; default: all. Pooled ones are the contributing group, the others the
        non-contributing one, and pairs are formed within a group of two or more.
    measure : measure
    {options}
    report : callable, optional
        Called with a line on each stage of the work as it begins.
    **settings
        Settings of the named estimators: ``draws``, ``chains``, ….

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
    (`bayespool.comparisons.shallow.unpooled_copies`), which have the effect of a new organization, like the
    other runs; the runs themselves remain evidence.

    Runs share one ideal ranking (``nDCG(ideal='shared')@10``), because differences need one scale.

    All judgments may still leave documents unjudged in runs that did not contribute. "All judgments" then
    takes these as nonrelevant, as the paper does, while draws complete them. Announced chances are graded
    only on pairs of runs with at most one unjudged rank in a hundred.

    Examples
    --------
    >>> from bayespool import load_example
    >>> from bayespool.comparisons import reversals
    >>> result = reversals(load_example(), judgments=[300], estimators=["smoothed"], fitted=False)
    >>> rates = result.rates().query("group == 'contributing' and against == 'same method'")
    >>> columns = ["method", "separability", "separability_all", "reversed"]
    >>> print(rates[columns].round(3).to_string(index=False))
         method  separability  separability_all  reversed
    lower-bound         0.133              0.39     0.005
       smoothed         0.210              0.39     0.010
    """
    (parsed,) = with_ideal([parse_measure(measure)], "shared")
    refuse_of_judgments([parsed])
    ReversalSettings(
        judgments=tuple(judgments),
        announce=tuple(announce),
        test=test,
        level=level,
        control=control,
        random_seed=random_seed,
    )
    if test == "tukey-hsd":
        control = "none"
    chosen = _methods(estimators, random_seed=random_seed, **settings)
    groups = _groups(collection, run_ids)
    n_all = int(collection.judged.sum())
    sizes = sorted({int(n) for n in judgments if n < n_all})
    if not sizes:
        raise InputError(
            f"no judgment set is smaller than all {n_all} judgments", hint="ask for fewer judgments"
        )
    say = report or (lambda line: None)
    constants: dict[str, Constants] = {}
    if fitted and "contributing" in groups:
        wanted = [name for name in _FITTED if name in chosen]
        constants = _fit(collection, groups["contributing"], parsed, sizes, wanted, random_seed)
        chosen |= {f"{name} fitted": _with_constants(chosen[name], c) for name, c in constants.items()}
    subsets = {n: judgment_subset(collection, n, random_seed=random_seed) for n in (*sizes, n_all)}
    outcomes: dict[tuple[str, int, str], Outcome] = {}
    draws: dict[tuple[str, int, str], SignificantDraws] = {}
    residual, truth = {}, {}
    for group, runs in groups.items():
        for n, subset in subsets.items():
            truth[group, n] = values_on_fuller(subset, collection, runs, parsed).means()
            residual[group, n] = float(score_bounds(subset, runs, parsed).residual.mean())
            for name, estimator in chosen.items():
                say(f"{group} runs, {n} judgments: {name}")
                estimates = _estimate(estimator, subset, runs, parsed)
                outcomes[group, n, name] = _outcome(estimates, test, level, control, random_seed)
                if estimates.draws is None or test not in DRAW_TESTS:
                    continue
                significance = significant_draws(
                    estimates.draws.on_grid(), test=test, level=level, control=control
                )
                draws[group, n, name] = significance
                unknown = np.full(significance.n_greater.shape, np.nan)
                for share in announce:
                    often = significance.n_greater >= share * significance.n_draws
                    better = often & (
                        significance.n_greater > significance.n_greater.T
                    )  # half and half is neither
                    outcomes[group, n, f"{name}>={share:g}"] = Outcome(estimates.value, unknown, better)
    return Reversals(
        measure=parsed,
        groups=groups,
        n_judgments=(*sizes, n_all),
        pool_depth={n: subset.pool_depth for n, subset in subsets.items()},
        methods=tuple(dict.fromkeys(method for _, _, method in outcomes)),
        outcomes=outcomes,
        draws=draws,
        truth=truth,
        residual=residual,
        holes={
            group: score_bounds(collection, runs, parsed).unjudged_share for group, runs in groups.items()
        },
        constants=constants,
        test=test,
        level=level,
        control=control,
        metadata={
            "bayespool": __version__,
            "fingerprint": collection.fingerprint,
            "measure": str(parsed),
            "judgments": [*sizes, n_all],
            "test": test,
            "level": level,
            "control": control,
            "announce": list(announce),
            "random_seed": random_seed,
            "settings": {name: str(value) for name, value in settings.items()},
        },
    )


def _methods(estimators: Sequence[str | Estimator], **settings: Any) -> dict[str, Estimator]:
    """Estimators by name, the uncorrected scores first."""
    known = set(PosteriorEstimator.__dataclass_fields__) - {"model", "estimand", "random_seed"}
    refuse_unknown_settings(
        settings.keys() - {"random_seed"}, known, more={"reversals": options_of(ReversalSettings)}
    )
    chosen: dict[str, Estimator] = {AS_THEY_STAND: LowerBound()}
    for named in named_estimators(estimators):
        estimator = parse_estimator(named, **settings)
        if estimator.name in chosen and estimator.name != AS_THEY_STAND:
            raise InputError(f"two estimators are called {estimator.name!r}", hint="ask for one of them")
        chosen[estimator.name] = estimator
    refuse_idle_priors(chosen.values(), settings.get("priors") or {})
    return chosen


def _groups(collection: Collection, run_ids: Iterable[str] | None) -> dict[str, tuple[str, ...]]:
    """Runs of the contributing and the non-contributing group, of two or more each."""
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
    methods: Sequence[str],
    random_seed: int,
) -> dict[str, Constants]:
    """Constants of each method, fitted to the lower bounds under all judgments."""
    n_all = int(collection.judged.sum())
    used = FIT_JUDGMENTS if FIT_JUDGMENTS[-1] < n_all else sizes
    truth = score_bounds(collection, runs, measure)
    counts = [
        score_bounds(judgment_subset(collection, n, random_seed=random_seed), runs, measure) for n in used
    ]
    return {method: fit_constants(method, counts, truth) for method in methods}  # type: ignore[arg-type]


def _with_constants(estimator: Any, constants: Constants) -> Estimator:
    """Replace the constants of an estimator that the data determine."""
    fitted = {name: getattr(constants, name) for name in ("c", "e")}
    replaced: Estimator = dataclasses.replace(
        estimator, **{name: x for name, x in fitted.items() if not np.isnan(x)}
    )
    return replaced


def _estimate(
    estimator: Estimator, collection: Collection, runs: tuple[str, ...], measure: Measure
) -> Estimates:
    """Estimates of runs, by a posterior all together and as unpooled copies."""
    if isinstance(estimator, PosteriorEstimator):
        estimator = dataclasses.replace(estimator, together=True)
        collection, runs = unpooled_copies(collection, runs)
    (estimates,) = ask(estimator, collection, runs, (measure,))
    return estimates


def _outcome(
    estimates: Estimates, test: SignificanceTest, level: float, control: Control, random_seed: int
) -> Outcome:
    """Values, adjusted p-values, and significantly better runs of estimates."""
    p = adjust_p_values(p_values(estimates.per_topic, test, random_seed=random_seed), control)
    difference = np.subtract.outer(estimates.value, estimates.value)
    return Outcome(estimates.value, p, (p <= level) & (difference > 0))
