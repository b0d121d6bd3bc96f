"""Prepare a collection: learn all that its pool teaches, and describe it."""

from __future__ import annotations

import dataclasses

from bayespool.arrays import Progress
from bayespool.collection import Collection
from bayespool.collection.collection import expect_collection
from bayespool.experiments.cards import describe_collection
from bayespool.report.provenance import without_folders
from bayespool.report.result import content
from bayespool.scoring.prepared import PreparedCollection, learn_collection
from bayespool.tables.files import as_bytes
from bayespool.validation import check_count


def prepare(
    collection: Collection,
    measures: object = "P@10",
    *,
    ranks: int | None = None,
    keep_draws: bool = False,
    graded: bool = False,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> PreparedCollection:
    """Prepare a collection: fit all models to its pool once, so that runs are scored in a tenth of a second.

    Parameters
    ----------
    collection : Collection
        With the campaign's runs as its pool; other runs stay out.
    measures : measure or iterable of measures, default "P@10"
        P@10, nDCG@10, P(rel=2)@10, …, whose models are fitted.
    ranks : int, optional
        Ranks of the pooled runs to keep. Default: all, as deep as the models look. Fewer make a smaller file,
        and models that know less of documents further down.
    keep_draws : bool, default False
        Keep the draws of the default seed, too: a file of tens of megabytes, for oneself, on which a command
        takes half as long.
    graded : bool, default False
        Also leave each organization out, so that the description says what intervals covered here.
    n_jobs : int, default 1
        Processes for that; −1 for one per core.
    progress : callable, optional
        Called with a text on each stage of the work as it begins: ``progress(text, done=0, total=0)``.

    Returns
    -------
    PreparedCollection
        Scores of runs on it are those from the files, to the byte.

    Raises
    ------
    InputError
        No pooled run, a pool made by a strategy, a published sample, judgments of one's own, or an unknown
        measure.

    Examples
    --------
    >>> from bayespool import load_example, prepare
    >>> prepared = prepare(load_example(), "P@10")
    >>> len(prepared.collection.run_ids)
    21
    """
    expect_collection(collection)
    check_count("ranks", ranks)
    prepared = learn_collection(collection, measures, ranks=ranks, keep_draws=keep_draws, progress=progress)
    card = describe_collection(collection, prepared.measures, graded=graded, n_jobs=n_jobs, progress=progress)
    with without_folders():
        return dataclasses.replace(prepared, card=as_bytes(content(card, ".json")))
