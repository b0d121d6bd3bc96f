"""Scores whose names are markup, scripts and commands: names of runs and topics are untrusted text."""

from __future__ import annotations

import dataclasses

from known_scores import with_posterior

from bayespool.experiments import load_example
from bayespool.scoring import Scores, score

IMAGE = "<img src=x onerror=alert(1)>"
SCRIPT = "</script><script>alert(2)</script>"
QUOTES = "\"'><svg onload=alert(3)> {{ 7 * 7 }} $x$ ]]> --> &amp;"
TOPIC = "<b onmouseover=alert(4)>7</b></style><script>alert(5)</script>"


def hostile_scores() -> Scores:
    """The two runs of the example by other names, one of its topics, too, with a posterior."""
    scores = score(
        load_example(),
        None,
        ["P@10", "nDCG@10"],
        estimators=["background", "posterior-ratio"],
        posterior_settings="draws=100",
    )
    return renamed(scores, (IMAGE, SCRIPT + QUOTES))


def renamed(scores: Scores, run_ids: tuple[str, ...]) -> Scores:
    """Scores with other names of runs, and of the first topic."""
    names = {"run_ids": run_ids, "query_ids": (TOPIC, *scores.query_ids[1:])}
    return dataclasses.replace(
        scores,
        **names,
        bounds=tuple(dataclasses.replace(found, **names) for found in scores.bounds),
        estimates=tuple(
            dataclasses.replace(e, **names, notes=tuple((f"of {run}",) for run in run_ids))
            for e in scores.estimates
        ),
        metadata={
            **scores.metadata,
            "query_ids": list(names["query_ids"]),
            "runs_of_the_user": list(run_ids),
        },
    )


def many_runs(n: int = 90) -> Scores:
    """So many runs, each a copy of one of the example's."""
    import numpy as np

    from bayespool.measures import Values

    scores = with_posterior(score(load_example(), None, "P@10", estimators="background"))
    chosen = np.arange(n) % 2

    def of(values: Values) -> Values:
        return Values(values.amount[..., chosen, :], values.unit)

    names = {"run_ids": tuple(f"run-{i:03d}" for i in range(n))}
    counts = ("n_judged", "n_unjudged", "n_missing")
    bounds = [
        dataclasses.replace(
            b,
            **names,
            **{name: of(getattr(b, name)) for name in ("low", "high", "least", "most")},
            **{name: getattr(b, name)[chosen] for name in counts},
        )
        for b in scores.bounds
    ]
    estimates = [
        dataclasses.replace(
            e,
            **names,
            per_topic=e.per_topic[chosen],
            value=e.value[chosen],
            draws=None if e.draws is None else of(e.draws),
            notes=(),
        )
        for e in scores.estimates
    ]
    return dataclasses.replace(scores, **names, bounds=tuple(bounds), estimates=tuple(estimates))
