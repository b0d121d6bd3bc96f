"""HTML of a page in one file: Jinja2 writes it, DataTables sorts and filters its tables."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from typing import Any

from bayespool import __version__
from bayespool.errors import OutputError
from bayespool.report.content import Page
from bayespool.report.drawing import Styles

_ENDS_EARLY = re.compile(r"</(script|style)[\s/>]|<!--.*<script[\s/>]", flags=re.IGNORECASE | re.DOTALL)
_LAST_EXPORT = re.compile(r"export\s*\{([^{}]*)\}\s*;?")


def page_html(page: Page, styles: Styles) -> str:
    """HTML of a page; texts are escaped, and its security policy allows its own script and styles alone."""
    from markupsafe import Markup

    environment = _environment()
    style = environment.get_template("page.css").render() + styles.sheet()
    # text that would end a style or script element early, or keep a script from ending at its end tag
    script = _tables_script()
    for text in (style, script):
        if _ENDS_EARLY.search(text):
            raise OutputError("a style sheet or script would end before its end; this is a bug")
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return str(
        environment.get_template("page.html").render(
            page=page,
            policy=policy,
            style=Markup(style),  # nosec B704 # of this package, and checked for early ends
            script=Markup(script),  # nosec B704 # of itables, likewise
            version=__version__,
        )
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _environment() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

    return Environment(
        loader=PackageLoader("bayespool.report", "page"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        keep_trailing_newline=False,
    )


@cache
def _tables_script() -> str:
    """DataTables as itables ships it, with its exported class, and the script of the page."""
    from jinja2 import PackageLoader

    environment = _environment()
    bundle = PackageLoader("itables", "html").get_source(environment, "dt_bundle.js")[0]
    exports = _LAST_EXPORT.findall(bundle)
    export = re.search(r"([\w$]+)\s+as\s+default\b", exports[-1] if exports else "")
    if export is None:
        raise OutputError("the installed itables has no DataTables of the form that reports need")
    ours = environment.get_template("page.js").render().replace("new DataTable(", f"new {export[1]}(")
    return f"{bundle}\n{ours}\n"
