"""What a part costs, in CPU time, which other work on the machine changes little: the figures of docs/scale.md. And whether
they add up: whole jobs with 1 and 2 workers beside what the parts and tasks would take.

    python3 measure.py FOLDER    (needs 5 GB there)
"""
import contextlib
import importlib
import os
import resource
import shutil
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np

import echolux as ox
from echolux import cluster
from echolux.cluster.scheduling import executors
from support import write_scan

PART = 256
B_SCANS, A_SCANS, SAMPLES, SCANS, TASKS = 512, 512, 1024, 5, 2000


def cpu_s():
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def timed(work):
    cpu, wall = cpu_s(), time.perf_counter()
    result = work()
    return result, cpu_s() - cpu, time.perf_counter() - wall


def on_cores(cores):
    for thread in os.listdir("/proc/self/task"):
        with contextlib.suppress(ProcessLookupError):  # it has ended
            os.sched_setaffinity(int(thread), cores)


def alone(scans, folder):
    """CPU seconds of a part, all steps, without Dask: of a whole job in this process, on one core."""
    report, cpu, _ = timed(lambda: cluster.reconstruct(scans, folder, workers=0, part_b_scans=PART, progress=False))
    size = sum(path.stat().st_size for path in folder.glob("*/*/*/c/**/*") if path.is_file())
    steps = ", ".join(f"{what} {seconds / report.made:.3f}" for what, seconds in report.work_s.items())
    print(f"slowest step beside the whole: {max(report.work_s[one] for one in ('reconstruct', 'pack', 'write')) / report.work_s['whole']:.2f}")
    print(f"part: {report.a_scans // report.made} A-scans, {report.a_scans / report.made * SAMPLES * 2 / 1e6:.0f} MB of spectra, "
          f"{size / report.made / 1e6:.0f} MB written; CPU {cpu / report.made:.3f} s; seconds of the steps: {steps}")
    return cpu / report.made


def tasks():
    """Client, scheduler (in its process) and worker; a task that does nothing."""
    before = cpu_s()
    with executors.local_client(1) as client:
        executor, kept = executors.DaskExecutor(client), executors.worker
        executors.worker = SimpleNamespace(run=lambda task: {"a_scans": 0, "seconds": {}})
        left, under_way, own = TASKS, 0, time.process_time()
        while left or under_way:
            while left and under_way < executor.capacity:
                executor.submit({"out": "/somewhere", "do": "part", "name": "eye/scan.ome.zarr", "time": 0, "begin": left})
                left, under_way = left - 1, under_way + 1
            under_way -= executor.next(10) is not None
        own = time.process_time() - own
        executors.worker = kept
    empty = cpu_s() - before
    print(f"CPU ms a task: client and scheduler {own / TASKS * 1e3:.2f}, with the worker and its start {empty / TASKS * 1e3:.2f}")
    return own / TASKS


def overhead():
    """Of scheduling parts of 1 s, as a share of the workers' time: parts that sleep, so that other work does not count."""
    with executors.local_client(2) as client:
        client.run(lambda: importlib.import_module("echolux.cluster.worker") and None)
        executor, kept = executors.DaskExecutor(client), executors.worker
        executors.worker = SimpleNamespace(run=lambda task: time.sleep(task["seconds"]) or {})
        for seconds, count in (0, 4), (1, 40):
            left, under_way, began = count, 0, time.perf_counter()
            while left or under_way:
                while left and under_way < executor.capacity:
                    executor.submit({"seconds": seconds})
                    left, under_way = left - 1, under_way + 1
                under_way -= executor.next(10) is not None
            wall = time.perf_counter() - began
        executors.worker = kept
    print(f"40 parts of 1 s on 2 workers: {wall:.2f} s, overhead {(wall / 20 - 1) * 100:.1f} %")


def main(folder):
    folder = Path(folder)
    rng = np.random.default_rng(1)
    raw = rng.integers(1000, 3000, (B_SCANS, A_SCANS, SAMPLES), np.uint16)
    for number in range(SCANS):
        (folder / f"eye{number}").mkdir(parents=True)
        write_scan(folder / f"eye{number}", raw)
    scans, cores = str(folder / "*/scan.toml"), os.sched_getaffinity(0)
    on_cores(sorted(cores)[:1])
    alone(scans, folder / "warm")
    per_part = alone(scans, folder / "alone")
    on_cores(cores)
    per_task = tasks()
    overhead()
    _, start, _ = timed(lambda: idle(1))
    _, starts, _ = timed(lambda: idle(2))
    for workers in 1, 2:
        shutil.rmtree(folder / "out", ignore_errors=True)
        report, cpu, wall = timed(lambda: cluster.reconstruct(scans, folder / "out", workers=workers, threads=1,
                                                              part_b_scans=PART, progress=False))
        parts = report.made
        model = parts * (per_part + per_task) + (start if workers == 1 else starts)
        print(f"{workers} workers: {parts} parts, CPU {cpu:.1f} s, model {model:.1f} s; wall {wall:.1f} s, "
              f"of workers { {what: round(s, 1) for what, s in report.work_s.items()} }")


def idle(workers):
    with executors.local_client(workers) as client:
        client.run(lambda: (importlib.import_module("zarr"), ox.gpus()) and None)


if __name__ == "__main__":
    main(sys.argv[1])
