"""Names of all estimators: corrections, posteriors, and those that users register."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from bayespool.corrections import (
    ESTIMATORS as ESTIMATORS,  # complete only once the posteriors are registered below
    EstimatorEntry,
    PredictionPowered,
    TopicsAdjustment,
    register_estimator as register_estimator,
)
from bayespool.corrections.registry import estimator_from_text
from bayespool.errors import InputError, known_names
from bayespool.evidence import Bounds
from bayespool.measures import Estimator
from bayespool.models import MODELS, ModelSpec
from bayespool.models.registry import add_model
from bayespool.names import (
    AS_JUDGED,
    COMBINED_MODELS,
    HIERARCHICAL_FORMS,
    estimator_of_model,
    leading_name,
    split_effects,
    split_list,
    with_settings,
)
from bayespool.posterior import PosteriorDifference, PosteriorEstimator, PosteriorJudgeOrder
from bayespool.posterior.preparation import estimator_prior_names
from bayespool.reading.files import check_memory
from bayespool.tables.formatting import counted

_BY_TOPICS = "topics-adjustment"


def _posterior(
    model: str, citations: Iterable[str], description: str | None = None, *, source: str | None = None
) -> None:
    name = estimator_of_model(model)
    register_estimator(
        name,
        description=description,
        label=name.replace("-", "\n", 1),
        source=source,
        citations=tuple(citations),
        kind="posterior",
        fixed={"model": model},
    )(PosteriorEstimator)


_posterior("combined", [key for model in COMBINED_MODELS for key in MODELS[model].citations], source="")
for _spec in MODELS.values():
    _posterior(_spec.name, _spec.citations, _spec.description, source=_spec.source or None)
register_estimator(
    "posterior-difference",
    label="posterior\ndifference",
    source="after Webber & Park 2009",
    citations=("webber-park-2009",),
    kind="posterior",
)(PosteriorDifference)
register_estimator(
    "posterior-judge-order",
    label="posterior\njudge order",
    kind="posterior",
    needs_sample=True,
    needs_judge=True,
)(PosteriorJudgeOrder)


def register_model(spec: ModelSpec) -> ModelSpec:
    """Register a model for checks and as an estimator named ``posterior-<model>`` (with hyphens for
    underscores).

    Parameters
    ----------
    spec : ModelSpec
        Replaces an earlier model of that name that was registered, as in a notebook. ``del MODELS[name]`` and
        ``del ESTIMATORS["posterior-…"]`` unregister it.

    Returns
    -------
    ModelSpec
        ``spec`` itself.

    Raises
    ------
    InputError
        The package, or another estimator, has the name.

    Examples
    --------
    A probability of relevance that depends on the run's organization, overall and by topic, and on how many
    other runs have the document:

    >>> from bayespool import complete, load_example, register_model
    >>> from bayespool.models import Effect, Linear, ModelSpec, Prior
    >>> spec = register_model(
    ...     ModelSpec(
    ...         name="support_only",
    ...         description="by how many runs have a document",
    ...         evidence="documents",
    ...         coefficients={"mu": Prior("Normal", (-2.0, 1.5)), "beta": Prior("Normal", (0.0, 1.0))},
    ...         effects={
    ...             "organization": Effect("organization", Prior("HalfNormal", (0.7,))),
    ...             "interaction": Effect("organization_topic"),
    ...         },
    ...         hidden=Linear("mu", slopes="beta", effects=("organization", "interaction")),
    ...         predictors={"support": (1.0, 1.0)},
    ...     )
    ... )
    >>> completion = complete(load_example(), "new-b", "P@10", estimators="posterior-support-only(draws=100)")
    >>> completion.n_draws
    400
    >>> parse_estimator("posterior-support-only(draws=100)").model
    'support_only'
    >>> del MODELS["support_only"], ESTIMATORS["posterior-support-only"]
    """
    before = MODELS.get(spec.name)
    add_model(spec)
    try:
        _posterior(spec.name, spec.citations, spec.description, source=spec.source or None)
    except InputError:
        if before is None:
            del MODELS[spec.name]
        raise
    return spec


class EstimatorNames(Sequence[str]):
    """Sequence with the current names of registered estimators, equal to a tuple with the same names."""

    def __init__(self, condition: Callable[[EstimatorEntry], bool]) -> None:
        self._condition = condition

    def _names(self) -> tuple[str, ...]:
        points_first = sorted(ESTIMATORS.values(), key=lambda entry: entry.kind == "posterior")
        return tuple(entry.name for entry in points_first if self._condition(entry))

    def __getitem__(self, index: Any) -> Any:
        return self._names()[index]

    def __len__(self) -> int:
        return len(self._names())

    def __eq__(self, other: object) -> bool:
        return self._names() == tuple(other) if isinstance(other, tuple | EstimatorNames) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._names())


ESTIMATOR_NAMES = EstimatorNames(lambda entry: True)
"""Names of all estimators, point corrections first."""

DEFAULT_ESTIMATORS = EstimatorNames(lambda entry: entry.default)
"""Names of the default estimators."""

ALL_ESTIMATORS = EstimatorNames(
    lambda entry: (
        entry.default
        or (entry.kind == "point" and not (entry.required or entry.needs_sample or entry.needs_judge))
    )
)
"""Names selected with ``estimators="all"``. The default ones, and every correction that needs no settings,
sampled pool or LLM judge.
"""

PAIRED_ESTIMATORS = tuple(name for pair in HIERARCHICAL_FORMS.items() for name in pair)
"""Names selected with ``estimators="pairs"``: each published point correction followed by its posterior."""


def named_estimators(estimators: str | Estimator | Iterable[str | Estimator]) -> tuple[str | Estimator, ...]:
    """Return a list of estimators in which ``"default"``, ``"all"`` and ``"pairs"`` are expanded. They stand
    for `DEFAULT_ESTIMATORS`, `ALL_ESTIMATORS` and `PAIRED_ESTIMATORS`.

    A text may have several, separated by commas.

    Examples
    --------
    >>> named_estimators("background(e=0.05),smoothed")
    ('background(e=0.05)', 'smoothed')
    >>> named_estimators(["all", "posterior-ratio"])[-2:]
    ('posterior-combined', 'posterior-ratio')
    >>> named_estimators("pairs")[:4]
    ('background', 'posterior-background', 'interpolated', 'posterior-interpolated')
    """
    entries = (
        (estimators,) if isinstance(estimators, str) or not isinstance(estimators, Iterable) else estimators
    )
    several = {"default": DEFAULT_ESTIMATORS, "all": ALL_ESTIMATORS, "pairs": PAIRED_ESTIMATORS}
    expanded: list[str | Estimator] = []
    for estimator in entries:
        if isinstance(estimator, str):
            for text in split_list(estimator) or [estimator]:
                expanded += several.get(text, (text,))
        else:
            expanded.append(estimator)
    return tuple(expanded)


def parse_estimator(text: str | Estimator, **settings: Any) -> Estimator:
    """Parse an estimator from text such as ``interpolated(c=0.5, e=0.02)`` or ``posterior-background``.

    Parameters
    ----------
    text : str or Estimator
        A name from `ESTIMATOR_NAMES`, optionally with settings in parentheses.
    **settings
        Defaults for settings that the text leaves out; those that the estimator does not have are ignored.

    Raises
    ------
    InputError
        Unknown name or setting.

    Examples
    --------
    >>> parse_estimator("background(e=0.05)")
    Background(estimand='complete', fit='none', e=0.05)
    """
    if not isinstance(text, str):
        if isinstance(text, type) or not isinstance(text, Estimator):
            raise InputError(f"{text!r} is neither the name of an estimator nor one")
        return text
    entry = ESTIMATORS.get(leading_name(text))
    if entry is not None and "priors" in settings and issubclass(entry.make, PosteriorEstimator):
        effects = split_effects(text)[1]
        names = estimator_prior_names(
            f"{entry.fixed['model']} + {effects}" if effects else entry.fixed["model"]
        )
        settings["priors"] = {k: v for k, v in settings["priors"].items() if k in names}
    return estimator_from_text(text, **settings)


def parse_estimators(
    entries: str | Estimator | Iterable[str | Estimator],
    overrides: Mapping[str, Any],
    *,
    by_settings: bool = False,
    **defaults: Any,
) -> tuple[Estimator, ...]:
    """Parse estimators with distinct names (or settings, if ``by_settings``) and apply posterior settings.

    Raises
    ------
    InputError
        Unknown name or setting, none, two alike, or a prior that none of them has.
    """
    estimators = tuple(parse_estimator(e, **defaults | dict(overrides)) for e in named_estimators(entries))
    if not estimators:
        raise InputError("no estimator given", hint=f"known: {', '.join(ESTIMATORS)}")
    refuse_idle_priors(estimators, overrides.get("priors", {}))
    labels = estimator_labels(estimators) if by_settings else tuple(e.name for e in estimators)
    if twice := [label for label in dict.fromkeys(labels) if labels.count(label) > 1]:
        raise InputError(f"two estimators are called {twice[0]!r}", hint="ask for one after the other")
    return estimators


_OF_THE_QUESTION = ("estimand", "random_seed", "common_query_ids")


def estimator_labels(estimators: Sequence[Estimator]) -> tuple[str, ...]:
    """Return a label per estimator: its name, with the settings of a correction that are not the defaults,
    and with distinguishing settings where a name is repeated.

    Examples
    --------
    >>> estimator_labels([parse_estimator("interpolated"), parse_estimator("interpolated(fit='pool')")])
    ('interpolated', "interpolated(fit='pool')")
    >>> estimator_labels([parse_estimator("smoothed(e=0.1)")])
    ('smoothed(e=0.1)',)
    >>> texts = ["topics-adjustment", "topics-adjustment(base='condensed-list')"]
    >>> estimator_labels([parse_estimator(text, common_query_ids=("1", "2")) for text in texts])
    ('topics-adjustment', "topics-adjustment(base='condensed-list')")
    """
    labels = []
    for e in estimators:
        alike = [other for other in estimators if other.name == e.name and type(other) is type(e)]
        own = _own_settings(e) if len(alike) > 1 else _settings_of_correction(e)
        settings = [
            f"{name}={_setting_text(getattr(e, name))}"
            for name in own
            if len(alike) == 1 or any(getattr(other, name) != getattr(e, name) for other in alike)
        ]
        labels.append(with_settings(e.name, ", ".join(settings)) if settings else e.name)
    return tuple(labels)


def _settings_of_correction(estimator: Estimator) -> list[str]:
    """Return the names of a correction's own settings that are not the defaults."""
    if (entry := ESTIMATORS.get(estimator.name)) is None or entry.kind != "point":
        return []
    return [name for name in _own_settings(estimator) if name not in _OF_THE_QUESTION]


