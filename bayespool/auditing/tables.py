"""Columns of the tables of audits."""

from bayespool.tables.columns import Column

STEPS = {
    "step": Column("step", "count", "Place in the order in which documents are drawn."),
    "known": Column("known", "count", "Number of judgments that were known when the document was drawn."),
    "probability": Column(
        "prob\xad\nability", "chance", "With which the document was drawn, given those before it.", 4
    ),
    "relevance": Column("relevance", "count", "Relevance; -1 where nobody has judged it."),
    "is_judged": Column(
        "judged", "flag", "Whether the document and all drawn before it are judged, so that it counts."
    ),
    "estimate": Column(
        "estimate", "score", "Design-based estimate: posterior means with weighted residuals."
    ),
    "lower": Column("from", "score", "Lower end of the guaranteed interval."),
    "upper": Column("to", "score", "Upper end of the guaranteed interval."),
    "posterior": Column("posterior", "score", "Posterior mean of the value, given the judgments so far."),
    "posterior_lower": Column("posterior\nfrom", "score", "Lower end of the posterior's interval."),
    "posterior_upper": Column("posterior\nto", "score", "Upper end of the posterior's interval."),
    "evidence": Column(
        "evidence",
        "size",
        "Evidence against the posterior so far; one that is right reaches 100 in about one of 40 audits.",
    ),
}
DOCUMENTS = {
    "low": Column(
        "adds\nat least", "difference", "What the document adds, if of worth 1, to a sum below the value.", 6
    ),
    "high": Column(
        "adds\nat most", "difference", "What the document adds, if of worth 1, to a sum above the value.", 6
    ),
    "chance": Column("chance of\nrelevance", "chance", "Expected worth of the document by the posterior.", 4),
    "spread": Column("s. d.", "chance", "Standard deviation of its worth in the posterior.", 4),
    "shared": Column(
        "shared",
        "difference",
        "Change of the chance with a standard deviation of what all have in common.",
        4,
    ),
    "relevance": Column("relevance", "count", "Relevance by the audit's judgments; -1 without one."),
}
DIFFERENCES = {
    "leader": Column("leader", "text", "The best run by the posterior before any judgment."),
    "other": Column("against", "text", "The run that the leader is compared with."),
    "difference": Column("difference", "difference", "Design-based estimate of the leader less the other."),
    "lower": Column("from", "difference", "Lower end of the guaranteed interval."),
    "upper": Column("to", "difference", "Upper end of the guaranteed interval."),
    "posterior": Column("posterior", "difference", "Posterior mean, given the judgments so far."),
    "posterior_lower": Column("posterior\nfrom", "difference", "Lower end of the posterior's interval."),
    "posterior_upper": Column("posterior\nto", "difference", "Upper end of the posterior's interval."),
    "p_better": Column(
        "p: leader\nbetter",
        "p-value",
        "P-value at any time of the leader being no better, times the number of other runs.",
    ),
    "p_worse": Column(
        "p: leader\nworse",
        "p-value",
        "P-value at any time of the leader being no worse, times the number of other runs.",
    ),
    "evidence": STEPS["evidence"],
    "leader_is": Column(
        "leader\nis", "text", "What is guaranteed of the leader: better, worse, equal or open."
    ),
}
