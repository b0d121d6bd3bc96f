"""A page as HTML: every text is escaped, and its policy allows what stands in it and no more."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest
from hostile import IMAGE, QUOTES, SCRIPT

from bayespool import __version__
from bayespool.report import rendering
from bayespool.report.content import Cell, Column, Figure, Heat, Page, Section, Table
from bayespool.report.drawing import Styles
from bayespool.report.rendering import page_html

EVIL = IMAGE + SCRIPT + QUOTES


def page() -> Page:
    """One with the same text in every place that a text can stand in."""
    table = Table(
        "t", EVIL, (Column(EVIL), Column(EVIL, is_number=True)), ((Cell(EVIL), Cell(EVIL, 0.5, 3)),), EVIL
    )
    section = Section(
        EVIL,
        "s",
        (EVIL,),
        (EVIL,),
        EVIL,
        (Figure(EVIL, EVIL, "<svg></svg>", "<svg></svg>"),),
        (Heat(EVIL, EVIL, ((EVIL, (0, 9)),)),),
        (table,),
    )
    return Page(EVIL, (EVIL,), (EVIL,), (section,))


def test_every_text_is_escaped() -> None:
    html = page_html(page(), Styles())
    body = html.split("</style>")[1].split("<script")[0]
    assert IMAGE not in body
    assert "<svg onload" not in body
    assert body.count("&lt;img src=x onerror=alert(1)&gt;") >= 15
    assert "{{ 7 * 7 }}" in body  # a text is no template
    assert not re.search(r'="[^"]*<img', html)


def test_the_policy_allows_the_page_itself_and_nothing_else() -> None:
    html = page_html(page(), Styles())
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', html)
    rules = dict(rule.split(" ", 1) for rule in policy.replace("&#39;", "'").split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["base-uri"] == rules["form-action"] == "'none'"
    assert rules["img-src"] == "data:"
    assert "unsafe" not in policy
    for name, tag in (("script-src", "script"), ("style-src", "style")):
        ((content,)) = re.findall(rf"<{tag}[^>]*>(.*?)</{tag}>", html, flags=re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert rules[name] == f"'sha256-{digest}'"
    assert " style=" not in html.split("</style>")[1].split("<script")[0]
    assert not re.search(r'(?:src|href)="https?:', html)


def test_it_says_what_wrote_it_and_is_of_a_moderate_size() -> None:
    html = page_html(page(), Styles())
    assert html.startswith("<!DOCTYPE html>")
    assert f'content="bayespool {__version__}"' in html
    assert len(html) < 700_000


def test_a_page_without_problems_says_so() -> None:
    html = page_html(Page("t", ("s",), (), ()), Styles())
    assert "Nothing to note" in html
    assert "What to know before quoting" not in html


def test_the_same_page_gives_the_same_bytes() -> None:
    assert page_html(page(), Styles()) == page_html(page(), Styles())


@pytest.mark.parametrize("text", ["</script >", "</STYLE>", "<!-- a <script >"])
def test_a_script_or_style_that_would_end_early_is_found(text: str) -> None:
    assert rendering._ENDS_EARLY.search(text)
    assert not rendering._ENDS_EARLY.search("a <script> <!-- </styleSheet>")
