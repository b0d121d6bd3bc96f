from .arrangement import (
    Arrangement as Arrangement,
)
from .containers import (
    build_container as build_container,
    container_bytes as container_bytes,
    container_of_bytes as container_of_bytes,
    variable_name as variable_name,
)
from .files import (
    PathLike as PathLike,
    as_bytes as as_bytes,
    atomic_write as atomic_write,
    atomic_write_all as atomic_write_all,
    csv_for_spreadsheets as csv_for_spreadsheets,
    csv_text as csv_text,
    digest as digest,
    json_text as json_text,
    lock as lock,
    locked as locked,
    parquet_bytes as parquet_bytes,
    read_back as read_back,
    read_bytes_back as read_bytes_back,
    read_frame as read_frame,
    read_parquet as read_parquet,
    read_rows as read_rows,
    remove as remove,
    unlock as unlock,
)
from .markup import (
    TextTable as TextTable,
    html_page as html_page,
    html_table as html_table,
    latex_tables as latex_tables,
    markdown_tables as markdown_tables,
)
from .numbers import (
    number as number,
    percent as percent,
)
from .printable import (
    literal as literal,
    printable as printable,
    some_of as some_of,
)
from .reprs import (
    Shown as Shown,
    first_rows as first_rows,
    html_repr as html_repr,
    one_line as one_line,
)
