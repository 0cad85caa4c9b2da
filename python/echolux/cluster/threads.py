"""Threads of a worker: one per core, many that wait for storage, and one for prefetching."""
from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

_REQUESTS = 32  # concurrent requests to an object store


@functools.cache
def cpu_pool() -> ThreadPoolExecutor:
    """One thread per core assigned to this worker."""
    return ThreadPoolExecutor(len(os.sched_getaffinity(0)), "echolux-cpu")


@functools.cache
def io_pool() -> ThreadPoolExecutor:
    """For small files, where reading is mostly waiting."""
    return ThreadPoolExecutor(_REQUESTS, "echolux-io")


def prefetch(items: Iterator[T]) -> Iterator[T]:
    """Yields the same items; the next one is produced in a thread while the current one is used."""
    with ThreadPoolExecutor(1, "echolux-prefetch") as thread:
        coming = thread.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = thread.submit(next, items, None)
            yield item
