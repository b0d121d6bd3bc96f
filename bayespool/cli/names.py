"""Names that options take, as literals so that help and completion load nothing."""

from __future__ import annotations

import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class NamedChoice:
    """Estimator ("point" or "posterior") or strategy; ``default`` if it is used when none is named."""

    name: str
    description: str
    kind: str
    default: bool = False


def estimators() -> tuple[NamedChoice, ...]:
    """Estimators of the package; all registered ones once their module is loaded."""
    if "bayespool.scoring.estimators" not in sys.modules:
        return _ESTIMATORS
    from bayespool.scoring import ESTIMATOR_NAMES, ESTIMATORS

    entries = (ESTIMATORS[name] for name in ESTIMATOR_NAMES)
    return tuple(NamedChoice(e.name, e.description, e.kind, e.default) for e in entries)


def strategies() -> tuple[NamedChoice, ...]:
    """Strategies of the package; all registered ones once their module is loaded."""
    if "bayespool.pooling" not in sys.modules:
        return _STRATEGIES
    from bayespool.pooling import STRATEGIES

    return tuple(NamedChoice(name, e.description, "strategy") for name, e in STRATEGIES.items())


MEASURES = (
    *("P@5", "P@10", "P@20", "P(rel=2)@10", "nDCG@5", "nDCG@10", "nDCG@20", "DCG@10", "SDCG@10"),
    *("AP@100", "AP@1000", "RR@10", "R@100", "R@1000", "Success@10", "ERR@20", "RBP(p=0.8)@10"),
    *("Judged@10", "AntiP@10"),
)
MODELS = ("background", "interpolated", "smoothed", "odds_ratio", "ratio", "anti_precision", "evidence")
_ESTIMATORS = (
    NamedChoice(
        "lower-bound",
        "B: the measure as trec_eval gives it, unjudged documents are nonrelevant",
        "point",
    ),
    NamedChoice(
        "background", "B + Δ·E: an unjudged document is relevant with the chance E", "point", default=True
    ),
    NamedChoice(
        "interpolated",
        "B + C·Δ·B/(1 − Δ): C times as likely as a judged document of the run",
        "point",
        default=True,
    ),
    NamedChoice(
        "smoothed",
        "B + C·Δ·B + Δ²·E: interpolated where much is judged, background elsewhere",
        "point",
        default=True,
    ),
    NamedChoice(
        "systems-adjustment",
        "B plus the mean loss of pooled runs that are left out of the pool",
        "point",
        default=True,
    ),
    NamedChoice(
        "topics-adjustment", "B plus the run's mean loss on topics where it is fully judged", "point"
    ),
    NamedChoice(
        "anti-precision",
        "B + k̄·Δk̄ where what the run does to the pooled runs fires the trigger",
        "point",
        default=True,
    ),
    NamedChoice(
        "condensed-list",
        "the measure of the ranking without its unjudged documents: nDCG′, AP′",
        "point",
        default=True,
    ),
    NamedChoice(
        "froebe-bootstrap", "a quantile of scores with judged documents in place of unjudged ones", "point"
    ),
    NamedChoice(
        "lu-moffat-culpepper",
        "B plus what documents at their ranks of the pooled runs gain on the topic",
        "point",
    ),
    NamedChoice(
        "horvitz-thompson",
        "sums of gains in which each document of a sample counts 1 / its probability",
        "point",
    ),
    NamedChoice(
        "inferred-ap", "average precision inferred from a sample: infAP, or xinfAP of strata", "point"
    ),
    NamedChoice(
        "stat-ap", "average precision from any sample: weighted sums over documents and pairs", "point"
    ),
    NamedChoice(
        "judge-filled", "the measure with a second judge's labels in place of missing judgments", "point"
    ),
    NamedChoice(
        "judge-rates",
        "how often hidden documents with a document's label are relevant, as its chance",
        "point",
    ),
    NamedChoice(
        "prediction-powered",
        "a second judge's labels, corrected by a sample, with an interval of its own",
        "point",
    ),
    NamedChoice(
        "posterior-combined",
        "ratio and evidence, by how well they predict held-out organizations",
        "posterior",
        default=True,
    ),
    NamedChoice(
        "posterior-background", "a chance of being relevant for each topic and organization", "posterior"
    ),
    NamedChoice(
        "posterior-interpolated", "a share C of the run's judged precision on the topic", "posterior"
    ),
    NamedChoice("posterior-smoothed", "interpolated where much is judged, background elsewhere", "posterior"),
    NamedChoice(
        "posterior-odds-ratio",
        "odds a constant times those of the run's judged documents on the topic",
        "posterior",
    ),
    NamedChoice(
        "posterior-ratio", "a share that depends on how good the run's judged documents are", "posterior"
    ),
    NamedChoice(
        "posterior-anti-precision", "by how composing with the run changes the pooled runs", "posterior"
    ),
    NamedChoice(
        "posterior-evidence",
        "document by document: which runs rank it where, and the judgments around it",
        "posterior",
    ),
)
_STRATEGIES = (
    NamedChoice("uniform", "a random sample of the documents", "strategy"),
    NamedChoice("stratified", "random samples of strata of ranks, denser at the top", "strategy"),
    NamedChoice(
        "active-sampling",
        "documents drawn from runs by rank, more from runs that found relevant ones",
        "strategy",
    ),
    NamedChoice(
        "max-mean",
        "from the run with the largest share of relevant documents among its judged ones",
        "strategy",
    ),
    NamedChoice(
        "thompson",
        "from the run with the largest draw from the posterior of its share of relevant documents",
        "strategy",
    ),
    NamedChoice(
        "epsilon-greedy",
        "from the run whose draws were most often relevant, now and then from any",
        "strategy",
    ),
    NamedChoice(
        "ucb1-tuned", "from the run that could be the best given how little was drawn from it", "strategy"
    ),
    NamedChoice("take", "the documents of the best ranks", "strategy"),
    NamedChoice("depth", "the first k documents of each run", "strategy"),
    NamedChoice("dcg", "by the sum over runs of the discount of DCG", "strategy"),
    NamedChoice("rrf", "by the sum over runs of 1 / (k + rank)", "strategy"),
    NamedChoice(
        "move-to-front",
        "down a run as long as it yields relevant documents, then the run with fewest misses",
        "strategy",
    ),
    NamedChoice("combmax", "by the largest score", "strategy"),
    NamedChoice("combmin", "by the smallest score", "strategy"),
    NamedChoice("combmed", "by the median score", "strategy"),
    NamedChoice("combsum", "by the sum of scores", "strategy"),
    NamedChoice("combanz", "by the mean of the scores above 0", "strategy"),
    NamedChoice("combmnz", "by the sum of scores, times how many runs retrieve it", "strategy"),
    NamedChoice(
        "hedge", "the document of the largest weighted gain; runs weigh by how right they were", "strategy"
    ),
    NamedChoice("rbp-a", "by the sum over runs of the weight of RBP", "strategy"),
    NamedChoice("rbp-b", "by the weight of RBP in runs of which little is judged", "strategy"),
    NamedChoice("rbp-c", "by the weight of RBP in runs that may turn out to be the best", "strategy"),
    NamedChoice("borda", "by the sum of ranks", "strategy"),
    NamedChoice("condorcet", "by majorities over pairs of documents", "strategy"),
)
