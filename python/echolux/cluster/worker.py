"""Worker side: receives tasks and returns outcomes as dictionaries, independent of the transport. A worker has exclusive
use of one GPU or some threads, and shows its rate on Dask's dashboard.
"""
from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import re
import signal
import sys
import tempfile
import threading
import time
from typing import Any

from .. import _core
from ..errors import BadArgument, BadFile, BadSetting, Error, Unsupported
from . import file_tasks, movie_tasks, scan_tasks
from .results import Stale
from .storage import open_store

_KINDS = {"scan": scan_tasks, "file": file_tasks, "movie": movie_tasks}
_FINAL = (BadArgument, BadFile, BadSetting, Unsupported, Stale)  # a retry would fail in the same way
_PAUSE_S = 1.0  # before a failed task may be tried again

_lock = threading.Lock()  # one part at a time
_slots: list[int] = []  # locked files, held for the lifetime of this process
_is_pinned = threading.Event()
_is_own = threading.Event()


# ---- an exclusive GPU or exclusive threads

def _take_slot(kind: str, count: int) -> int:
    """Returns a number below `count` that no other worker on this machine uses, or any if all are in use."""
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
    """Identifiers of the usable GPUs, as in CUDA_VISIBLE_DEVICES."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return [one for one in visible.split(",") if one]
    devices = os.listdir("/dev") if os.path.isdir("/dev") else []
    return [str(i) for i in range(sum(1 for name in devices if re.fullmatch(r"nvidia\d+", name)))]


_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8  # from malloc.h


def _tune_malloc() -> None:
    """Sets thresholds of glibc's malloc. Each arena of a thread keeps up to 64 MiB of freed memory, so limiting all
    threads to two arenas saves memory.

    Dask starts workers with MALLOC_TRIM_THRESHOLD_ (64 KiB), which also fixes the mmap threshold. Every block above 128
    KiB is then mapped and page-faulted again, and free memory at the end of an arena is returned at once. Packing took
    1.6 times the CPU time. Both thresholds are set to the values that glibc would reach by itself.
    """
    if sys.platform != "linux":
        return
    with contextlib.suppress(OSError, AttributeError):  # another C library
        set_option = ctypes.CDLL(None).mallopt
        set_option(_M_ARENA_MAX, 2)
        if "MALLOC_TRIM_THRESHOLD_" in os.environ:
            set_option(_M_MMAP_THRESHOLD, 32 << 20)  # the maximum of the dynamic threshold
            set_option(_M_TRIM_THRESHOLD, 64 << 20)  # twice as much


def claim_process() -> None:
    """Marks this process as a dedicated worker: its cores and its GPU may be chosen."""
    _is_own.set()


def is_own_process() -> bool:
    """False in a notebook, for example, which would keep the chosen cores and GPU permanently."""
    return _is_own.is_set() or _dask_worker() is not None


def ignore_interrupts() -> None:
    """Ctrl-C in a terminal reaches all processes. Workers ignore it; the job ends them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def pin_process(threads: int | None) -> None:
    """Call before the first use of the library in this process."""
    if _is_pinned.is_set() or not is_own_process():
        return
    _is_pinned.set()
    _tune_malloc()
    found = gpus()
    if len(found) > 1 and _core.has("cuda"):
        os.environ["CUDA_VISIBLE_DEVICES"] = found[_take_slot("gpu", len(found))]
    if threads is not None:
        cores = sorted(os.sched_getaffinity(0))
        first = _take_slot("cpu", max(1, len(cores) // threads)) * threads
        for thread in os.listdir("/proc/self/task"):
            with contextlib.suppress(ProcessLookupError):  # it has ended
                os.sched_setaffinity(int(thread), cores[first:first + threads])


def has_gpu() -> bool:
    """Returns true if this worker can use a GPU."""
    return bool(_core.gpus())


# ---- tasks

def _dask_worker() -> Any:
    """The Dask worker of this process, or None."""
    if "distributed" not in sys.modules:
        return None
    try:
        return sys.modules["distributed"].get_worker()
    except ValueError:
        return None


def _a_scans_per_s(_: Any) -> float:
    return scan_tasks.rate["a_scans"] / max(1e-9, scan_tasks.rate["seconds"])


def run(task: dict[str, Any]) -> dict[str, Any]:
    """Runs a task and returns its outcome, or {"error": ...} if a retry would fail in the same way. With "elsewhere",
    the address of this worker, the task must run on another worker. Raises Error if a retry may help.
    """
    with _lock:
        pin_process(task["threads"])
        dask = _dask_worker()
        if dask is not None:
            dask.metrics["echolux_a_scans_per_s"] = _a_scans_per_s
        if task.get("device") == "cuda" and not has_gpu():
            return {"error": "cuda is required, and no worker has a GPU that can be used", "elsewhere": dask and dask.address}
        try:
            outcome: dict[str, Any] = getattr(_KINDS[task["kind"]], task["do"])(task["out"] and open_store(task["out"]), task)
            return outcome
        except Exception as error:  # an error of any kind must not stop other tasks
            scan_tasks.forget()
            text = str(error) if isinstance(error, Error) else f"{type(error).__name__}: {error}"
            if isinstance(error, _FINAL):
                return {"error": text}
            time.sleep(_PAUSE_S if task["retries"] else 0)
            raise Error(text) from None  # any worker can read it
