"""Execute the notebooks and store their outputs with a digest of their code, for code hosts to show.

    python docs/outputs.py [NOTEBOOK …]

`make notebooks` calls it; `make lint` fails for a notebook whose code has changed since.
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
TIMEOUT = 900  # seconds of one cell
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def code_digest(notebook: nbformat.NotebookNode) -> str:
    """Return a digest of the code cells of a notebook."""
    code = "\0".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    return hashlib.blake2b(code.encode(), digest_size=8).hexdigest()


def execute(path: Path) -> None:
    """Execute a notebook and write it with its outputs: plain texts, tables and pictures."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=TIMEOUT, resources={"metadata": {"path": str(path.parent)}}).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", ()):
            output.get("metadata", {}).clear()
            if "text/plain" in (data := output.get("data", {})):
                data["text/plain"] = _ADDRESS.sub("", data["text/plain"])
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"], "code": code_digest(notebook)}
    nbformat.write(notebook, path)


def main() -> None:
    """Execute the named notebooks, or all."""
    for path in map(Path, sys.argv[1:] or sorted(NOTEBOOKS.glob("*.ipynb"))):
        print(path.name, flush=True)
        execute(path)


if __name__ == "__main__":
    main()
