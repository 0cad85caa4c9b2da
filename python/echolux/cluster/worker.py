"""What a worker does: tasks as dictionaries in, outcomes as dictionaries out, whoever brings them. It keeps the scans that
it has opened, one GPU of its own or some threads, and tells Dask's dashboard its rate."""
from __future__ import annotations

import fcntl
import os
import re
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

from .. import _core
from ..errors import BadArgument, BadFile, BadSetting, Error, Unsupported
from ..series import load
from . import markers, ome, part, plan, planning
from .scans import ScanFile
from .source import Source
from .store import Store, opened

_KEPT = 4  # scans and plans
_FINAL = (BadArgument, BadFile, BadSetting, Unsupported, planning.Stale)  # another try would end alike

_lock = threading.Lock()  # one part at a time
_slots: list[int] = []  # files whose locks are held as long as this process lives
_settled = threading.Event()
_plans: OrderedDict[tuple[str, str, str], plan.Plan] = OrderedDict()
_sources: OrderedDict[tuple[str, str, str], Source] = OrderedDict()
_rate = {"a_scans": 0.0, "seconds": 0.0}

T = TypeVar("T")


def _kept(cache: OrderedDict[Any, T], key: Any, make: Callable[[], T]) -> T:
    if key not in cache:
        cache[key] = make()
    cache.move_to_end(key)
    while len(cache) > _KEPT:
        cache.popitem(last=False)
    return cache[key]


# ---- a GPU or some threads of its own

def _claimed(kind: str, count: int) -> int:
    """A number below `count` that no other worker on this machine has; any where all are taken."""
    folder = os.path.join(tempfile.gettempdir(), f"echolux-{os.getuid()}")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    for number in range(count):
        file = os.open(os.path.join(folder, f"{kind}-{number}"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            continue
        _slots.append(file)
        return number
    return os.getpid() % count


def gpus() -> list[str]:
    """As CUDA_VISIBLE_DEVICES names those that may be used."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return [one for one in visible.split(",") if one]
    devices = os.listdir("/dev") if os.path.isdir("/dev") else []
    return [str(i) for i in range(sum(1 for name in devices if re.fullmatch(r"nvidia\d+", name)))]


def settle_down(threads: int | None) -> None:
    """Before the library is used in this process for the first time."""
    if _settled.is_set():
        return
    _settled.set()
    found = gpus()
    if len(found) > 1 and _core.has("cuda"):
        os.environ["CUDA_VISIBLE_DEVICES"] = found[_claimed("gpu", len(found))]
    if threads is not None:
        cores = sorted(os.sched_getaffinity(0))
        groups = max(1, len(cores) // threads)
        first = _claimed("cpu", groups) * threads
        for thread in os.listdir("/proc/self/task"):
            os.sched_setaffinity(int(thread), cores[first:first + threads])


# ---- tasks

def _plan_of(store: Store, name: str, job: str) -> plan.Plan:
    def read() -> plan.Plan:
        text = store.get(plan.key_of(name))
        found = plan.Plan.from_json(text) if text is not None else None
        if found is None or found.job != job:
            raise planning.Stale("is no longer the output of this job", f"{store.address}/{name}", "start the job again")
        return found

    return _kept(_plans, (store.address, name, job), read)


def _planned(store: Store, task: dict[str, Any]) -> dict[str, Any]:
    """A scan's plan, and which of its parts are missing."""
    file = ScanFile(task["path"], task["name"], tuple(task["settings"]))
    made = planning.settle(store, file, file.settings, overwrite=task["overwrite"], device=task["device"],
                           **task["wanted"])
    missing = [(one.time, one.begin, one.end) for number, one in enumerate(made.parts())
               if number % task["of"] == task["share"]
               and markers.read(store, made.name, one.key, made.job, verify=task["verify"]) is None]
    is_finished = not missing and task["of"] == 1 and planning.is_finished(store, made.name)
    if missing:
        store.remove(f"{made.name}/zarr.json")
    mine = -(-(made.count() - task["share"]) // task["of"])
    return {"name": made.name, "job": made.job, "count": mine, "missing": missing, "is_finished": is_finished}


def _worked(store: Store, task: dict[str, Any]) -> dict[str, Any]:
    made = _plan_of(store, task["name"], task["job"])
    plan.require_unchanged(made)
    source = _kept(_sources, (store.address, task["name"], task["job"]),
                   lambda: Source(plan.opened(made.path, made.settings), task["device"]))
    began = time.perf_counter()
    one = plan.Part(task["time"], task["begin"], task["end"])
    facts = part.work(store, made, one, source, verify=task["verify"])
    if not facts.get("was_there"):
        _rate["a_scans"], _rate["seconds"] = facts["a_scans"], time.perf_counter() - began
    return facts


def _tell_dashboard() -> None:
    try:
        from distributed import get_worker

        get_worker().metrics["echolux_a_scans_per_s"] = lambda _: _rate["a_scans"] / max(1e-9, _rate["seconds"])
    except (ImportError, ValueError):  # not a worker of Dask
        pass


def run(task: dict[str, Any]) -> dict[str, Any]:
    """The outcome of a task; {"error": ..., "retry": ...} where it failed."""
    with _lock:
        settle_down(task["threads"])
        _tell_dashboard()
        try:
            if task["do"] == "map":
                return {"result": task["function"](load(task["path"]))}
            store = opened(task["out"])
            if task["do"] == "plan":
                return _planned(store, task)
            if task["do"] == "finish":
                return {"is_finished": ome.finish(store, _plan_of(store, task["name"], task["job"]))}
            return _worked(store, task)
        except Exception as error:  # whatever it is, it stops nobody else
            _sources.clear()
            text = str(error) if isinstance(error, Error) else f"{type(error).__name__}: {error}"
            return {"error": text, "retry": not isinstance(error, _FINAL)}
