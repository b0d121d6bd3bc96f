"""Checks of models on the pool at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from bayespool import __version__
from bayespool.arrays import AnyArray, IntArray
from bayespool.collection import Collection
from bayespool.collection.contents import expect_collection
from bayespool.errors import InputError
from bayespool.experiments.graded_runs import PIT, check_metadata, named_figure
from bayespool.experiments.hidden import HiddenDocuments, fit_model, pool_alone
from bayespool.experiments.predictions import (
    CI_PROBS,
    HeldOutPrediction,
    calibration_frame,
    check_pool,
    elpd_frame,
    fit_fold,
    predict_held_out,
    predict_mixture,
    stack,
)
from bayespool.experiments.preparing import parse_models, refuse_foreign_priors
from bayespool.experiments.running import completed
from bayespool.inference import Source
from bayespool.inference.engines import make_engine
from bayespool.measures import Measure, Precision
from bayespool.measures.parsing import parse_ranking_measures
from bayespool.models import MODEL_NAMES
from bayespool.models.registry import check_priors
from bayespool.names import COMBINED_MODELS
from bayespool.posterior import PosteriorEstimator, PreparedModel, ScoringProblem, Threshold
from bayespool.posterior.containers import fit_variables
from bayespool.posterior.estimator import given_settings
from bayespool.posterior.notes import warn_of_judges
from bayespool.posterior.preparation import evidence_depth
from bayespool.posterior.thresholds import find_thresholds
from bayespool.report.result import Figure, Result
from bayespool.tables.files import container_bytes, variable_name
from bayespool.tables.formatting import counted, some_of
from bayespool.tables.markup import one_line
from bayespool.tables.table import Column, Pivot, Table, View
from bayespool.validation import check_count, described

if TYPE_CHECKING:
    import pandas as pd

    from bayespool.inference import Engine, Fit

_RUN_COUNTS = {"n_organizations": Column("organi\xad\nzations", "count", "Organizations of these runs.")}
_CALIBRATION = _RUN_COUNTS | {
    "pit_inside": Column("PIT in", "chance", "Share of runs with a PIT in the central part of this size."),
    "se": Column("±", "chance", "Its standard error by organization; none for a share of 0 or 1."),
    "covered": Column("truth in", "chance", "Share of runs whose interval has the truth, ends included."),
    "width": Column("width", "score", "Mean width of the intervals of the measure."),
    "pit_mean": Column("mean\nPIT", "chance", "Mean PIT; 0.5 is right."),
}
_ELPD = _RUN_COUNTS | {
    "rank": Column("rank", "count", "Place among the models, 0 for the best."),
    "elpd": Column("elpd", "size", "Expected log predictive density, summed over organizations.", 1),
    "elpd_diff": Column("less than\nthe best", "size", "Difference of the elpd from the best one's.", 1),
    "weight": Column("weight", "size", "Stacking weight over all models but combined."),
    "se": Column("±", "size", "Standard error of the elpd.", 1),
    "dse": Column("±", "size", "Standard error of the difference, by organization.", 1),
    "weight_combined": Column("weight in\ncombined", "size", "Weight in combined, at the first threshold."),
}
_RUNS = {
    "n_hidden": Column("hidden", "count", "Documents that the run's organization alone contributed."),
    "n_hidden_relevant": Column("relevant", "count", "Relevant ones among them."),
    "predicted": Column("predicted", "size", "Predicted mean of their number.", 1),
    "value": Column("observed", "score", "Score with the hidden documents judged."),
    "value_predicted": Column("predicted\nscore", "score", "Predicted mean of the score."),
    "log_density": Column("log\ndensity", "size", "Log predictive density of the number of relevant ones."),
}


@dataclass(frozen=True, eq=False, repr=False)
class ModelChecks(Result):
    """Predictions for held-out organizations from several models under several measures.

    Its tables are `calibration`, `elpd` (see `bayespool.experiments.calibration_frame` and `elpd_frame`) and
    `runs`, a row per measure, model and run with hidden documents.

    Attributes
    ----------
    predictions : tuple of HeldOutPrediction
        Measure by measure, in the order of the models; then, where all of its models were checked, the
        mixture ``combined``.
    containers : mapping of (str, str) to xarray.DataTree
        By measure and model, for ArviZ; empty if not requested. A measure of several levels of relevance has
        one more for each threshold above the first, of the model ``ratio-2-of-1``.
    metadata : mapping
        Version, fingerprint and settings.

    Notes
    -----
    Groups of a container: ``posterior`` and ``sample_stats`` (the fit to the whole pool), ``prior``,
    ``predictions`` (of runs whose organization was held out), ``observed_data``, ``log_likelihood``,
    ``constant_data`` and ``predictions_constant_data``. A *cell* is a (run, topic) with hidden documents
    credited to it; the observation in ``log_likelihood`` is which of its documents are relevant, for all
    models alike.

    Variables: ``hidden_relevant`` (cell), its hidden documents that reach the threshold;
    ``n_hidden_relevant`` (pooled_run), all of a run's; under P@n with one threshold also ``precision``
    (pooled_run), under other measures ``value`` (pooled_run), in ``predictions`` and ``observed_data`` of the
    first threshold; of models of counts ``judged_relevant`` (ranking), as in `bayespool.fit_container`.
    ``posterior`` has the scale of effects of organization × topic and not the effects;
    ``log_likelihood`` draws them given all else and the documents.
    """

    predictions: tuple[HeldOutPrediction, ...]
    containers: Mapping[tuple[str, str], Any]
    metadata: Mapping[str, Any]

    def __repr__(self) -> str:
        models = some_of(dict.fromkeys(p.model for p in self.predictions), 5)
        return one_line("ModelChecks", f"{models}; {some_of(self.measures, 3)}; {len(self.notes())} problems")

    command = "check predictions"
    title = "Check of the models on this pool"

    def tables(self) -> tuple[Table, ...]:
        """Return tables ``calibration``, ``elpd`` (models by log predictive density) and ``runs``."""
        import pandas as pd

        calibration, elpd = calibration_frame(self.predictions), elpd_frame(self.predictions, COMBINED_MODELS)
        runs = pd.concat([p.to_frame() for p in self.predictions], ignore_index=True)
        views = tuple(_calibration_view(rows, self.metadata) for rows in _by_measure(calibration))
        caption = "How well each model predicts held-out organizations"
        return (
            Table("calibration", "Calibration of predictions", calibration, _CALIBRATION, views),
            Table("elpd", caption, elpd, _ELPD, tuple(self._elpd_view(measure) for measure in self.measures)),
            Table("runs", "Run by run", runs, _RUNS),
        )

    def _elpd_view(self, measure: Measure) -> View:
        n_steps = max(len(p.densities) for p in self.predictions if p.measure == measure)
        steps = f", summed over {n_steps} steps of relevance (weight in combined: of the first)"
        return View(
            title=f"{measure}: expected log predictive density by organization{steps * (n_steps > 1)}",
            names=("model",),
            columns=("elpd", "se", "elpd_diff", "dse", "weight", "weight_combined"),
            where={"measure": str(measure)},
            keep_empty=True,
        )

    def sentences(self) -> tuple[str, ...]:
        """Return a sentence on the best model for each measure."""
        return tuple(
            f"{rows['measure'].iloc[0]}: of {len(rows)} models {rows['model'].iloc[0]} predicts held-out "
            "organizations best, by expected log predictive density."
            for rows in _by_measure(self.to_frame("elpd"))
        )

    def notes(self) -> tuple[str, ...]:
        """Return notes on failed diagnostic checks of the fits."""
        return tuple(
            f"{p.measure}, {p.model}: {problem}"
            for p in self.predictions
            if p.model != "combined"
            for problem in p.problems
        )

    def figures(self) -> tuple[Figure, ...]:
        """Return figures that compare models, predictions with observations, and PIT values."""
        from bayespool.plots.experiments import draw_elpd, draw_pit, draw_predictive

        elpd = Figure(
            "elpd",
            "How well each model predicts held-out organizations; higher is better",
            partial(draw_elpd, self),
        )
        predictive = "Predictions of held-out organizations and what was observed"
        figures = [elpd]
        for measure in self.measures:
            for name, caption, draw in (("predictive", predictive, draw_predictive), ("pit", PIT, draw_pit)):
                figures.append(named_figure(name, caption, partial(draw, self, measure), [measure]))
        return tuple(figures)

    def files(self) -> Mapping[str, bytes | str]:
        """Return containers as files ``<measure>-<model>.nc``; ``nDCG_10-ratio-2-of-1.nc`` above the first
        threshold.
        """
        return {
            f"{variable_name(measure)}-{model}.nc": container_bytes(container)
            for (measure, model), container in self.containers.items()
        }

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """Measures in the order of the predictions."""
        return tuple(dict.fromkeys(p.measure for p in self.predictions))

    def __getitem__(self, key: tuple[str, object]) -> HeldOutPrediction:
        """Return the predictions from one model under one measure: ``checks["ratio", "P@10"]``."""
        model, measure = key
        for prediction in self.predictions:
            if prediction.model == model and str(prediction.measure) == str(measure):
                return prediction
        raise KeyError(key)


def _by_measure(frame: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Return an iterator over the rows for each measure, in order."""
    return (rows for _, rows in frame.groupby("measure", sort=False))


