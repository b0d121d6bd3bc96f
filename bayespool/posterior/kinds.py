"""Kinds of runs in the pool: organizations that retrieve alike, held out together to predict new kinds."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.evidence import run_overlap

N_KINDS = 4
"""Few kinds, so that each is as unlike the rest of the pool as possible."""

_OVERLAP_DIGITS = 9  # decimals of overlaps; further ones depend on the order of sums


def find_kinds(collection: Collection, n_kinds: int = N_KINDS) -> tuple[tuple[str, ...], ...]:
    """Kinds of the pool's organizations that retrieve alike, of about equal numbers.

    The largest set of organizations is halved along the first principal coordinate of 1 − the mean overlap of
    their runs (`bayespool.evidence.overlap`), until there are enough.

    Parameters
    ----------
    collection : Collection
        Its judgments are not used.
    n_kinds : int, default 4

    Returns
    -------
    tuple of tuple of str
        Organizations with a pooled run, in the collection's order within each kind; as many kinds as
        organizations where these are fewer.

    Raises
    ------
    InputError
        Fewer than one kind.

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
    if n_kinds < 1:
        raise InputError(f"{n_kinds} kinds", hint="1 or more")
    index = np.flatnonzero(collection.pooled)
    present, own = np.unique(collection.organization[index], return_inverse=True)
    share = np.zeros((len(index), len(present)))
    share[np.arange(len(index)), own] = 1 / np.bincount(own)[own]
    apart = np.round(1 - share.T @ run_overlap(collection, index) @ share, _OVERLAP_DIGITS)
    kinds = [np.arange(len(present))] if len(present) else []
    while len(kinds) < min(n_kinds, len(present)):
        kinds.sort(key=len)
        kinds += _halves(kinds.pop(), apart)
    in_order = sorted(np.sort(kind).tolist() for kind in kinds)
    return tuple(tuple(collection.organizations[present[o]] for o in kind) for kind in in_order)


def _halves(members: npt.NDArray[np.intp], apart: npt.NDArray[np.float64]) -> list[npt.NDArray[np.intp]]:
    """Two parts of about equal size; members without a distance between them stay together."""
    distance = apart[np.ix_(members, members)]
    np.fill_diagonal(distance, 0)
    mean = distance.mean(axis=0)
    centered = -(distance - mean - mean[:, None] + distance.mean()) / 2
    first = np.round(np.linalg.eigh(centered)[1][:, -1], _OVERLAP_DIGITS)
    if (first**3).sum() < 0:  # its sign is arbitrary
        first = -first
    order = np.argsort(first, kind="stable")
    gaps, cuts = np.diff(first[order]), np.arange(1, len(members))
    distinct = cuts[gaps > 0] if (gaps > 0).any() else cuts
    cut = min(distinct, key=lambda c: (abs(2 * c - len(members)), -gaps[c - 1]))
    return [members[order[:cut]], members[order[cut:]]]


def with_kinds(collection: Collection, n_kinds: int = N_KINDS) -> Collection:
    """The collection with kinds in place of organizations: those of the pool, and one for all other runs;
    judges still favor organizations.

    Examples
    --------
    >>> from bayespool import load_example
    >>> kinds = with_kinds(load_example())
    >>> sorted({kinds.organizations[o] for o in kinds.organization})
    ['kind 1: coast, ridge', 'kind 2: delta, south', 'kind 3: east, north', 'kind 4: lake, west', 'new kind']
    """
    kinds = find_kinds(collection, n_kinds)
    kind_of = {name: k for k, kind in enumerate(kinds) for name in kind}
    # a run with judgments of its own keeps its organization, which is evidence
    first, own = (
        len(collection.organizations),
        np.isin(np.arange(len(collection.run_ids)), collection.contributors),
    )
    organization = np.where(own, collection.organization, first + len(kinds)).astype(np.int32)
    for i in np.flatnonzero(collection.pooled):
        organization[i] = first + kind_of[collection.organizations[collection.organization[i]]]
    names = [f"kind {k}: {', '.join(kind)}" for k, kind in enumerate(kinds, 1)]
    return dataclasses.replace(
        collection,
        judges=tuple(
            dataclasses.replace(judge, organization=collection.organization) for judge in collection.judges
        ),
        organization=organization,
        organizations=(*collection.organizations, *names, "new kind"),
    )
