"""Reports in a headless browser: on a desk and on a phone, in light and in dark, by mouse and by keyboard."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser, dialogs, requested, start_browser
from hostile import IMAGE, QUOTES, SCRIPT, TOPIC, hostile_scores, many_runs
from known_scores import with_posterior

from bayespool import load_example, score
from bayespool.report import write_report

# Each page in each width and in each scheme, and each width in each scheme.
FORMS = [("hostile", 1280, "light"), ("hostile", 390, "dark"), ("many", 1280, "dark"), ("many", 390, "light")]
NAMES = ["hostile", "many"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with start_browser() as started:
        yield started


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reports")
    write_report(hostile_scores(), folder / "hostile.html")
    write_report(many_runs(60), folder / "many.html")
    return folder


def column(browser: Browser, table: str, place: int) -> list[str]:
    """Texts of a column of a table, from the top."""
    script = """return [...document.querySelectorAll(`#${arguments[0]} tbody tr`)]
      .map(row => row.cells[arguments[1]].textContent)"""
    found = browser.run(script, table, place)
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize(("name", "width", "scheme"), FORMS)
def test_nothing_is_past_the_edge_and_no_request_leaves(
    browser: Browser, reports: Path, name: str, width: int, scheme: str
) -> None:
    page = reports / f"{name}.html"
    browser.open(page, width=width, scheme=scheme)
    assert browser.run("return document.documentElement.dataset.ready") == "yes"
    wide, room = browser.run(
        "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    assert width - 20 < room <= width  # but for the scroll bar
    assert wide <= room
    # what is wider than the page scrolls in a place of its own, which the keyboard reaches
    past = browser.run(
        """return [...document.querySelectorAll("body *")].filter(e => e.getClientRects().length
          && e.getBoundingClientRect().right > document.documentElement.clientWidth + 1
          && !e.closest(".scroll[tabindex='0']")).map(e => e.tagName)"""
    )
    assert past == []
    images = browser.run(
        """return [...document.querySelectorAll("figure img")].map(image => image.getBoundingClientRect())
          .map(place => [place.left, place.right, place.width])"""
    )
    assert images
    for left, right, shown in images:  # no figure scrolls, and on a desk it is as wide as the text
        assert 0 <= left < right <= room
        assert shown > (0.85 * room if width < 600 else 700)
    events = browser.events()
    assert requested(events) == [page.as_uri()]
    assert dialogs(events) == []
    assert browser.messages() == []  # the policy of the page has refused nothing


def test_a_table_that_scrolls_says_so_and_words_stay_whole(browser: Browser, reports: Path) -> None:
    hints = """return [...document.querySelectorAll(".scroll")].map(place => [
      place.scrollWidth > place.clientWidth + 1,
      getComputedStyle(place.parentElement, "::before").content.includes("Scroll")])"""
    # lines of the first word of each cell
    broken = """return [...document.querySelectorAll("table.sorted td, table.sorted th")].flatMap(cell => {
      const text = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT).nextNode();
      const word = text?.data.match(/^[a-z]{3,12}/i);
      if (!word) return [];
      const range = document.createRange();
      range.setStart(text, 0); range.setEnd(text, word[0].length);
      return new Set([...range.getClientRects()].map(line => line.top)).size > 1 ? [text.data] : []; })"""
    for width in (1280, 400):
        browser.open(reports / "many.html", width=width)
        scrolls = browser.run(hints)
        assert all(wide == said for wide, said in scrolls)
        assert browser.run(broken) == []
    assert any(wide for wide, _ in scrolls)


def test_the_table_of_scores_fits_a_desk(browser: Browser, tmp_path: Path) -> None:
    corrections = ["background", "interpolated", "smoothed"]
    scores = with_posterior(score(load_example(), None, "P@10", estimators=corrections))
    write_report(scores, tmp_path / "scores.html")
    browser.open(tmp_path / "scores.html", width=1280)
    n_columns = browser.run("return document.querySelector('table.sorted thead tr').cells.length")
    room = "const place = document.querySelector('.scroll'); return [place.scrollWidth, place.clientWidth]"
    shown, available = browser.run(room)
    assert (n_columns, 0 < shown <= available) == (10, True)


def test_the_log_would_show_a_request_and_a_dialog(browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "open.html"
    page.write_text(f"<!DOCTYPE html><title>open</title>{IMAGE}<img src='http://example.org/a.png'>")
    browser.open(page)
    browser.driver.implicitly_wait(1)
    events = browser.events()
    assert "http://example.org/a.png" in requested(events)
    assert dialogs(events) == ["1"]


def test_hostile_names_stay_text(browser: Browser, reports: Path) -> None:
    browser.open(reports / "hostile.html")
    assert set(column(browser, "tables-1", 0)) == {IMAGE, SCRIPT + QUOTES}
    tables = browser.run("return [...document.querySelectorAll('table.sorted')].map(table => table.id)")
    assert any(TOPIC in column(browser, table, 0) for table in tables)
    assert IMAGE in browser.run("return document.title")
    assert IMAGE in browser.run("return document.querySelector('figure img').alt")
    assert browser.run("return document.querySelectorAll('script').length") == 1
    made = "img:not([src^='data:']), [onerror], [onload], [onmouseover], b"
    assert browser.run("return document.querySelectorAll(arguments[0]).length", made) == 0
    # sorting and filtering go through all cells once more
    browser.run("document.querySelectorAll('thead th').forEach(heading => heading.click())")
    assert set(column(browser, "tables-1", 0)) == {IMAGE, SCRIPT + QUOTES}
    assert browser.run("return document.querySelectorAll(arguments[0]).length", made) == 0
    assert dialogs(browser.events()) == []


def test_tables_sort_by_click(browser: Browser, reports: Path) -> None:
    browser.open(reports / "many.html")
    script = "document.querySelectorAll('#tables-1 thead th')[4].click()"
    browser.run(script)
    falling = [float(text.removesuffix(" %")) for text in column(browser, "tables-1", 4)]
    assert falling == sorted(falling, reverse=True)
    assert falling[0] > falling[-1]
    assert browser.run("return document.querySelectorAll('#tables-1 thead th')[4].ariaSort") == "descending"
    browser.run(script)
    rising = [float(text.removesuffix(" %")) for text in column(browser, "tables-1", 4)]
    assert rising == falling[::-1] or rising == sorted(falling)


def order_after_enter(browser: Browser, table: str) -> list[str]:
    """The first column once Enter has sorted it, on a busy machine some time after the key returned."""
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait

    before = column(browser, table, 0)
    ActionChains(browser.driver).send_keys(Keys.ENTER).perform()
    WebDriverWait(browser.driver, 20).until(lambda _: column(browser, table, 0) != before)
    return column(browser, table, 0)


def test_tables_sort_and_filter_by_keyboard_alone(browser: Browser, reports: Path) -> None:
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    browser.open(reports / "many.html")
    reached: list[str] = []
    for _ in range(60):
        ActionChains(browser.driver).send_keys(Keys.TAB).perform()
        focus = browser.run(
            """const e = document.activeElement, style = getComputedStyle(e);
            const within = e.closest('.dt-container')?.querySelector('table.sorted')?.id ?? '';
            return [e.tagName, within, e.closest('th')?.cellIndex ?? -1, style.outlineStyle,
              parseFloat(style.outlineWidth)]"""
        )
        tag, table, place, outline, thick = focus
        assert (outline, thick > 1) == ("solid", True), focus  # the focus can be seen
        if table == "tables-1" and tag == "INPUT":
            reached.append("filter")
            ActionChains(browser.driver).send_keys("run-03").perform()
            assert {run[:6] for run in column(browser, "tables-1", 0)} == {"run-03"}
            assert len(column(browser, "tables-1", 0)) == 10
        if table == "tables-1" and place == 0:
            reached.append("heading")
            falling, rising = (order_after_enter(browser, "tables-1") for _ in range(2))
            assert falling == [f"run-{i:03d}" for i in range(39, 29, -1)]
            assert rising == falling[::-1]
            break
    assert reached == ["filter", "heading"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_what_is_behind_it(browser: Browser, reports: Path, scheme: str) -> None:
    browser.open(reports / "hostile.html", scheme=scheme)
    script = """const parse = c => c.match(/[\\d.]+/g).map(Number);
      const linear = v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
      const light = color => {
        const [r, g, b] = parse(color).slice(0, 3).map(v => linear(v / 255));
        return .2126 * r + .7152 * g + .0722 * b;
      };
      const back = light(getComputedStyle(document.body).backgroundColor);
      const contrast = color => (Math.max(light(color), back) + .05) / (Math.min(light(color), back) + .05);
      const of = (element, what) => {
        const color = getComputedStyle(element)[what];
        return color === "none" ? 1 : contrast(color);
      };
      const all = selector => [...document.querySelectorAll(selector)];
      return [Math.min(...all("p, td, th, figcaption, a").map(e => of(e, "color"))),
        getComputedStyle(document.querySelector("figure img")).filter]"""
    texts, figures = browser.run(script)
    assert texts >= 4.5  # as WCAG asks of text
    assert (figures == "none") == (scheme == "light")


@pytest.mark.parametrize("name", NAMES)
def test_the_page_is_one_that_a_screen_reader_can_walk_through(
    browser: Browser, reports: Path, name: str
) -> None:
    browser.open(reports / f"{name}.html")
    assert browser.run("return document.documentElement.lang") == "en"
    levels = browser.run(
        "return [...document.querySelectorAll('h1,h2,h3,h4')].map(h => Number(h.tagName[1]))"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    ids = browser.run("return [...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))
    targets = browser.run("return [...document.querySelectorAll('a')].map(a => a.getAttribute('href'))")
    assert {target[1:] for target in targets} <= set(ids)
    unnamed = "img:not([alt]), [role=img]:not([aria-label]), input:not([aria-label])"
    unnamed += ", table.sorted:not(:has(caption))"
    assert browser.run("return document.querySelectorAll(arguments[0]).length", unnamed) == 0


@pytest.mark.parametrize("name", NAMES)
def test_the_page_prints(browser: Browser, reports: Path, name: str) -> None:
    browser.open(reports / f"{name}.html")
    printed = browser.pdf()
    assert printed.startswith(b"%PDF")
    n_pages = printed.count(b"/Type /Page\n") or printed.count(b"/Type /Page ")
    assert n_pages >= 2
    browser.driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 703, "height": 1000, "deviceScaleFactor": 1, "mobile": False},
    )  # of A4 without its margins
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        over = browser.run(
            """return [...document.querySelectorAll("section:not(.landscape) :is(table, img)")]
              .filter(e => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
              .map(e => e.id || e.tagName)"""
        )
        shown = browser.run(
            "return [...document.querySelectorAll('nav, .dt-search')].filter(e => e.offsetParent).length"
        )
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert over == []
    assert shown == 0


def test_the_page_is_there_without_scripts(browser: Browser, reports: Path) -> None:
    browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.open(reports / "many.html")
        found = browser.driver.find_elements("css selector", "#tables-1 tbody tr")
        assert len(found) == 60
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
