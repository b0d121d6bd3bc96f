"""The built pages in a headless browser: on a desk and on a phone, in light and in dark.

`make docs` builds them. With ``BAYESPOOL_PICTURES=folder`` pictures of them are left there, to be looked at.
"""

from __future__ import annotations

import base64
import html
import itertools
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser, requested, start_browser

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "docs" / "_build" / "html"
PAGES = sorted(
    page.relative_to(BUILT).as_posix() for page in BUILT.rglob("*.html") if "_static" not in page.parts
)
SAMPLE = ["index.html", "quickstart.html", "models.html", "glossary.html", "api.html"]
PICTURES = os.environ.get("BAYESPOOL_PICTURES")

# Text outside code and formulas in which TeX or a directive of MyST was left as it was written.
RAW = (
    r"\$\$|\\[()\[\]]|\\(?:frac|sum|bar|text|operatorname|begin|log|Delta|sim)\b"
    r"|\{(?:doc|term|py:\w+)\}`|:::|\[\d+\]_"
)
WORDS = """const page = document.querySelector("article").cloneNode(true);
page.querySelectorAll("pre, code, math, script, style").forEach(e => e.remove()); return page.textContent"""

# What is wider than the page and does not scroll in a place of its own.
PAST = """const right = document.documentElement.clientWidth + 1;
const scrolls = e => { for (let up = e.parentElement; up && up.tagName != "ARTICLE"; up = up.parentElement)
  if (["auto", "scroll"].includes(getComputedStyle(up).overflowX)) return true; return false; };
return [...document.querySelectorAll("article *, .mobile-header *")].filter(e => e.getClientRects().length
  && getComputedStyle(e).visibility != "hidden" && e.getBoundingClientRect().right > right && !scrolls(e))
  .map(e => e.tagName + ": " + e.textContent.trim().slice(0, 60)).slice(0, 5)"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if not PAGES:
        pytest.skip("the pages are not built: make docs")
    with start_browser() as started:
        yield started


def picture(browser: Browser, page: str, width: int, scheme: str) -> None:
    if PICTURES:
        height = browser.run("return document.documentElement.scrollHeight")
        clip = {"x": 0, "y": 0, "width": width, "height": min(height, 12000), "scale": 1}
        shot = browser.driver.execute_cdp_cmd(
            "Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip}
        )
        name = f"{page.removesuffix('.html').replace('/', '-')}-{width}-{scheme}.png"
        Path(PICTURES).mkdir(parents=True, exist_ok=True)
        (Path(PICTURES) / name).write_bytes(base64.b64decode(shot["data"]))


def test_no_page_asks_for_anything_or_goes_past_the_edge(browser: Browser) -> None:
    wrong = []
    for page, width in itertools.product(PAGES, (1280, 390)):
        browser.open(BUILT / page, width=width)
        wrong += [
            f"{page} asks for {url}"
            for url in requested(browser.events())
            if not url.startswith(("file:", "data:"))
        ]
        wide, room = browser.run(
            "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
        )
        if wide > room:
            wrong.append(f"{page} is {wide} wide on {room}")
        wrong += [f"{page}, past the edge: {what}" for what in browser.run(PAST)]
        picture(browser, page, width, "light")
    assert wrong == []


def test_pages_are_dark_where_the_reader_wants_it(browser: Browser) -> None:
    for page, width in itertools.product(SAMPLE, (1280, 400)):
        shades = {}
        for scheme in ("light", "dark"):
            browser.open(BUILT / page, width=width, scheme=scheme)
            colors = browser.run(
                """const style = getComputedStyle(document.querySelector("article h1"));
                return [style.color, getComputedStyle(document.body).backgroundColor]"""
            )
            shades[scheme] = [sum(map(float, re.findall(r"[\d.]+", color)[:3])) / 765 for color in colors]
        picture(browser, page, width, "dark")
        (text, back), (dark_text, dark_back) = shades["light"], shades["dark"]
        assert (text < 0.3, back > 0.9, dark_text > 0.7, dark_back < 0.2) == (True,) * 4, (page, width)


def test_no_tex_is_left_in_the_text(browser: Browser) -> None:
    left = []
    for page in PAGES:
        browser.open(BUILT / page)
        left += [
            f"{page}: {found}"
            for found in re.findall(RAW, browser.run(WORDS) if has_article(browser) else "")
        ]
    assert left == []


def test_formulas_are_drawn_by_the_browser(browser: Browser) -> None:
    browser.open(BUILT / "corrections.html")
    assert browser.run("return document.querySelectorAll('math').length") > 60
    assert browser.run("return document.querySelectorAll('merror').length") == 0
    # the font with mathematical sizes is there: without it bars and brackets fall out of place
    assert browser.run("return document.fonts.check('16px \"bayespool math\"', '𝑥')")
    assert browser.run("return [...document.fonts].filter(f => f.status == 'loaded').map(f => f.family)") == [
        "bayespool math"
    ]
    # rows of an aligned formula stand below each other
    rows = browser.run(
        """const tables = [...document.querySelectorAll("math mtable")];
        const rows = tables.find(t => t.textContent.includes("smoothed")).querySelectorAll("mtr");
        return [...rows].map(row => row.lastElementChild.getBoundingClientRect().top)"""
    )
    assert len(rows) == 5
    assert rows == sorted(rows)
    assert rows[-1] - rows[0] > 60
    # brackets grow with what they hold
    heights = browser.run(
        """return [...document.querySelectorAll("math[display=block] mo")].filter(o => o.textContent == "{")
        .map(o => o.getBoundingClientRect().height)"""
    )
    assert max(heights) > 30


def test_the_sidebar_has_the_sections_and_pages_of_the_index(browser: Browser) -> None:
    browser.open(BUILT / "index.html")
    script = "return [...document.querySelectorAll('%s')].map(e => e.textContent)"
    captions = browser.run(script % ".sidebar-tree .caption")
    assert captions == [heading.rstrip("#¶") for heading in browser.run(script % "article h2")]
    assert captions == ["Start", "Do", "Trust", "Look up"]
    places = "return [...document.querySelectorAll('%s')].map(a => a.getAttribute('href').split('#')[0])"
    listed = browser.run(places % "article section section li > p > a")
    assert browser.run(places % ".sidebar-tree li.toctree-l1 > a") == listed
    assert browser.run("return document.querySelectorAll('article img').length") == 1


def test_no_link_of_the_site_is_dead() -> None:
    if not PAGES:
        pytest.skip("the pages are not built: make docs")
    texts = {page: (BUILT / page).read_text(encoding="utf-8") for page in PAGES}
    ids = {page: set(re.findall(r'\bid="([^"]+)"', text)) for page, text in texts.items()}
    dead, n = [], 0
    for page, text in texts.items():
        article = text.partition("<article")[2].partition("</article>")[0]
        for target in re.findall(r'(?:href|src)="([^"]+)"', article):
            place, _, anchor = html.unescape(target).partition("#")
            if re.match(r"[a-z]+:", place):
                continue
            n += 1
            there = os.path.normpath(Path(page).parent / place) if place else page
            if not (BUILT / there).is_file() or (anchor and there in ids and anchor not in ids[there]):
                dead.append((page, target))
    assert dead == []
    assert n > 1000


def test_every_page_has_a_name_of_its_own(browser: Browser) -> None:
    browser.open(BUILT / "index.html")
    names = browser.run(
        "return [...document.querySelectorAll('.sidebar-tree li.toctree-l1 > a')].map(e => e.textContent)"
    )
    plain = [re.sub(r"ing\b|[^a-z ]", "", name.lower()) for name in names]
    assert len(set(plain)) == len(plain) > 25


def has_article(browser: Browser) -> bool:
    return bool(browser.run("return document.querySelector('article') !== null"))
