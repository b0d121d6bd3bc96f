"""Writing whole files or none, and reading back what was written, containers among them."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bayespool.errors import InputError, OutputError
from bayespool.tables import build_container, container_bytes, csv_text, files, read_parquet
from bayespool.tables.files import (
    atomic_write,
    atomic_write_all,
    expanded_limit,
    lock,
    locked,
    parquet_bytes,
    parquet_table,
    read_back,
    read_container,
    unlock,
)


@pytest.mark.skipif(os.name != "posix", reason="file modes and pipes are of POSIX")
def test_atomic_write_keeps_to_the_umask_links_and_pipes(tmp_path: Path) -> None:
    umask = os.umask(0o027)
    try:
        atomic_write(tmp_path / "plain", "x")
    finally:
        os.umask(umask)
    assert (tmp_path / "plain").stat().st_mode & 0o777 == 0o640
    (tmp_path / "link").symlink_to("plain")
    atomic_write(tmp_path / "link", "y")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "plain").read_text() == "y"
    os.mkfifo(tmp_path / "pipe")
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append((tmp_path / "pipe").read_text()), daemon=True)
    reader.start()
    atomic_write(tmp_path / "pipe", "z")
    reader.join(timeout=10)
    assert (got, (tmp_path / "pipe").is_fifo()) == (["z"], True)


def test_atomic_write_that_fails_midway_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out"
    atomic_write(path, "é\n")
    raised: BaseException

    def fail(*_: object) -> None:
        raise raised

    for step in ("fsync", "replace"):
        for raised, error, said in (  # noqa: B007
            (OSError(28, "No space left on device"), OutputError, "cannot be written: No space left"),
            (KeyboardInterrupt(), KeyboardInterrupt, None),
        ):
            with monkeypatch.context() as patched:
                patched.setattr(os, step, fail)
                with pytest.raises(error, match=said):
                    atomic_write(path, "new")
            assert path.read_bytes() == "é\n".encode()
            assert [child.name for child in tmp_path.iterdir()] == ["out"], "the temporary file is left"


def test_several_files_are_written_all_or_none(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    (tmp_path / "c").mkdir()
    with pytest.raises(OutputError, match="c: cannot be written: a folder stands there"):
        atomic_write_all({tmp_path / "a": "new", tmp_path / "b": b"new", tmp_path / "c": "new"})
    assert (tmp_path / "a").read_text() == "old"
    atomic_write_all({tmp_path / "a": "new", tmp_path / "b": b"new"})
    assert (tmp_path / "a").read_text() == (tmp_path / "b").read_text() == "new"
    assert sorted(child.name for child in tmp_path.iterdir()) == ["a", "b", "c"]


def test_read_back_gives_text_or_nothing(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    atomic_write(path, "é\r\n")
    assert read_back(path) == "é\r\n"
    path.write_bytes(b"\xff")
    assert read_back(path) is None
    assert read_back(tmp_path) is None
    assert read_back(tmp_path / "nowhere") is None
    if os.name == "posix":
        os.mkfifo(tmp_path / "pipe")
        assert read_back(tmp_path / "pipe") is None


def test_text_of_csv() -> None:
    frame = pd.DataFrame({"run_id": ["a", "b,c"], "n": [1, 2]}, index=[7, 8])
    assert csv_text(frame) == 'run_id,n\na,1\n"b,c",2\n', "no index and the ends of lines of Unix"
    assert csv_text(pd.DataFrame({"a": ["1\r2"], "n": [1]})) == '"a","n"\n"1\r2",1\n'


def test_parquet_keeps_columns_and_metadata(tmp_path: Path) -> None:
    columns, metadata = {"run_id": ["a", "b"], "value": [0.1, None]}, {"seed": 1, "ids": ["x"]}
    path = tmp_path / "part.parquet"
    atomic_write(path, parquet_bytes(columns, metadata))
    assert read_parquet(path) == (columns, metadata)
    frame = pd.DataFrame(columns, index=[3, 4])
    found = files.read_frame(parquet_bytes(frame, metadata))
    assert found is not None
    pd.testing.assert_frame_equal(found[0], frame.reset_index(drop=True))
    assert found[1] == metadata
    assert parquet_bytes(columns, metadata) == parquet_bytes(columns, metadata)
    assert read_parquet(tmp_path / "nowhere") is None
    for content in (parquet_bytes({"n": [1]}), parquet_bytes({"n": [1]}, {"a": 1})[:-9], b"no parquet"):
        atomic_write(path, content)
        assert read_parquet(path) is None


def written(table: pa.Table, **settings: Any) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer, **settings)
    return buffer.getvalue()


def test_table_is_the_one_that_arrow_reads_and_no_larger_than_allowed() -> None:
    n = 5000
    table = pa.table(
        {
            "text": [f"d{i // 3}" for i in range(n)],
            "large": pa.array([None if i % 7 == 0 else "é" * (i % 5) for i in range(n)], pa.large_string()),
            "lists": [[str(i)] * (i % 3) for i in range(n)],
            "value": np.arange(n) / 7,
            "codes": pa.array(["a", "b"] * (n // 2)).dictionary_encode(),
        }
    ).replace_schema_metadata({"bayespool": "{}"})
    delta = {"column_encoding": {"text": "DELTA_BYTE_ARRAY"}, "use_dictionary": ["large", "codes"]}
    for settings in ({}, {"row_group_size": 999}, delta, {"compression": "zstd"}):
        content = written(table, **settings)
        found = parquet_table(content, most=2**24)
        assert found.equals(pq.read_table(io.BytesIO(content))), settings
        assert found.schema.metadata == table.schema.metadata
        assert parquet_table(content, ["value"], most=2**24).column_names == ["value"]
        with pytest.raises(InputError, match="holds more than"):
            parquet_table(content, most=n * 8)
    assert len(parquet_table(written(table.slice(0, 0)), most=2**24)) == 0


@pytest.mark.parametrize("of", ["rows", "texts", "starts", "lists", "a page"])
def test_few_bytes_that_stand_for_many_are_refused(of: str) -> None:
    """Of each, what is asked for would take 64 MiB or more, of files of some kilobytes."""
    n, settings = 1 << 12, {"compression": "zstd", "use_dictionary": True}
    long = pa.array(["d" * (1 << 14)] * n, pa.large_string())
    if of == "rows":
        table = pa.table({"score": np.zeros(1 << 23)})
    elif of == "lists":
        lists = pa.ListArray.from_arrays(pa.array([0, 1 << 23], pa.int32()), pa.array(np.zeros(1 << 23)))
        table = pa.table({"score": lists})
    else:
        table = pa.table({"doc_id": long})
    if of == "starts":
        settings = {"column_encoding": {"doc_id": "DELTA_BYTE_ARRAY"}, "use_dictionary": False}
    if of == "a page":
        settings = {"compression": "zstd", "use_dictionary": False, "write_statistics": False}
    content = written(table, **settings)
    assert len(content) < 100_000
    with pytest.raises(InputError, match="holds more than 16 MiB"):
        parquet_table(content, most=expanded_limit(len(content)))


def test_rewrite_that_fails_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when it fails between two files that take their places: the former ones come back."""
    (tmp_path / "a").write_text("former a")
    (tmp_path / "b").write_text("former b")
    replace, fails = os.replace, ""

    def refuse(source: object, target: object) -> None:
        if str(target).endswith(fails) and Path(str(source)).read_text().startswith("new"):
            raise PermissionError(1, "Operation not permitted")
        replace(source, target)  # type: ignore[call-overload]

    monkeypatch.setattr(os, "replace", refuse)
    for links in (True, False):
        if not links:
            monkeypatch.setattr(os, "link", lambda *_: (_ for _ in ()).throw(OSError(95, "not supported")))
        for fails in "abc":
            with pytest.raises(OutputError, match=f"{fails}: cannot be written: permission denied"):
                atomic_write_all({tmp_path / name: f"new {name}" for name in "abc"})
            left = {p.name: p.read_text() for p in tmp_path.iterdir()}
            assert left == {"a": "former a", "b": "former b"}, (links, fails)