def _own_settings(estimator: Any) -> list[str]:
    """Return the names of settings that are not the defaults."""
    fields = getattr(estimator, "__dataclass_fields__", {})
    texts = {name: _setting_text(getattr(estimator, name)) for name in fields}
    return [name for name, text in texts.items() if text != _setting_text(fields[name].default)]


def _setting_text(value: Any) -> str:
    """Return a setting as users type it: of an estimator, its name with settings in parentheses."""
    if isinstance(value, Estimator) and not isinstance(value, type):
        settings = [f"{name}={_setting_text(getattr(value, name))}" for name in _own_settings(value)]
        return repr(with_settings(value.name, ", ".join(settings)) if settings else value.name)
    return repr(value)


def with_common_topics(
    estimators: str | Estimator | Iterable[str | Estimator], topics: tuple[str, ...], **settings: Any
) -> tuple[str | Estimator, ...]:
    """Add the topics adjustment based on the given topics, after the corrections unless it is named. Its
    settings are the defaults.
    """
    entries = named_estimators(estimators)
    if not topics:
        return entries
    names = [leading_name(e) if isinstance(e, str) else e.name for e in entries]
    place = sum(not name.startswith("posterior") for name in names)
    if any(name.startswith("posterior") for name in names[:place]):  # between pairs it would part one
        place = len(names)
    if _BY_TOPICS not in names:
        entries = (*entries[:place], _BY_TOPICS, *entries[place:])
    return tuple(
        parse_estimator(e, common_query_ids=topics, **settings)
        if isinstance(e, str) and leading_name(e) == _BY_TOPICS
        else e
        for e in entries
    )


