"""Jobs in a process that is killed at random times (some parts after its start, so that they are hit on a slow machine too) and started again, until so many kills are done; each job ends with the bytes
of one that nobody disturbed. Children are forked before the library has worked, so that none waits for imports.

    killed_jobs.py SCANS FOLDER KILLS SEED    (ECHOLUX_COUNT names a file for the parts that are begun)
"""
import importlib
import os
import random
import signal
import sys
import time
from pathlib import Path

import count_parts  # noqa: F401
from archive import result_bytes
from echolux import cluster

for module in "zarr", "fsspec", "numcodecs", "google_crc32c":
    importlib.import_module(module)
WINDOWS = "hann", "blackman"  # of jobs in turn, so that each begins anew


def child(scans, out, window):
    """The process id of a job."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            report = cluster.reconstruct(scans, out, recipe={"window": window}, workers=0, part_b_scans=64, overwrite=True,
                                         progress=False)
            print(report.table(), file=sys.stderr, end="")
            code = 0 if report.ok else 1
        finally:
            os._exit(code)
    return pid


def ended(pid, may_begin=None, delay_s=0.0):
    """Whether it ended well; otherwise it is killed, so long after it began so many parts."""
    until, limit = None, None if may_begin is None else begun() + may_begin
    while until is None or time.monotonic() < until:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            assert status == 0, f"a job failed: {status}"
            return True
        if until is None and limit is not None and begun() >= limit:
            until = time.monotonic() + delay_s
        time.sleep(0.001)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return False


def begun():
    counted = Path(os.environ["ECHOLUX_COUNT"])
    return counted.read_text().count("\n") if counted.exists() else 0


def main(scans, folder, kills, seed):
    dice, done, jobs, wanted = random.Random(seed), 0, 0, {}
    for window in WINDOWS:
        before, began = begun(), time.monotonic()
        assert ended(child(scans, folder / window, window))
        parts, took = begun() - before, time.monotonic() - began
        wanted[window] = result_bytes(folder / window)
    hits, halves = 0, 0  # kills that lost a part, and those that left files which were being written
    while done < kills:
        window, before, here = WINDOWS[jobs % 2], begun(), 0
        while not ended(child(scans, folder / "out", window), dice.choice((0, 1, 1, 2, 3)) if done < kills else None,
                        dice.uniform(0, min(took / parts, 0.1))):
            done, here = done + 1, here + 1
            halves += any((folder / "out").rglob(".unfinished*"))
        jobs += 1
        assert result_bytes(folder / "out") == wanted[window], "other bytes"
        assert not list((folder / "out").rglob(".unfinished*")), "unfinished files"
        assert begun() - before <= parts + here, f"{begun() - before} parts begun, of {parts}, with {here} kills"
        hits += begun() - before - parts
    print(f"{done} kills in {jobs} jobs, {hits} of them in a part, {halves} left files that were being written")
    assert hits >= kills / 3 and halves, "too few kills hit a part"


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
