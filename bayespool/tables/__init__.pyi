from .arrangement import (
    Arrangement as Arrangement,
)
from .containers import (
    build_container as build_container,
)
from .containers import (
    container_bytes as container_bytes,
)
from .containers import (
    container_of_bytes as container_of_bytes,
)
from .containers import (
    variable_name as variable_name,
)
from .files import (
    PathLike as PathLike,
)
from .files import (
    as_bytes as as_bytes,
)
from .files import (
    atomic_write as atomic_write,
)
from .files import (
    atomic_write_all as atomic_write_all,
)
from .files import (
    csv_for_spreadsheets as csv_for_spreadsheets,
)
from .files import (
    csv_text as csv_text,
)
from .files import (
    digest as digest,
)
from .files import (
    json_text as json_text,
)
from .files import (
    lock as lock,
)
from .files import (
    locked as locked,
)
from .files import (
    parquet_bytes as parquet_bytes,
)
from .files import (
    read_back as read_back,
)
from .files import (
    read_bytes_back as read_bytes_back,
)
from .files import (
    read_frame as read_frame,
)
from .files import (
    read_parquet as read_parquet,
)
from .files import (
    read_rows as read_rows,
)
from .files import (
    remove as remove,
)
from .files import (
    unlock as unlock,
)
from .markup import (
    TextTable as TextTable,
)
from .markup import (
    html_page as html_page,
)
from .markup import (
    html_table as html_table,
)
from .markup import (
    latex_tables as latex_tables,
)
from .markup import (
    markdown_tables as markdown_tables,
)
from .numbers import (
    number as number,
)
from .numbers import (
    percent as percent,
)
from .printable import (
    literal as literal,
)
from .printable import (
    printable as printable,
)
from .printable import (
    some_of as some_of,
)
from .reprs import (
    Shown as Shown,
)
from .reprs import (
    first_rows as first_rows,
)
from .reprs import (
    html_repr as html_repr,
)
from .reprs import (
    one_line as one_line,
)
