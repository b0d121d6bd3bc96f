"""Line on what posteriors lack without a pool, and on how to fix it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayespool.collection import Collection
from bayespool.errors import NoPoolWarning, SparseJudgmentsWarning, warn_caller
from bayespool.evidence.bounds import unjudged_documents
from bayespool.measures import Measure
from bayespool.notes import Note
from bayespool.pooling import describe_pool
from bayespool.tables.formatting import counted

_PRIORS = "priors were set on TREC-2, TREC-8, Medical 2011, DL 2021 and COVID round 4"
_PAGE = "bayespool docs only-qrels"


def describe_lack(collection: Collection, run_ids: Sequence[str], measures: Sequence[Measure]) -> str:
    """Return a line on what posteriors rest on without a pool, and on what cures that.

    It is empty where all documents down to the measures' deepest cutoff are judged, so that nothing lacks.

    Examples
    --------
    >>> from bayespool import build_collection, parse_measure
    >>> collection = build_collection({"q": {"d": 3.0, "x": 2.0, "y": 1.0}}, {"q": {"d": 1, "e": 0}})
    >>> print(describe_lack(collection, ["run"], [parse_measure("P@2")]).partition(";")[0])
    no pool: posteriors rest on priors alone
    """
    depth = max(measure.cutoff for measure in measures)
    n = len(np.unique(unjudged_documents(collection, run_ids, cutoff=depth)[3]))
    if not n:
        return ""
    cures = [f"judging {counted(n, 'unjudged document')} in the top {depth} (judge-next lists them)"]
    if not collection.judges:
        cures.append("a judge's labels (--judge)")
    sparse = _sparse_measures(collection, measures)
    if not sparse:
        cures.insert(0, "a collection prepared by whoever has the pool's runs (--collection FILE.bayespool)")
    basis = describe_pool(collection).evidence
    lack = f"no pool: posteriors rest on {basis}"
    if sparse:
        lack = "no pool, and only relevant documents are judged, on nine in ten topics or more: posteriors"
        lack += f" of {', '.join(map(str, sparse))}" * (len(sparse) < len(measures))
        has_value = bool(collection.judges) or bool((collection.attributed_run >= 0).any())
        lack += f" rest on {basis}" if has_value else " have no value, quote bounds and the score as judged"
    *others, last = cures
    priors = f"; {_PRIORS}" if "rest on priors" in lack else ""
    return f"{lack}; to fix it: {', '.join(others)}{' or ' * bool(others)}{last}{priors}; see {_PAGE}"


def company_notes(collection: Collection, run_ids: Sequence[str], measures: Sequence[Measure]) -> list[Note]:
    """Return a note on runs that have unjudged documents in common: without a pool their scores then depend
    on the runs that they are named with.
    """
    depth = max(measure.cutoff for measure in measures)
    pair = unjudged_documents(collection, run_ids, cutoff=depth)[3]
    n = len(pair) - len(np.unique(pair))
    if not n:
        return []
    of = f"{n:,} of {len(pair):,} places in the top {depth}"
    text = (
        f"unjudged documents that several of these runs have ({of}) are of one relevance for all: without a "
        "pool a run's score is another one alone or beside other runs"
    )
    return [Note("company", text)]


def warn_of_no_pool(collection: Collection, lack: str, measures: Sequence[Measure]) -> None:
    """Warn of a lack, once per collection, and again once if its judgments are sparse for these measures.

    The warning is `SparseJudgmentsWarning` then, else `NoPoolWarning`.
    """
    is_sparse = bool(_sparse_measures(collection, measures))
    category = SparseJudgmentsWarning if is_sparse else NoPoolWarning
    collection.memo.once("warned of no pool", lambda: warn_caller(lack, category), is_sparse)


def _sparse_measures(collection: Collection, measures: Sequence[Measure]) -> list[Measure]:
    """Return the measures at whose threshold hardly any document is judged nonrelevant."""
    return [measure for measure in measures if collection.is_sparse_at(measure.least_level)]
