"""Runs a job over many scans, volumes or movies: plans each, makes its missing parts, and finishes it when all are
complete. Tasks are run by the workers of a Dask cluster, which tries failed ones again, or in this process. Failures are
reported at the end without stopping the others.
"""
from __future__ import annotations

import contextlib
import importlib
import logging
import os
import queue
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any, Optional, Union

from ..errors import BadArgument, Error
from . import worker
from .inputs import ScanFile
from .lock import Lock
from .report import Failure, Progress, Report
from .results import FOLDER
from .storage import open_store

Task = dict[str, Any]
Outcome = dict[str, Any]


def require(is_allowed: Callable[[Any], bool], remedy: str, **values: Any) -> None:
    """Raises BadArgument for a value that is not allowed. None is."""
    for name, value in values.items():
        if value is not None and not is_allowed(value):
            raise BadArgument(f"cannot be {value}", name, remedy)


def require_positive(**values: Any) -> None:
    require(lambda value: value > 0, "give more than 0", **values)


@dataclass(frozen=True)
class JobOptions:
    """Keyword arguments of every job.

    workers: processes on this machine: by default one per GPU, or one; 0: only this process, without Dask
    threads: per worker, on separate cores; None: all
    retries: number of retries of a failed task
    overwrite: replace results of other settings
    verify: compare the checksums of existing results first
    progress: print the progress of the job on stderr
    """

    workers: int | None = None
    threads: int | None = None
    retries: int = 2
    overwrite: bool = False
    verify: bool = False
    progress: bool = True

    def __post_init__(self) -> None:
        require_positive(threads=self.threads)
        require(lambda value: value >= 0, "give 0 or more", workers=self.workers, retries=self.retries)


# ---- executors: both accept a few tasks at a time and return outcomes in order of completion

def _outcome_of(problem: BaseException) -> Outcome:
    if type(problem).__name__ == "KilledWorker":
        return {"error": "ended every worker that tried it (killed, out of memory, or crashed) and was set aside", "was_set_aside": True}
    return {"error": str(problem) if isinstance(problem, Error) else f"{type(problem).__name__}: {problem}", "was_retried": True}


class LocalExecutor:
    """Runs tasks one after another in this process."""

    capacity = workers = 1

    def __init__(self) -> None:
        self._tasks: deque[Task] = deque()

    def submit(self, task: Task) -> None:
        self._tasks.append(task)

    def next(self, timeout_s: float) -> Optional[tuple[Task, Outcome]]:
        task = self._tasks.popleft()
        for _ in range(task["retries"] + 1):
            try:
                return task, worker.run(task)
            except Exception as error:
                outcome = _outcome_of(error)
        return task, outcome

    def close(self) -> None:
        self._tasks.clear()


