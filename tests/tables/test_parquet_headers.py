"""Headers of Parquet's pages say what the file's own statements about its columns may not."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bayespool.tables.parquet_headers import Chunk, Pages, read_chunks, read_pages

TEXTS = {"doc_id": [f"document {i // 3}" for i in range(30_000)]}
OF_STARTS = {"column_encoding": {"doc_id": "DELTA_BYTE_ARRAY"}, "use_dictionary": False}


def written(table: pa.Table, **settings: Any) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer, **settings)
    return buffer.getvalue()


def the_column(content: bytes) -> Any:
    return pq.ParquetFile(io.BytesIO(content)).metadata.row_group(0).column(0)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"compression": "zstd", "use_dictionary": False, "data_page_size": 1000},
        {"data_page_version": "2.0", "write_page_checksum": True},
        OF_STARTS,
        {"data_page_version": "2.0", **OF_STARTS},
    ],
)
def test_headers_say_what_arrow_wrote(settings: dict[str, Any]) -> None:
    content = written(pa.table(TEXTS), **settings)
    column = the_column(content)
    start = column.dictionary_page_offset if column.has_dictionary_page else column.data_page_offset
    pages = read_pages(content, start, start + column.total_compressed_size)
    n_headers = column.total_uncompressed_size - pages.n_bytes  # Arrow counts them
    assert 0 < n_headers < 0.2 * pages.n_bytes
    assert pages.repeat_starts == ("column_encoding" in settings)


def test_a_header_by_hand() -> None:
    """Fields 1 to 3 are kind, size and stored size, 300 and 4; 5 is the part of a page of data."""
    sizes = bytes([0x15, 0, 0x15, 0xD8, 4, 0x15, 8])
    part = bytes([0x2C, 0x15, 2, 0x15, 14, 0x11, 0x18, 2]) + b"ab" + bytes([0])  # encoding 7, a truth, a text
    page = sizes + part + bytes([0]) + b"data"
    assert read_pages(page * 2, 0, 2 * len(page)) == Pages(600, repeat_starts=True)
    assert read_pages(sizes + bytes([0]), 0, 8) == Pages(300, repeat_starts=False)
    far = bytes([0x05]) + b"\x84\x80\x08" + bytes([20])  # field 2 again, as 65,538, which has 16 bits
    assert read_pages(sizes + far + bytes([0]), 0, 8).n_bytes == 10


@pytest.mark.parametrize(
    "damaged",
    [
        b"\x15",
        b"\x00",
        b"\x15\x00\x15\x01\x15\x00\x00",  # of −1 bytes
        b"\x15\x00\x15\x02\x15\x01\x00",
        b"\x15" + b"\xff" * 12,
        b"\x19\x03\x00",  # a list
        b"\x1c" * 100_000,
    ],
)
def test_damage_is_a_value_error(damaged: bytes) -> None:
    with pytest.raises(ValueError, match=r"page|header"):
        read_pages(damaged, 0, len(damaged))


def varint(number: int, length: int) -> bytes:
    """A number in as many bytes as asked for."""
    parts = [number >> 7 * k & 127 for k in range(length)]
    return bytes([*(part | 128 for part in parts[:-1]), parts[-1]])


def test_footers_say_what_arrow_reads() -> None:
    table = pa.table({"l": [["a"], [], ["b", "c"]], "t": ["a", None, "b"], "x": [1.0, 2.0, 3.0]})
    content = written(table, row_group_size=2, use_dictionary=["t"])
    metadata = pq.ParquetFile(io.BytesIO(content)).metadata
    for i, group in enumerate(read_chunks(content)):
        for j, chunk in enumerate(group):
            column = metadata.row_group(i).column(j)
            start = column.dictionary_page_offset if j == 1 else column.data_page_offset
            assert chunk == Chunk(column.num_values, start, start + column.total_compressed_size)
    assert (i, j) == (1, 2)
    many = written(pa.table({"n": list(range(20))}), row_group_size=1)  # a list of more than 14
    assert [chunk.n_values for (chunk,) in read_chunks(many)] == [1] * 20


@pytest.mark.parametrize(
    "footer",
    [
        b"\x49\x16\x02\x02\x00",  # groups of rows that are numbers
        b"\x49\x1c\x19\x1c\x3c\x29\x18\x01\x61\x00\x00\x00\x00",  # encodings that are texts
        b"\x49\x1c\x19\x1c\x3c\x00\x00\x00\x00",  # a chunk without a place
        b"\x1b\x00\x00",  # a mapping
    ],
)
def test_a_damaged_footer_is_a_value_error(footer: bytes) -> None:
    with pytest.raises(ValueError, match=r"footer|header"):
        read_chunks(b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1")


DAMAGED = """
import sys
from pathlib import Path
import pyarrow as pa
from bayespool.errors import InputError
from bayespool.tables.files import parquet_table
content = Path(sys.argv[1]).read_bytes()
n, read = int.from_bytes(content[-8:-4], "little"), 0
for i in range(len(content) - 8 - n, len(content) - 8):
    for value in {0x19, 0x15, 0x16, 0x26, content[i] ^ 1} - {content[i]}:
        try:
            parquet_table(content[:i] + bytes([value]) + content[i + 1 :], most=2**24)
            read += 1
        except (pa.ArrowException, OSError, ValueError, InputError):
            pass
print(read > n)
"""


def test_no_byte_of_a_footer_aborts(tmp_path: Path) -> None:
    """Arrow's ``column`` of a row group ended the process at 27 of these 2,831."""
    lists = pa.table({"l": [["a"], ["b", "c"]], "t": ["a", "b"]})
    (tmp_path / "lists").write_bytes(written(lists))
    code = [sys.executable, "-c", DAMAGED, str(tmp_path / "lists")]
    assert subprocess.check_output(code, text=True) == "True\n"


ALLOCATED = """
import sys
from pathlib import Path
import pyarrow as pa
from bayespool.errors import InputError
from bayespool.tables.files import parquet_table
try:
    parquet_table(Path(sys.argv[1]).read_bytes(), most=2**24)
except InputError as error:
    print(error.reason, pa.default_memory_pool().max_memory() < 2**24)
"""


def test_a_column_that_is_said_to_be_small_is_not_decompressed(tmp_path: Path) -> None:
    texts = pa.table({"doc_id": pa.array(["d" * 2**16] * 2**10)})  # 64 MiB
    content = written(texts, compression="zstd", use_dictionary=False, data_page_size=2**30)
    assert len(content) < 20_000
    stated = 2 * the_column(content).total_uncompressed_size
    length = int(np.ceil(stated.bit_length() / 7))
    lying = content[:-8].replace(varint(stated, length), varint(2 * 100, length)) + content[-8:]
    assert the_column(lying).total_uncompressed_size == 100
    (tmp_path / "lying").write_bytes(lying)
    code = [sys.executable, "-c", ALLOCATED, str(tmp_path / "lying")]
    assert subprocess.check_output(code, text=True) == "holds more than 16 MiB True\n"
