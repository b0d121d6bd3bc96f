"""Estimators by posteriors of hierarchical models."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

import numpy as np

from bayespool.arrays import FloatArray
from bayespool.collection import Collection
from bayespool.collection.copies import join_copied_organizations
from bayespool.errors import InputError, known_names
from bayespool.evidence import Estimand, score_bounds
from bayespool.evidence.ideals import ideal_reach
from bayespool.inference import Engine
from bayespool.inference.engines import engine_named, make_engine
from bayespool.measures import Estimates, Measure, Normalized, Values, parse_measures
from bayespool.models import MODEL_NAMES as MODEL_NAMES, MODELS
from bayespool.models.registry import check_priors, model_named
from bayespool.models.terms import Terms, column_notes
from bayespool.names import COMBINED_MODELS, estimator_of_model, leading_name, settings_in, split_effects
from bayespool.notes import Note, noted
from bayespool.posterior.completion import Completion
from bayespool.posterior.distance import distance_from_pool, with_kinds
from bayespool.posterior.failures import find_failures
from bayespool.posterior.fitting import fit_threshold, learn_threshold
from bayespool.posterior.lots import find_fallback, fit_lots
from bayespool.posterior.mixtures import ThresholdPosterior
from bayespool.posterior.notes import draw_notes, run_notes, worst_of_models
from bayespool.posterior.partial_pool import partial_pool_shift
from bayespool.posterior.preparation import (
    ADAPTIVE_POOL_SHIFT_PRIOR,
    FALLBACK_MODEL,
    SHIFT,
    ScoringProblem,
    estimator_prior_names,
    evidence_depth,
    member_models,
)
from bayespool.posterior.thresholds import (
    Threshold,
    describe_excess_levels,
    find_joint_thresholds,
    find_thresholds,
)
from bayespool.posterior.work import Recorded, SharedWork, recorded_work, work_on
from bayespool.randomness import key_of
from bayespool.validation import check_choice, check_count, check_number, check_sampling


@dataclass(frozen=True, kw_only=True)
class PosteriorEstimator:
    """Estimator for posteriors of corrected scores under a hierarchical model.

    Each pooled organization is held out in turn to learn how often documents that nobody else retrieved are
    relevant. In each posterior draw every unjudged document of the runs to score gets a relevance, 0 or 1 or
    one of the levels that the measures tell apart, shared by all runs that retrieve it. The organization of a
    run to score is new in every draw, and under models with predictors so is its effect on each topic.

    Parameters
    ----------
    model : str
        ``"combined"``, or a model out of `bayespool.models.MODELS`: ``"background"``, ``"interpolated"``,
        ``"smoothed"``, ``"ratio"``, ``"anti_precision"``, ``"evidence"``, ``"rankings"``, or a registered
        one; with effects of columns of the collection: ``"ratio + (1 | type) + topic_length"``.
        ``"combined"`` mixes ``ratio`` and ``rankings`` with weights by their log predictive density on
        held-out organizations, and the same fitted to held-out kinds of organizations in the share of draws
        in which a run is of a new kind (`distance_from_pool`); without hidden documents to learn from it is
        ``odds_ratio``.
    engine : str
        Out of `bayespool.inference.ENGINES`: ``"laplace"`` takes about a second, ``"nuts"`` is the reference,
        and takes over with a warning where a check of the other fails; or a registered one.
    priors : mapping of str to str, optional
        Priors that replace the models' own, also where kinds of runs are held out, by variable:
        ``{"sigma_organization": "HalfNormal(0.5)"}``. At least one of the models that the estimator may use
        must have the variable; the others ignore it.
    draws, chains : int
        Draws per chain and chains; the Laplace engine's draws are independent, ``draws × chains`` of them.
    tune, target_accept
        Settings for the sampler, see `bayespool.inference.NUTS`.
    estimand : {"complete", "pooled"}
        Whether unjudged documents below the pool depth are completed or stay nonrelevant.
    joint : bool
        One completion for all measures of a call, with the evidence of the deepest, so that statements across
        measures come from the same draws. Else P@10 beside AP@1000 is the same as alone, and each has draws
        of its own.
    shift : float, optional
        Added to the log odds of every unjudged document, for a sensitivity analysis. By default one is drawn,
        for all runs without judgments of their own, from the prior that ``priors`` has of ``shift``, or from
        `ADAPTIVE_POOL_SHIFT_PRIOR` where the strategy of the pool looked at judgments; elsewhere it is 0.
    random_seed : int
        The same seed, collection and settings give the same bytes.
    progress : bool
        Show the sampler's progress.
    """

    model: str = "combined"
    engine: str = "laplace"
    priors: Mapping[str, str] = field(default_factory=dict)
    draws: int = 1000
    tune: int = 1000
    chains: int = 4
    target_accept: float = 0.95
    estimand: Estimand = "complete"
    joint: bool = False
    shift: float | None = None
    random_seed: int = 1
    progress: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        if leading_name(self.model) not in (*MODELS, "combined"):
            raise InputError(f"no model {self.model!r}", hint=known_names(self.model, ("combined", *MODELS)))
        if self.model != "combined":
            object.__setattr__(self, "model", model_named(self.model).name)
        engine_named(self.engine)
        check_sampling(self)
        check_number("shift", self.shift)
        for name in ("joint", "progress"):
            check_choice(name, getattr(self, name), (True, False))
        check_count("random_seed", self.random_seed, least=0)
        known = estimator_prior_names(self.model)
        if unknown := [name for name in self.priors if name not in known]:
            raise InputError(
                f"model {self.model} has no prior {unknown[0]!r}",
                hint=known_names(unknown[0], known, before="it has "),
            )
        check_priors(self.priors, member_models(self.model), self.engine)
        object.__setattr__(self, "priors", MappingProxyType(dict(self.priors)))

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"priors": dict(self.priors)}  # the proxy does not pickle

    @property
    def name(self) -> str:
        """Estimator name, ``posterior-`` followed by the model name with its effects."""
        return estimator_of_model(self.model)

    @property
    def terms(self) -> Terms:
        """Columns of the collection that the model has effects of."""
        return Terms() if self.model == "combined" else model_named(self.model).terms

    def estimate(
        self, collection: Collection, run_ids: str | Iterable[str] | None = None, measures: object = "P@10"
    ) -> tuple[Estimates, ...]:
        """Return the posterior of each run's corrected score under each measure.

        Parameters
        ----------
        collection : Collection
        run_ids : str or iterable of str, optional
            Default: the runs that were not pooled. Their judgments are completed together: a document has
            one relevance per draw for all of them, and differences can be taken draw by draw.
        measures : measure or iterable of measures

        Returns
        -------
        tuple of Estimates
            One per measure, with draws and diagnostics. Where nothing is unjudged each draw is the value
            itself, and nothing is sampled. Where the judgments are sparse at the measure's ``rel``
            (`Collection.is_sparse_at`), and there are neither labels nor judgments of one's own, runs with
            unjudged documents have no value; nor have they under a measure that tells more than ten levels
            apart.

        Warns
        -----
        DiagnosticsWarning
            A check of the draws failed; see also the runs' notes.
        """
        targets = _targets(collection, run_ids)
        asked, engine = parse_measures(measures), self.build_engine()
        shared = work_on(collection, engine, self.random_seed)
        given, collection = collection, shared.changed("copies", collection, join_copied_organizations)
        has_more = bool(collection.judges) or bool((collection.attributed_run >= 0).any())
        lacking = {measure: describe_excess_levels(collection, measure) for measure in asked}
        for measure in asked:
            if not has_more and collection.is_sparse_at(measure.least_level):
                lacking[measure] = "needs documents judged nonrelevant"
        parsed = tuple(measure for measure in asked if not lacking[measure])
        alone = self._with_other_evidence(collection, parsed, shared) if self.joint and parsed else ()
        estimates: dict[Measure, Estimates] = {}
        for group in self._groups(collection, parsed, shared) if parsed else ():
            completion = self._complete(collection, targets, group, engine, shared)
            for measure, values in zip(group, completion.evaluate(*group), strict=True):
                joint = Note("estimator", f"with the evidence of {group[0]}, unlike alone")
                more = [joint] * (measure in alone)
                of_joined = self._estimates(completion, measure, values, more)
                estimates[measure] = dataclasses.replace(of_joined, fingerprint=given.fingerprint)
        return tuple(
            estimates[m] if m in estimates else self._without_value(given, targets, m, lacking[m])
            for m in asked
        )

    def complete(
        self, collection: Collection, run_ids: str | Iterable[str] | None = None, measures: object = "P@10"
    ) -> Completion:
        """Return the completed judgments from which `estimate` computes corrected scores.

        Parameters
        ----------
        collection : Collection
        run_ids : str or iterable of str, optional
            Default: the runs that were not pooled.
        measures : measure or iterable of measures
            Determine the depth and the levels of relevance of the completion, which can be evaluated for
            every measure that needs no more.

        Warns
        -----
        DiagnosticsWarning
            A check of the draws failed.
        """
        engine = self.build_engine()
        shared = work_on(collection, engine, self.random_seed)
        collection = shared.changed("copies", collection, join_copied_organizations)
        groups = self._groups(collection, parse_measures(measures), shared)
        if len(groups) > 1:
            apart = " and ".join(str(group[0]) for group in groups)
            raise InputError(
                f"{apart} learn from evidence of other depths", hint="complete for one at a time"
            )
        return self._complete(collection, _targets(collection, run_ids), groups[0], engine, shared)

    def learn(self, part: Collection, measures: object, *, keep_draws: bool = False) -> dict[str, Recorded]:
        """Fit the models to a pool alone; return results, with draws if kept, that estimates go on from.

        Parameters
        ----------
        part : Collection
            The pool alone. Estimates of runs that are joined to it find these results.
        measures, keep_draws
            As for `bayespool.prepare`.
        """
        engine, shared = self.build_engine(), SharedWork(recorded=recorded_work(part))
        part = shared.changed("copies", part, join_copied_organizations)
        for group in self._groups(part, parse_measures(measures), shared):
            for threshold in find_joint_thresholds(part, group):
                problem = ScoringProblem(
                    part, (), group[0], self.estimand, self._min_organizations, threshold, shared=shared
                )
                learning = self._models(problem), engine, self.priors, self.random_seed
                if not problem.has_pool_evidence:
                    continue
                kinds = shared.changed("kinds", part, with_kinds) if self.model == "combined" else None
                learn_threshold(problem, *learning, kinds, keep_draws=keep_draws)
        return shared.recorded

    def build_engine(self) -> Engine:
        """Return the inference engine, which caches compiled models between measures."""
        names = ("draws", "tune", "chains", "target_accept", "progress")
        return make_engine(self.engine, relay=True, **{name: getattr(self, name) for name in names})

    def _groups(
        self, collection: Collection, measures: Sequence[Measure], shared: SharedWork
    ) -> list[list[Measure]]:
        """Group measures that can share a completion, the deepest measure of each group first."""
        if self.joint:
            return [sorted(measures, key=lambda measure: -measure.cutoff)]
        groups: dict[tuple[tuple[Threshold, int, tuple[int, ...]], ...], list[Measure]] = {}
        thresholds = {measure: find_thresholds(collection, measure) for measure in measures}
        models: dict[tuple[Threshold, int], tuple[str, ...]] = {}
        for measure in sorted(measures, key=lambda measure: -len(thresholds[measure])):
            key = []
            for threshold in thresholds[measure]:
                problem = ScoringProblem(
                    collection, (), measure, self.estimand, self._min_organizations, threshold, shared=shared
                )
                of_threshold = threshold, problem.document_depth
                if of_threshold not in models:
                    models[of_threshold] = self._models(problem)
                key.append(
                    (*of_threshold, tuple(evidence_depth(m, measure.cutoff) for m in models[of_threshold]))
                )
            longer = [other for other in groups if other[: len(key)] == tuple(key)]
            groups.setdefault(longer[0] if longer else tuple(key), []).append(measure)
        return [sorted(group, key=lambda measure: -measure.cutoff) for group in groups.values()]

    @property
    def _min_organizations(self) -> int:
        return 2 if self.model == "combined" else 1

    def _models(self, problem: ScoringProblem) -> tuple[str, ...]:
        if self.model != "combined":
            return (self.model,)
        if problem.has_pool_evidence:
            return COMBINED_MODELS
        return (*COMBINED_MODELS, FALLBACK_MODEL) if problem.has_evidence else (find_fallback(problem),)

    def _complete(
        self,
        collection: Collection,
        targets: tuple[str, ...],
        measures: Sequence[Measure],
        engine: Engine,
        shared: SharedWork,
    ) -> Completion:
        """Return the completion for one group of measures, sorted from the deepest."""
        n_draws, thresholds = self.draws * self.chains, find_joint_thresholds(collection, measures)
        reach = max(ideal_reach(collection, measure) for measure in measures)
        common = collection, targets, measures[0], self.estimand, self._min_organizations
        lowest = ScoringProblem(*common, thresholds[0], reach, shared)
        problems = [lowest, *(dataclasses.replace(lowest, asked_threshold=t) for t in thresholds[1:])]
        unknowns, posteriors, weights = lowest.unknowns, list[ThresholdPosterior](), dict[str, float]()
        is_mixed = self.model == "combined" and lowest.has_pool_evidence
        distance = distance_from_pool(collection, targets, **lowest.threshold.levels) if is_mixed else None
        new_kind = 0.0 if distance is None or not len(unknowns) else distance.new_kind
        is_new = np.broadcast_to(new_kind, len(targets)) > 0
        of_topics = collection, targets, is_new, n_draws, self.random_seed
        failed = find_failures(*of_topics) if is_new.any() else None
        kinds = shared.changed("kinds", collection, with_kinds) if is_new.any() else None
        shift = self._shift(problems[0]) if len(unknowns) else np.zeros(0)
        for problem in problems if len(unknowns) else ():
            posterior, shares = fit_threshold(
                problem,
                self._models(problem),
                engine,
                self.priors,
                n_draws,
                self.random_seed,
                shift=shift,
                new_kind=None if distance is None else distance.new_kind,
                kinds=kinds,
                below=posteriors[-1] if posteriors else None,
                is_only=len(problems) == 1,
            )
            posteriors.append(posterior)
            weights |= dict(zip(posterior.names, shares, strict=True))
        is_adaptive = collection.pool.looks_at_judgments and self.shift is None
        lots = fit_lots(problems, engine, n_draws, self.random_seed)
        fitted = (*posteriors, *(() if lots is None else lots.posteriors))
        diagnostics = worst_of_models({name: f.diagnostics for p in fitted for name, f in p.fits.items()})
        held_out = [p.held_out for p in posteriors if p.held_out.n_organizations]
        if diagnostics is not None and held_out:
            share, n = min(held_out)
            diagnostics = dataclasses.replace(diagnostics, held_out=share, n_held_out=n)
        return Completion(
            unknowns=unknowns,
            n_draws=n_draws,
            posteriors=tuple(posteriors),
            thresholds=thresholds,
            known=np.full(len(unknowns), -1, dtype=np.int16),
            weights=weights,
            random_seed=self.random_seed,
            diagnostics=diagnostics,
            notes=draw_notes(
                posteriors,
                lots,
                diagnostics,
                n_draws,
                priors=self.priors,
                shift_prior=self._shift_prior(collection) if is_adaptive else None,
                is_combined=self.model == "combined",
            )
            + noted(column_notes(collection, self.terms, targets, unknowns.pair), "estimator"),
            distance=distance,
            lots=lots,
            failures=failed,
        )

    def _shift(self, problem: ScoringProblem) -> FloatArray:
        """Draw the log-odds shift for unjudged documents at the first threshold, shape (draw, run)."""
        from bayespool.models.priors import draw_prior, parse_prior

        collection, index = problem.collection, problem.collection.run_index(problem.run_ids)
        shape = self.draws * self.chains, len(index)
        if self.shift is not None:
            return np.full(shape, self.shift)
        prior, rng = self._shift_prior(collection), np.random.default_rng(key_of(self.random_seed, SHIFT))
        if prior is None:
            drawn = partial_pool_shift(problem, shape[0], rng)
        else:
            drawn = draw_prior(parse_prior(prior), (shape[0], 1), rng)
        if drawn is None:
            return np.zeros(shape)
        # effects of runs with judgments of their own are learned from documents that nobody else chose
        has_own = np.isin(index, collection.contributors) & ~collection.pooled[index]
        return np.asarray(drawn * ~has_own)

    def _shift_prior(self, collection: Collection) -> str | None:
        """Return the prior for the log-odds shift, or None if it is fixed or follows from the pool."""
        looks = collection.pool.looks_at_judgments and self.shift is None
        return self.priors.get(SHIFT, ADAPTIVE_POOL_SHIFT_PRIOR if looks else None)

    def _with_other_evidence(
        self, collection: Collection, measures: Sequence[Measure], shared: SharedWork
    ) -> tuple[Measure, ...]:
        """Return measures that would use evidence of another depth if estimated alone."""
        groups = dataclasses.replace(self, joint=False)._groups(collection, measures, shared)
        deepest = max(measures, key=lambda measure: measure.cutoff)
        return tuple(measure for group in groups if deepest not in group for measure in group)

    def _estimates(
        self, completion: Completion, measure: Measure, values: Values, more: Sequence[Note] = ()
    ) -> Estimates:
        """Return estimates under a measure, given scores drawn from a completion."""
        unknowns = completion.unknowns
        shallow = unknowns.place_rank < measure.cutoff
        is_open = np.isin(np.arange(len(unknowns.run_ids)), unknowns.place_run[shallow])
        if isinstance(measure, Normalized) and measure.ideal != "judged":
            within = unknowns.place_rank < ideal_reach(unknowns.collection, measure)
            is_open |= np.isin(np.arange(len(unknowns.run_ids)), unknowns.place_run[within])
            is_open |= measure.ideal == "shared" and bool(within.any())
            is_open |= completion.lots is not None and bool(completion.lots.n_elsewhere.any())
        drawn = bool(is_open.any())
        distance = completion.distance
        return Estimates(
            estimator=self.name,
            measure=measure,
            run_ids=unknowns.run_ids,
            query_ids=unknowns.collection.query_ids,
            per_topic=values.on_topics(),
            value=values.expected(),
            std=values.std(),
            draws=values,
            notes=run_notes(completion, measure, is_open, (*completion.notes, *more)),
            distance=None if distance is None else distance.distance,
            new_kind=None if distance is None else distance.new_kind,
            diagnostics=completion.diagnostics if drawn else None,
            fits=completion.fits if drawn else {},
            weights=completion.weights if drawn else {},
            fingerprint=unknowns.collection.fingerprint,
            random_seed=self.random_seed,
        )

    def _without_value(
        self, collection: Collection, targets: tuple[str, ...], measure: Measure, reason: str
    ) -> Estimates:
        """Return estimates with NaN for runs that cannot be completed, with the reason as a note."""
        bounds = score_bounds(collection, targets, measure, estimand=self.estimand)
        is_open = bounds.has_unjudged
        return Estimates(
            estimator=self.name,
            measure=measure,
            run_ids=targets,
            query_ids=collection.query_ids,
            per_topic=np.where(is_open[:, None], np.nan, bounds.lower),
            value=np.where(is_open, np.nan, bounds.low.means()),
            notes=tuple((Note("estimator", reason),) * unknown for unknown in is_open.tolist()),
            fingerprint=collection.fingerprint,
            random_seed=self.random_seed,
        )


def given_settings(posterior: str | PosteriorEstimator | None) -> dict[str, Any]:
    """Return the settings that a posterior, or a text of settings, does not leave at their defaults.

    Parameters
    ----------
    posterior : str or PosteriorEstimator, optional
        Settings such as ``"draws=4000, engine=nuts, mu=Normal(-2, 1)"``, a model with or without settings,
        such as ``"ratio(draws=4000)"`` or ``"posterior-ratio"``, or an estimator.

    Raises
    ------
    InputError
        Neither of these; an unknown model or setting, or a value of another type.

    Examples
    --------
    >>> given_settings("ratio(draws=4000, engine=nuts)")
    {'draws': 4000, 'engine': 'nuts', 'model': 'ratio'}
    >>> given_settings(PosteriorEstimator(draws=500)), given_settings("mu=Normal(-2, 1)")
    ({'draws': 500}, {'priors': {'mu': 'Normal(-2, 1)'}})
    """
    if posterior is None:
        return {}
    if isinstance(posterior, PosteriorEstimator):
        values, plain = {f.name: getattr(posterior, f.name) for f in fields(posterior)}, PosteriorEstimator()
        return {name: value for name, value in values.items() if value != getattr(plain, name)}
    if not isinstance(posterior, str):
        raise InputError(
            f"{posterior!r} is no posterior", hint="give settings, 'draws=4000, engine=nuts', or an estimator"
        )
    named, effects = split_effects(posterior)
    before, equals, _ = named.partition("=")
    names_model = not equals or "(" in before
    if names_model:
        settings = settings_in(named, "posterior", PosteriorEstimator, fixed={"model"})
    else:
        settings = settings_in(f"posterior({posterior})", "settings of", PosteriorEstimator)
    if not isinstance(settings.get("priors", {}), Mapping):
        raise InputError(f"priors cannot be {settings['priors']!r}", hint="write mu=Normal(-2, 1)")
    if not names_model:
        return settings
    given = leading_name(posterior)
    name = given.removeprefix("posterior-").replace("-", "_")
    if name not in (*MODELS, "combined"):
        raise InputError(f"no model {given!r}", hint=known_names(name, ("combined", *MODELS)))
    return settings | {"model": f"{name} + {effects}" if effects else name}


def shared_settings(posterior_settings: str | PosteriorEstimator | None) -> dict[str, Any]:
    """Return the given settings of all posteriors, or raise `InputError` for a model among them."""
    given = given_settings(posterior_settings)
    if "model" in given:
        hint = f"name it among the estimators: {estimator_of_model(given['model'])}"
        raise InputError(f"settings name the model {given['model']!r}", hint=hint)
    return given


def parse_posterior(posterior: str | PosteriorEstimator | None, **defaults: Any) -> PosteriorEstimator:
    """Return the estimator of a posterior's text, with defaults for what it leaves out.

    Examples
    --------
    >>> parse_posterior("ratio(draws=50)", random_seed=3).random_seed
    3
    """
    given = given_settings(posterior)
    if isinstance(posterior, PosteriorEstimator):
        return dataclasses.replace(posterior, **{k: v for k, v in defaults.items() if k not in given})
    return PosteriorEstimator(**(defaults | given))


def sole_posterior(
    estimators: str | PosteriorEstimator,
    posterior_settings: str | PosteriorEstimator | None = None,
    **defaults: Any,
) -> PosteriorEstimator:
    """Return the one posterior that is named, with settings and defaults for what its text leaves out.

    Examples
    --------
    >>> found = sole_posterior("posterior-ratio(draws=50)", "draws=100, chains=2", random_seed=3)
    >>> found.draws, found.chains, found.random_seed
    (50, 2, 3)
    """
    shared = shared_settings(posterior_settings)
    known = list(map(estimator_of_model, ("combined", *MODELS)))
    if isinstance(estimators, str) and (name := leading_name(estimators)) not in known:
        raise InputError(f"{name!r} is no posterior", hint=known_names(name, known))
    return parse_posterior(estimators, **(defaults | shared))


def complete(
    collection: Collection,
    run_ids: str | Iterable[str] | None = None,
    measures: object = "P@10",
    *,
    estimators: str | PosteriorEstimator = "posterior-combined",
    posterior_settings: str | PosteriorEstimator | None = None,
    estimand: Estimand = "complete",
    random_seed: int = 1,
) -> Completion:
    """Draw completed judgments for all unjudged documents within reach of the runs.

    Parameters
    ----------
    collection : Collection
    run_ids : str or iterable of str, optional
        Default: the runs that were not pooled.
    measures : measure or iterable of measures, default "P@10"
        Determine the depth and the levels of relevance of the completion.
    estimators : str or PosteriorEstimator, default "posterior-combined"
        The posterior, by name: 'posterior-ratio'.
    posterior_settings : str or PosteriorEstimator, optional
        Settings of the posterior: 'draws=4000, engine=nuts, mu=Normal(-2,1)'.
    estimand : {"complete", "pooled"}
        Whether unjudged documents below the pool depth are completed or stay nonrelevant.
    random_seed : int, default 1
        The same inputs and seed give the same bytes.

    Raises
    ------
    InputError
        Unknown run, measure or setting.

    Warns
    -----
    DiagnosticsWarning
        A check of the draws failed.

    Examples
    --------
    >>> from bayespool import complete, load_example
    >>> completion = complete(load_example(), "new-b", "P@10", estimators="posterior-ratio(draws=250)")
    >>> five, ten = completion.evaluate("P@5", "P@10")
    >>> bool((five.amount <= ten.amount).all())
    True
    >>> len(completion.qrels(0).relevance) > 1181  # the judgments, and those of the first draw
    True
    """
    estimator = sole_posterior(estimators, posterior_settings, estimand=estimand, random_seed=random_seed)
    return estimator.complete(collection, run_ids, measures)


def _targets(collection: Collection, run_ids: str | Iterable[str] | None) -> tuple[str, ...]:
    if run_ids is None:
        return collection.unpooled_run_ids
    return (run_ids,) if isinstance(run_ids, str) else tuple(run_ids)
