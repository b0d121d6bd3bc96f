"""Memory and threads that reading and building may take."""

from __future__ import annotations

import os

import psutil
import pyarrow as pa

from bayespool.errors import InputError, MemoryWarning, warn_caller
from bayespool.tables.files import read_back

# pyarrow's own pool asks for huge pages, each filled at its first touch: on a virtual machine, whose host has
# yet to find that memory, this costs as much as all the parsing. The system's allocator takes small ones.
MEMORY = pa.system_memory_pool()

# pyarrow and long loops of numpy give up the GIL; one thread more than processors fills the waits for it.
# Each holds a file and its columns, hence eight at most.
N_THREADS = min(os.cpu_count() or 1, 7) + 1


_PEAK_PER_RESULT = 4  # intermediate copies took four times the bytes of a result, and more


def free_memory() -> int:
    """Bytes that system, container and process limits leave to this process, swap included."""
    return min(n for n in (_of_system(), _of_container(), _of_process()) if n is not None)


def check_memory(n_bytes: int, subject: str, hint: str) -> None:
    """Refuse work that needs more bytes than are free; warn if a multiple of that might not suffice."""
    free = free_memory()
    if n_bytes * _PEAK_PER_RESULT <= free:
        return
    message = f"{subject} take {_mib(n_bytes)} of memory at least, and {_mib(free)} are free"
    if n_bytes > free:
        raise InputError(message, hint=hint)
    warn_caller(f"{message}; should it run out, {hint}", MemoryWarning)


def _mib(n_bytes: int) -> str:
    return f"{-(-n_bytes // 2**20):,} MiB"


def _of_system() -> int:
    return int(psutil.virtual_memory().available) + int(psutil.swap_memory().free)


def _of_container() -> int | None:
    limit, used = (read_back(f"/sys/fs/cgroup/memory.{name}") or "" for name in ("max", "current"))
    return max(0, int(limit) - int(used)) if limit.strip().isdigit() and used.strip().isdigit() else None


def _of_process() -> int | None:
    if not hasattr(psutil, "RLIMIT_AS"):  # of Linux and FreeBSD
        return None
    process = psutil.Process()
    limit, _ = process.rlimit(psutil.RLIMIT_AS)
    return None if limit == psutil.RLIM_INFINITY else max(0, int(limit) - int(process.memory_info().vms))
