"""Tables of text for a terminal, a paper and a notebook; files, written whole or not at all and read back."""

from bayespool.tables.arrangement import Arrangement
from bayespool.tables.containers import build_container, container_bytes, container_of_bytes, variable_name
from bayespool.tables.files import (
    PathLike,
    as_bytes,
    atomic_write,
    atomic_write_all,
    csv_for_spreadsheets,
    csv_text,
    digest,
    json_text,
    lock,
    locked,
    parquet_bytes,
    read_back,
    read_bytes_back,
    read_frame,
    read_parquet,
    read_rows,
    remove,
    unlock,
)
from bayespool.tables.markup import TextTable, html_page, html_table, latex_tables, markdown_tables
from bayespool.tables.numbers import number, percent
from bayespool.tables.printable import literal, printable, some_of
from bayespool.tables.reprs import Shown, first_rows, html_repr, one_line

__all__ = [
    "Arrangement",
    "PathLike",
    "Shown",
    "TextTable",
    "as_bytes",
    "atomic_write",
    "atomic_write_all",
    "build_container",
    "container_bytes",
    "container_of_bytes",
    "csv_for_spreadsheets",
    "csv_text",
    "digest",
    "first_rows",
    "html_page",
    "html_repr",
    "html_table",
    "json_text",
    "latex_tables",
    "literal",
    "lock",
    "locked",
    "markdown_tables",
    "number",
    "one_line",
    "parquet_bytes",
    "percent",
    "printable",
    "read_back",
    "read_bytes_back",
    "read_frame",
    "read_parquet",
    "read_rows",
    "remove",
    "some_of",
    "unlock",
    "variable_name",
]