class DaskExecutor:
    """Runs tasks on the workers of a client. Results are released at once, so that client and scheduler do not grow."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._tasks: dict[str, tuple[Any, Task]] = {}
        self._number = 0
        self._unfit: set[str] = set()  # workers that do not meet the requirements of the tasks
        self._prefix = f"echolux-{os.getpid()}-{os.urandom(4).hex()}"

    @property
    def workers(self) -> int:
        with self._connected():
            return len(self._client.nthreads())

    @property
    def capacity(self) -> int:
        """Per thread of a worker, one task is running and one is queued."""
        with self._connected():
            return max(2, 2 * int(sum(self._client.nthreads().values())))

    @contextlib.contextmanager
    def _connected(self) -> Iterator[None]:
        try:
            yield
        except (OSError, TimeoutError, CancelledError) as error:  # connection errors of Dask are OSErrors
            raise Error("the connection to the scheduler broke", "", "start the job again: it continues with the missing parts") from error

    def _fit(self) -> list[str]:
        return [address for address in self._client.nthreads() if address not in self._unfit]

    def submit(self, task: Task) -> None:
        """If the fit workers have disappeared, others may run the task: new workers have new addresses."""
        self._number += 1
        with self._connected():
            where = {"workers": self._fit(), "allow_other_workers": True} if self._unfit else {}
            future = self._client.submit(worker.run, task, key=f"{self._prefix}-{self._number}", pure=False,
                                         retries=task["retries"], **where)
            self._tasks[future.key] = future, task
            future.add_done_callback(self._done.put)

    def next(self, timeout_s: float) -> Optional[tuple[Task, Outcome]]:
        """Returns None if nothing was done in this time."""
        try:
            future = self._done.get(timeout=timeout_s)
        except queue.Empty:
            if self._client.status != "running":
                with self._connected():
                    raise OSError(self._client.status) from None
            return None
        if future.status == "lost":  # its worker ended before the outcome was received: the scheduler reruns it
            future.add_done_callback(self._done.put)
            return None
        _, task = self._tasks.pop(future.key)
        with self._connected():
            if future.status == "cancelled":
                raise CancelledError(future.key)
            problem = future.exception()
            outcome = future.result() if problem is None else _outcome_of(problem)
            future.release()
            if "elsewhere" in outcome:
                self._unfit.add(outcome["elsewhere"])
                if self._fit():
                    self.submit(task)
                    return None
        return task, outcome

    def close(self) -> None:
        if self._tasks and self._client.status == "running":
            self._client.cancel([future for future, _ in self._tasks.values()], force=True)
        self._tasks.clear()


Executor = Union[LocalExecutor, DaskExecutor]


@contextlib.contextmanager
def local_client(workers: int | None) -> Iterator[Any]:
    """A client with separate workers on this machine: processes with one Dask thread each, because the library itself
    uses all cores assigned to it.
    """
    import dask

    distributed: Any = importlib.import_module("distributed")
    only_here = "127.0.0.1:0"  # listen only on this machine
    with dask.config.set({"distributed.scheduler.worker-ttl": "60s"}), distributed.LocalCluster(
            n_workers=workers or max(1, len(worker.gpus())), threads_per_worker=1, processes=True, host="127.0.0.1",
            dashboard_address=only_here, worker_dashboard_address=only_here,
            silence_logs=logging.CRITICAL) as cluster, distributed.Client(cluster) as client:
        client.run(worker.ignore_interrupts)
        yield client


# ---- jobs

class JobRunner:
    """common: fields of all tasks: kind, noun, out, device, threads, retries ...; planning: further fields of planning
    tasks.
    """

    def __init__(self, executor: Executor, scans: list[ScanFile], common: Task, planning: Task, progress: Progress) -> None:
        self._executor, self._common, self._progress, self.report = executor, common, progress, progress.report
        self._sources: list[Iterator[Task]] = [
            ({**planning, "do": "plan", "path": one.path, "name": one.name, "label": one.path, "number": number,
              "settings": (*planning["settings"], *one.settings)} for number, one in enumerate(scans))]
        self._under_way = 0
        self._suspects: deque[Task] = deque()  # each is retried alone
        self._left: dict[str, int] = {}  # missing parts per scan
        self._plans: dict[str, Task] = {}  # planning tasks of unfinished results
        self._is_alone = planning.get("share", (0, 1))[1] == 1  # not one of several shares, the last of which finishes
        self._incomplete: set[str] = set()  # scans with a failed part
        self._broken: set[str] = set()  # scans whose other parts would also fail
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
                if not self._under_way:
                    break
                if (done := self._executor.next(0.5)) is not None:
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
        """Returns parts of started scans first, then the next scan, and finally suspects, one at a time."""
        while self._sources:
            task = next(self._sources[-1], None)
            if task is None:
                self._sources.pop()
            elif task["do"] == "run_part" and task["name"] in self._broken:
                self._count_down(task)
            else:
                return task
        return self._suspects.popleft() if self._suspects and not self._under_way else None

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
        self._count_plan(outcome, is_again="tries" in task)
        self._plans[name] = task
        if "result" in outcome:
            self.results[task["number"]] = outcome["result"]
        plan = {key: task[key] for key in ("label", "verify")} | {"name": name, "id": outcome["id"]}
        if missing:
            self._left[name] = len(missing)
            self._sources.append({**plan, "do": "run_part", "time": t, "begin": begin, "end": end} for t, begin, end in missing)
        elif outcome["is_finished"]:
            self._count_finished(name)
        else:
            self._sources.append(iter([{**plan, "do": "finish"}]))

    def _count_plan(self, outcome: Outcome, is_again: bool) -> None:
        there, made = outcome["count"] - len(outcome["missing"]), outcome.get("made", 0)
        if not is_again:
            self._progress.planned += 1
            self._progress.parts += outcome["count"]
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
        tries = plan.get("tries", 0)
        if self._is_alone and tries < self._common["retries"]:
            self._sources.append(iter([{**plan, "tries": tries + 1}]))
        elif self._is_alone:
            self._take_failure({**plan, "tries": tries}, {"error": "parts were lost or damaged after they were made"})

    def _count_finished(self, name: str) -> None:
        del self._plans[name]
        self.report.finished += 1
        self.report.files.append(name)

    def _take_part(self, task: Task, outcome: Outcome) -> None:
        if outcome.get("was_there"):
            self.report.there += 1
        else:
            self.report.made += 1
            self.report.a_scans += outcome["a_scans"]
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
        self.report.failures.append(Failure(task["label"], _place_of(task), outcome["error"].removeprefix(f"{task['label']}: ")))
        if task["do"] == "plan":
            self._progress.planned += "tries" not in task
        elif task["do"] == "run_part":
            self._incomplete.add(task["name"])
            if not outcome.get("was_retried") and not outcome.get("was_set_aside"):
                self._broken.add(task["name"])
            self._count_down(task)


def _place_of(task: Task) -> str:
    """Describes the part of a scan or a movie; empty for the whole."""
    if task["do"] != "run_part":
        return ""
    if task["kind"] == "movie":
        return f"pictures {task['begin']}:{task['end']}"
    return f"B-scans {task['begin']}:{task['end']} of volume {task['time']}"


def run_job(scans: list[ScanFile], common: Task, planning: Task, out: str | os.PathLike[str] | None, client: Any,
            options: JobOptions, share: str | None = None) -> JobRunner:
    """Runs a job to its end. out: None: keep nothing; client: of Dask, or None; share: "3-of-8" for a job in several
    processes.
    """
    progress = Progress(Report(common["noun"], len(scans)), options.progress)
    with contextlib.ExitStack() as stack:
        store = None if out is None else open_store(out)
        lock = None if store is None else stack.enter_context(Lock(store, share or "all", progress.tell))
        if store is not None and common["kind"] != "scan":  # those of scans are removed when the scan is planned
            store.sweep(FOLDER)
        notes = progress.report.notes
        if client is not None and options.workers is not None:
            notes.append("workers: has no effect on the workers of a client")
        if client is None and options.workers == 0 and options.threads is not None and not worker.is_own_process():
            notes.append("threads: has no effect with workers=0, where this process keeps its cores")
        if client is None and options.workers != 0:
            client = stack.enter_context(local_client(options.workers))
        executor: Executor = LocalExecutor() if client is None else DaskExecutor(client)
        common = {**common, "out": None if store is None else store.address, "threads": options.threads,
                  "retries": options.retries, "verify": options.verify}
        job = JobRunner(executor, scans, common, {**planning, "overwrite": options.overwrite}, progress)
        job.run(lambda: None if lock is None else lock.require_held())
    return job
