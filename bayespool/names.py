"""Names of estimators, strategies, models, measures and choices, and parsing of ``rrf(k=60)``.

The registries take descriptions from here, and the help of commands shows them without loading anything.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Collection, Mapping
from typing import Any, Literal, get_args, get_origin, get_type_hints

from bayespool.errors import InputError, known_names

__all__ = [
    "AS_JUDGED",
    "BY_DESIGN",
    "COMBINED_MODELS",
    "DEFAULT_ESTIMATORS",
    "HIERARCHICAL_FORMS",
    "MODELS",
    "POINT_ESTIMATORS",
    "POSTERIOR_ESTIMATORS",
    "PREPARED_SUFFIX",
    "STRATEGIES",
    "By",
    "Control",
    "Estimand",
    "Goal",
    "Ideal",
    "PairControl",
    "PairTest",
    "Runs",
    "Scope",
    "Shares",
    "SignificanceTest",
    "Unseen",
    "check_types",
    "describe_estimator",
    "description_of",
    "estimator_of_model",
    "leading_name",
    "settings_in",
    "split_effects",
    "split_list",
    "type_hints",
    "with_settings",
]

PREPARED_SUFFIX = ".bayespool"
"""Ending of files of prepared collections."""

By = Literal["organization", "run"]
Control = Literal["holm", "benjamini-hochberg", "none", "dunnett"]
Estimand = Literal["complete", "pooled"]
Goal = Literal["interval", "comparison", "ranking"]
Ideal = Literal["own", "shared", "judged"]
PairControl = Literal["holm", "benjamini-hochberg", "none"]
PairTest = Literal["tukey-hsd", "paired-t"]
Runs = Literal["pooled", "all"]
Scope = Literal["these-topics", "population", "groups"]
Shares = Literal["equal", "global"]
SignificanceTest = Literal["paired-t", "wilcoxon", "randomization", "tukey-hsd"]
Unseen = Literal["nonrelevant", "estimated"]

AS_JUDGED = "as-judged"
"""Name of the uncorrected scores among estimators."""
BY_DESIGN = "by-design"
"""Name of scores by design among estimators."""
POINT_ESTIMATORS = {
    "as-judged": "B: the measure as trec_eval gives it, unjudged documents are nonrelevant",
    "background": "B + Δ·E: an unjudged document is relevant with the probability E",
    "interpolated": "B + C·Δ·B/(1 − Δ): C times as likely as a judged document of the run",
    "smoothed": "B + C·Δ·B + Δ²·E: interpolated where much is judged, background elsewhere",
    "systems-adjustment": "B plus the mean loss of pooled runs that are left out of the pool",
    "topics-adjustment": "B plus the run's mean loss on topics where it is fully judged",
    "anti-precision": "B + k̄·Δk̄ where the run's effect on pooled runs says it is underestimated",
    "condensed-list": "the measure of the ranking without its unjudged documents: nDCG′, AP′",
    "froebe-bootstrap": "a quantile of scores with judged documents in place of unjudged ones",
    "lu-moffat-culpepper": "B plus what documents at their ranks of the pooled runs gain on the topic",
    "horvitz-thompson": "sums of gains in which each document of a sample counts 1 / its probability",
    "by-design": "what labels predict, corrected by answers to a design, with an interval",
    "inferred-ap": "average precision inferred from a sample: infAP, or xinfAP of strata",
    "inferred-ndcg": "nDCG inferred from a stratified sample: infNDCG",
    "stat-ap": "average precision from any sample: weighted sums over documents and pairs",
    "judge-filled": "the measure with an LLM judge's labels in place of missing judgments",
    "judge-rates": "share relevant of hidden documents with a document's label as its probability",
    "prediction-powered": "an LLM judge's labels, corrected by a sample, with an interval of its own",
    "precise": "the same with topics as the sample's units",
}
POSTERIOR_ESTIMATORS = {
    "posterior-combined": "ratio and rankings, by how well they predict held-out organizations",
    "posterior-background": "a probability of being relevant for each topic and organization",
    "posterior-interpolated": "a share C of the run's judged precision on the topic",
    "posterior-smoothed": "interpolated where much is judged, background elsewhere",
    "posterior-odds-ratio": "odds a constant times those of the run's judged documents on the topic",
    "posterior-ratio": "a share that depends on how good the run's judged documents are",
    "posterior-anti-precision": "by how composing with the run changes the pooled runs",
    "posterior-evidence": "document by document: which runs rank it where, and the judgments around it",
    "posterior-rankings": "document by document: how reliable the runs that rank it are",
    "posterior-difference": "what held-out runs lose, by run, organization and topic, within the bounds",
    "posterior-judge-order": "from a sample of the judgments, nearer to the order by a judge's labels",
}
COMBINED_MODELS = ("ratio", "rankings")
"""Models averaged in the combined estimator."""
HIERARCHICAL_FORMS = {
    "background": "posterior-background",
    "interpolated": "posterior-interpolated",
    "smoothed": "posterior-smoothed",
    "systems-adjustment": "posterior-difference",
    "anti-precision": "posterior-anti-precision",
}
"""Published point corrections, mapped to the posterior estimator with their hierarchical form."""
DEFAULT_ESTIMATORS = ("background", "interpolated", "smoothed", "posterior-combined")
STRATEGIES = {
    "uniform": "a random sample of the documents",
    "stratified": "random samples of strata of ranks, denser at the top",
    "active-sampling": "documents drawn from runs by rank, more from runs that found relevant ones",
    "max-mean": "from the run with the largest share of relevant documents among its judged ones",
    "thompson": "from the run with the largest draw from the posterior of its share of relevant documents",
    "epsilon-greedy": "from the run whose draws were most often relevant, now and then from any",
    "ucb1-tuned": "from the run that could be the best given how little was drawn from it",
    "take": "the documents of the best ranks",
    "depth": "the first k documents of each run",
    "dcg": "by the sum over runs of the discount of DCG",
    "rrf": "by the sum over runs of 1 / (k + rank)",
    "move-to-front": "down a run as long as it yields relevant documents, then the run with fewest misses",
    "combmax": "by the largest score",
    "combmin": "by the smallest score",
    "combmed": "by the median score",
    "combsum": "by the sum of scores",
    "combanz": "by the mean of the scores above 0",
    "combmnz": "by the sum of scores, times how many runs retrieve it",
    "hedge": "the document of the largest weighted gain; runs weigh by how right they were",
    "rbp-a": "by the sum over runs of the weight of RBP",
    "rbp-b": "by the weight of RBP in runs of which little is judged",
    "rbp-c": "by the weight of RBP in runs that may turn out to be the best",
    "borda": "by the sum of ranks",
    "condorcet": "by majorities over pairs of documents",
}
MODELS = (
    *("background", "interpolated", "smoothed", "odds_ratio", "ratio", "anti_precision", "evidence"),
    "rankings",
)


def description_of(name: str, description: str | None = None) -> str:
    """Return an estimator's or strategy's description, by default the package's."""
    known = POINT_ESTIMATORS | POSTERIOR_ESTIMATORS | STRATEGIES
    if description is None and name not in known:
        raise InputError(f"{name!r} has no description", hint="say in a line what it does")
    return known[name] if description is None else description


