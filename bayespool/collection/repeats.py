"""Search for documents that are repeated in a topic."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

_BLOCK_LINES = 1 << 13  # that stay in the processor's cache
_N_BYTES = 16  # at the end of an id, in its fingerprint
_LOW = np.array([2 ** (8 * min(n, 8)) - 1 for n in range(_N_BYTES + 1)], dtype="<u8")
_HIGH = np.array([2 ** (8 * max(n - 8, 0)) - 1 for n in range(_N_BYTES + 1)], dtype="<u8")
_FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)


def repeats(query_id: pa.DictionaryArray, doc_id: pa.StringArray) -> npt.NDArray[np.intp]:
    """Positions of entries whose (topic, document) occurred before, ascending; both arrays without nulls.

    Equal documents have equal fingerprints; comparing these first takes half the time.
    """
    in_order = np.sort(_fingerprints(query_id, doc_id))
    if not (in_order[1:] == in_order[:-1]).any():
        return np.empty(0, dtype=np.intp)
    codes = pair_codes(query_id, doc_id)
    order = np.argsort(codes, kind="stable")
    return np.sort(order[1:][np.diff(codes[order]) == 0])


def has_repeats(query_id: pa.DictionaryArray, doc_id: pa.StringArray) -> bool:
    """Whether a (topic, document) occurs twice."""
    return repeats(query_id, doc_id).size > 0


def pair_codes(query_id: pa.DictionaryArray, doc_id: pa.StringArray) -> npt.NDArray[np.int64]:
    """Integer codes of (topic, document), shape (line,), equal for equal pairs."""
    documents = doc_id.dictionary_encode()
    codes: npt.NDArray[np.int64] = query_id.indices.to_numpy().astype(np.int64)
    codes *= len(documents.dictionary)
    codes += documents.indices.to_numpy()
    return codes


def _fingerprints(query_id: pa.DictionaryArray, doc_id: pa.StringArray) -> npt.NDArray[np.uint64]:
    """Hashes of the topic and the last bytes of the document id, shape (line,)."""
    _, ends, data = doc_id.buffers()
    offsets = np.frombuffer(ends, dtype=np.int32)[doc_id.offset : doc_id.offset + len(doc_id) + 1]
    text = np.frombuffer(data, dtype=np.uint8)[offsets[0] : offsets[-1]]
    words = np.concatenate([text, np.zeros(24 - len(text) % 8, dtype=np.uint8)]).view("<u8")
    topic = query_id.indices.to_numpy().astype(np.uint64) * _SECOND
    hashes = np.empty(len(topic), dtype=np.uint64)
    for start in range(0, len(topic), _BLOCK_LINES):
        block = slice(start, start + _BLOCK_LINES)
        bounds = offsets[start : start + _BLOCK_LINES + 1].astype(np.int64) - offsets[0]
        n = np.minimum(np.diff(bounds), _N_BYTES)
        begin = bounds[1:] - n
        word, shift = begin >> 3, ((begin & 7) << 3).view(np.uint64)
        rest, middle = np.uint64(63) - shift, words[word + 1]  # 64 − shift in two steps: it may be 64
        low = (words[word] >> shift | middle << rest << np.uint64(1)) & _LOW[n]
        high = (middle >> shift | words[word + 2] << rest << np.uint64(1)) & _HIGH[n]
        mixed = (low ^ topic[block]) * _FIRST
        hashes[block] = (mixed ^ mixed >> np.uint64(32) ^ high) * _SECOND
    return hashes
