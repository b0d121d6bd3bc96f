"""Figures in a page keep shapes and nothing else."""

from __future__ import annotations

import re

from hostile import IMAGE, SCRIPT, hostile_scores

from bayespool.plots import render
from bayespool.report.drawing import Styles, page_svg

EVIL = """<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" onload="alert(1)"
 width="10pt" viewBox="0 0 10 10"><script>alert(2)</script><style>*{color:red}</style>
<a href="http://example.org"><path d="M0 0"/></a><image href="http://example.org/x.png"/>
<foreignObject><p>text</p></foreignObject><text>secret</text>
<g id="here" style="fill: #0072b2; stroke: #123456"><path d="M 1 1" onclick="alert(3)" clip-path="url(#cut)"/>
<path clip-path="url(http://example.org/#cut)"/><use xlink:href="#here"/><use href="http://example.org#x"/></g></svg>"""


def test_only_shapes_stay() -> None:
    styles = Styles()
    made = page_svg(EVIL.encode(), styles)
    for gone in (
        "alert",
        "script",
        "example.org",
        "secret",
        "foreignObject",
        "style=",
        "onload",
        "<a",
        "xmlns",
    ):
        assert gone not in made
    assert 'clip-path="url(#f1-cut)"' in made
    assert 'href="#f1-here"' in made
    assert styles.sheet() == ".s0 {fill: var(--blue); stroke: #123456}"


def test_ids_of_two_figures_differ_and_styles_are_shared() -> None:
    styles = Styles()
    one, two = page_svg(EVIL.encode(), styles), page_svg(EVIL.encode(), styles)
    assert 'id="f1-here"' in one
    assert 'id="f2-here"' in two
    assert styles.sheet().count("\n") == 0


def test_a_forest_of_hostile_names_has_no_text() -> None:
    scores = hostile_scores()
    figure = scores.figures()[0]
    assert figure.narrow is not None
    for draw in (figure.draw, figure.narrow):
        assert draw is not None
        svg = page_svg(render(draw(), "svg"), Styles())
        assert svg.startswith("<svg")
        assert IMAGE not in svg
        assert SCRIPT not in svg
        assert "<text" not in svg
        assert re.sub("<[^>]*>", "", svg).strip() == ""
