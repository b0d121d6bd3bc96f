from .citations import CITATIONS as CITATIONS, Citation as Citation, cite as cite
from .files import (
    build_container as build_container,
    container_bytes as container_bytes,
    csv_text as csv_text,
    json_text as json_text,
    read_frame as read_frame,
    read_parquet as read_parquet,
)
from .markup import (
    TextColumn as TextColumn,
    TextTable as TextTable,
    html_repr as html_repr,
    html_table as html_table,
    latex_tables as latex_tables,
    markdown_tables as markdown_tables,
    text_table as text_table,
)
from .table import (
    COLUMNS as COLUMNS,
    Column as Column,
    IntervalColumn as IntervalColumn,
    Pivot as Pivot,
    Table as Table,
    View as View,
)
