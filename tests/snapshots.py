"""Texts that tests compare with; `make printed` writes what is so now in their place."""

from __future__ import annotations

import os
from pathlib import Path


def is_written() -> bool:
    """Whether expected texts are written instead of read."""
    return os.environ.get("BAYESPOOL_PRINTED") == "write"


def expected(path: Path, text: str) -> str:
    """Return the text that the file has, after writing this one there if texts are written."""
    if is_written():
        path.write_text(text, encoding="utf-8")
    return path.read_text(encoding="utf-8")