LOCK = """
import sys, time
from bayespool.tables.files import lock
lock(sys.argv[1])
print("locked", flush=True)
time.sleep(100)
"""


@pytest.mark.skipif(os.name != "posix", reason="locks of POSIX")
def test_folder_of_another_process(tmp_path: Path) -> None:
    """Its lock ends with the process, be it killed; in one process a folder may be taken again."""
    with subprocess.Popen([sys.executable, "-c", LOCK, str(tmp_path)], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"locked\n"
        with pytest.raises(OutputError, match="another process is at work there; wait until it is done"):
            lock(tmp_path)
        other.send_signal(signal.SIGKILL)
    with locked(tmp_path):
        lock(tmp_path)
    assert not files._locked
    unlock(tmp_path)
    assert list(tmp_path.iterdir()) == []


def made() -> Any:
    """Two chains of three draws of two runs, and the runs' bounds."""
    return build_container(
        {
            "posterior": {"P_10": np.arange(12.0).reshape(2, 3, 2) / 7, "mu": np.ones((2, 3))},
            "constant_data": {"n": np.array([3, 4])},
        },
        dims={"P_10": ("run_id",), "n": ("run_id",)},
        coords={"run_id": ("a", "b"), "query_id": ("1",)},
        attrs={"random_seed": 1},
        texts={"P_10": {"measure": "P@10"}},
    )


def test_groups_of_draws_have_chains_and_others_have_not() -> None:
    sampled = ["posterior", "posterior_predictive", "predictions", "prior", "prior_predictive"]
    sampled += ["log_likelihood", "sample_stats"]
    groups = {name: {f"{name}_x": np.zeros((2, 3))} for name in [*sampled, "observed_data"]}
    tree = build_container(groups, dims={"observed_data_x": ("run_id", "query_id")}, coords={})
    axes = {name: tree[name][f"{name}_x"].dims for name in groups}
    assert axes == dict.fromkeys(sampled, ("chain", "draw")) | {"observed_data": ("run_id", "query_id")}


def test_container_is_the_same_after_a_file() -> None:
    read = read_container(container_bytes(made()))
    assert read.identical(made())
    assert read_container(container_bytes(read)).identical(made())
    with pytest.raises((OSError, ValueError)):
        read_container(b"no such thing")
