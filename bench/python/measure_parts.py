"""Measures the CPU time of a part for docs/scale.md, which other work on the machine hardly changes. Also checks that
the figures add up: compares whole jobs with 1, 2 and 4 workers with the sum of startup, parts and tasks.

    PYTHONPATH=build/dev/python:tests/python:tests/support python3 bench/python/measure_parts.py FOLDER (needs 5 GB there)
"""
import contextlib
import os
import resource
import shutil
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from echolux import cluster
from echolux.cluster import jobs
from support import write_scan

PART = 256
B_SCANS, A_SCANS, SAMPLES, SCANS, TASKS, REPEATS = 512, 512, 1024, 5, 2000, 3
WORKERS = 1, 2, 4
IDLE_S = 10
SLEEPS, SLEEP_S = 40, 1  # parts that only sleep


def cpu_s():
    """CPU time of this process and of its children that have ended."""
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def timed(work):
    cpu, wall = cpu_s(), time.perf_counter()
    result = work()
    return result, cpu_s() - cpu, time.perf_counter() - wall


def on_cores(cores):
    for thread in os.listdir("/proc/self/task"):
        with contextlib.suppress(ProcessLookupError):  # the thread has ended
            os.sched_setaffinity(int(thread), cores)


def reconstruct(scans, out, **more):
    return cluster.reconstruct(scans, out, part_b_scans=PART, overwrite=True, progress=False, **more)


def alone(scans, out):
    """Returns CPU seconds per part for a whole job in this process on one core: all steps, without Dask."""
    shutil.rmtree(out, ignore_errors=True)
    cores = os.sched_getaffinity(0)
    on_cores(sorted(cores)[:1])
    report, cpu, _ = timed(lambda: reconstruct(scans, out, workers=0))
    on_cores(cores)
    return cpu / report.made


def sizes(out, a_scans):
    written = sum(path.stat().st_size for path in out.glob("*/*/*/c/**/*") if path.is_file())
    parts = SCANS * B_SCANS // PART
    print(f"part: {a_scans} A-scans, {a_scans * SAMPLES * 2 / 1e6:.0f} MB of spectra, {written / parts / 1e6:.0f} MB written")


def on_a_worker(scans, out):
    """Returns the same for a Dask worker, measured by the worker's own CPU time. Also returns the extra cost of its
    first job: imports, first use of memory, and setup of a reconstruction."""
    taken = []
    with jobs.local_client(1) as client:
        for _ in range(2):
            shutil.rmtree(out, ignore_errors=True)
            before = list(client.run(time.process_time).values())[0]
            report = reconstruct(scans, out, client=client, threads=1)
            taken.append(list(client.run(time.process_time).values())[0] - before)
    return taken[1] / report.made, max(0.0, taken[0] - taken[1])


@contextlib.contextmanager
def tasks_are(function):
    """Replaces the work of tasks by this function."""
    kept, jobs.worker = jobs.worker, SimpleNamespace(run=function, ignore_interrupts=jobs.worker.ignore_interrupts,
                                                     gpus=jobs.worker.gpus)
    try:
        yield
    finally:
        jobs.worker = kept


def run_tasks(executor, count, task):
    left, under_way = count, 0
    while left or under_way:
        while left and under_way < executor.capacity:
            executor.submit({**task, "begin": left})
            left, under_way = left - 1, under_way + 1
        under_way -= executor.next(10) is not None


def tasks():
    """CPU seconds of client and scheduler per empty task. Both run in this process."""
    with jobs.local_client(1) as client, tasks_are(lambda task: {"a_scans": 0, "seconds": {}}):
        executor = jobs.DaskExecutor(client)
        run_tasks(executor, 10, {"retries": 0})
        own = time.process_time()
        run_tasks(executor, TASKS, {"retries": 0, "out": "/somewhere", "do": "run_part", "name": "eye/scan.ome.zarr", "time": 0})
        own = time.process_time() - own
    return own / TASKS


def overhead():
    """Prints the overhead of scheduling parts of 1 s as a share of the workers' time. The parts only sleep, so that
    other work on the machine does not count."""
    with jobs.local_client(2) as client, tasks_are(lambda task: time.sleep(task["seconds"]) or {}):
        executor = jobs.DaskExecutor(client)
        run_tasks(executor, 4, {"retries": 0, "seconds": 0})
        began = time.perf_counter()
        run_tasks(executor, SLEEPS, {"retries": 0, "seconds": SLEEP_S})
        wall = time.perf_counter() - began
    print(f"{SLEEPS} parts of {SLEEP_S} s on 2 workers: {wall:.2f} s, overhead {(wall / (SLEEPS * SLEEP_S / 2) - 1) * 100:.1f} %")


def start(workers, idle_s=0.0):
    """CPU seconds of a cluster that is idle for `idle_s`."""
    def work():
        with jobs.local_client(workers):
            time.sleep(idle_s)

    return timed(work)[1]


def waiting():
    """CPU seconds per second of an idle worker and its nanny: heartbeats and profiling."""
    return max(0.0, start(2, IDLE_S) - start(2)) / IDLE_S / 2


def main(folder):
    folder = Path(folder)
    raw = np.random.default_rng(1).integers(1000, 3000, (B_SCANS, A_SCANS, SAMPLES), np.uint16)
    for number in range(SCANS):
        (folder / f"eye{number}").mkdir(parents=True)
        write_scan(folder / f"eye{number}", raw)
    parts, scans = SCANS * B_SCANS // PART, str(folder / "eye*/scan.toml")
    out = folder / "out"
    alone(scans, out)  # the first run creates cached data
    sizes(out, PART * A_SCANS)
    overhead()
    idle = waiting()
    print(f"CPU s a second of each worker, whatever it does: {idle:.3f}")
    for _ in range(REPEATS):  # repeated, because other work on the machine varies
        per_part, per_task = alone(scans, out), tasks()
        on_worker, first = on_a_worker(scans, out)
        print(f"CPU s of a part: {per_part:.3f} in one process, {on_worker:.3f} on a worker, and {first:.2f} more at first; "
              f"of a task: {per_task:.4f}")
        for workers in WORKERS:
            begin = start(workers) + workers * first
            shutil.rmtree(out, ignore_errors=True)
            _, cpu, wall = timed(lambda: reconstruct(scans, out, workers=workers, threads=1))
            model = begin + parts * (per_part + per_task) + wall * workers * idle
            print(f"{workers} workers: {parts} parts, CPU {cpu:.1f} s, model {model:.1f} s with a start of {begin:.1f} s; wall {wall:.1f} s",
                  flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
