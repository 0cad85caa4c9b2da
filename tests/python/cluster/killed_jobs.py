"""Kills jobs at random steps of their work (steps.py) and restarts them, until a number of kills is reached. Each job
must end with the bytes of an undisturbed one. Processes are forked from one that has imported everything, which saves
the time of the imports.

    killed_jobs.py alone|dask SCANS FOLDER KILLS SEED

alone: a job in one process; dask: two workers, scheduler and client are processes, one of which is killed
"""
import collections
import ctypes
import importlib
import os
import random
import signal
import sys
import time
from pathlib import Path

import steps
from archive import free_port, result_bytes
from echolux import cluster
from echolux.cluster.command import main as batch
from waiting import wait_until

for module in ("zarr", "fsspec", "numcodecs", "google_crc32c", "distributed", "distributed.cli.dask_worker",
               "distributed.cli.dask_scheduler"):
    importlib.import_module(module)
WINDOWS = "hann", "blackman"  # alternates between jobs, so that each must redo all parts
MAX_STEPS = 40  # until the next kill: about three parts
MAX_KILLS = 12  # per job
MAX_S = 600.0  # timeout without any process ending; generous for busy machines


def forked(work, log):
    """Forks a child that runs `work()` and exits with its result. Returns the process id."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.setsid()
            steps.leave_part()
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: it ends with its parent
            file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.dup2(file, 1)
            os.dup2(file, 2)
            code = work()
        finally:
            sys.stderr.flush()
            os._exit(code)
    return pid


class Alone:
    """The job's process is also the worker."""

    def __init__(self, scans, folder, dice):
        self.scans, self.folder = scans, folder

    def start(self, out, window):
        def work():
            report = cluster.reconstruct(self.scans, out, recipe={"window": window}, workers=0, part_b_scans=64, overwrite=True,
                                         progress=False)
            print(report.table(), file=sys.stderr)
            return 0 if report.ok else 1

        self.job = forked(work, self.folder / "log")

    def victim(self):
        return "job", 0

    def mend(self, what, dead):
        """Restarts what the kill of a `what` requires: nothing here."""

    def wait(self):
        """Waits for workers that are still in parts of killed jobs."""

    def end(self):
        pass


class OnDask:
    def __init__(self, scans, folder, dice):
        self.scans, self.folder, self.dice = scans, folder, dice
        self.port = free_port()
        self._start_all()

    def _command(self, module, *words):
        def work():
            importlib.import_module(f"distributed.cli.{module}").main.main([str(word) for word in words], standalone_mode=False)
            return 0

        return forked(work, self.folder / "log")

    def _start_worker(self):
        return self._command("dask_worker", f"tcp://127.0.0.1:{self.port}", "--host", "127.0.0.1", "--nthreads", 1, "--no-nanny",
                             "--no-dashboard", "--local-directory", self.folder, "--death-timeout", MAX_S)

    def _start_all(self):
        self.scheduler = self._command("dask_scheduler", "--host", "127.0.0.1", "--port", self.port, "--no-dashboard")
        self.workers = [self._start_worker() for _ in range(2)]

    def start(self, out, window):
        words = [self.scans, "-o", str(out), "--dask", f"tcp://127.0.0.1:{self.port}", "--part-b-scans", "64", "--quiet", "--overwrite",
                 "--set", f"recipe.window={window}"]
        self.job = forked(lambda: batch(words), self.folder / "log")

    def victim(self):
        what = self.dice.choice(["worker", "worker", "worker", "scheduler", "job"])
        return what, {"worker": 0, "scheduler": self.scheduler, "job": self.job}[what]

    def mend(self, what, dead):
        if what == "worker":
            self.workers[self.workers.index(dead)] = self._start_worker()
        elif what == "scheduler":  # its workers finish their parts and exit, and so does the client
            for pid in self.workers:
                end(pid)
            self._start_all()

    def wait(self):
        wait_until(lambda: not any(steps.is_in_part(pid) for pid in self.workers), "the end of all parts")

    def end(self):
        for pid in self.scheduler, *self.workers:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def end(pid):
    """Waits until the process has finished its part and exited. Kills it if it only waits for its scheduler."""
    until, has_exited = time.monotonic() + 2, False

    def is_idle():
        nonlocal until, has_exited
        has_exited = os.waitpid(pid, os.WNOHANG)[0] != 0
        if has_exited:
            return True
        if steps.is_in_part(pid):
            until = time.monotonic() + 2
        elif time.monotonic() > until:
            os.kill(pid, signal.SIGSTOP)  # so that it does not begin another part
            if not steps.is_in_part(pid):
                return True
            os.kill(pid, signal.SIGCONT)
        return False

    wait_until(is_idle, "the end of a process")
    if not has_exited:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def next_death(since):
    """Returns the id and status of a child that ended."""
    def death():
        dead, status = os.waitpid(-1, os.WNOHANG)
        return (dead, status) if dead else None

    return wait_until(death, "the end of a job", max(0, since + MAX_S - time.monotonic()))


