"""The folder of a result: nothing is removed from it that is not ours, whatever its settings say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from bayespool.errors import OutputError
from bayespool.report.result import Result
from bayespool.report.saving import save_folder

FILES = {"runs.csv": "a,b\n", "mae.png": b"\x89PNG"}


@dataclass(frozen=True)
class OfFiles(Result):
    """A result that has these files alone."""

    held: Mapping[str, bytes | str]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    command = "leave-out"

    def tables(self) -> tuple[()]:
        return ()

    def files(self) -> Mapping[str, bytes | str]:
        return self.held


def written(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "settings.json"}


def test_files_of_an_earlier_result_go_if_they_are_as_they_were(tmp_path: Path) -> None:
    save_folder(OfFiles(FILES | {"old.csv": "1\n", "edited.csv": "1\n"}), tmp_path)
    (tmp_path / "edited.csv").write_text("2\n")
    save_folder(OfFiles(FILES), tmp_path)
    assert written(tmp_path) == {"runs.csv": b"a,b\n", "mae.png": b"\x89PNG", "edited.csv": b"2\n"}


FORGED = [
    '{"bayespool": "1", "experiment": "leave-out", "files": ["notes.txt"]}',
    '{"bayespool": "1", "experiment": "leave-out", "files": "abc", "digests": "abc"}',
    '{"bayespool": "1", "experiment": "leave-out", "files": ["notes.txt"], "digests": {"notes.txt": ""}}',
    '{"bayespool": "1", "experiment": "leave-out", "digests": {"\\u0000.txt": "", "\\ud800.txt": ""}}',
    '{"bayespool": "1", "experiment": "leave-out", "digests": {"../notes.txt": "", "/etc/passwd": ""}}',
    '{"bayespool": "1", "experiment": "leave-out", "digests": {"notes.txt": null, "a.txt": [1]}}',
    "[" * 200_000,
    "9" * 5000,
    '{"bayespool": 1e999, "experiment": "leave-out", "files": 5, "digests": [["notes.txt", ""]]}',
    "\x00",
    "",
]


def test_forged_settings_remove_nothing(tmp_path: Path) -> None:
    """A list of names was enough to have a file of somebody's removed."""
    for i, settings in enumerate(FORGED):
        folder = tmp_path / str(i) / "folder"
        folder.mkdir(parents=True)
        (folder / "settings.json").write_text(settings)
        for place in (folder, folder.parent):
            (place / "notes.txt").write_text("mine")
        save_folder(OfFiles(FILES), folder)
        kept = {"runs.csv": b"a,b\n", "mae.png": b"\x89PNG", "notes.txt": b"mine"}
        assert written(folder) == kept, settings[:80]
        assert (folder.parent / "notes.txt").read_text() == "mine"
        assert json.loads((folder / "settings.json").read_text())["files"] == sorted(FILES)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(
    st.fixed_dictionaries(
        {}, optional={name: json_values for name in ("bayespool", "experiment", "files", "digests")}
    )
)
def test_settings_of_any_content_are_harmless(
    tmp_path_factory: pytest.TempPathFactory, settings: dict[str, object]
) -> None:
    folder = tmp_path_factory.mktemp("folder")
    (folder / "settings.json").write_text(json.dumps(settings))
    (folder / "notes.txt").write_text("mine")
    try:
        save_folder(OfFiles(FILES), folder)
    except OutputError as error:
        assert "holds the results of" in str(error)  # noqa: PT017 (either way)
    assert (folder / "notes.txt").read_text() == "mine"