def with_as_judged(estimators: str | Estimator | Iterable[str | Estimator]) -> tuple[str | Estimator, ...]:
    """Return the estimators with ``as-judged`` in front unless it is named."""
    entries = named_estimators(estimators)
    names = [leading_name(e) if isinstance(e, str) else e.name for e in entries]
    return entries if AS_JUDGED in names else (AS_JUDGED, *entries)


def refuse_too_many_draws(estimators: Sequence[Estimator], bounds: Sequence[Bounds]) -> None:
    """Raise an error if draws of what has these bounds need more memory than is available
    (`bayespool.reading.files.check_memory`).
    """
    n_measures, (n_runs, n_topics) = len(bounds), bounds[0].low.amount.shape
    with_draws = PosteriorEstimator | PosteriorDifference | PosteriorJudgeOrder
    n_draws = sum(e.draws * e.chains for e in estimators if isinstance(e, with_draws))
    n_draws += sum(e.n_draws for e in estimators if isinstance(e, PredictionPowered | TopicsAdjustment))
    check_memory(
        8 * n_draws * n_measures * n_runs * n_topics,
        f"{counted(n_draws, 'draw')} of {counted(n_measures, 'measure')}, "
        f"{counted(n_runs, 'run')} and {counted(n_topics, 'topic')}",
        "ask for fewer draws, measures or runs at a time",
    )


def refuse_idle_priors(estimators: Iterable[Estimator], priors: Mapping[str, str]) -> None:
    """Raise `InputError` for a prior that no estimator has, such as a misspelled name."""
    posteriors = [e for e in estimators if isinstance(e, PosteriorEstimator)]
    taken = {name for e in posteriors for name in e.priors}
    if idle := [name for name in priors if name not in taken]:
        known_priors = {name for e in posteriors for name in estimator_prior_names(e.model)}
        raise InputError(
            f"no estimator asked for has a prior {idle[0]!r}",
            hint=known_names(idle[0], sorted(known_priors)) if known_priors else None,
        )