def _calibration_view(rows: pd.DataFrame, metadata: Mapping[str, Any]) -> View:
    measure, n_runs, n_organizations = rows[["measure", "n_runs", "n_organizations"]].iloc[0]
    widest = CI_PROBS[-1:]
    return View(
        title=f"{measure}: {counted(n_runs, 'run')} of {counted(n_organizations, 'organization')}, held "
        f"out in {metadata['n_folds']} folds; {metadata['engine']}",
        names=("model",),
        columns=(
            "mae",
            Pivot(("pit_inside",), "ci_prob", label="PIT\nin\n{}"),
            Pivot(("se",), "ci_prob", label="± of\n{}", values=widest),
            "pit_mean",
            Pivot(("covered",), "ci_prob", label="truth\nin\n{}"),
            Pivot(("width",), "ci_prob", label="width of\n{}", values=widest),
        ),
        where={"measure": measure},
        keep_empty=True,
    )


def check_models(
    collection: Collection,
    measures: object = "P@10",
    *,
    models: str | Iterable[str] | None = None,
    n_folds: int = 5,
    random_seed: int = 1,
    posterior: str | PosteriorEstimator | None = None,
    containers: bool = True,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ModelChecks:
    """Check models by predicting the runs of organizations held out of the pool.

    Only the pool's own judgments take part; documents that stay unjudged with all organizations pooled count
    as nonrelevant, in predictions and observations. Values of the measure are predicted, from models fitted
    on each of its thresholds; an ideal ranking includes the organization's hidden documents as drawn.

    Parameters
    ----------
    collection : Collection
        With a pool of three organizations or more. Runs outside the pool and judgments of your own are left
        out.
    measures : measure or iterable of measures, default "P@10"
        P@10, nDCG@10, P(rel=2)@10, AP@100, ….
    models : str or iterable of str, optional
        Models, such as ratio or evidence; default: all. They are `bayespool.posterior.MODEL_NAMES`.
    n_folds : int, default 5
        Folds of organizations, at most one for each. As in the weights of the combined estimator.
    random_seed : int, default 1
        Random seed; the same inputs and seed give the same bytes.
    posterior : str or PosteriorEstimator, optional
        Settings of the posteriors: 'draws=4000, engine=nuts, mu=Normal(-2,1)'. By default of 500 draws.
    containers : bool, default True
        Whether to fit each model to the whole pool, too, and gather containers for ArviZ.
    n_jobs : int, optional
        Processes; −1 for one per core. As of `bayespool.leave_out`.
    progress : callable, optional
        Called with the number of finished fits and their total.

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
    >>> checks = check_models(load_example(), models="ratio", posterior="draws=50", containers=False)
    >>> checks["ratio", "P@10"].draws.shape
    (200, 21)
    """
    check_count("n_folds", n_folds, least=2)
    check_count("random_seed", random_seed, least=0)
    parsed = parse_ranking_measures(measures)
    names = MODEL_NAMES if models is None else parse_models(models)
    given = given_settings(posterior)
    if "model" in given:
        raise InputError(f"posterior names the model {given['model']!r}", hint="name it among the models")
    priors: dict[str, str] = dict(given.pop("priors", {}))
    sampling = PosteriorEstimator(**{"draws": 500, **given})
    refuse_foreign_priors(priors, names)
    check_priors(priors, names, sampling.engine)
    shared: dict[str, int] = {"n_folds": n_folds, "random_seed": random_seed}
    engine = make_engine(sampling.engine, draws=sampling.draws, tune=sampling.tune, chains=sampling.chains)
    expect_collection(collection)
    collection = pool_alone(collection)
    warn_of_judges(collection, (), parsed)
    parts = {
        (measure, name): [
            _FittedPart(name, evidence_depth(name, measure.cutoff), threshold)
            for threshold in find_thresholds(collection, measure)
        ]
        for measure, name in product(parsed, names)
    }
    for measure in parsed:
        check_pool(HiddenDocuments(collection, measure), n_folds)
    folds = range(min(n_folds, len(HiddenDocuments(collection, parsed[0]).organizations)))
    distinct = dict.fromkeys(part for model_parts in parts.values() for part in model_parts)
    tasks = list(product(distinct, [*folds, *([_WHOLE] if containers else [])]))
    fits: dict[tuple[_FittedPart, int], Fit] = {}
    work = partial(_fit, priors=priors, engine=engine, n_folds=n_folds, random_seed=random_seed)
    for task, fit in completed(work, collection, tasks, n_jobs=n_jobs):
        fits[task] = fit
        if progress is not None:
            progress(len(fits), len(tasks))
    predictions: list[HeldOutPrediction] = []
    gathered = {}
    for measure in parsed:
        steps: dict[str, tuple[list[PreparedModel], list[list[Fit]]]] = {}
        first, measure_predictions = HiddenDocuments(collection, measure), []
        for name in names:
            prepared = [part.prepare(collection, priors) for part in parts[measure, name]]
            steps[name] = prepared, [[fits[part, f] for f in folds] for part in parts[measure, name]]
            predicted = predict_held_out(prepared, first, engine, **shared, fits=steps[name][1])
            measure_predictions.append(predicted)
            for part, model in zip(parts[measure, name], prepared, strict=True):
                hidden = HiddenDocuments(collection, measure, part.threshold)
                if containers and hidden.counts.n_hidden.any():  # a document has reached the one below
                    whole = fits[part, _WHOLE]
                    container = _container(model, hidden, whole, predicted, random_seed)
                    gathered[str(measure), part.name] = container
        members = [p for p in measure_predictions if p.model in COMBINED_MODELS]
        if len(members) == len(COMBINED_MODELS) and len(members[0].densities) == 1:
            measure_predictions.append(stack(members, random_seed=random_seed))
        elif len(members) == len(COMBINED_MODELS):
            both = {p.model: steps[p.model] for p in members}
            measure_predictions.append(predict_mixture(both, members, first, **shared))
        predictions += measure_predictions
    metadata = check_metadata(
        collection,
        **described(measures=parsed, models=names, **shared, posterior=posterior, engine=sampling.engine),
    )
    return ModelChecks(tuple(predictions), MappingProxyType(gathered), MappingProxyType(metadata))


def _container(
    prepared: PreparedModel,
    hidden: HiddenDocuments,
    fit: Fit,
    prediction: HeldOutPrediction,
    random_seed: int,
) -> Any:
    """Gather a fit to the whole pool with its priors, predictions and data in one container.

    `ModelChecks` describes the groups. Model and documents are on the same threshold of the measure.
    """
    from bayespool.tables import build_container

    rows, counts = hidden.rows(prepared.evidence), hidden.counts
    is_count = isinstance(prediction.measure, Precision) and len(prediction.densities) == 1

    def total(count: IntArray) -> IntArray:
        return np.asarray(count.sum(axis=1, dtype=np.int32)[:, 0])

    def values(amount: AnyArray) -> dict[str, AnyArray]:
        value = (prediction.known + amount) / prediction.per_mean
        if is_count:
            return {"n_hidden_relevant": amount, "precision": value}
        return {} if hidden.threshold.given else {"value": value}

    observed = {"n_hidden_relevant": total(counts.n_hidden_relevant)} | values(prediction.observed)
    by_run: dict[str, AnyArray] = {
        "n_hidden": total(counts.n_hidden),
        "n_judged_relevant": total(counts.n_relevant),
        "fold": prediction.fold,
        "organization_of_run": np.array(prediction.organizations),
    }
    source = Source(prepared.spec, prepared.evidence, prepared.run_ids, ())
    groups, dims, coords = fit_variables(fit, source, random_seed, (rows.n_hidden, rows.n_hidden_relevant))
    groups["observed_data"] |= observed
    groups["predictions"] = values(prediction.draws.reshape(*fit.shape, -1))
    groups["predictions_constant_data"] = by_run
    return build_container(
        {group: variables for group, variables in groups.items() if variables},
        dims=dims | dict.fromkeys((*observed, *by_run), ("pooled_run",)),
        coords=coords | {"pooled_run": prediction.run_ids},
        attrs={
            "bayespool_version": __version__,
            "model": prepared.model,
            "measure": str(hidden.measure),
            "engine": fit.diagnostics.engine,
            "collection_fingerprint": hidden.collection.fingerprint,
            "random_seed": random_seed,
            "problems": "; ".join((*fit.diagnostics.problems, *prediction.problems)),
        },
    )


_WHOLE = -1
"""Fold of a fit to the whole pool, which leaves nobody out."""


@dataclass(frozen=True)
class _FittedPart:
    """Model for one threshold with the depth of its evidence, which measures may share."""

    model: str
    depth: int
    threshold: Threshold

    @property
    def name(self) -> str:
        """Name of the model, with the threshold if it is not the first."""
        threshold = self.threshold
        return f"{self.model}-{threshold.rel}-of-{threshold.given}" if threshold.given else self.model

    def prepare(self, collection: Collection, priors: Mapping[str, str]) -> PreparedModel:
        """Return the model prepared with the evidence of the whole pool, without runs to score."""
        measure = Precision(self.depth, self.threshold.rel)
        problem = ScoringProblem(collection, (), measure, "pooled", asked_threshold=self.threshold)
        return problem.prepare(self.model, priors)


def _fit(
    collection: Collection,
    task: tuple[_FittedPart, int],
    priors: Mapping[str, str],
    engine: Engine,
    n_folds: int,
    random_seed: int,
) -> tuple[tuple[_FittedPart, int], Fit]:
    """Fit a part to all folds but one, or to the whole pool."""
    part, f = task
    prepared = part.prepare(collection, priors)
    if f == _WHOLE:
        return task, fit_model(engine, prepared, prepared.evidence, random_seed)
    hidden = HiddenDocuments(collection, Precision(part.depth), part.threshold)
    return task, fit_fold(prepared, hidden, engine, f, n_folds=n_folds, random_seed=random_seed)
