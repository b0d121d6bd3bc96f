"""Figures in a page keep shapes and nothing else."""

from __future__ import annotations

from bayespool.report.drawing import Styles, page_svg

EVIL = """<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" onload="alert(1)"
 width="10pt" viewBox="0 0 10 10"><script>alert(2)</script><style>*{color:red}</style>
<a href="http://example.org"><path d="M0 0"/></a><image href="http://example.org/x.png"/>
<foreignObject><p>text</p></foreignObject><text>secret</text>
<g id="here" style="fill: #0072b2; stroke: #123456"><path d="M 1 1" onclick="alert(3)" clip-path="url(#cut)"/>
<path clip-path="url(http://example.org/#cut)"/><use xlink:href="#here"/><use href="http://example.org#x"/></g></svg>"""
GONE = ("alert", "script", "example.org", "secret", "foreignObject", "style=", "onload", "<a", "xmlns")


def test_only_shapes_stay_with_ids_of_their_figure() -> None:
    styles = Styles()
    one, two = page_svg(EVIL.encode(), styles), page_svg(EVIL.encode(), styles)
    assert not [gone for gone in GONE if gone in one]
    assert 'clip-path="url(#f1-cut)"' in one
    assert 'href="#f1-here"' in one
    assert 'id="f1-here"' in one
    assert 'id="f2-here"' in two
    assert styles.sheet() == ".s0 {fill: var(--blue); stroke: #123456}", "shared by both"