def one_start(place, dice, left, lost):
    """Starts a job and kills processes until it ends, at most `left` times. Returns whether it ended well, and the
    number of kills. lost: counts kills by what was killed."""
    done, since = 0, time.monotonic()
    while True:
        what, pid = place.victim() if done < left else ("", 0)
        order = steps.kill_at(steps.size("steps") + dice.randint(1, MAX_STEPS) if what else steps.NEVER, pid)
        dead, status = next_death(since)
        while what == "scheduler" and dead in place.workers and os.WIFEXITED(status):  # it noticed the kill first
            place.workers.remove(dead)
            dead, status = next_death(since)
        is_end = dead == place.job and not os.WIFSIGNALED(status)
        if is_end and (not what or steps.take(order) or what == "job"):
            return status == 0, done
        if is_end:  # a worker that is still in a part of an earlier killed job may have just taken that step
            dead, killed = next_death(since)
            assert os.WIFSIGNALED(killed), f"process {dead} instead of a {what} ended by itself: {killed}"
        else:
            assert os.WIFSIGNALED(status) and not steps.take(order), f"process {dead} instead of a {what} ended by itself: {status}"
        done, lost[what], since = done + 1, lost[what] + 1, time.monotonic()
        if what == "scheduler" and not is_end:
            end(place.job)
        if dead != place.job:
            place.mend(what, dead)
        if is_end:
            return status == 0, done
        if dead == place.job or what == "scheduler":
            return False, done


def main(kind, scans, folder, kills, seed):
    dice, done, jobs, wanted = random.Random(seed), 0, 0, {}
    alone = Alone(scans, folder, dice)
    for window in WINDOWS:
        before = steps.begun()
        alone.start(folder / window, window)
        assert os.waitpid(alone.job, 0)[1] == 0, (folder / "log").read_text()
        parts, wanted[window] = steps.begun() - before, result_bytes(folder / window)
    place = OnDask(scans, folder, dice) if kind == "dask" else alone
    lost, again, began = collections.Counter(), 0, time.monotonic()
    while done < kills:
        window, before, here, starts = WINDOWS[jobs % 2], steps.begun(), 0, 0
        is_done = False
        while not is_done:
            place.start(folder / "out", window)
            is_done, more = one_start(place, dice, min(MAX_KILLS - here, kills - done), lost)
            done, here, starts = done + more, here + more, starts + 1
            assert starts < 5 + MAX_KILLS, "a job that never ends"
        jobs += 1
        place.wait()
        assert result_bytes(folder / "out") == wanted[window], "other bytes"
        assert not list((folder / "out").rglob(".unfinished*")), "unfinished files"
        lost_parts = steps.begun() - before - parts
        assert lost_parts <= here, f"{lost_parts} of {parts} parts begun again, with {here} kills"
        again += lost_parts
        if kind == "dask":
            print(f"{done} kills in {jobs} jobs, {again} parts begun again, {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    place.end()
    told = collections.Counter((steps.PLACE / "killed").read_text().split())
    print(f"{done} kills in {jobs} jobs ({dict(lost)}), at {dict(told)}; {again} parts begun again")
    if kind == "alone":
        assert again == done, "kills that hit no part"
    assert again >= kills / 5 and {"write", "move"} <= set(told) or kills < 20, "too few kills cost a part"


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]))
