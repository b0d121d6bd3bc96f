"""The command that prints pages of the documentation."""

from __future__ import annotations

import click

from bayespool.cli.messages import echo


@click.command(
    "docs",
    context_settings={"help_option_names": ["-h", "--help"]},
    short_help="Print a page of the documentation, or list the pages",
)
@click.argument("name", required=False)
def docs(name: str | None) -> None:
    """Print a page of the documentation as text, such as only-qrels; without a name list the pages."""
    from bayespool.tables.pages import page_text, page_titles

    if name is not None:
        echo(page_text(name.removeprefix("docs/").removesuffix(".md")), err=False)
        return
    titles = page_titles()
    width = max(map(len, titles), default=0)
    echo("\n".join(f"{page.ljust(width)}  {title}" for page, title in titles.items()), err=False)
