"""Sphinx configuration: `make docs` builds with warnings as errors."""

import importlib.util
import sys
from pathlib import Path

import bayespool
from bayespool.tables.pages import read_addresses, resolve_links

sys.path.insert(0, str(Path(__file__).parent))
from execution import TIMEOUT, cache_folder
from inventories import type_names, write_inventories
from names import write_names
from options import write_options
from reference_tables import write_tables

HERE = Path(__file__).parent
write_tables(HERE / "_generated")
write_names(HERE / "_generated")
write_options(HERE / "_generated")
for page in (HERE / "_api").glob("*.rst"):  # of rooms that an earlier build knew
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
exclude_patterns = ["_build", "_generated"]
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

myst_enable_extensions = ["amsmath", "colon_fence", "dollarmath"]
myst_heading_anchors = 3

# docs/notebooks is a link to ../notebooks, whose files carry the outputs that a code host shows. `make docs`
# executes them first, two at a time; what it left out is executed here.
nb_execution_mode = "cache"
nb_execution_cache_path = str(cache_folder())
nb_execution_timeout = TIMEOUT
nb_execution_raise_on_error = True
nb_merge_streams = True


def _resolve_links(app, docname, source):  # type: ignore[no-untyped-def]
    if not docname.startswith("notebooks/"):
        source[0] = resolve_links(source[0], read_addresses()["repository"])


def setup(app):  # type: ignore[no-untyped-def]
    app.connect("source-read", _resolve_links)
