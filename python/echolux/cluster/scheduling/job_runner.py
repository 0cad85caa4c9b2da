"""A job over many scans, volumes or movies: each is planned, its missing parts are made, and it is finished when all are
there. What fails is tried again a few times, is told at the end, and stops nobody else."""
from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterator
from typing import Any, Optional, Union

from .executors import Here, Outcome, OverDask, Task
from .progress import Progress
from .report import Failure, Report
from ..scan_list import ScanFile

_FIRST_PAUSE_S = 1.0  # before another try; four times as long before each later one


class Job:
    """`common` is what all tasks have in common: kind, out, device, threads ...; `planning` what their plans need besides."""

    def __init__(self, executor: Union[Here, OverDask], scans: list[ScanFile], common: Task, planning: Task, retries: int,
                 progress: Progress) -> None:
        self._executor, self._common, self._retries, self._progress = executor, common, retries, progress
        self._sources: list[Iterator[Task]] = [
            ({**planning, "do": "plan", "path": one.path, "name": one.name, "label": one.path, "number": number,
              "settings": (*planning["settings"], *one.settings)} for number, one in enumerate(scans))]
        self._waiting: list[tuple[float, int, Task]] = []  # for another try, by time
        self._under_way = 0
        self._left: dict[str, int] = {}  # parts of a scan
        self._plans: dict[str, Task] = {}  # the tasks that planned what is not finished
        self._is_alone = planning.get("of", 1) == 1  # not one of several shares, of which the last one finishes
        self._incomplete: set[str] = set()  # scans with a part that failed
        self._broken: set[str] = set()  # those whose other parts would fail too
        self.report = Report(scans=len(scans))
        self.results: dict[int, Any] = {}  # by number of the scan, where there are any

    def run(self, require_held: Callable[[], None] = lambda: None) -> Report:
        """require_held: raises where the output has become another job's."""
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
                if not self._under_way and not self._waiting:
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
        """Tries again first, then parts of scans that were begun, then the next scan."""
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
        return None

    # ---- outcomes

    def _take(self, task: Task, outcome: Outcome) -> None:
        if "error" in outcome:
            self._failed(task, outcome)
        elif task["do"] == "plan":
            self._planned(task, outcome)
        elif task["do"] == "finish":
            self._ended(task["name"], outcome["is_finished"])
        else:
            self._made(task, outcome)

    def _planned(self, task: Task, outcome: Outcome) -> None:
        missing, name, made = outcome["missing"], outcome["name"], outcome.get("made", 0)
        if task.get("is_again"):
            self._progress.done -= len(missing)
        else:
            self._progress.planned += 1
            self._progress.parts += outcome["count"]
            self._progress.done += outcome["count"] - len(missing)
            self.report.made += made
            self.report.there += outcome["count"] - len(missing) - made
        self._plans[name] = task
        if outcome.get("note") and outcome["note"] not in self.report.notes:
            self.report.notes.append(outcome["note"])
        if "result" in outcome:
            self.results[task["number"]] = outcome["result"]
        plan = {key: task[key] for key in ("label", "verify")} | {"name": name, "id": outcome["id"]}
        if missing:
            self._left[name] = len(missing)
            self._sources.append({**plan, "do": "part", "time": t, "begin": begin, "end": end} for t, begin, end in missing)
        elif outcome["is_finished"]:
            self._finished(name)
        else:
            self._sources.append(iter([{**plan, "do": "finish"}]))

    def _ended(self, name: str, is_finished: bool) -> None:
        """All parts that were missing are made. Where that is not all, they are looked for again."""
        if is_finished:
            self._finished(name)
            return
        plan = self._plans.pop(name)
        if self._is_alone:
            self._failed({**plan, "is_again": True},
                         {"error": "parts were lost or damaged after they were made", "retry": True})

    def _finished(self, name: str) -> None:
        del self._plans[name]
        self.report.finished += 1
        self.report.files.append(name)

    def _made(self, task: Task, outcome: Outcome) -> None:
        if outcome.get("was_there"):
            self.report.there += 1
            self._progress.done += 1
        else:
            self.report.made += 1
            self.report.a_scans += outcome["a_scans"]
            self._progress.made(outcome["a_scans"])
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

    def _failed(self, task: Task, outcome: Outcome) -> None:
        tries = task.get("tries", 0)
        if outcome["retry"] and tries < self._retries:
            again = {**task, "tries": tries + 1}
            heapq.heappush(self._waiting, (time.monotonic() + _FIRST_PAUSE_S * 4**tries, id(again), again))
            return
        self._progress.failures += 1
        where = ""
        if task["do"] == "part":
            where = f"B-scans {task['begin']}:{task['end']} of volume {task['time']}"
            if task["kind"] == "movie":
                where = f"pictures {task['begin']}:{task['end']}"
        self.report.failures.append(Failure(task["label"], where, outcome["error"]))
        if task["do"] == "plan":
            self._progress.planned += not task.get("is_again", False)
        elif task["do"] == "part":
            self._incomplete.add(task["name"])
            if not outcome["retry"] and not outcome.get("was_set_aside"):
                self._broken.add(task["name"])
            self._count_down(task)
