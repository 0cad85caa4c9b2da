"""What a part costs, in CPU time, which other work on the machine changes little: the figures of docs/scale.md. And whether
they add up: whole jobs with 1, 2 and 4 workers beside what their start, parts and tasks would take.

    PYTHONPATH=build/dev/python:tests/python python3 tests/python/cluster/measure.py FOLDER    (needs 5 GB there)
"""
import contextlib
import os
import resource
import shutil
import statistics
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from echolux import cluster
from echolux.cluster.scheduling import executors
from support import write_scan

PART = 256
B_SCANS, A_SCANS, SAMPLES, SCANS, TASKS, REPEATS = 512, 512, 1024, 5, 2000, 3
WORKERS = 1, 2, 4
SLEEPS, SLEEP_S = 40, 1  # parts that do nothing but sleep


def cpu_s():
    """Of this process and those of its children that have ended."""
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def timed(work):
    cpu, wall = cpu_s(), time.perf_counter()
    result = work()
    return result, cpu_s() - cpu, time.perf_counter() - wall


def on_cores(cores):
    for thread in os.listdir("/proc/self/task"):
        with contextlib.suppress(ProcessLookupError):  # it has ended
            os.sched_setaffinity(int(thread), cores)


def reconstruct(scans, out, **more):
    """Anew."""
    shutil.rmtree(out, ignore_errors=True)
    return cluster.reconstruct(scans, out, part_b_scans=PART, progress=False, **more)


def alone(scans, folder):
    """CPU seconds of a part, all steps, without Dask: of whole jobs in this process, on one core, after a first one."""
    cores = os.sched_getaffinity(0)
    on_cores(sorted(cores)[:1])
    taken = []
    for _ in range(1 + REPEATS):
        report, cpu, _ = timed(lambda: reconstruct(scans, folder, workers=0))
        taken.append(cpu / report.made)
    on_cores(cores)
    size = sum(path.stat().st_size for path in folder.glob("*/*/*/c/**/*") if path.is_file())
    print(f"part: {report.a_scans // report.made} A-scans, {report.a_scans / report.made * SAMPLES * 2 / 1e6:.0f} MB of spectra, "
          f"{size / report.made / 1e6:.0f} MB written")
    print(f"CPU s a part in one process: {statistics.median(taken[1:]):.3f} of {sorted(round(one, 3) for one in taken[1:])}")
    return statistics.median(taken[1:])


def on_a_worker(scans, folder):
    """The same on a worker of Dask, whose own CPU time it is; and what its first job takes more than later ones: modules, memory
    that is touched for the first time, what a reconstruction needs."""
    taken = []
    with executors.local_client(1) as client:
        for _ in range(1 + REPEATS):
            before = list(client.run(time.process_time).values())[0]
            report = reconstruct(scans, folder, client=client, threads=1)
            taken.append((list(client.run(time.process_time).values())[0] - before) / report.made)
    later = statistics.median(taken[1:])
    first = (taken[0] - later) * report.made
    print(f"CPU s a part on a worker: {later:.3f} of {sorted(round(one, 3) for one in taken[1:])}; {first:.2f} s more at first")
    return first


@contextlib.contextmanager
def tasks_are(function):
    """Tasks of workers do this instead."""
    kept, executors.worker = executors.worker, SimpleNamespace(run=function, ignore_interrupts=executors.worker.ignore_interrupts,
                                                               gpus=executors.worker.gpus)
    try:
        yield
    finally:
        executors.worker = kept


def run_tasks(executor, count, task):
    left, under_way = count, 0
    while left or under_way:
        while left and under_way < executor.capacity:
            executor.submit({**task, "begin": left})
            left, under_way = left - 1, under_way + 1
        under_way -= executor.next(10) is not None


def tasks():
    """CPU seconds of client and scheduler, both in this process, for a task that does nothing."""
    with executors.local_client(1) as client, tasks_are(lambda task: {"a_scans": 0, "seconds": {}}):
        executor = executors.DaskExecutor(client)
        run_tasks(executor, 10, {})
        own = time.process_time()
        run_tasks(executor, TASKS, {"out": "/somewhere", "do": "part", "name": "eye/scan.ome.zarr", "time": 0})
        own = time.process_time() - own
    print(f"CPU ms a task of client and scheduler: {own / TASKS * 1e3:.2f}")
    return own / TASKS


def overhead():
    """Of scheduling parts of 1 s, as a share of the workers' time: parts that sleep, so that other work does not count."""
    with executors.local_client(2) as client, tasks_are(lambda task: time.sleep(task["seconds"]) or {}):
        executor = executors.DaskExecutor(client)
        run_tasks(executor, 4, {"seconds": 0})
        began = time.perf_counter()
        run_tasks(executor, SLEEPS, {"seconds": SLEEP_S})
        wall = time.perf_counter() - began
    print(f"{SLEEPS} parts of {SLEEP_S} s on 2 workers: {wall:.2f} s, overhead {(wall / (SLEEPS * SLEEP_S / 2) - 1) * 100:.1f} %")


def start(workers):
    """CPU seconds of a cluster that does nothing."""
    def work():
        with executors.local_client(workers):
            pass

    return timed(work)[1]


def main(folder):
    folder = Path(folder)
    raw = np.random.default_rng(1).integers(1000, 3000, (B_SCANS, A_SCANS, SAMPLES), np.uint16)
    for number in range(SCANS):
        (folder / f"eye{number}").mkdir(parents=True)
        write_scan(folder / f"eye{number}", raw)
    parts, scans = SCANS * B_SCANS // PART, str(folder / "eye*/scan.toml")
    per_part = alone(scans, folder / "out")
    first = on_a_worker(scans, folder / "out")
    per_task = tasks()
    overhead()
    for workers in WORKERS:
        begin = statistics.median(start(workers) for _ in range(REPEATS)) + workers * first
        done = [timed(lambda: reconstruct(scans, folder / "out", workers=workers, threads=1)) for _ in range(REPEATS)]
        cpu, wall = (statistics.median(one[i] for one in done) for i in (1, 2))
        print(f"{workers} workers: {parts} parts, CPU {cpu:.1f} s of {sorted(round(one[1], 1) for one in done)}, model "
              f"{begin + parts * (per_part + per_task):.1f} s with a start of {begin:.1f} s; wall {wall:.1f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
