"""Threads of a worker: one for each of its cores, and one that works ahead of another."""
from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


@functools.cache
def pool() -> ThreadPoolExecutor:
    """A thread for each core that this worker has."""
    return ThreadPoolExecutor(len(os.sched_getaffinity(0)), "echolux-pool")


def ahead(items: Iterator[T]) -> Iterator[T]:
    """The same items; each is made in a thread of its own while the one before it is used."""
    with ThreadPoolExecutor(1, "echolux-ahead") as thread:
        coming = thread.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = thread.submit(next, items, None)
            yield item
