"""A page as one HTML file that needs nothing else: Jinja2 writes it, DataTables sorts and filters tables."""

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
    """The page as HTML.

    Every text of it is escaped where it stands, by Jinja2; figures come from `bayespool.report.drawing`,
    which keeps nothing of a text. The page's Content-Security-Policy allows its own script and its own style
    sheet, by their digests, and pictures that stand in it, and no request at all.

    Parameters
    ----------
    page : Page
    styles : Styles
        Those of its figures.
    """
    from markupsafe import Markup

    environment = _environment()
    style = environment.get_template("page.css").render() + styles.sheet()
    # whatever its language says, it ends at its end tag, a script with "<!--" and "<script" does not
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
            style=Markup(style),  # nosec B704 # of this package, and seen not to end early
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
    """DataTables as itables carries it, and what makes tables of ours its own.

    The file is a module; its last statement says by which name the class is known inside.
    """
    from jinja2 import PackageLoader

    environment = _environment()
    bundle = PackageLoader("itables", "html").get_source(environment, "dt_bundle.js")[0]
    exports = _LAST_EXPORT.findall(bundle)
    found = re.search(r"([\w$]+)\s+as\s+default\b", exports[-1] if exports else "")
    if found is None:
        raise OutputError("the installed itables has no DataTables of the form that reports need")
    ours = environment.get_template("page.js").render().replace("new DataTable(", f"new {found[1]}(")
    return f"{bundle}\n{ours}\n"
