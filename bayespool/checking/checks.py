"""Every check of models on the pool at hand in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from bayespool import __version__
from bayespool.checking.containers import gather_container
from bayespool.checking.fitting import EngineName, Fitting
from bayespool.checking.hidden import HiddenDocuments, pool_alone
from bayespool.checking.predictions import HeldOutPrediction, check_pool, fit_folds, predict_held_out
from bayespool.checking.tables import CI_PROBS, calibration_frame, elpd_frame, run_frame, stack
from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.measures import Measure, parse_measures
from bayespool.posterior import COMBINED, MODEL_NAMES, Task, evidence_depth, prior_names

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ModelChecks", "check_models", "checked_models"]


@dataclass(frozen=True, eq=False)
class ModelChecks:
    """Predictions of held-out organizations by several models under several measures.

    Attributes
    ----------
    predictions : tuple of HeldOutPrediction
        Measure by measure, in the order of the models; then, where all of its models were checked, the
        mixture ``combined``.
    containers : mapping of (str, str) to xarray.DataTree
        By measure and model, for ArviZ; see `gather_container`. Empty if they were not asked for.
    metadata : mapping
        Version, fingerprint and settings: what a result must be quoted with.
    """

    predictions: tuple[HeldOutPrediction, ...]
    containers: Mapping[tuple[str, str], Any]
    metadata: Mapping[str, Any]

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, in their order."""
        return tuple(dict.fromkeys(p.measure for p in self.predictions))

    def __getitem__(self, key: tuple[str, object]) -> HeldOutPrediction:
        """The predictions of one model under one measure: ``checks["ratio", "P@10"]``."""
        model, measure = key
        for prediction in self.predictions:
            if prediction.model == model and str(prediction.measure) == str(measure):
                return prediction
        raise KeyError(key)

    def calibration(self, ci_probs: Sequence[float] = CI_PROBS) -> pd.DataFrame:
        """Shares of randomised PIT values and coverage, see `calibration_frame`."""
        return calibration_frame(self.predictions, ci_probs)

    def elpd(self) -> pd.DataFrame:
        """Models by log predictive density, see `elpd_frame`."""
        return elpd_frame(self.predictions, COMBINED)

    def runs(self, ci_prob: float = 0.95) -> pd.DataFrame:
        """Predictions beside what was observed, see `run_frame`."""
        return run_frame(self.predictions, ci_prob)

    @property
    def problems(self) -> tuple[str, ...]:
        """Checks that fits did not pass."""
        return tuple(
            f"{p.measure}, {p.model}: {problem}"
            for p in self.predictions
            if p.model != "combined"
            for problem in p.problems
        )


