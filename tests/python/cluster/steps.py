"""Loaded by workers: tells which parts are begun, and ends a process in the midst of one. A step is a part that is begun, a piece that is written,
a file that is synchronised or gets its name, of whichever worker; ECHOLUX_STEPS names a folder with

begun: a line for each part that is begun
steps: a byte for each step
kill: an order: its number, the step at which a process is killed, and that process (its id; 0: the one that takes the step)
kill-NUMBER: there once that order is taken
killed: a line for each order that was carried out: what the step was
in-ID: there while the process ID is in a part
slow: seconds that each part takes at least
fatal: "NAME TIME BEGIN" of a part that ends its worker
"""
import contextlib
import os
import signal
import time
from pathlib import Path

from echolux.cluster.parts import part
from echolux.cluster.storage import folder

PLACE = Path(os.environ["ECHOLUX_STEPS"])
NEVER = 1 << 60

_is_in_part = False


def _append(name, text):
    """The file's size after it."""
    file = os.open(PLACE / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        os.write(file, text)
        return os.fstat(file).st_size
    finally:
        os.close(file)


def _read(name, default=""):
    try:
        return (PLACE / name).read_text()
    except FileNotFoundError:
        return default


def size(name):
    path = PLACE / name
    return path.stat().st_size if path.exists() else 0


def begun():
    return _read("begun").count("\n")


def _in_part(pid):
    return PLACE / f"in-{pid}"


def is_in_part(pid):
    return _in_part(pid).exists()


def leave_part():
    """Also what a killed process of the same id left."""
    _in_part(os.getpid()).unlink(missing_ok=True)


def kill_at(step, pid=0):
    """Orders a kill; earlier orders count no more. The number of the order. The file is whole at any time: workers read it meanwhile."""
    number = int(_read("kill", "0 0 0").split()[0]) + 1
    (PLACE / "kill.new").write_text(f"{number} {step} {pid}")
    os.replace(PLACE / "kill.new", PLACE / "kill")
    return number


def take(order):
    """Whether it was not taken yet: of all processes the one that takes it carries it out, or so withdraws it."""
    try:
        os.close(os.open(PLACE / f"kill-{order}", os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        return True
    except FileExistsError:
        return False


def step(what):
    if not _is_in_part:
        return
    number = _append("steps", b".")
    order, at, pid = map(int, _read("kill", f"0 {NEVER} 0").split())
    if number >= at and take(order):
        _append("killed", f"{what}\n".encode())
        with contextlib.suppress(ProcessLookupError):  # a job that has ended meanwhile
            os.kill(pid or os.getpid(), signal.SIGKILL)


def _counted(make):
    def counted(plan, one, *rest):
        global _is_in_part
        _is_in_part = True
        _in_part(os.getpid()).touch()  # before it counts as begun
        line = f"{plan.name} {one.time} {one.begin}"
        _append("begun", line.encode() + b"\n")
        step("begin")
        if _read("fatal") == line:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(float(_read("slow", "0")))
        return make(plan, one, *rest)

    counted.counts = True
    return counted


def _stepping(method, what):
    def stepping(self, *arguments):
        step(what)
        return method(self, *arguments)

    return stepping


def _ending(run):
    def ending(*arguments, **more):
        global _is_in_part
        try:
            return run(*arguments, **more)
        finally:
            _is_in_part = False
            leave_part()

    return ending


if not hasattr(part.make, "counts"):  # Dask loads it twice
    part.make, part.run = _counted(part.make), _ending(part.run)
    for name, what in ("_append", "write"), ("sync", "sync"), ("commit", "commit"):
        setattr(folder.FolderFile, name, _stepping(getattr(folder.FolderFile, name), what))
