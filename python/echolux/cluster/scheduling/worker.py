"""What a worker does: tasks as dictionaries in, outcomes as dictionaries out, whoever brings them. It has one GPU of
its own or some threads, and tells Dask's dashboard its rate."""
from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import re
import sys
import tempfile
import threading
from collections.abc import Callable
from typing import Any

from ... import _core
from ...errors import BadArgument, BadFile, BadSetting, Error, Unsupported
from ..tasks import files, movie, scan
from ..storage.ownership import Stale
from ..storage.store import opened

_Step = Callable[[Any, dict[str, Any]], dict[str, Any]]
_STEPS = {"plan": "planned", "part": "made", "finish": "finished"}
_KINDS = {"scan": scan, "each": files, "movie": movie}
_FINAL = (BadArgument, BadFile, BadSetting, Unsupported, Stale)  # another try would end alike

_lock = threading.Lock()  # one part at a time
_slots: list[int] = []  # files whose locks are held as long as this process lives
_settled = threading.Event()


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


def _keep_memory() -> None:
    """Dask starts workers with MALLOC_TRIM_THRESHOLD_, with which glibc takes every block above 128 KiB anew from the system,
    page by page: packing took 1.6 times the CPU time. Blocks up to 32 MiB, its limit, are kept again."""
    if "MALLOC_TRIM_THRESHOLD_" in os.environ and sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).mallopt(-3, 32 << 20)  # M_MMAP_THRESHOLD


_own_process = threading.Event()


def own_process() -> None:
    """This process does nothing but work: its cores and GPU may be chosen."""
    _own_process.set()


def is_ours() -> bool:
    """Not a notebook's, say, which would keep what is chosen here for good."""
    return _own_process.is_set() or bool(_address())


def settle_down(threads: int | None) -> None:
    """Before the library is used in this process for the first time."""
    if _settled.is_set() or not is_ours():
        return
    _settled.set()
    _keep_memory()
    found = gpus()
    if len(found) > 1 and _core.has("cuda"):
        os.environ["CUDA_VISIBLE_DEVICES"] = found[_claimed("gpu", len(found))]
    if threads is not None:
        cores = sorted(os.sched_getaffinity(0))
        groups = max(1, len(cores) // threads)
        first = _claimed("cpu", groups) * threads
        for thread in os.listdir("/proc/self/task"):
            with contextlib.suppress(ProcessLookupError):  # it has ended
                os.sched_setaffinity(int(thread), cores[first:first + threads])


def has_gpu() -> bool:
    """Whether this worker can use one."""
    return bool(_core.gpus())


# ---- tasks

def _tell_dashboard() -> None:
    try:
        from distributed import get_worker

        rate = scan.rate
        get_worker().metrics["echolux_a_scans_per_s"] = lambda _: rate["a_scans"] / max(1e-9, rate["seconds"])
    except (ImportError, ValueError):  # not a worker of Dask
        pass


def _address() -> str:
    """Of this worker of Dask; elsewhere empty."""
    try:
        from distributed import get_worker

        return str(get_worker().address)
    except (ImportError, ValueError):
        return ""


def run(task: dict[str, Any]) -> dict[str, Any]:
    """The outcome of a task; {"error": ..., "retry": ...} where it failed. With "elsewhere", this worker's address, it is for
    others."""
    with _lock:
        settle_down(task["threads"])
        _tell_dashboard()
        if task.get("device") == "cuda" and not has_gpu():
            return {"error": "cuda is required, and no worker has a GPU that can be used", "retry": False, "elsewhere": _address()}
        try:
            step: _Step = getattr(_KINDS[task["kind"]], _STEPS[task["do"]])
            return step(None if task["out"] is None else opened(task["out"]), task)
        except Exception as error:  # whatever it is, it stops nobody else
            scan.forget()
            text = str(error) if isinstance(error, Error) else f"{type(error).__name__}: {error}"
            return {"error": text, "retry": not isinstance(error, _FINAL)}
