"""Tables of text as LaTeX, Markdown and HTML, with every cell escaped."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass

from bayespool.tables.printable import printable


@dataclass(frozen=True)
class TextTable:
    """A table whose cells are text.

    Parameters
    ----------
    caption : str
        Caption of the table.
    header : tuple of str
        Name of each column; a line end in it marks where it may be broken.
    rows : tuple of tuples of str
        One cell per column.
    n_names : int, default 1
        Number of first columns that hold names, aligned left; the others hold numbers, aligned right, with
        equal decimals within a column.
    groups : tuple of (str, int)
        Headings over the columns after the names: text and number of columns, covering all or none.
    label : str
        Label of the LaTeX table, after ``tab:``.
    notes : tuple of str
        Notes, in sentences.
    """

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_names: int = 1
    groups: tuple[tuple[str, int], ...] = ()
    label: str = ""
    notes: tuple[str, ...] = ()


_TEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\char34{}",
    "`": r"\textasciigrave{}",
    "'": r"\textquotesingle{}",
    "[": "{[}",  # would be an argument of the end of a row
    "]": "{]}",
    "*": "{*}",  # the same
    "–": "--",
    "−": "$-$",
    "±": r"$\pm$",
    "…": r"\ldots{}",
    "ρ": r"$\rho$",
    "Φ": r"$\Phi$",
    "²": r"\textsuperscript{2}",
    "→": r"$\to$",
    "\xa0": "~",
}
_MARKDOWN = re.compile(r"([\\`*_\[\]#|~!$])")


def _tex(text: str) -> str:
    escaped = "".join(
        _TEX.get(char, char) for char in _line(text).replace("--", "-\0-").replace("--", "-\0-")
    )
    return escaped.replace("\0", "{}")


def _tex_number(text: str) -> str:
    """Text in LaTeX with minus signs."""
    return _tex(re.sub(r"(?<![\w.])-(?=\d)", "−", text))


def _markdown(text: str) -> str:
    escaped = _line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKDOWN.sub(r"\\\1", escaped)


def _html(text: str) -> str:
    return html.escape(_line(text))


def _line(text: str) -> str:
    return printable(text, one_line=True)


def latex_tables(tables: Sequence[TextTable], comments: Sequence[str] = ()) -> str:
    r"""Write tables as LaTeX ``table`` environments with the rules of booktabs, for ``\input``.

    Parameters
    ----------
    tables : sequence of TextTable
        Notes become comments below the table.
    comments : sequence of str
        Lines of comment above the first table.

    Examples
    --------
    >>> table = TextTable("Two runs", ("run", "P@10"), (("a_1", "0.5000"), ("b", "0.2500")), label="two")
    >>> print(latex_tables([table]))
    % needs \usepackage{booktabs}
    \begin{table}
      \centering
      \caption{Two runs}
      \label{tab:two}
      \begin{tabular}{@{}lr@{}}
        \toprule
        run & P@10 \\
        \midrule
        a\_1 & 0.5000 \\
        b & 0.2500 \\
        \bottomrule
      \end{tabular}
    \end{table}
    <BLANKLINE>
    """
    lines = [r"% needs \usepackage{booktabs}", *(f"% {_line(comment)}" for comment in comments)]
    for table in tables:
        n = table.n_names
        lines += [r"\begin{table}", r"  \centering", rf"  \caption{{{_tex(table.caption)}}}"]
        if table.label:
            lines.append(rf"  \label{{tab:{_label(table.label)}}}")
        columns = "l" * n + "r" * (len(table.header) - n)
        lines += [rf"  \begin{{tabular}}{{@{{}}{columns}@{{}}}}", r"    \toprule"]
        if table.groups:
            place, cells, rules = n + 1, [" & " * (n - 1)], []
            for name, width in table.groups:
                cells.append(rf"\multicolumn{{{width}}}{{c}}{{{_tex(name)}}}")
                rules.append(rf"\cmidrule(lr){{{place}-{place + width - 1}}}")
                place += width
            lines += [f"    {' & '.join(cells).strip()} \\\\", f"    {' '.join(rules)}"]
        header = [_tex_heading(name, "l" if i < n else "r") for i, name in enumerate(table.header)]
        lines += [f"    {' & '.join(header)} \\\\", r"    \midrule"]
        for row in table.rows:
            cells = [(_tex if i < n else _tex_number)(cell) for i, cell in enumerate(row)]
            lines.append(f"    {' & '.join(cells)} \\\\")
        lines += [r"    \bottomrule", r"  \end{tabular}", r"\end{table}"]
        lines += [f"% note: {_line(note)}" for note in table.notes]
    return "\n".join(lines) + "\n"


def _tex_heading(name: str, side: str) -> str:
    if "\n" not in name:
        return _tex(name)
    broken = r"\\".join(_tex(part) for part in name.split("\n"))
    return rf"\begin{{tabular}}[b]{{@{{}}{side}@{{}}}}{broken}\end{{tabular}}"


def _label(text: str) -> str:
    """Label that every LaTeX package accepts."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def markdown_tables(tables: Sequence[TextTable]) -> str:
    r"""Write tables as Markdown (GitHub, Pandoc), with a bold caption above and notes below.

    Examples
    --------
    >>> table = TextTable("Two runs", ("run", "P@10"), (("a_1", "0.5000"), ("b|c", "0.2500")))
    >>> print(markdown_tables([table]))
    **Two runs**
    <BLANKLINE>
    | run  |   P@10 |
    | :--- | -----: |
    | a\_1 | 0.5000 |
    | b\|c | 0.2500 |
    <BLANKLINE>
    """
    texts = []
    for table in tables:
        over = [name for name, width in table.groups for _ in range(width)]
        names = [*([""] * (len(table.header) - len(over))), *over]
        header = [f"{above} {name}".strip() for above, name in zip(names, table.header, strict=True)]
        rows = [
            [_markdown(_joined(name)) for name in header],
            *([_markdown(c) for c in r] for r in table.rows),
        ]
        widths = [max(3, *(len(row[i]) for row in rows)) for i in range(len(header))]
        rule = [
            ":" + "-" * (width - 1) if i < table.n_names else "-" * (width - 1) + ":"
            for i, width in enumerate(widths)
        ]
        lines = [f"**{_markdown(table.caption)}**", ""]
        for row in (rows[0], rule, *rows[1:]):
            padded = [
                cell.ljust(width) if i < table.n_names else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            lines.append(f"| {' | '.join(padded)} |")
        lines += [line for note in table.notes for line in ("", f"Note: {_markdown(note)}")]
        texts.append("\n".join(lines) + "\n")
    return "\n".join(texts)


def html_table(table: TextTable) -> str:
    """Write a table as HTML in the colors and fonts of its page.

    Examples
    --------
    >>> "&lt;img&gt;</td>" in html_table(TextTable("One", ("run",), (("<img>",),)))
    True
    """
    n = table.n_names
    left, right = (f' style="text-align:{side};padding:.2em .5em"' for side in ("left", "right"))
    sides = [left if i < n else right for i in range(len(table.header))]
    head = ""
    if table.groups:
        over = "".join(
            f'<th scope="colgroup" colspan="{width}" style="text-align:center">{_html(name)}</th>'
            for name, width in table.groups
        )
        head = f"<tr>{'<td></td>' * n}{over}</tr>\n"
    names = "".join(
        f'<th scope="col"{side}>{"<br>".join(map(_html, name.split(chr(10))))}</th>'
        for side, name in zip(sides, table.header, strict=True)
    )
    head += f"<tr>{names}</tr>"
    body = "\n".join(
        "<tr>"
        + "".join(f"<td{side}>{_html(cell)}</td>" for side, cell in zip(sides, row, strict=True))
        + "</tr>"
        for row in table.rows
    )
    notes = "".join(f"\n<p>Note: {_html(note)}</p>" for note in table.notes)
    return (
        '<figure style="margin:1em 0">\n'
        f"<figcaption>{_html(table.caption)}</figcaption>\n"
        '<div style="overflow-x:auto" tabindex="0">\n'
        '<table style="border-collapse:collapse;font-variant-numeric:tabular-nums;white-space:nowrap">\n'
        f"<thead>\n{head}\n</thead>\n<tbody>\n{body}\n</tbody>\n</table>\n</div>{notes}\n</figure>"
    )


_STYLE = """\
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 78rem; padding: 0 1rem; }
figure { margin: 0 0 2.5rem !important; }
figcaption { margin-bottom: .6rem; max-width: 44rem; }
table { font-size: .9375rem; }
th { vertical-align: bottom; }
thead { border-top: 2px solid; border-bottom: 1px solid; }
tbody { border-bottom: 2px solid; }
footer, p { font-size: .875rem; }"""


def html_page(title: str, tables: Sequence[TextTable], comments: Sequence[str] = ()) -> str:
    """Tables as a page that loads nothing from elsewhere, with comments as lines below them."""
    body = "\n".join(html_table(table) for table in tables)
    footer = "<br>\n".join(map(_html, comments))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_html(title)}</title>\n<style>\n{_STYLE}\n</style>\n</head>\n<body>\n"
        f"<main>\n{body}\n</main>\n<footer>{footer}</footer>\n</body>\n</html>\n"
    )


def _joined(name: str) -> str:
    """Name of a column in one line, with broken words joined."""
    return name.replace("-\n", "-").replace("\n", " ")
