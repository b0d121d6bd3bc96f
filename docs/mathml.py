"""Formulas as MathML: made when the pages are built, drawn by the browser; no script is fetched."""

from __future__ import annotations

from html import escape

import math_core
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

LOGGER = logging.getLogger(__name__)
CONVERTER = math_core.LatexToMathML()


def mathml(latex: str, *, display: bool, where: nodes.Node | None = None) -> str:
    """A formula as an element ``math``; one that cannot be converted is a warning, and stays as it is."""
    try:
        return CONVERTER.convert_with_local_state(latex, displaystyle=display)
    except math_core.LatexError as error:
        LOGGER.warning("formula %r: %s", latex, error, location=where)
        return f"<code>{escape(latex)}</code>"


def visit_inline(translator: HTML5Translator, node: nodes.math) -> None:
    """Write a formula within a sentence."""
    translator.body.append(mathml(node.astext(), display=False, where=node))
    raise nodes.SkipNode


def visit_block(translator: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula of its own, with its number if it has a label; a wide one scrolls."""
    translator.body.append(translator.starttag(node, "div", CLASS="math-block"))
    if node["number"]:
        number = get_node_equation_number(translator, node)
        translator.body.append(f'<span class="eqno">({number})')
        translator.add_permalink_ref(node, "Link to this equation")
        translator.body.append("</span>")
    translator.body.append(mathml(node.astext(), display=True, where=node))
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer under the name ``mathml``."""
    app.add_html_math_renderer(
        "mathml", inline_renderers=(visit_inline, None), block_renderers=(visit_block, None)
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}
