"""A page as HTML: texts are escaped, figures are images, its policy allows what stands in it."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import re
from functools import cache, partial

import pandas as pd
from hostile import IMAGE, QUOTES, SCRIPT

from bayespool.notes import Note
from bayespool.plots import figure_grid
from bayespool.report import page as pages
from bayespool.report.result import Figure, Result
from bayespool.tables.formatting import literal
from bayespool.tables.table import Column, Table, View

EVIL = IMAGE + SCRIPT + QUOTES


def drawn(text: str) -> object:
    figure, (axes,) = figure_grid(1)
    axes.set_title(literal(text))
    return figure


@dataclasses.dataclass(frozen=True)
class Page(Result):
    """A result with the same text in every place that a text can stand in."""

    text: str
    n_rows: int = 1
    n_numbers: int = 1

    @property
    def title(self) -> str:  # type: ignore[override]
        return self.text

    @property
    def metadata(self) -> dict[str, object]:  # type: ignore[override]
        made = {"command": self.text, "versions": {self.text: self.text}}
        return {
            "made_by": made,
            "fingerprint": self.text,
            "setting": self.text,
            "estimators": [{"name": self.text}],
        }

    def tables(self) -> tuple[Table, ...]:
        """One with a view, one without."""
        numbers = [f"n{i}" for i in range(self.n_numbers)]
        frame = pd.DataFrame({"run_id": [self.text] * self.n_rows} | dict.fromkeys(numbers, 0.5))
        columns = dict.fromkeys(numbers, Column(self.text, "score", self.text))
        view = View(title=self.text, names=("run_id",), columns=tuple(numbers), note=self.text)
        return (Table("one", self.text, frame, columns, (view,)), Table("two", self.text, frame, columns))

    def notes(self) -> tuple[Note, ...]:
        return (Note("scope", self.text),)

    def sentences(self) -> tuple[str, ...]:
        return (self.text,)

    def figures(self) -> tuple[Figure, ...]:
        """A drawing, and an image."""
        draw = partial(drawn, self.text)
        image = Figure("b", self.text, image=b"\x89PNG", alternative=self.text)
        return (Figure("a", self.text, draw, self.text), image)


@cache
def html_of(text: str = EVIL, **sizes: int) -> str:
    return Page(text, **sizes).page()


def test_every_text_is_escaped() -> None:
    html = html_of()
    assert Page(EVIL).page() == html, "the same page, the same bytes"
    body = html.split("</style>")[1].split("<script")[0]
    assert IMAGE not in body
    assert "<svg onload" not in body
    assert body.count("&lt;img src=x onerror=alert(1)&gt;") >= 15
    assert "{{ 7 * 7 }}" in body  # a text is no template
    assert not re.search(r'="[^"]*<img', html)


def test_the_policy_allows_the_page_itself_and_nothing_else() -> None:
    html = html_of()
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', html)
    rules = dict(rule.split(" ", 1) for rule in policy.replace("&#39;", "'").split("; "))
    for name in ("default-src", "base-uri", "form-action"):
        assert rules[name] == "'none'"
    assert rules["img-src"] == "data:"
    for name, tag in (("script-src", "script"), ("style-src", "style")):
        ((content,)) = re.findall(rf"<{tag}[^>]*>(.*?)</{tag}>", html, flags=re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert rules[name] == f"'sha256-{digest}'"
    assert " style=" not in html.split("</style>")[1].split("<script")[0]
    assert not re.search(r'(?:src|href)="https?:', html)
    assert len(html_of("a", n_numbers=9, n_rows=40)) < 700_000


def test_wide_tables_are_printed_in_landscape_and_tall_ones_scroll() -> None:
    least, most = html_of("a", n_numbers=9, n_rows=40), html_of("a", n_numbers=10, n_rows=41)
    for name in ("landscape", "scroll tall"):
        assert f'class="{name}"' not in least
        assert f'class="{name}"' in most
    assert "The table has 601 rows, too many for a page" in html_of("a", n_rows=601)


def test_a_script_or_style_that_would_end_early_is_found() -> None:
    assert all(map(pages._ENDS_EARLY.search, ("</script >", "</STYLE>", "<!-- a <script >")))
    assert not pages._ENDS_EARLY.search("a <script> <!-- </styleSheet>")


def test_a_page_sorts_columns_by_their_kind() -> None:
    """Numbers by size, those that name a row, too; text as text, that after a number, too."""
    frame = pd.DataFrame({"width": [10, 3], "value": [0.5, None], "estimator": ["b", "a"]})
    view = View(title="Widths", names=("width",), columns=("value", "estimator"))

    class Widths(Page):
        def tables(self) -> tuple[Table, ...]:
            return (Table("widths", "Widths", frame, {"width": Column("width", "count", "Runs.")}, (view,)),)

    page = Widths("widths").page()
    heads = re.findall(r'<th scope="col"( class="number")? data-type="(\w+)">', page)[:3]
    assert heads == [("", "num"), (' class="number"', "num"), ("", "string")]
    assert (
        '<tr><th scope="row" data-order="10.0">10</th><td class="number" data-order="0.5">0.5000</td>' in page
    )
    assert '<td class="number" data-order="">–</td><td class="short">a</td>' in page


def test_figures_are_images_whose_content_cannot_run() -> None:
    """A browser runs no script and loads nothing for an image at a ``data:`` address."""
    addresses = re.findall(r'<img src="data:image/([\w+]+);base64,([^"]+)" alt="([^"]*)">', html_of("a"))
    assert [kind for kind, _, _ in addresses] == ["svg+xml", "png"]
    assert b"<svg" in base64.b64decode(addresses[0][1])
    assert addresses[0][2] == "Figure. a. The tables have its numbers."
