"""Write what pages and notebooks show: tables of names, outputs of Python, outputs of notebooks.

    python docs/outputs.py [--tables | --check] [PAGE or NOTEBOOK …]

``make outputs`` writes all of it, ``--tables`` the tables alone. ``--check``, with which `make docs` begins,
writes nothing and fails where code fails, or prints other words or other numbers than are stored; last digits
of posteriors depend on the versions of libraries, and chains of NUTS on the machine: cells tagged ``sampled``
are held to their words. The Python of a page runs from top to bottom in a folder
with the files of the example: ``qrels.txt``, ``pool``, ``new``, ``organizations.csv``. The text block after
the mark ``<!-- prints -->`` is what the block above it prints. A block below ``<!-- not run: REASON -->`` is
left out.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

DOCS = Path(__file__).resolve().parent
PAGES = [DOCS.parent / "README.md", *sorted(DOCS.glob("*.md"))]
NOTEBOOKS = sorted((DOCS.parent / "notebooks").glob("*.ipynb"))
TIMEOUT = 900  # seconds of one page, or of one cell
BLOCK = re.compile(
    r"(?P<off><!-- not run: [^\n]+ -->\n)?^```python\n(?P<code>.*?)^```\n"
    r"(?P<mark>\n<!-- prints -->\n```text\n(?P<text>.*?)^```\n)?",
    flags=re.MULTILINE | re.DOTALL,
)
TABLE = re.compile(r"(<!-- table: ([^\n]+) -->\n).*?(<!-- end of table -->)", flags=re.DOTALL)
NUMBER = re.compile(r"(?<![\w.])[-+−]?\d*\.?\d+(?:,\d{3})*(?:e-?\d+)?")
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_BEGIN = """
import os, warnings
from bayespool.experiments import simulate_example, simulate_judge
simulate_example().write(".")
os.environ["COLUMNS"] = "100"
"""


def with_tables(text: str) -> str:
    """Return a page with its tables as the registries have them."""
    sys.path.insert(0, str(DOCS))
    from reference_tables import TABLES

    return TABLE.sub(lambda found: f"{found[1]}{TABLES[found[2]]()}{found[3]}", text)


def write_tables() -> None:
    """Write the tables of all pages, and the page that has nothing else."""
    sys.path.insert(0, str(DOCS))
    from reference_tables import page

    (DOCS / "options.md").write_text(page(), encoding="utf-8")
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        if (made := with_tables(text)) != text:
            path.write_text(made, encoding="utf-8")


def printed(page: Path) -> list[str]:
    """Return what each block of Python on a page prints, in order.

    Raises
    ------
    SystemExit
        A block fails.
    """
    blocks = [found["code"] for found in BLOCK.finditer(page.read_text(encoding="utf-8")) if not found["off"]]
    if not blocks:
        return []
    mark = "=== the end of a block ==="
    code = [_BEGIN, *(f"{block}\nprint({mark!r})" for block in blocks)]
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "page.py")
        script.write_text("\n".join(code), encoding="utf-8")
        environment = os.environ | {"MPLBACKEND": "Agg", "PYTHONPATH": os.pathsep.join(sys.path[1:])}
        done = subprocess.run(
            [sys.executable, "-W", "ignore", script.name],
            cwd=folder,
            env=environment | {"PYTHONPATH": os.pathsep.join([str(DOCS.parent), environment["PYTHONPATH"]])},
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
    if done.returncode:
        raise SystemExit(f"{page.name}: the Python of this page fails\n{done.stderr}")
    texts = [_ADDRESS.sub("", text).strip("\n") for text in done.stdout.split(mark)[:-1]]
    return ["\n".join(map(wrapped, text.splitlines())) for text in texts]


def wrapped(line: str) -> str:
    """Return a line of words on lines that a page has room for; rows of tables stay."""
    return line if "  " in line else textwrap.fill(line, 100, break_long_words=False)


def with_outputs(page: Path) -> str:
    """Return a page with what its Python prints now."""
    texts = iter(printed(page))

    def show(found: re.Match[str]) -> str:
        block = f"{found['off'] or ''}```python\n{found['code']}```\n"
        if found["off"] or not (text := next(texts)):
            return block
        return f"{block}\n<!-- prints -->\n```text\n{text}\n```\n"

    return BLOCK.sub(show, page.read_text(encoding="utf-8"))


def alike(stored: str, now: str, *, sampled: bool = False) -> bool:
    """Whether two outputs have the same words, and numbers that differ in their last digits; seconds may, and
    any number where a sampler's chains depend on the machine.
    """
    stored, now = (re.sub(r"\b[\d.]+ s\b", "some s", text) for text in (stored, now))
    if NUMBER.sub("#", " ".join(stored.split())) != NUMBER.sub("#", " ".join(now.split())):
        return False
    if sampled:
        return True
    pairs = zip(NUMBER.findall(stored), NUMBER.findall(now), strict=True)
    values = (tuple(float(n.replace(",", "").replace("−", "-")) for n in pair) for pair in pairs)
    return all(abs(a - b) <= max(0.05 * abs(a), 0.03) for a, b in values)


def code_digest(notebook: dict[str, list[dict[str, str]]]) -> str:
    """Return a digest of the code cells of a notebook."""
    code = "\0".join(cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "code")
    return hashlib.blake2b(code.encode(), digest_size=8).hexdigest()


def execute(path: Path, *, write: bool) -> str:
    """Execute a notebook, and write it with its outputs or compare its texts with those stored."""
    import nbformat
    from nbclient import NotebookClient

    stored = nbformat.read(path, as_version=4)
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
    if write:
        notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"], "code": code_digest(notebook)}
        nbformat.write(notebook, path)
        return ""
    cells = [[cell for cell in one.cells if cell.cell_type == "code"] for one in (stored, notebook)]
    wrong = [
        n
        for n, (a, b) in enumerate(zip(*cells, strict=True), 1)
        if not alike(texts_of(a), texts_of(b), sampled="sampled" in a.metadata.get("tags", ()))
    ]
    return f"{path.name}: other outputs of cells {wrong}: make outputs" if wrong else ""


def texts_of(cell: dict[str, list[dict[str, dict[str, str]]]]) -> str:
    """Return the texts that a cell shows."""
    return "\n".join(str(o.get("text", o.get("data", {}).get("text/plain", ""))) for o in cell["outputs"])


def work(path: Path, *, write: bool) -> str:
    """Write or check a page or a notebook; what is wrong, or nothing."""
    if path.suffix == ".ipynb":
        return execute(path, write=write)
    before, now = path.read_text(encoding="utf-8"), with_outputs(path)
    if write:
        if now != before:
            path.write_text(now, encoding="utf-8")
        return ""
    pairs = zip(BLOCK.finditer(before), BLOCK.finditer(now), strict=True)
    wrong = [b["text"] or "" for a, b in pairs if not alike(a["text"] or "", b["text"] or "")]
    return "\n".join([f"{path.name} shows other outputs: make outputs", *wrong]) if wrong else ""


def main() -> None:
    """Write, or check, all or what is named."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("paths", nargs="*", type=Path)
    asked = parser.parse_args()
    if not asked.check:
        write_tables()
    if asked.tables:
        return
    with ThreadPoolExecutor(2) as pool:
        told = list(
            pool.map(lambda path: work(path, write=not asked.check), asked.paths or [*NOTEBOOKS, *PAGES])
        )
    sys.exit("\n".join(filter(None, told)) or 0)


if __name__ == "__main__":
    main()
