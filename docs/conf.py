"""Sphinx configuration: `make docs` builds with warnings as errors. Nothing is executed here."""

import importlib.util
import re
import sys
from pathlib import Path

import bayespool
from bayespool.tables.pages import read_addresses, resolve_links

sys.path.insert(0, str(Path(__file__).parent))
from inventories import type_names, write_inventories
from names import write_names

HERE = Path(__file__).parent
(HERE / "_generated").mkdir(exist_ok=True)
write_names(HERE / "_generated")
for page in (HERE / "_api").glob("*.rst"):  # of subpackages that an earlier build knew
    if importlib.util.find_spec(page.stem) is None:
        page.unlink()

project = "bayespool"
author = "the bayespool developers"
project_copyright = "2026, the bayespool developers"
release = version = bayespool.__version__

extensions = [
    "mathml",  # beside this file
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_generated", "developers"]
default_role = "py:obj"
html_theme = "furo"
html_title = "bayespool"
html_baseurl = read_addresses()["site"]
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"  # MathJax would be fetched from elsewhere by every reader

autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say types, with shape and unit
numpydoc_show_class_members = False  # automodule lists them already
numpydoc_xref_param_type = True
numpydoc_xref_aliases = type_names()
numpydoc_xref_ignore = "all"

# Names of other packages that the pages use, with their addresses: no inventory is fetched.
intersphinx_mapping = write_inventories(HERE / "_generated")

myst_enable_extensions = ["amsmath", "dollarmath"]
myst_heading_anchors = 3

# docs/notebooks is a link to ../notebooks. Pages and notebooks carry their outputs (docs/outputs.py).
nb_execution_mode = "off"
nb_merge_streams = True


_LISTED = re.compile(r"^- \[[^\]]+\]\((?:\.\./)?([\w/-]+)\.(?:md|ipynb|rst)\)", flags=re.MULTILINE)
_NOTEBOOK = re.compile(r"\[([^\]]+)\]\(\.\./notebooks/([\w-]+)\.ipynb\)")
_LESSON = re.compile(r"\[([^\]\[\n]+)\]\(([\w-]+)\.ipynb\)")
_PAGE = re.compile(r"\[([^\]\[\n]+)\]\(\.\./docs/([\w-]+)\.md(?:#[\w-]+)?\)")


def contents(index: str) -> str:
    """The sidebar: the pages that each section of the index links, in its order."""
    trees = []
    for section in index.split("\n## ")[1:]:
        caption, _, text = section.partition("\n")
        pages = _LISTED.findall(text)
        if pages:
            trees.append(
                "\n".join(["```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```", ""])
            )
    return "\n".join(trees)


def _read_source(app, docname, source):  # type: ignore[no-untyped-def]
    if docname == "index":
        source[0] += "\n" + contents(source[0])
    if not docname.startswith("notebooks/"):
        text = _NOTEBOOK.sub(r"{doc}`\1 <notebooks/\2>`", source[0])
        source[0] = resolve_links(text, read_addresses()["repository"])
    else:
        text = _LESSON.sub(r"{doc}`\1 <\2>`", source[0])
        source[0] = _PAGE.sub(r"{doc}`\1 </\2>`", text)


def setup(app):  # type: ignore[no-untyped-def]
    app.connect("source-read", _read_source)
