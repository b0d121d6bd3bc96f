"""Scores and figures in files, and the folder of a result, from which nothing goes that is not ours."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st
from known_scores import POINT, with_posterior
from small import small

from bayespool.errors import OutputError
from bayespool.plots import figure_grid
from bayespool.report.result import Result, file_metadata, save_folder
from bayespool.report.saving import check_output, write_figures
from bayespool.scoring import Scores, score
from bayespool.tables.files import as_bytes, digest, json_value, parquet_bytes

pytestmark = pytest.mark.filterwarnings("ignore::bayespool.errors.PooledRunWarning")


@cache
def everything() -> Scores:
    """Two measures, point corrections and a posterior, a missing value and notes."""
    nobody = small().with_pool(np.zeros(len(small().run_ids), dtype=bool), 0)
    return with_posterior(score(nobody, ["new-a", "new-b"], ["P@5", "P(rel=2)@10"], estimators=POINT))


@pytest.mark.parametrize("per_topic", [False, True])
def test_files_hold_the_frame_and_the_metadata(per_topic: bool, tmp_path: Path) -> None:
    asked = everything().per_topic() if per_topic else everything()
    expected = everything().to_frame(per_topic=per_topic)
    csv, table, document = (tmp_path / f"scores.{ending}" for ending in ("csv", "parquet", "json"))
    for path in (csv, table, document):
        asked.save(path)
        first, place = path.read_bytes(), path.stat().st_ino
        asked.save(path)
        assert path.read_bytes() == first
        assert path.stat().st_ino != place, "another file in its place, which was written whole before"
    exact: Any = {"check_exact": True, "check_dtype": False}
    pd.testing.assert_frame_equal(pd.read_csv(csv, dtype={"run_id": str, "query_id": str}), expected, **exact)
    assert csv.read_bytes().count(b"\r") == 0
    pd.testing.assert_frame_equal(pd.read_parquet(table), expected, **exact)
    metadata = pq.read_table(table).schema.metadata[b"bayespool"]
    found = json.loads(document.read_text("utf-8"), parse_constant=lambda c: pytest.fail(f"{c} is no JSON"))
    assert set(found) == {"metadata", "scores", "topics", "unjudged", "indicators", "constants", "run_notes"}
    assert found["metadata"] == json.loads(metadata) == json_value(file_metadata(asked))
    rows = pd.DataFrame(found["topics" if per_topic else "scores"])
    pd.testing.assert_frame_equal(rows.astype(expected.dtypes.to_dict()), expected, rtol=0, atol=1e-15)
    lacking = [row for row in found["scores"] if row["estimator"] == "systems-adjustment"]
    assert [row["value"] for row in lacking] == [None] * 4


def test_output_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    for name, said in (
        ("scores.txt", r"scores\.txt: cannot write \.txt; use \.csv, \.json, \.parquet"),
        ("folder.csv", "is a folder"),
        ("nowhere/scores.csv", "there is no folder .*nowhere"),
    ):
        for refuse in (check_output, everything().save):
            with pytest.raises(OutputError, match=said):
                refuse(tmp_path / name)
    assert sorted(tmp_path.rglob("*")) == [tmp_path / "folder.csv"]


def test_a_drawing_for_each_file(tmp_path: Path) -> None:
    drawn = []

    def draw() -> object:
        drawn.append(1)
        return figure_grid(1)[0]

    write_figures([], draw)
    write_figures([tmp_path / "a.png", tmp_path / "a.pdf"], draw)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    with pytest.raises(OutputError, match=r"cannot draw \.gif"):
        write_figures([tmp_path / "b.png", tmp_path / "b.gif"], draw)
    assert (drawn, (tmp_path / "b.png").exists()) == ([1, 1], False)
    with pytest.raises(ZeroDivisionError):  # and what stood there stays
        write_figures([tmp_path / "a.pdf"], lambda: 1 / 0)
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")


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


def table_files(name: str, command: str = "leave-out") -> dict[str, bytes | str]:
    """A table as a folder of results has it."""
    mark = {"bayespool": "0.1", "experiment": command, "table": name}
    return {f"{name}.csv": "a\n1\n", f"{name}.parquet": parquet_bytes({"a": [1]}, mark)}


def test_files_of_an_earlier_result_go_if_they_are_as_they_were(tmp_path: Path) -> None:
    save_folder(OfFiles(FILES | table_files("old") | table_files("edited")), tmp_path)
    (tmp_path / "edited.csv").write_text("2\n")
    save_folder(OfFiles(FILES), tmp_path)
    assert written(tmp_path) == {"runs.csv": b"a,b\n", "mae.png": b"\x89PNG", "edited.csv": b"2\n"}


def test_only_files_that_such_a_result_may_have_are_removed(tmp_path: Path) -> None:
    """Settings that list a file with its right digest were enough to have it removed."""
    mine: dict[str, bytes | str] = {
        "mine.csv": "my,own\n",
        "mine.png": b"\x89PNG of another program",
        "notes.txt": "1 0 a 1\n",
        "qrels-2.txt": "a diary\n",
        "runs.parquet": parquet_bytes({"a": [1]}),
        **table_files("scores", command="score"),
    }
    listed = {name: digest(content) for name, content in mine.items()}
    for name, content in mine.items():
        (tmp_path / name).write_bytes(as_bytes(content))
    settings = {"bayespool": "0.1", "experiment": "leave-out", "digests": listed}
    (tmp_path / "settings.json").write_text(json.dumps(settings))
    save_folder(OfFiles(FILES), tmp_path)
    assert written(tmp_path) == {**{name: as_bytes(each) for name, each in {**mine, **FILES}.items()}}


@pytest.mark.parametrize("name", ["runs.csv", "settings.json"])
def test_no_link_is_written_through(name: str, tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "folder", tmp_path / "mine"
    folder.mkdir()
    elsewhere.write_text("")
    (folder / name).symlink_to(elsewhere)
    with pytest.raises(OutputError, match=f"{name}: is a link; remove it"):
        save_folder(OfFiles(FILES), folder)
    assert (elsewhere.read_text(), (folder / "mae.png").exists()) == ("", False)


def test_a_file_of_the_user_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text("mine,too\n")
    with pytest.raises(OutputError, match=r"runs\.csv: is of no earlier result; move it"):
        save_folder(OfFiles(FILES), tmp_path)
    assert written(tmp_path) == {"runs.csv": b"mine,too\n"}
    (tmp_path / "runs.csv").write_text("a,b\n")  # as a call wrote it that was killed before its settings
    save_folder(OfFiles(FILES), tmp_path)
    (tmp_path / "settings.json").write_text('{"editor.fontSize": 12}')
    with pytest.raises(OutputError, match=r"settings\.json: is not of bayespool; name another folder"):
        save_folder(OfFiles(FILES), tmp_path)


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
        kept = {"notes.txt": b"mine"}
        is_ours = '"experiment"' in settings and ('"digests": {' in settings or "digests" not in settings)
        if settings and not is_ours:
            with pytest.raises(OutputError, match="is not of bayespool"):
                save_folder(OfFiles(FILES), folder)
        else:
            save_folder(OfFiles(FILES), folder)
            kept |= {"runs.csv": b"a,b\n", "mae.png": b"\x89PNG"}
            assert json.loads((folder / "settings.json").read_text())["files"] == sorted(FILES)
        assert written(folder) == kept, settings[:80]
        assert (folder.parent / "notes.txt").read_text() == "mine"


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
        assert re.search("holds the results of|is not of bayespool", str(error))  # noqa: PT017 (either way)
    assert (folder / "notes.txt").read_text() == "mine"
