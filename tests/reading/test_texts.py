"""Texts of documents, from files and ir_datasets."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import pytest

from bayespool.errors import InputError
from bayespool.reading import read_texts


@pytest.mark.parametrize(
    "content",
    [
        "d1\ta whale\t1851\nd2\tb\n\n",
        '{"doc_id": "d1", "text": "a whale\\t1851"}\n{"_id": "d2", "text": "b"}\n',
    ],
)
def test_texts_of_files(content: str, tmp_path: Path) -> None:
    path = tmp_path / "texts"
    path.write_text(content)
    assert read_texts(path, ["d1", "d3"]) == {"d1": "a whale\t1851"}
    with pytest.raises(InputError, match="has no text of the documents; are these their ids"):
        read_texts(path, ["3"])


@pytest.mark.parametrize("line", ["d2 without a tab", '{"doc_id": "d2"}'])
def test_a_line_without_a_text_is_named(line: str, tmp_path: Path) -> None:
    path = tmp_path / "texts"
    path.write_text(("d1\tx\n" if line[0] == "d" else '{"doc_id": "d1", "text": ""}\n') + line)
    with pytest.raises(InputError, match=r"texts, line 2: has no document with a text"):
        read_texts(path, ["d1"])


def test_texts_of_ir_datasets(monkeypatch: pytest.MonkeyPatch) -> None:
    document = types.SimpleNamespace(doc_id="d1", default_text=lambda: "a whale")

    class Dataset:
        docs_iter = iter

        def docs_store(self) -> Any:
            return types.SimpleNamespace(get_many=lambda ids: {"d1": document} if "d1" in ids else {})

    module: Any = types.ModuleType("ir_datasets")
    module.load = {"toy": Dataset(), "empty": object()}.__getitem__
    monkeypatch.setitem(sys.modules, "ir_datasets", module)
    assert read_texts("irds:toy", ["d1", "d2"]) == {"d1": "a whale"}
    with pytest.raises(InputError, match="irds:empty has no documents"):
        read_texts("irds:empty", ["d1"])
    with pytest.raises(InputError, match="irds:toy has no text of the documents"):
        read_texts("irds:toy", ["d2"])
