"""Threads of a worker: one for each of its cores, many that wait for storage, and one that works ahead of another."""
from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

_REQUESTS = 32  # to an object store at a time


@functools.cache
def cpu_pool() -> ThreadPoolExecutor:
    """A thread for each core that this worker has."""
    return ThreadPoolExecutor(len(os.sched_getaffinity(0)), "echolux-cpu")


@functools.cache
def io_pool() -> ThreadPoolExecutor:
    """For small files, whose reading is waiting."""
    return ThreadPoolExecutor(_REQUESTS, "echolux-io")


def prefetch(items: Iterator[T]) -> Iterator[T]:
    """The same items; each is made in a thread of its own while the one before it is used."""
    with ThreadPoolExecutor(1, "echolux-prefetch") as thread:
        coming = thread.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = thread.submit(next, items, None)
            yield item
