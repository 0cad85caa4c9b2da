"""Loaded by workers: counts the parts that are begun, and kills a process during one of them. A step is the beginning
of a part, a write, a synchronisation or a rename of a file, by any worker. ECHOLUX_STEPS names a folder with

begun: a line for each part that was begun
steps: a byte for each step
kill: an order: its number, the step at which to kill, and the process id (0: the process that takes the step)
kill-NUMBER: exists once that order was taken
killed: a line with the kind of step for each order that was carried out
in-ID: exists while the process ID is in a part
hold: number of parts after which each waits for a file `go`
fatal: "NAME TIME BEGIN" of a part that kills its worker
"""
import contextlib
import os
import signal
from pathlib import Path

from echolux.cluster import part, storage
from waiting import wait_until

PLACE = Path(os.environ["ECHOLUX_STEPS"])
NEVER = 1 << 60

_is_in_part = False


def _append(name, text):
    """Appends the text and returns the new size of the file."""
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
    """Also removes the file of a killed process with the same id."""
    _in_part(os.getpid()).unlink(missing_ok=True)


def kill_at(step, pid=0):
    """Orders a kill, which replaces earlier orders. Returns the number of the order. The file is replaced atomically
    because workers read it at any time."""
    number = int(_read("kill", "0 0 0").split()[0]) + 1
    (PLACE / "kill.new").write_text(f"{number} {step} {pid}")
    os.replace(PLACE / "kill.new", PLACE / "kill")
    return number


def take(order):
    """Returns whether this process is the first to take the order. The one that takes it carries it out or cancels
    it."""
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
        with contextlib.suppress(ProcessLookupError):  # the job has already ended
            os.kill(pid or os.getpid(), signal.SIGKILL)


def _counted(make):
    def counted(plan, one, *rest):
        global _is_in_part
        _is_in_part = True
        _in_part(os.getpid()).touch()  # before the part is counted
        line = f"{plan.name} {one.time} {one.begin}"
        _append("begun", line.encode() + b"\n")
        step("begin")
        if _read("fatal") == line:
            os.kill(os.getpid(), signal.SIGKILL)
        if begun() > int(_read("hold", str(NEVER))):
            wait_until((PLACE / "go").exists, "go")
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


if not hasattr(part.make, "counts"):  # Dask loads this module twice
    part.make, part.run = _counted(part.make), _ending(part.run)
    for owner, name in (storage.PendingFile, "write"), (storage.PendingFile, "sync"), (storage.Folder, "move"):
        setattr(owner, name, _stepping(getattr(owner, name), name))
