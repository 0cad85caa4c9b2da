"""Progress of long work: a bar on a terminal or in a notebook."""
from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any, Union

# progress(task, done, total), called on the calling thread; total is 0 if unknown. False: no progress.
Progress = Union[Callable[[str, int, int], object], bool, None]

_SOON_S = 0.5  # shorter work needs no bar


def _notebook() -> bool:
    return "ipykernel" in sys.modules


class _Line:
    """One line on a terminal, rewritten on each update."""

    def __init__(self, task: str, total: int) -> None:
        self._width = 0

    def show(self, task: str, done: int, total: int) -> None:
        text = f"{task} {done / total:4.0%}" if total else task
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)

    def close(self) -> None:
        sys.stderr.write("\r" + " " * self._width + "\r")
        sys.stderr.flush()


class _Tqdm:
    """The bar of tqdm, if installed."""

    def __init__(self, tqdm: Any, task: str, total: int) -> None:
        self._bar = tqdm(total=total or None, desc=task, leave=False)
        self._task = task

    def show(self, task: str, done: int, total: int) -> None:
        if task != self._task:
            self._task = task
            self._bar.reset(total=total or None)
            self._bar.set_description(task)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        self._bar.close()


class _Bar:
    """A bar that appears once the work takes longer."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._shown: _Line | _Tqdm | None = None

    def __call__(self, task: str, done: int, total: int) -> None:
        if self._shown is None:
            if time.monotonic() - self._start < _SOON_S:
                return
            try:
                self._shown = _Tqdm(import_module("tqdm.auto").tqdm, task, total)
            except ImportError:
                self._shown = _Line(task, total)
        self._shown.show(task, done, total)

    def close(self) -> None:
        if self._shown is not None:
            self._shown.close()


class watching:
    """with watching(progress) as told: `told` is the callback for the extension module, or None."""

    def __init__(self, progress: Progress) -> None:
        if progress is None or progress is True:
            visible = _notebook() or (sys.stderr is not None and sys.stderr.isatty())
            self._told: Any = _Bar() if visible or progress else None
        else:
            self._told = progress or None

    def __enter__(self) -> Any:
        return self._told

    def __exit__(self, *_: object) -> None:
        if isinstance(self._told, _Bar):
            self._told.close()
