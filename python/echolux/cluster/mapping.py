"""A function of the user's for each volume of many."""
from __future__ import annotations

import glob
import os
from collections.abc import Callable
from typing import Any, Union

from ..errors import Error, MissingFile
from .executors import Here, OverDask
from .progress import Progress
from .report import Failure
from .scans import Scans


class Incomplete(Error):
    """Some volumes failed. results: in order, None where there is none; failures: which, and why."""

    def __init__(self, results: list[Any], failures: list[Failure]) -> None:
        super().__init__(f"{len(failures)} of {len(results)} volumes failed, the first: {failures[0].reason}",
                         failures[0].scan, "the exception has .results and .failures")
        self.results, self.failures = results, failures

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.results, self.failures)


def paths_of(volumes: Scans) -> list[str]:
    """Absolute, of names and patterns."""
    every: list[str] = []
    for one in [volumes] if isinstance(volumes, (str, os.PathLike)) else volumes:
        text = os.fspath(one)
        found = [text] if os.path.exists(text) or not set("*?[") & set(text) else sorted(glob.glob(text, recursive=True))
        if not found:
            raise MissingFile("matches no file", text)
        every += map(os.path.abspath, found)
    return every


def run(function: Callable[[Any], Any], paths: list[str], executor: Union[Here, OverDask], common: dict[str, Any],
        progress: Progress) -> list[Any]:
    results: list[Any] = [None] * len(paths)
    failures: list[Failure] = []
    tasks = iter([{**common, "do": "map", "function": function, "path": path, "number": number}
                  for number, path in enumerate(paths)])
    progress.planned, progress.parts = progress.scans, len(paths)
    under_way, is_last = 0, False
    try:
        while under_way or not is_last:
            while not is_last and under_way < executor.capacity:
                task = next(tasks, None)
                if task is None:
                    is_last = True
                else:
                    executor.submit(task)
                    under_way += 1
            done = executor.next(0.5)
            if done is not None:
                under_way -= 1
                task, outcome = done
                if "error" in outcome:
                    failures.append(Failure(task["path"], "", outcome["error"]))
                    progress.failures += 1
                else:
                    results[task["number"]] = outcome["result"]
                    progress.made(0)
            if progress.is_due():
                progress.show(executor.workers)
    finally:
        executor.close()
    if failures:
        raise Incomplete(results, sorted(failures, key=lambda one: paths.index(one.scan)))
    return results
