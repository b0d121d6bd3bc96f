"""Memory pool and number of threads for reading files and building collections."""

from __future__ import annotations

import os

import pyarrow as pa

# pyarrow's own pool asks for huge pages, each filled at its first touch: on a virtual machine, whose host has
# yet to find that memory, this costs as much as all the parsing. The system's allocator takes small ones.
MEMORY = pa.system_memory_pool()

# pyarrow and long loops of numpy give up the GIL; one thread more than processors fills the waits for it.
# Each holds a file and its columns, hence eight at most.
N_THREADS = min(os.cpu_count() or 1, 7) + 1
