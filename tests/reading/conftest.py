"""Files of runs to read."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from trec_files import PLAIN, Write


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes bytes to the file ``a.run``."""

    def write(data: bytes) -> Path:
        path = tmp_path / "a.run"
        path.write_bytes(data)
        return path

    return write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Folder with the runs a, b and c, a hidden file and a folder with the run d."""
    folder = tmp_path / "runs"
    (folder / "deeper").mkdir(parents=True)
    for name in ("input.b", "input.a.gz", "c.run", ".hidden", "deeper/d.run"):
        (folder / name).write_bytes(gzip.compress(PLAIN) if name.endswith(".gz") else PLAIN)
    return folder
