"""The most recently used objects of a kind that a worker has created or opened."""
from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class LruCache(Generic[T]):
    def __init__(self, max_items: int) -> None:
        self._max_items = max_items
        self._items: OrderedDict[Hashable, T] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        if key not in self._items:
            self._items[key] = make()
        self._items.move_to_end(key)
        while len(self._items) > self._max_items:
            self._items.popitem(last=False)
        return self._items[key]

    def clear(self) -> None:
        self._items.clear()