def describe_estimator(estimator: Any) -> dict[str, Any]:
    """Return an estimator's name and settings as JSON-compatible values."""
    fields = getattr(estimator, "__dataclass_fields__", {})
    settings = {name: getattr(estimator, name) for name, f in fields.items() if f.compare}
    described = {
        name: dict(value) if isinstance(value, Mapping) else value for name, value in settings.items()
    }
    if hasattr(described.get("base"), "estimate"):
        described["base"] = describe_estimator(described["base"])
    return {"name": estimator.name} | described


def check_types(settings: Mapping[str, Any], hints: Mapping[str, Any]) -> None:
    """Raise ValueError for settings with the wrong type in a string such as ``rrf(k=60)``.

    Parameters
    ----------
    settings : mapping of str to object
    hints : mapping of str to type
        Type of each setting; settings without one are not checked.

    Raises
    ------
    ValueError
        A value is of another type.
    """
    numbers = {int: (int,), float: (int, float)}
    for name, value in settings.items():
        hint = hints.get(name)
        if hint in numbers and (not isinstance(value, numbers[hint]) or isinstance(value, bool)):
            raise ValueError(f"{name} must be {'a whole number' if hint is int else 'a number'}")
        if hint is bool and not isinstance(value, bool):
            raise ValueError(f"{name} must be True or False")
        if get_origin(hint) is Literal and value not in get_args(hint):
            raise ValueError(f"{name} must be one of {', '.join(map(repr, get_args(hint)))}")


def leading_name(text: str) -> str:
    """Return the name at the start of a string such as ``rrf(k=60)``, without effects that are added to it.

    Examples
    --------
    >>> leading_name(" rrf(k=60)"), leading_name("posterior-ratio + (1 | type)")
    ('rrf', 'posterior-ratio')
    """
    return split_effects(text)[0].partition("(")[0].strip()


def split_effects(text: str) -> tuple[str, str]:
    """Split the name of a model or posterior, with any settings, from the effects that are added to it.

    Examples
    --------
    >>> split_effects("posterior-ratio(draws=50) + (1 | type) + length")
    ('posterior-ratio(draws=50)', '(1 | type) + length')
    """
    depth = 0
    for place, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if char == "+" and depth == 0:
            return text[:place].strip(), text[place + 1 :].strip() or "+"  # which is refused as no effect
    return text.strip(), ""


