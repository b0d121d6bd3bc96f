"""Checks of models on the pool at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from bayespool import __version__
from bayespool.collection import Collection
from bayespool.errors import InputError, known_names
from bayespool.experiments.check_containers import gather_container
from bayespool.experiments.check_tables import CI_PROBS, calibration_frame, elpd_frame, run_frame, stack
from bayespool.experiments.fitting import Fitting
from bayespool.experiments.hidden import HiddenDocuments, pool_alone
from bayespool.experiments.predictions import (
    HeldOutPrediction,
    check_pool,
    fit_folds,
    predict_held_out,
    predict_mixture,
)
from bayespool.measures import Measure, parse_measures
from bayespool.models import MODEL_NAMES, MODELS
from bayespool.posterior import Prepared, Rung, Task
from bayespool.posterior.ladder import rungs_of
from bayespool.posterior.preparation import COMBINED, evidence_depth, prior_names
from bayespool.posterior.second_judges import warn_of_judges
from bayespool.scoring.estimators import refuse_large_priors
from bayespool.tables.printable import some_of
from bayespool.tables.reprs import Shown, one_line

if TYPE_CHECKING:
    import pandas as pd

    from bayespool.inference import Fit

CheckTable = Literal["runs", "elpd", "calibration"]


@dataclass(frozen=True, eq=False, repr=False)
class ModelChecks(Shown):
    """Predictions of held-out organizations by several models under several measures.

    Attributes
    ----------
    predictions : tuple of HeldOutPrediction
        Measure by measure, in the order of the models; then, where all of its models were checked, the
        mixture ``combined``.
    containers : mapping of (str, str) to xarray.DataTree
        By measure and model, for ArviZ; empty if not requested. A measure of several levels of relevance has
        one more for each rung above the first, of the model ``ratio-2-of-1``.
    metadata : mapping
        Version, fingerprint and settings.

    Notes
    -----
    Groups of a container: ``posterior`` and ``sample_stats`` (the fit to the whole pool), ``prior``,
    ``prior_predictive`` and ``posterior_predictive`` (of the data of the fit), ``predictions`` (of runs whose
    organization was held out), ``observed_data``, ``log_likelihood``, ``constant_data`` and
    ``predictions_constant_data``. A *cell* is a (run, topic) with hidden documents credited to it; the
    observation in ``log_likelihood`` is which of its documents are relevant, for all models alike.

    Variables: ``hidden_relevant`` (cell), its hidden documents that reach the rung; ``n_hidden_relevant``
    (pooled_run), all of a run's; under P@n with one rung also ``precision`` (pooled_run), under other
    measures ``value`` (pooled_run), in ``predictions`` and ``observed_data`` of the first rung. ``posterior``
    has the scale of effects of organization × topic and not the effects; ``log_likelihood`` and
    ``posterior_predictive`` draw them given all else and the documents.
    """

    predictions: tuple[HeldOutPrediction, ...]
    containers: Mapping[tuple[str, str], Any]
    metadata: Mapping[str, Any]

    def __repr__(self) -> str:
        models = some_of(dict.fromkeys(p.model for p in self.predictions), 5)
        return one_line(
            "ModelChecks", f"{models}; {some_of(self.measures, 3)}; {len(self.problems)} problems"
        )

    def to_frame(self, table: CheckTable = "runs") -> pd.DataFrame:
        """The table `runs`, `elpd` or `calibration`."""
        frame: pd.DataFrame = getattr(self, table)()
        return frame

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """The measures in order."""
        return tuple(dict.fromkeys(p.measure for p in self.predictions))

    def __getitem__(self, key: tuple[str, object]) -> HeldOutPrediction:
        """The predictions of one model under one measure: ``checks["ratio", "P@10"]``."""
        model, measure = key
        for prediction in self.predictions:
            if prediction.model == model and str(prediction.measure) == str(measure):
                return prediction
        raise KeyError(key)

    def calibration(self, ci_probs: Sequence[float] = CI_PROBS) -> pd.DataFrame:
        """Shares of randomized PIT values and coverage, see `calibration_frame`."""
        return calibration_frame(self.predictions, ci_probs)

    def elpd(self) -> pd.DataFrame:
        """Models by log predictive density, see `elpd_frame`."""
        return elpd_frame(self.predictions, COMBINED)

    def runs(self, ci_prob: float = 0.95) -> pd.DataFrame:
        """Predictions with the observed values, see `run_frame`."""
        return run_frame(self.predictions, ci_prob)

    @property
    def problems(self) -> tuple[str, ...]:
        """Failed checks of the fits."""
        return tuple(
            f"{p.measure}, {p.model}: {problem}"
            for p in self.predictions
            if p.model != "combined"
            for problem in p.problems
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes that every output repeats, a line each: the problems."""
        return self.problems


