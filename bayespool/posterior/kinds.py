"""The pool as a few kinds of runs: organizations that retrieve alike are held out together.

What one organization hides is what a newcomer like the others loses. What a newcomer of a new kind loses is
more, and better: documents that several runs of its kind would have found. Holding a whole kind out shows it.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.counts import overlap

__all__ = ["N_KINDS", "find_kinds", "with_kinds"]

N_KINDS = 4
"""As few as tell how much kinds differ, so that each is as unlike the rest of the pool as it can be."""

_DIGITS = 9  # of overlaps; what is beyond hangs on the order of sums


def find_kinds(collection: Collection, n_kinds: int = N_KINDS) -> tuple[tuple[str, ...], ...]:
    """The pool's organizations in kinds of about the same number that retrieve alike.

    Parameters
    ----------
    collection : Collection
        Judgments are not looked at.
    n_kinds : int, default 4

    Returns
    -------
    tuple of tuple of str
        Organizations with a pooled run, in the collection's order within each kind; as many kinds as there
        are organizations where these are fewer.

    Notes
    -----
    The largest set of organizations is halved along the first principal coordinate of 1 − the mean overlap of
    their runs (`bayespool.counts.overlap`), until there are enough.

    References
    ----------
    J. C. Gower (1966). Some distance properties of latent root and vector methods used in multivariate
    analysis. Biometrika 53, 325–338.

    Examples
    --------
    >>> from bayespool import load_example
    >>> for kind in find_kinds(load_example(), 3):
    ...     print(", ".join(kind))
    coast, ridge
    delta, east, north, south
    lake, west
    """
    index = np.flatnonzero(collection.pooled)
    present, own = np.unique(collection.organization[index], return_inverse=True)
    share = np.zeros((len(index), len(present)))
    share[np.arange(len(index)), own] = 1 / np.bincount(own)[own]
    apart = np.round(1 - share.T @ overlap(collection, index) @ share, _DIGITS)
    kinds = [np.arange(len(present))] if len(present) else []
    while len(kinds) < min(n_kinds, len(present)):
        kinds.sort(key=len)
        kinds += _halves(kinds.pop(), apart)
    first_first = sorted(np.sort(kind).tolist() for kind in kinds)
    return tuple(tuple(collection.organizations[present[o]] for o in kind) for kind in first_first)


def _halves(members: npt.NDArray[np.intp], apart: npt.NDArray[np.float64]) -> list[npt.NDArray[np.intp]]:
    distance = apart[np.ix_(members, members)]
    np.fill_diagonal(distance, 0)
    mean = distance.mean(axis=0)
    centered = -(distance - mean - mean[:, None] + distance.mean()) / 2
    first = np.round(np.linalg.eigh(centered)[1][:, -1], _DIGITS)
    order = np.argsort(first, kind="stable")
    gaps, cut = np.diff(first[order]), len(members) // 2
    if len(members) % 2 and gaps[cut - 1] < gaps[cut]:  # the one in the middle goes with whom it is nearer
        cut += 1
    return [members[order[:cut]], members[order[cut:]]]


def with_kinds(collection: Collection, n_kinds: int = N_KINDS) -> Collection:
    """The collection with a kind of organizations in place of each pooled run's organization.

    Runs outside the pool keep theirs, so that one of them whose organization is in the pool is nevertheless
    taken as new.

    Examples
    --------
    >>> from bayespool import load_example
    >>> kinds = with_kinds(load_example())
    >>> len(set(kinds.organization[kinds.pooled].tolist()))
    4
    """
    kinds = find_kinds(collection, n_kinds)
    kind_of = {name: k for k, kind in enumerate(kinds) for name in kind}
    first = len(collection.organizations)
    organization = collection.organization.copy()
    for i in np.flatnonzero(collection.pooled):
        organization[i] = first + kind_of[collection.organizations[organization[i]]]
    names = tuple(" + ".join(kind) for kind in kinds)
    return dataclasses.replace(
        collection, organization=organization, organizations=(*collection.organizations, *names)
    )
