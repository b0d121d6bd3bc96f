"""Execute the notebooks and the pages with code, two at a time, for the build of the pages to read.

    python docs/execution.py

What a cell gives depends on the cells, on the package, and on the versions of what both call. The cache knows
the cells; its folder is named after the rest. So a build executes what has changed, and nothing else.
"""

from __future__ import annotations

import hashlib
import platform
import shutil
import sys
import time
from importlib.metadata import distributions
from pathlib import Path

from jupyter_cache.cache.main import JupyterCacheBase
from jupyter_cache.executors import load_executor

HERE = Path(__file__).parent
KEPT = HERE / "_build" / "executed"
TIMEOUT = 900  # seconds of one cell


def cache_folder() -> Path:
    """Where results of the package as it is are kept."""
    digest = hashlib.blake2b(platform.python_version().encode(), digest_size=8)
    for package in sorted(f"{one.name}=={one.version}" for one in distributions()):
        digest.update(package.encode())
    for source in sorted((HERE.parent / "bayespool").rglob("*.py")):
        digest.update(source.relative_to(HERE.parent).as_posix().encode())
        digest.update(source.read_bytes())
    return KEPT / digest.hexdigest()


def pages() -> list[Path]:
    """Notebooks, and pages with cells."""
    with_cells = [page for page in sorted(HERE.glob("*.md")) if "```{code-cell}" in page.read_text("utf-8")]
    return [*sorted((HERE / "notebooks").glob("*.ipynb")), *with_cells]


class Cache(JupyterCacheBase):  # type: ignore[misc]
    """A cache that drops nothing: what one process adds while another truncates would go at once."""

    def truncate_caches(self) -> None:
        """Keep all results."""


def main() -> None:
    """Execute what has no result yet."""
    start, folder = time.monotonic(), cache_folder()
    for old in KEPT.glob("*") if KEPT.is_dir() else ():
        if old != folder:
            shutil.rmtree(old)
    folder.mkdir(parents=True, exist_ok=True)
    cache = Cache(folder)
    for page in pages():
        reader = "nbformat" if page.suffix == ".ipynb" else "myst_nb_md"
        cache.add_nb_to_project(str(page), read_data={"name": reader, "type": "plugin"})
    done = load_executor("local-parallel", cache=cache).run_and_cache(timeout=TIMEOUT)
    wrong = [*done.errored, *done.excepted]
    for page in wrong:
        record = cache.get_project_record(str(page))
        print(f"{page}:\n{record.traceback}", file=sys.stderr)
    n_kept = len(pages()) - len(done.succeeded) - len(wrong)
    n, seconds = len(done.succeeded), time.monotonic() - start
    print(f"executed {n} pages in {seconds:.0f} s; results of {n_kept} were there")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