def check_models(
    collection: Collection,
    measures: object = "P@10",
    *,
    models: str | Iterable[str] = MODEL_NAMES,
    engine: str = "laplace",
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

    Only the pool's own judgments take part; documents that stay unjudged with all organizations pooled count
    as nonrelevant, in predictions and observations. Values of the measure are predicted, from models fitted
    on each rung of its ladder; an ideal ranking includes the organization's hidden documents as drawn.

    Parameters
    ----------
    collection : Collection
        With a pool of three organizations or more. Runs outside the pool and judgments of your own are left
        out.
    measures : measure or iterable of measures
    models : str or iterable of str
        Out of `bayespool.models.MODELS`; default: the package's.
    engine : str
        Out of `bayespool.inference.ENGINES`.
    priors : mapping of str to str, optional
        Priors that replace the models' own, by variable.
    draws, tune, chains : int
        Draws and tuning draws per chain, and chains; the Laplace engine makes ``draws × chains`` draws.
    n_folds : int, default 5
        Folds of organizations, as in the weights of the combined estimator.
    containers : bool, default True
        Whether to fit each model to the whole pool, too, and gather containers for ArviZ.
    random_seed : int
        The same inputs and seed give the same bytes.
    report : callable, optional
        Called with a line on the current step.

    Returns
    -------
    ModelChecks

    Raises
    ------
    InputError
        Unknown model, engine or prior; a pool from which no fold can be held out.

    Warns
    -----
    JudgeWarning
        Labels of a second judge are not used, for all runs or an organization's.

    Examples
    --------
    >>> from bayespool import load_example
    >>> checks = check_models(load_example(), models="ratio", draws=50, containers=False)
    >>> checks["ratio", "P@10"].draws.shape
    (200, 21)
    """
    names = checked_models(models)
    replaced_priors = dict(priors or {})
    known = {prior for name in names for prior in prior_names(name)}
    if unknown := [prior for prior in replaced_priors if prior not in known]:
        raise InputError(
            f"no prior {unknown[0]!r}",
            hint=known_names(unknown[0], sorted(known), before="these models have "),
        )
    refuse_large_priors(replaced_priors)
    fitting = Fitting(engine=engine, draws=draws, tune=tune, chains=chains)
    parsed, collection = parse_measures(measures), pool_alone(collection)
    warn_of_judges(collection, (), parsed)
    fits = _Fits(collection, parsed, replaced_priors, fitting, n_folds, random_seed, report, containers)
    predictions: list[HeldOutPrediction] = []
    gathered = {}
    for measure in parsed:
        steps: dict[str, tuple[list[Prepared], list[tuple[Fit, ...]]]] = {}
        of_measure = []
        for name in names:
            of_rungs = [fits.on(name, measure, rung) for rung in rungs_of(collection, measure)]
            first = of_rungs[0].hidden(measure)
            steps[name] = [fitted.prepared for fitted in of_rungs], [fitted.fits for fitted in of_rungs]
            predicted = predict_held_out(
                steps[name][0], first, fitting, n_folds=n_folds, random_seed=random_seed, fits=steps[name][1]
            )
            of_measure.append(predicted)
            for fitted in of_rungs if containers else ():
                hidden = fitted.hidden(measure)
                if not hidden.counts.n_hidden.any():  # no document has reached the rung below
                    continue
                gathered[str(measure), fitted.name] = gather_container(
                    fitted.prepared,
                    hidden,
                    fitting,
                    predicted,
                    random_seed=random_seed,
                    fit=fitted.whole,
                )
        members = [p for p in of_measure if p.model in COMBINED]
        if len(members) == len(COMBINED):
            if len(members[0].densities) == 1:
                of_measure.append(stack(members, random_seed=random_seed))
            else:
                both = {p.model: steps[p.model] for p in members}
                mixed = predict_mixture(
                    both, members, first, fitting, n_folds=n_folds, random_seed=random_seed
                )
                of_measure.append(mixed)
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
                "priors": replaced_priors,
                "draws": draws,
                "tune": tune,
                "chains": chains,
                "n_folds": n_folds,
                "random_seed": random_seed,
            }
        ),
    )


@dataclass(frozen=True, eq=False)
class _ModelOnRung:
    """One model on one rung, fitted to the evidence that measures of some depth share."""

    task: Task
    prepared: Prepared
    fits: tuple[Fit, ...]
    whole: Fit | None

    @property
    def name(self) -> str:
        """The model's name, with the rung above the first."""
        rung = self.task.asked
        return f"{self.prepared.model}-{rung.rel}-of-{rung.given}" if rung.given else self.prepared.model

    def hidden(self, measure: Measure) -> HiddenDocuments:
        """The rung's hidden documents within the cutoff of a measure."""
        return HiddenDocuments(self.task, measure)


@dataclass
class _Fits:
    """Fits of models on rungs, each made once for the measures that share it."""

    collection: Collection
    measures: Sequence[Measure]
    priors: dict[str, str]
    fitting: Fitting
    n_folds: int
    random_seed: int
    report: Callable[[str], None] | None
    containers: bool
    _made: dict[tuple[str, Rung, int], _ModelOnRung] = field(default_factory=dict)

    def on(self, model: str, measure: Measure, rung: Rung) -> _ModelOnRung:
        """The model on a rung with the evidence for a measure, fitted on first use."""
        depth = evidence_depth(model, measure.cutoff)
        key = model, rung, depth
        if key not in self._made:
            sharing = [
                other
                for other in self.measures
                if evidence_depth(model, other.cutoff) == depth and rung in rungs_of(self.collection, other)
            ]
            deepest = max(sharing, key=lambda other: other.cutoff)
            task = Task(self.collection, (), deepest, "pooled", rung=rung)
            hidden = HiddenDocuments(task)
            if not rung.given:
                for other in sharing:
                    check_pool(HiddenDocuments(task, other), self.n_folds)
            prepared, whole = task.prepare(model, self.priors), None
            fits = fit_folds(
                prepared,
                hidden,
                self.fitting,
                n_folds=self.n_folds,
                random_seed=self.random_seed,
                report=self.report,
            )
            if self.containers:
                if self.report is not None:
                    self.report(f"{', '.join(map(str, sharing))}, {model}: the whole pool")
                whole = self.fitting.fit(prepared, prepared.evidence, self.random_seed, ())
            self._made[key] = _ModelOnRung(task, prepared, fits, whole)
        return self._made[key]


def checked_models(models: str | Iterable[str]) -> tuple[str, ...]:
    """Names of models, each known; `InputError` for an unknown name, or none."""
    names = (models,) if isinstance(models, str) else tuple(dict.fromkeys(models))
    if unknown := [name for name in names if name not in MODELS]:
        hint = known_names(unknown[0], MODELS)
        if unknown[0] == "combined":
            hint = f"it is checked where all of its models are: {', '.join(COMBINED)}"
        raise InputError(f"no model {unknown[0]!r} to check", hint=hint)
    if not names:
        raise InputError("no model to check", hint=f"known: {', '.join(MODELS)}")
    return names
