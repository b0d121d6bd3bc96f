"""Simulated second judges of known quality."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.special import ndtri

from bayespool.collection import Collection, Labels
from bayespool.collection.judges import find_pairs
from bayespool.errors import InputError
from bayespool.experiments.simulation import Simulation
from bayespool.randomness import document_keys, key_of

_FAVORED_DEPTH = 20  # of the favored organization's runs
_FAVOR = 2.0  # added for their documents, in standard deviations of the judge's noise


def simulate_judge(
    simulation: Simulation,
    *,
    quality: float,
    grades: int = 4,
    share: float = 1.0,
    favors: str | None = None,
    random_seed: int,
) -> Labels:
    r"""Labels of a second judge for documents that the runs retrieve.

    Parameters
    ----------
    simulation : Simulation
    quality : float
        Effect of a level of relevance on the judge's liking, in standard deviations of its noise. With 1 the
        judge prefers a relevant to a nonrelevant document in 76 of 100 pairs, with 2 in 92, with 0 in half.
        Negative values invert the preference.
    grades : int, default 4
        Labels are 0 to ``grades`` − 1. A judge of quality 0 gives half of the documents 0, half of the others
        1, and so on.
    share : float, over 0 and at most 1
        Share of the documents with a label, at random.
    favors : str, optional
        An organization whose documents in the top 20 of its runs the judge likes better, by 2 standard
        deviations of its noise.
    random_seed : int
        A document's label depends on it, the topic and the document's id. The documents of a smaller share
        are among those of a larger one.

    Returns
    -------
    Labels

    Raises
    ------
    InputError
        A number out of its range, or an unknown organization.

    Notes
    -----
    With the relevance :math:`r` of a document, its mean :math:`\bar r` over all candidates, the quality
    :math:`q` and standard normal noise, the label is the number of :math:`k = 1, \dots, G - 1` with

    .. math::

        q (r - \bar r) + 2 \cdot \text{favored} + \varepsilon \ge \Phi^{-1}(1 - 2^{-k})

    Examples
    --------
    >>> from bayespool.experiments.simulation import simulate_example
    >>> simulate_judge(simulate_example(), quality=2, random_seed=1)
    <Labels: 5,032 documents, 20 topics>
    """
    if not np.isfinite(quality):
        raise InputError(f"a judge's quality is a number, not {quality}")
    if grades < 2:
        raise InputError(f"a judge needs two grades or more, not {grades}")
    if not 0 < share <= 1:
        raise InputError(f"a judge labels a share over 0 and up to 1 of the documents, not {share}")
    collection, truth = simulation.collection, simulation.truth
    retrieved = find_pairs(collection, truth.query_id, truth.doc_id)
    relevance = np.empty(len(collection.relevance))
    relevance[retrieved[retrieved >= 0]] = truth.relevance[retrieved >= 0]
    liking = quality * (relevance - truth.relevance.mean())
    liking += _FAVOR * _in_top_of(collection, favors)
    liking += ndtri(_uniform(collection, key_of(random_seed, "label")))
    label = np.searchsorted(ndtri(1 - 0.5 ** np.arange(1, grades)), liking, side="right")
    kept = np.flatnonzero(_uniform(collection, key_of(random_seed, "share")) < share)
    topics = pa.array(collection.query_ids, pa.string())
    return Labels(
        query_id=pa.DictionaryArray.from_arrays(
            pa.array(collection.pair_topic[kept].astype(np.int32)), topics
        ),
        doc_id=collection.doc_ids.take(pa.array(kept)),
        label=label[kept].astype(np.float64),
    )


def _in_top_of(collection: Collection, organization: str | None) -> npt.NDArray[np.bool_]:
    """Whether documents are in the top 20 of an organization's runs, shape (pair,)."""
    inside = np.zeros(len(collection.relevance) + 1, dtype=bool)
    if organization is not None:
        if organization not in collection.organizations:
            known = ", ".join(map(repr, collection.organizations))
            raise InputError(f"no organization {organization!r}; known: {known}")
        of_it = collection.organization == collection.organizations.index(organization)
        inside[collection.document[of_it, :, :_FAVORED_DEPTH]] = True  # −1, no document, is the last entry
    return inside[:-1]


def _uniform(collection: Collection, random_seed: int) -> npt.NDArray[np.float64]:
    """A number between 0 and 1 for each document, by name, shape (pair,)."""
    doc_ids, topics = collection.doc_ids.to_pylist(), np.arange(len(collection.query_ids) + 1)
    first = np.searchsorted(collection.pair_topic, topics)
    keys = [
        document_keys(random_seed, query_id, doc_ids[first[t] : first[t + 1]])
        for t, query_id in enumerate(collection.query_ids)
    ]
    bits = (np.concatenate(keys) >> np.uint64(11)).astype(np.float64)
    return (bits + 0.5) * 2.0**-53
