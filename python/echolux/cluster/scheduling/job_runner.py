"""Runs a job over many scans, volumes or movies: plans each, makes its missing parts, and finishes it when all are
complete. Failed tasks are retried a few times and reported at the end without stopping the others.
"""
from __future__ import annotations

import contextlib
import heapq
import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Optional

from ..options import JobOptions
from ..scan_list import ScanFile
from ..storage.ownership import FOLDER
from ..storage.store import open_store
from . import worker
from .executors import Executor, Outcome, Task, executor_of
from .lock import Lock
from .progress import Progress
from .report import Failure, Report

_FIRST_PAUSE_S = 1.0  # before the first retry; multiplied by four for each later one


class JobRunner:
    """common: fields of all tasks: kind, noun, out, device, threads ...; planning: further fields of planning tasks."""

    def __init__(self, executor: Executor, scans: list[ScanFile], common: Task, planning: Task, retries: int,
                 progress: Progress) -> None:
        self._executor, self._common, self._retries, self._progress = executor, common, retries, progress
        self._sources: list[Iterator[Task]] = [
            ({**planning, "do": "plan", "path": one.path, "name": one.name, "label": one.path, "number": number,
              "settings": (*planning["settings"], *one.settings)} for number, one in enumerate(scans))]
        self._waiting: list[tuple[float, int, Task]] = []  # retries sorted by time
        self._under_way = 0
        self._suspects: deque[Task] = deque()  # each is retried alone
        self._left: dict[str, int] = {}  # missing parts per scan
        self._plans: dict[str, Task] = {}  # planning tasks of unfinished results
        self._is_alone = planning.get("share", (0, 1))[1] == 1  # not one of several shares, the last of which finishes
        self._incomplete: set[str] = set()  # scans with a failed part
        self._broken: set[str] = set()  # scans whose other parts would also fail
        self.report = Report(progress.noun, len(scans))
        self.results: dict[int, Any] = {}  # by number of the scan, if there are any

    def run(self, require_held: Callable[[], None] = lambda: None) -> Report:
        """require_held: raises if another job has taken over the output."""
        began = time.monotonic()
        capacity, looked = self._executor.capacity, began
        try:
            while True:
                if time.monotonic() - looked > 1:
                    capacity, looked = self._executor.capacity, time.monotonic()
                    require_held()
                while self._under_way < capacity and (task := self._next()) is not None:
                    self._executor.submit({**self._common, **task})
                    self._under_way += 1
                if not (self._under_way or self._waiting):
                    break
                if not self._under_way:
                    time.sleep(max(0.0, min(0.5, self._waiting[0][0] - time.monotonic())))
                elif (done := self._executor.next(0.5)) is not None:
                    self._under_way -= 1
                    self._take(*done)
                if self._progress.is_due():
                    self._progress.show(self._executor.workers)
        finally:
            self.report.seconds = time.monotonic() - began
            self._progress.close()
            self._executor.close()
        return self.report

    def _next(self) -> Optional[Task]:
        """Returns retries first, then parts of started scans, then the next scan, and finally suspects, one at a time.
        """
        if self._waiting and self._waiting[0][0] <= time.monotonic():
            return heapq.heappop(self._waiting)[2]
        while self._sources:
            task = next(self._sources[-1], None)
            if task is None:
                self._sources.pop()
            elif task["do"] == "part" and task["name"] in self._broken:
                self._count_down(task)
            else:
                return task
        return self._suspects.popleft() if self._suspects and not self._under_way and not self._waiting else None

    # ---- outcomes

    def _take(self, task: Task, outcome: Outcome) -> None:
        if "error" in outcome:
            self._take_failure(task, outcome)
        elif task["do"] == "plan":
            self._take_plan(task, outcome)
        elif task["do"] == "finish":
            self._take_end(task["name"], outcome["is_finished"])
        else:
            self._take_part(task, outcome)

    def _take_plan(self, task: Task, outcome: Outcome) -> None:
        missing, name = outcome["missing"], outcome["name"]
        self._count_plan(outcome, is_again=task.get("is_again", False))
        self._plans[name] = task
        if "result" in outcome:
            self.results[task["number"]] = outcome["result"]
        plan = {key: task[key] for key in ("label", "verify")} | {"name": name, "id": outcome["id"]}
        if missing:
            self._left[name] = len(missing)
            self._sources.append({**plan, "do": "part", "time": t, "begin": begin, "end": end} for t, begin, end in missing)
        elif outcome["is_finished"]:
            self._count_finished(name)
        else:
            self._sources.append(iter([{**plan, "do": "finish"}]))

    def _count_plan(self, outcome: Outcome, is_again: bool) -> None:
        there, made = outcome["count"] - len(outcome["missing"]), outcome.get("made", 0)
        if is_again:
            self._progress.done -= len(outcome["missing"])
        else:
            self._progress.planned += 1
            self._progress.parts += outcome["count"]
            self._progress.done += there
            self.report.made += made
            self.report.there += there - made
        if outcome.get("note") and outcome["note"] not in self.report.notes:
            self.report.notes.append(outcome["note"])

    def _take_end(self, name: str, is_finished: bool) -> None:
        """All missing parts are made. If the result is still incomplete, it is planned again."""
        if is_finished:
            self._count_finished(name)
            return
        plan = self._plans.pop(name)
        if self._is_alone:
            self._take_failure({**plan, "is_again": True},
                               {"error": "parts were lost or damaged after they were made", "retry": True})

    def _count_finished(self, name: str) -> None:
        del self._plans[name]
        self.report.finished += 1
        self.report.files.append(name)

    def _take_part(self, task: Task, outcome: Outcome) -> None:
        if outcome.get("was_there"):
            self.report.there += 1
            self._progress.done += 1
        else:
            self.report.made += 1
            self.report.a_scans += outcome["a_scans"]
            self._progress.add_part(outcome["a_scans"])
            for what, seconds in outcome["seconds"].items():
                self.report.work_s[what] = self.report.work_s.get(what, 0.0) + seconds
        self._count_down(task)

    def _count_down(self, task: Task) -> None:
        name = task["name"]
        self._left[name] -= 1
        if self._left[name] == 0:
            del self._left[name]
            if name not in self._incomplete:
                finish = {key: task[key] for key in ("name", "id", "label", "verify")}
                self._sources.append(iter([{**finish, "do": "finish"}]))

    def _take_failure(self, task: Task, outcome: Outcome) -> None:
        # Another task on the same worker may have killed it.
        if outcome.get("was_set_aside") and not task.get("is_suspect"):
            self._suspects.append({**task, "is_suspect": True})
            return
        tries = task.get("tries", 0)
        if outcome["retry"] and tries < self._retries:
            again = {**task, "tries": tries + 1}
            heapq.heappush(self._waiting, (time.monotonic() + _FIRST_PAUSE_S * 4**tries, id(again), again))
            return
        self._progress.failures += 1
        self.report.failures.append(Failure(task["label"], _place_of(task), outcome["error"].removeprefix(f"{task['label']}: ")))
        if task["do"] == "plan":
            self._progress.planned += not task.get("is_again", False)
        elif task["do"] == "part":
            self._incomplete.add(task["name"])
            if not outcome["retry"] and not outcome.get("was_set_aside"):
                self._broken.add(task["name"])
            self._count_down(task)


