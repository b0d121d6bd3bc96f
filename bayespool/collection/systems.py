"""Systems whose runs are replicates: seeds, prompts or query variants of one."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from pathlib import Path

from bayespool.collection.contents import Collection
from bayespool.collection.readers import read_systems
from bayespool.errors import InputError

Systems = tuple[tuple[str, str], ...]


def systems_of(given: str | Path | Mapping[str, str] | Iterable[tuple[str, str]] | None) -> Systems:
    """Run ids with their systems, of a CSV file, a mapping or pairs; none of nothing."""
    if given is None:
        return ()
    if isinstance(given, str | Path):
        return tuple(read_systems(given).items())
    pairs = given.items() if isinstance(given, Mapping) else given
    return tuple((str(run_id), str(system)) for run_id, system in pairs)


def with_systems(collection: Collection, systems: Systems) -> Collection:
    """The collection whose runs of a system are of one organization, that of its first run listed: they are
    held out, and leave the pool, together.

    Raises
    ------
    InputError
        No run that is listed is in the collection.
    """
    present = set(collection.run_ids)
    known = [(run_id, system) for run_id, system in systems if run_id in present]
    if systems and not known:
        raise InputError("no run of the list of systems is in the collection", hint="are these its run ids?")
    organization = collection.organization.copy()
    first: dict[str, int] = {}
    for (_, system), run in zip(known, collection.run_index([run_id for run_id, _ in known]), strict=True):
        organization[run] = first.setdefault(system, int(organization[run]))
    return dataclasses.replace(collection, organization=organization)
