"""Texts of documents, for people and models who judge them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from bayespool.errors import InputError
from bayespool.reading.files import read_text
from bayespool.reading.sources import irds_name, irds_rows
from bayespool.tables.files import PathLike


def read_texts(source: PathLike, doc_ids: Iterable[str]) -> dict[str, str]:
    r"""Read the texts of documents.

    Parameters
    ----------
    source : path
        JSON lines with ``doc_id`` (or ``_id``) and ``text``; lines with the id, a tab and the text; or
        ``irds:`` and a name of ir_datasets, which may download it.
    doc_ids : iterable of str
        The documents.

    Returns
    -------
    dict of str to str
        Texts by document, of those that have one.

    Raises
    ------
    InputError
        The source cannot be read, or has none of the documents.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "texts.tsv"
    ...     _ = path.write_text("d1\tA whale.\nd2\tA ship.\n")
    ...     read_texts(path, ["d2", "d3"])
    {'d2': 'A ship.'}
    """
    wanted, name = set(doc_ids), irds_name(source)
    if name:
        documents = irds_rows(name, "docs", wanted)
        texts = {row.doc_id: row.default_text() for row in documents}
    else:
        texts = {doc_id: text for doc_id, text in _lines(Path(source)) if doc_id in wanted}
    if wanted and not texts:
        reason = f"{source} has no text of the documents" if name else "has no text of the documents"
        hint = "are these their ids?"
        raise InputError(reason, path=None if name else Path(source), hint=hint)
    return texts


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the id and the text of each line of a file."""
    lines = read_text(path).decode().split("\n")
    is_json = lines[0].lstrip().startswith("{")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            if is_json:
                row = json.loads(line)
                yield str(row["doc_id"] if "doc_id" in row else row["_id"]), str(row["text"])
            else:
                doc_id, text = line.split("\t", 1)
                yield doc_id, text
        except (ValueError, KeyError, TypeError):
            hint = "JSON lines with doc_id and text, or an id, a tab and the text"
            raise InputError("has no document with a text", path=path, line=number, hint=hint) from None
