"""What a part costs, in CPU time, which other work on the machine changes little: the figures of docs/scale.md. And whether
they add up: whole jobs with 1 and 2 workers beside what the parts and tasks would take.

    python3 measure.py FOLDER    (needs 1 GB there)
"""
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
from echolux.cluster import executors, markers, part, plan, scans, store
from support import write_scan

B_SCANS, A_SCANS, SAMPLES, SCANS, TASKS = 256, 512, 1024, 2, 2000


def cpu_s():
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def timed(work):
    cpu, wall = cpu_s(), time.perf_counter()
    result = work()
    return result, cpu_s() - cpu, time.perf_counter() - wall


def one_part(scan_file, folder):
    file = scans.listed(scan_file)[0]
    made = plan.made(file, (), part_b_scans=64)
    scan = plan.opened(made.path, made.settings)
    one = list(made.parts())[1]
    first, last = made.b_scans(one)
    _, read, _ = timed(lambda: scan.read(0, first, last - first))
    scan.reconstruct(b_scans=(0, 1), progress=False)
    volume, whole, _ = timed(lambda: scan.reconstruct(b_scans=(first, last), progress=False))
    voxels = np.asarray(volume).transpose(0, 2, 1)
    shards, pack, _ = timed(lambda: part.shards.encoded(made.layout, 0, one.begin, voxels))
    place = store.opened(folder)
    _, write, wall = timed(lambda: markers.put(place, made.name, made.job, 0, one.begin, shards, {}))
    size = sum(map(len, shards.values()))
    print(f"part: {made.a_scans(one)} A-scans, {(last - first) * A_SCANS * SAMPLES * 2 / 1e6:.0f} MB read, "
          f"{voxels.nbytes / 1e6:.0f} MB of voxels, {size / 1e6:.0f} MB written")
    print(f"CPU s: read {read:.3f}, reconstruct {whole - read:.3f}, pack {pack:.3f}, write {write:.3f} (wall {wall:.2f})")
    return whole + pack + write


def tasks():
    """Client, scheduler (in its process) and worker; a task that does nothing."""
    before = cpu_s()
    with executors.local_client(1) as client:
        executor, kept = executors.OverDask(client), executors.worker
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


def main(folder):
    folder = Path(folder)
    rng = np.random.default_rng(1)
    raw = rng.integers(1000, 3000, (B_SCANS, A_SCANS, SAMPLES), np.uint16)
    for number in range(SCANS):
        (folder / f"eye{number}").mkdir(parents=True)
        write_scan(folder / f"eye{number}", raw)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    per_part = one_part(folder / "eye0/scan.toml", folder / "part")
    os.sched_setaffinity(0, range(os.cpu_count()))
    per_task = tasks()
    _, start, _ = timed(lambda: idle(1))
    _, starts, _ = timed(lambda: idle(2))
    for workers in 1, 2:
        shutil.rmtree(folder / "out", ignore_errors=True)
        report, cpu, wall = timed(lambda: cluster.reconstruct(str(folder / "*/scan.toml"), folder / "out", workers=workers, threads=1,
                                                              part_b_scans=64, progress=False))
        parts = report.made
        model = parts * (per_part + per_task) + (start if workers == 1 else starts)
        print(f"{workers} workers: {parts} parts, CPU {cpu:.1f} s, model {model:.1f} s; wall {wall:.1f} s, "
              f"of workers { {what: round(s, 1) for what, s in report.work_s.items()} }")


def idle(workers):
    with executors.local_client(workers) as client:
        client.submit(lambda: ox.gpus()).result()


if __name__ == "__main__":
    main(sys.argv[1])