def _place_of(task: Task) -> str:
    """Describes the part of a scan or a movie; empty for the whole."""
    if task["do"] != "part":
        return ""
    if task["kind"] == "movie":
        return f"pictures {task['begin']}:{task['end']}"
    return f"B-scans {task['begin']}:{task['end']} of volume {task['time']}"


def run_job(scans: list[ScanFile], common: Task, planning: Task, out: str | os.PathLike[str] | None, client: Any,
            options: JobOptions, share: str | None = None) -> JobRunner:
    """Runs a job to its end. out: None: keep nothing; client: of Dask, or None; share: "3-of-8" for a job in several
    processes.
    """
    progress = Progress(len(scans), options.progress, common["noun"])
    with contextlib.ExitStack() as stack:
        store = None if out is None else open_store(out)
        lock = None if store is None else stack.enter_context(Lock(store, share or "all", progress.tell))
        if store is not None and common["kind"] != "scan":  # those of scans are removed when the scan is planned
            store.sweep(FOLDER)
        executor = stack.enter_context(executor_of(client, options.workers))
        common = {**common, "out": None if store is None else store.address, "threads": options.threads,
                  "verify": options.verify}
        job = JobRunner(executor, scans, common, {**planning, "overwrite": options.overwrite}, options.retries, progress)
        if client is not None and options.workers is not None:
            job.report.notes.append("workers: has no effect on the workers of a client")
        if client is None and options.workers == 0 and options.threads is not None and not worker.is_own_process():
            job.report.notes.append("threads: has no effect with workers=0, where this process keeps its cores")
        job.run(lambda: None if lock is None else lock.require_held())
    return job