def with_settings(name: str, settings: str) -> str:
    """Return a name with settings in parentheses, before effects that are added to it.

    Examples
    --------
    >>> with_settings("posterior-ratio + length", "draws=50")
    'posterior-ratio(draws=50) + length'
    """
    base, effects = split_effects(name)
    return f"{base}({settings})" + (f" + {effects}" if effects else "")


def estimator_of_model(model: str) -> str:
    """Return the name of the posterior under a model.

    Examples
    --------
    >>> estimator_of_model("anti_precision + topic_length")
    'posterior-anti-precision + topic_length'
    """
    base, *effects = model.partition("+")
    return f"posterior-{base.replace('_', '-')}" + "".join(effects)


def split_list(text: str) -> list[str]:
    """Split a string at commas outside parentheses.

    Examples
    --------
    >>> split_list("rrf(k=60,depth=5), take")
    ['rrf(k=60,depth=5)', 'take']
    """
    parts, depth = [""], 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts if part.strip()]


def settings_in(
    text: str, kind: str, make: type[Any], *, fixed: Collection[str] = frozenset()
) -> dict[str, Any]:
    """Parse the settings in a string such as ``rrf(k=60)``.

    Parameters
    ----------
    text : str
        ``name``, or ``name(setting=value, …)`` with numbers, texts (quoted unless one word), tuples, True
        or False as values, and of a class with ``priors`` distributions: ``mu=Normal(-2, 1)``.
    kind : str
        What the name is of, in messages: ``"strategy"``.
    make : type
        Its class, whose arguments the settings are.
    fixed : collection of str
        Arguments that the text may not set.

    Raises
    ------
    InputError
        The text has another form, an unknown setting, or a value that cannot be read or has another type.

    Examples
    --------
    >>> from bayespool.pooling import RRF
    >>> settings_in("rrf(k=60)", "strategy", RRF)
    {'k': 60}
    >>> settings_in("rrf(q=60)", "strategy", RRF)
    Traceback (most recent call last):
        ...
    bayespool.errors.InputError: strategy 'rrf(q=60)': there is no setting 'q'; rrf has k
    """
    name, (_, opened, rest) = leading_name(text), text.strip().partition("(")
    if not opened:
        return {}
    subject = f"{kind} {text!r}"
    parameters = [p for p in inspect.signature(make).parameters.values() if p.name not in fixed]
    names, takes_any = [p.name for p in parameters], any(p.kind is p.VAR_KEYWORD for p in parameters)
    defaults = {p.name: p.default for p in parameters if isinstance(p.default, int | float | str | tuple)}
    examples = (f"{name}={default!r}" for name, default in defaults.items())
    form = f"write {name}({next(examples, 'setting=value')})"
    try:
        call = ast.parse(f"f({rest}", mode="eval").body
    except SyntaxError:
        problem = "cannot be read" if rest.endswith(")") else "the parenthesis is not closed"
        raise InputError(f"{subject}: {problem}", hint=form) from None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
        raise InputError(f"{subject}: write settings as name=value", hint=form)
    settings: dict[str, Any] = {}
    for keyword in call.keywords:
        if keyword.arg is None:
            raise InputError(f"{subject}: write settings as name=value", hint=form)
        if "priors" in names and isinstance(keyword.value, ast.Call):  # mu=Normal(-2, 1)
            settings.setdefault("priors", {})[keyword.arg] = ast.unparse(keyword.value)
            continue
        if keyword.arg in fixed or (keyword.arg not in names and not takes_any):
            hint = known_names(keyword.arg, names or ["none"], before=f"{name} has ")
            raise InputError(f"{subject}: there is no setting {keyword.arg!r}", hint=hint)
        if isinstance(keyword.value, ast.Name):
            settings[keyword.arg] = keyword.value.id
            continue
        try:
            settings[keyword.arg] = ast.literal_eval(keyword.value)
        except ValueError:
            wanted = type_hints(make).get(keyword.arg)
            choices = ", ".join(map(repr, get_args(wanted))) if get_origin(wanted) is Literal else ""
            raise InputError(
                f"{subject}: {keyword.arg} cannot be {ast.unparse(keyword.value)}",
                hint=f"write {choices or 'a number, a text in quotes, True or False'}",
            ) from None
    try:
        check_types(settings, type_hints(make))
    except ValueError as error:
        raise InputError(f"{subject}: {error}") from None
    return settings


def type_hints(cls: Any) -> dict[str, Any]:
    """Return the type of each field, with ``object`` for names that exist only for type checkers."""
    unknown: dict[str, Any] = {}
    while True:
        try:
            return get_type_hints(cls, localns=unknown)
        except NameError as error:
            unknown[str(error.name)] = object
