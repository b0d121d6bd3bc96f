"""Random numbers that depend on a seed and names, not on order or number of draws."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from bayespool.arrays import FloatArray

__all__ = ["document_keys", "key_of", "normals", "scrambled", "seed_of"]

KeyArray = npt.NDArray[np.uint64]


def key_of(*names: object, n_bytes: int = 8) -> int:
    """Return an integer hash of names with ``n_bytes`` bytes, the same on every machine."""
    text = "\0".join(map(str, names))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=n_bytes).digest(), "little")


def seed_of(*names: object) -> int:
    """Return a 32-bit seed from names."""
    return key_of(*names, n_bytes=4)


def document_keys(random_seed: int, query_id: str, doc_ids: Iterable[str]) -> KeyArray:
    """Return a random key for each document on a topic, shape (document,)."""
    start = hashlib.blake2b(f"{random_seed}\0{query_id}\0".encode(), digest_size=8)
    keys = []
    for doc_id in doc_ids:
        digest = start.copy()
        digest.update(doc_id.encode())
        keys.append(digest.digest())
    return np.frombuffer(b"".join(keys), dtype="<u8").astype(np.uint64)


def normals(n: int, *names: object) -> FloatArray:
    """Return standard normal numbers seeded by names, shape (n,), where a larger n only appends numbers."""
    return np.random.default_rng(key_of(*names)).standard_normal(n)


def scrambled(draws: npt.NDArray[np.integer]) -> KeyArray:
    """Return draw indices hashed to 64 random bits each (SplitMix64), in the same shape."""
    with np.errstate(over="ignore"):
        z = (draws.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(z ^ (z >> np.uint64(31)))