def check_models(
    collection: Collection,
    measures: object = "P@10",
    *,
    models: str | Iterable[str] = MODEL_NAMES,
    engine: EngineName = "laplace",
    priors: Mapping[str, str] | None = None,
    draws: int = 500,
    tune: int = 1000,
    chains: int = 4,
    n_folds: int = 5,
    containers: bool = True,
    random_seed: int = 1,
    report: Callable[[str], None] | None = None,
) -> ModelChecks:
    """Check models on the pool at hand: hold organizations out, predict their runs, compare.

    No judgment but the pool's own takes part. Documents that stay unjudged when all organizations are pooled
    count as nonrelevant throughout, in the predictions as in what was observed.

    Parameters
    ----------
    collection : Collection
        With a pool of three organizations or more. Runs that were not pooled take no part, and judgments of
        one's own count as not made.
    measures : measure or iterable of measures
    models : str or iterable of str
        Out of `bayespool.posterior.MODEL_NAMES`.
    engine : {"laplace", "nuts"}
    priors : mapping of str to str, optional
        Priors that replace the models' own, by variable.
    draws, tune, chains : int
        Draws and tuning draws per chain, and chains; the Laplace engine makes ``draws × chains`` draws.
    n_folds : int, default 5
        Folds of organizations, as in the weights of the combined estimator.
    containers : bool, default True
        Whether to fit each model to the whole pool, too, and gather all in containers for ArviZ.
    random_seed : int
        The same inputs and seed give the same bytes.
    report : callable, optional
        Called with what is being done.

    Returns
    -------
    ModelChecks

    Raises
    ------
    InputError
        Unknown model, engine or prior; a pool from which nothing can be held out.

    Examples
    --------
    >>> from bayespool import load_example
    >>> checks = check_models(load_example(), models="ratio", draws=50, containers=False)
    >>> checks["ratio", "P@10"].draws.shape
    (200, 21)
    """
    names = checked_models(models)
    given = dict(priors or {})
    known = {prior for name in names for prior in prior_names(name)}
    if unknown := [prior for prior in given if prior not in known]:
        raise InputError(f"no prior {unknown[0]!r}", hint=f"these models have {', '.join(sorted(known))}")
    fitting = Fitting(engine=engine, draws=draws, tune=tune, chains=chains)
    predictions: list[HeldOutPrediction] = []
    gathered = {}
    parsed, collection = parse_measures(measures), pool_alone(collection)
    found: dict[tuple[Measure, str], HeldOutPrediction] = {}
    for name in names:
        for group in _sharing(name, parsed):
            task = Task(collection, (), group[0], "pooled")
            hidden = [HiddenDocuments(task, measure) for measure in group]
            for one in hidden:
                check_pool(one, n_folds)
            prepared = task.prepare(name, given)  # type: ignore[arg-type]
            fits = fit_folds(
                prepared, hidden[0], fitting, n_folds=n_folds, random_seed=random_seed, report=report
            )
            whole = None
            if containers:
                if report is not None:
                    report(f"{', '.join(map(str, group))}, {name}: the whole pool")
                whole = fitting.fit(prepared, prepared.evidence, random_seed)
            for one in hidden:
                predicted = predict_held_out(
                    prepared, one, fitting, n_folds=n_folds, random_seed=random_seed, fits=fits
                )
                found[one.measure, name] = predicted
                if whole is not None:
                    gathered[str(one.measure), name] = gather_container(
                        prepared, one, fitting, predicted, random_seed=random_seed, fit=whole
                    )
    for measure in parsed:
        of_measure = [found[measure, name] for name in names]
        members = [p for p in of_measure if p.model in COMBINED]
        if len(members) == len(COMBINED):
            of_measure.append(stack(members, random_seed=random_seed))
        predictions += of_measure
    return ModelChecks(
        tuple(predictions),
        MappingProxyType(gathered),
        MappingProxyType(
            {
                "version": __version__,
                "collection_fingerprint": collection.fingerprint,
                "measures": [str(m) for m in parsed],
                "models": list(names),
                "engine": engine,
                "priors": given,
                "draws": draws,
                "tune": tune,
                "chains": chains,
                "n_folds": n_folds,
                "random_seed": random_seed,
            }
        ),
    )


def _sharing(model: str, measures: Sequence[Measure]) -> list[list[Measure]]:
    """Measures whose evidence for a model is the same, the deepest first in each group."""
    groups: dict[tuple[int, int], list[Measure]] = {}
    for measure in measures:
        depth = evidence_depth(model, measure.cutoff)  # type: ignore[arg-type]
        groups.setdefault((measure.rel, depth), []).append(measure)
    return [sorted(group, key=lambda measure: -measure.cutoff) for group in groups.values()]


def checked_models(models: str | Iterable[str]) -> tuple[str, ...]:
    """Names of models, each known.

    Raises
    ------
    InputError
        An unknown name, or none.
    """
    names = (models,) if isinstance(models, str) else tuple(dict.fromkeys(models))
    if unknown := [name for name in names if name not in MODEL_NAMES]:
        hint = f"known: {', '.join(MODEL_NAMES)}"
        if unknown[0] == "combined":
            hint = f"it is checked where all of its models are: {', '.join(COMBINED)}"
        raise InputError(f"no model {unknown[0]!r} to check", hint=hint)
    if not names:
        raise InputError("no model to check", hint=f"known: {', '.join(MODEL_NAMES)}")
    return names
