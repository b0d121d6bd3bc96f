"""Sphinx configuration: `make docs` builds with warnings as errors."""

import sys
from pathlib import Path

import bayespool

sys.path.insert(0, str(Path(__file__).parent))
from tables import write_tables

write_tables(Path(__file__).parent / "_generated")

project = "bayespool"
author = "the bayespool developers"
project_copyright = "2026, the bayespool developers"
release = version = bayespool.__version__

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_generated"]
default_role = "py:obj"
html_theme = "furo"
html_title = "bayespool"

autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say types, with shape and unit
numpydoc_show_class_members = False  # automodule lists them already

myst_enable_extensions = ["amsmath", "colon_fence", "dollarmath"]
myst_heading_anchors = 3

# docs/notebooks is a link to ../notebooks, whose files carry no outputs: every build executes them. A cache
# would know a notebook's cells but not the package they call.
nb_execution_mode = "force"
nb_execution_timeout = 900
nb_execution_raise_on_error = True
nb_merge_streams = True
