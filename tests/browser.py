"""A headless browser for tests of pages: Debian's chromium, driven by selenium."""

from __future__ import annotations

import base64
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ASKED_FOR = "BAYESPOOL_BROWSER"
"""Tests in a browser run where this is 1, and fail there if no browser starts."""


@contextmanager
def start_browser() -> Iterator[Browser]:
    """A browser that asks no one for anything but files."""
    if os.environ.get(ASKED_FOR) != "1":
        pytest.skip(f"run with {ASKED_FOR}=1; on Debian: apt-get install chromium chromium-driver")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.fail("there is no chromium with its chromedriver on this machine")
    selenium = pytest.importorskip("selenium.webdriver")
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver.chrome.service import Service

    options = selenium.ChromeOptions()
    options.binary_location = chromium
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.add_argument("--host-resolver-rules=MAP * ~NOTFOUND")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    options.set_capability("unhandledPromptBehavior", "dismiss")
    try:
        started = selenium.Chrome(options=options, service=Service(driver))
    except WebDriverException as error:
        pytest.fail(f"chromium does not start: {error.msg}")
    try:
        yield Browser(started)
    finally:
        started.quit()


class Browser:
    """What the tests ask of one."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, path: Path, *, width: int = 1280, scheme: str = "light") -> None:
        """Show a file; what was logged before is forgotten."""
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600},
        )
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        self.messages(), self.events()
        self.driver.get(path.as_uri())

    def run(self, script: str, *arguments: Any) -> Any:
        """What a script returns."""
        return self.driver.execute_script(script, *arguments)

    def messages(self) -> list[str]:
        """What the console has since it was last asked."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def events(self) -> list[dict[str, Any]]:
        """What the browser did since it was last asked."""
        return [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]

    def pdf(self) -> bytes:
        """The page as it is printed."""
        printed = self.driver.execute_cdp_cmd(
            "Page.printToPDF", {"preferCSSPageSize": True, "printBackground": True}
        )
        return base64.b64decode(printed["data"])


def requested(events: list[dict[str, Any]]) -> list[str]:
    """Addresses that were asked for; an image in the page itself (``data:``) is none."""
    urls = (
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    )
    return [url for url in urls if not url.startswith("data:")]


def dialogs(events: list[dict[str, Any]]) -> list[str]:
    """Texts of dialogs that opened."""
    return [
        event["params"]["message"] for event in events if event["method"] == "Page.javascriptDialogOpening"
    ]
