"""Execution of tasks: by the workers of a Dask cluster, or in this process. Both accept a few tasks at a time and
return outcomes in order of completion.
"""
from __future__ import annotations

import contextlib
import importlib
import os
import queue
from collections import deque
from collections.abc import Iterator
from concurrent.futures import CancelledError
from typing import Any, Optional, Union

from ...errors import Error
from . import worker

Task = dict[str, Any]
Outcome = dict[str, Any]


class SchedulerLost(Error):
    """The connection to the scheduler was lost; completed results remain."""


class LocalExecutor:
    """Runs tasks one after another in this process."""

    def __init__(self) -> None:
        self._tasks: deque[Task] = deque()

    capacity = 1
    workers = 1

    def submit(self, task: Task) -> None:
        self._tasks.append(task)

    def next(self, timeout_s: float) -> Optional[tuple[Task, Outcome]]:
        if not self._tasks:
            return None
        task = self._tasks.popleft()
        return task, worker.run(task)

    def close(self) -> None:
        self._tasks.clear()


class DaskExecutor:
    """Runs tasks on the workers of a client. Results are released at once, so that client and scheduler do not grow."""

    _per_thread = 2  # tasks: one running and one queued

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
        with self._connected():
            threads = sum(self._client.nthreads().values())
        return max(2, self._per_thread * int(threads))

    @contextlib.contextmanager
    def _connected(self) -> Iterator[None]:
        try:
            yield
        except (OSError, TimeoutError, CancelledError) as error:  # connection errors of Dask are OSErrors
            raise SchedulerLost("the connection to the scheduler broke", "",
                                "start the job again: it goes on where it was") from error

    def submit(self, task: Task) -> None:
        self._number += 1
        with self._connected():
            self._submit(task)

    def _submit(self, task: Task) -> None:
        future = self._client.submit(worker.run, task, key=f"{self._prefix}-{self._number}", pure=False,
                                     priority=task.get("priority", 0), **self._where())
        self._tasks[future.key] = future, task
        future.add_done_callback(self._done.put)

    def _fit(self) -> list[str]:
        return [address for address in self._client.nthreads() if address not in self._unfit]

    def _where(self) -> dict[str, Any]:
        """If the suitable workers have disappeared, others may run a task: new workers have new addresses."""
        return {"workers": self._fit(), "allow_other_workers": True} if self._unfit else {}

    def next(self, timeout_s: float) -> Optional[tuple[Task, Outcome]]:
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
            if "elsewhere" in outcome:  # not counted as an attempt
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


def _outcome_of(problem: BaseException) -> Outcome:
    if type(problem).__name__ == "KilledWorker":
        return {"error": "ended every worker that tried it (killed, out of memory, or crashed) and was set aside",
                "retry": False, "was_set_aside": True}
    return {"error": f"{type(problem).__name__}: {problem}", "retry": True}


@contextlib.contextmanager
def local_client(workers: int | None) -> Iterator[Any]:
    """A client with separate workers on this machine: processes with one Dask thread each, because the library itself
    uses all cores assigned to it.
    """
    import logging

    import dask

    distributed: Any = importlib.import_module("distributed")
    only_here = "127.0.0.1:0"  # listen only on this machine
    with dask.config.set({"distributed.scheduler.worker-ttl": "60s"}), distributed.LocalCluster(
            n_workers=workers or max(1, len(worker.gpus())), threads_per_worker=1, processes=True, host="127.0.0.1",
            dashboard_address=only_here, worker_dashboard_address=only_here,
            silence_logs=logging.CRITICAL) as cluster, distributed.Client(cluster) as client:
        client.run(worker.ignore_interrupts)
        yield client


@contextlib.contextmanager
def executor_of(client: Any, workers: int | None) -> Iterator[Executor]:
    """The workers of a client. Without a client, this process (0 workers), or new workers for the lifetime of this
    context.
    """
    if client is not None:
        yield DaskExecutor(client)
    elif workers == 0:
        yield LocalExecutor()
    else:
        with local_client(workers) as own:
            yield DaskExecutor(own)
