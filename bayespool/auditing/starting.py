"""How an audit begins: runs, their completion, the documents to draw from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayespool.auditing.auditing import Audit
from bayespool.auditing.leaders import LeaderAudit
from bayespool.auditing.urns import find_urn, find_urns
from bayespool.collection import Collection
from bayespool.collection.contents import warn_of_no_pool
from bayespool.errors import InputError
from bayespool.measures.normalized import with_ideal
from bayespool.options import describe_estimator, option, takes
from bayespool.scoring.scoring import expect_collection, find_suited_targets, pool_metadata
from bayespool.scoring.settings import CI_PROB, IDEAL, ONE_MEASURE, POSTERIOR, Ideal, TargetSettings

if TYPE_CHECKING:
    from bayespool.measures import Measure
    from bayespool.posterior import PosteriorEstimator


@dataclass(frozen=True, kw_only=True)
class AuditSettings(TargetSettings):
    """Settings for `bayespool.audit`."""

    measures: Measure = option("P@10", ONE_MEASURE)
    budget: int = option(
        50,
        "Documents to draw, besides those that are judged; in a later round by default as many as before.",
        least=1,
    )
    ideal: Ideal | None = option(
        None, IDEAL, details=f"{IDEAL.details} Default: own for a run, shared for a difference."
    )
    until: float | None = option(
        None,
        "Stop when the interval is at most this wide: nothing more is drawn then.",
        above=0,
    )
    estimator: PosteriorEstimator = option("posterior-combined", POSTERIOR)
    ci_prob: float = option(0.95, CI_PROB, details="The guaranteed one holds at all times at once.")

    def __post_init__(self) -> None:
        from bayespool.auditing.urns import check_auditable
        from bayespool.scoring.estimators import parse_posterior

        super().__post_init__()
        check_auditable(self.measures)
        self._hold("estimator", parse_posterior(self.estimator, self, **self.target_settings()))


@takes(AuditSettings)
def audit(
    collection: Collection,
    run_ids: str | Iterable[str] | None = None,
    *,
    settings: AuditSettings,
    report: Callable[[str], None] | None = None,
) -> Audit | LeaderAudit:
    """Draw unjudged documents of a run for judgment, with an interval that holds however wrong the model is.

    Parameters
    ----------
    collection : Collection
    run_ids : str or iterable of str, optional
        A run; two for their difference, the first less the second; or more, to tell whether the one with
        the best posterior mean is the best. Default: the runs that were not pooled, or with ``unpool`` only
        those named there.
    {options}
    report : callable, optional
        Called with a line on each stage of the work as it begins.

    Returns
    -------
    Audit or LeaderAudit
        With documents to judge; the latter of three runs or more. ``go_on`` takes their judgments.

    Raises
    ------
    InputError
        A measure that cannot be audited; nothing unjudged; unknown run or setting.

    Notes
    -----
    The interval holds at all times at once with probability ``ci_prob`` over the draws, if judgments do not
    depend on what is drawn. Nothing is assumed of the posterior, which only makes the interval narrower.

    Examples
    --------
    >>> from bayespool import audit, load_example
    >>> found = audit(load_example(), "new-b", "P@10", budget=5, estimator="posterior-ratio", draws=100)
    >>> len(found), found.interval
    (5, (0.35, 0.57))
    """
    expect_collection(collection)
    warn_of_no_pool(collection, rel=settings.measures.rel)
    (measure,) = with_ideal([settings.measures], settings.ideal or "own")
    whole = collection
    collection, targets, unpooled = find_suited_targets(
        whole, run_ids, settings, (measure,), settings.estimand
    )
    if len(targets) > 1 and not settings.ideal:
        (measure,) = with_ideal([measure], "shared")
    say = report or (lambda line: None)
    say(f"completing: {settings.estimator.name}")
    completion = settings.estimator.complete(collection, targets, measure)
    say("drawing")
    if len(targets) > 2:
        means = completion.evaluate(measure)[0].means().mean(axis=0)
        best = int(means.argmax())
        others = [r for r in range(len(targets)) if r != best]
        signs = np.zeros((len(others), len(targets)))
        signs[:, best], signs[np.arange(len(others)), others] = 1.0, -1.0
        urns = find_urns(completion, measure, signs)
        targets = tuple(targets[r] for r in (best, *others))
    else:
        urns = (find_urn(completion, measure),)
    if not len(urns[0]):
        raise InputError(
            f"{measure} of {' − '.join(targets)}: no unjudged document changes it",
            hint="there is nothing to audit; score says the value",
        )
    common: dict[str, Any] = {
        "run_ids": targets,
        "measure": str(measure),
        "relevance": np.full(len(urns[0]), -1, dtype=np.int64),
        "known": np.zeros(0, dtype=np.int64),
        "random_seed": settings.random_seed,
        "ci_prob": settings.ci_prob,
        "until": settings.until,
        "details": {
            "fingerprint": collection.fingerprint,
            "unpooled": unpooled,
            "passed_over": list(collection.passed_over),
            "estimator": describe_estimator(settings.estimator),
            **pool_metadata(collection, whole, targets, [measure]),
        },
    }
    if len(targets) > 2:
        return LeaderAudit(urns=urns, **common).drawn(settings.budget)
    return Audit(urn=urns[0], **common).drawn(settings.budget)
