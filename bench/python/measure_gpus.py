"""Measures 1, 2, 4 ... workers with one GPU each for docs/scale.md. Plain processes run the function of a part without
Dask: reconstruction alone, the whole path (read, reconstruct, pack, write), packing alone and the disk alone. Jobs of
an archive run on Dask workers.

    PYTHONPATH=build/dev/python:tests/python python3 bench/python/measure_gpus.py FOLDER [SECONDS [STEPS]]

Spectra and some results are stored in /dev/shm, others in FOLDER. STEPS is a selection of
device,host,reconstruct,pack,whole,dask. The number of cores per worker does not depend on the number of workers.
"""
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import echolux as ox
from echolux.cluster import inputs, ome_zarr, part, plan, results, worker
from echolux.cluster.ome_zarr import ShardWriter
from echolux.cluster.part import OpenScan
from echolux.cluster.storage import Folder
from echolux.cluster.results import plan_key

B_SCANS, A_SCANS, SAMPLES, PART = 512, 1024, 2048, 128
SCANS = 16  # in the archive
TOML = """[scan]
file = "scan.raw"
sample_format = "u16"
samples = {samples}
a_scans = {a_scans}
b_scans = {b_scans}
[calibration]
[recipe]
noise_floor_db = 60.0
voxel = "{voxel}"
"""


def write_spectra(folder):
    """Writes 64 B-scans with fringes of some reflectors and noise, repeatedly."""
    rng = np.random.default_rng(1)
    x = np.arange(SAMPLES) / SAMPLES
    lamp = 1500 * np.exp(-((x - 0.5) / 0.25) ** 2)
    fringes = sum(a * np.cos(2 * np.pi * z * x) for a, z in ((0.3, 100), (0.1, 180), (0.05, 400)))
    lines = lamp * (1 + fringes) + rng.normal(0, 20, (A_SCANS, SAMPLES)) + 100
    block = np.stack([np.roll(lines, n * 17, 0) for n in range(64)]).astype(np.uint16)
    with open(folder / "scan.raw", "wb") as file:
        for _ in range(B_SCANS // 64):
            file.write(block)
    for voxel in "f32", "u8":
        (folder / f"{voxel}.toml").write_text(TOML.format(samples=SAMPLES, a_scans=A_SCANS, b_scans=B_SCANS, voxel=voxel))


def plan_of(path):
    scan = ox.open(path)
    b, a, depth = ox.Reconstructor(scan, device="cpu").grid().shape
    dtype = {"f32": "float32", "u8": "uint8"}[scan.recipe.voxel]
    output = plan.Output("scan.ome.zarr", ome_zarr.Layout(1, (b, depth, a), dtype, PART), {}, {})
    return plan.Plan(output.name, "", str(path), (), (), (output,), 1, A_SCANS)


def pieces(what, made, source, out):
    """Processes one part after the other and yields the number of A-scans of each."""
    slab = next(iter(source.slabs(0, 0, 64, 64)))[0].copy(order="K")
    writer = ThreadPoolExecutor(1)
    spectra = source._scan.read(0, 0, 64)
    voxels = np.empty(slab.transpose(0, 2, 1).shape, slab.dtype)
    if what == "device":
        import cupy

        spectra, voxels = cupy.asarray(spectra), cupy.empty(voxels.shape, voxels.dtype)
    for number in range(1 << 30):
        for one in made.parts():
            if what == "reconstruct":
                for _ in source.slabs(0, one.begin, one.end, 64):
                    pass
            elif what in ("host", "device"):  # without reading: spectra are in host or GPU memory
                for first in range(one.begin, one.end, 64):
                    source._reconstructor(spectra, out=voxels, first_b_scan=first)
                if what == "device":
                    cupy.cuda.Device().synchronize()
            elif what == "pack":
                packer = ShardWriter(made.layout, 0, one.begin, one.end, results.PartFiles().create, writer)
                for _ in range(one.begin, one.end, 64):
                    packer.add(slab)
                packer.close()[-1].result()
            else:
                store = Folder(Path(out) / str(os.getpid()) / str(number))
                if one.begin == 0:
                    store.put(plan_key(made.name), made.to_json())
                part.run(store, made, one, source)
            yield made.a_scans(one)


def work(what, path, out, seconds, threads, device):
    """Runs a worker: prepares, reports ready, waits for the start signal, works and prints its result."""
    worker.claim_process()
    worker.pin_process(threads)
    made = plan_of(path)
    source = OpenScan(inputs.open_scan(str(path)), device)
    source.warm_up()
    steps = pieces(what, made, source, out)
    next(steps)
    print(json.dumps({"device": source.device, "gpu": os.environ.get("CUDA_VISIBLE_DEVICES", ""),
                      "cores": sorted(os.sched_getaffinity(0))}), flush=True)
    sys.stdin.readline()
    began, a_scans = time.monotonic(), 0
    while time.monotonic() - began < seconds:
        a_scans += next(steps)
    print(json.dumps({"a_scans": a_scans, "seconds": time.monotonic() - began}), flush=True)


def rate(what, path, out, seconds, workers, threads, device):
    """A-scans/s of all workers together."""
    command = [sys.executable, __file__, "--work", what, str(path), str(out), str(seconds), str(threads), device]
    every = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(workers)]
    facts = [json.loads(one.stdout.readline()) for one in every]
    for one in every:
        one.stdin.write("go\n")
        one.stdin.flush()
    done = [json.loads(one.communicate()[0]) for one in every]
    return sum(one["a_scans"] / one["seconds"] for one in done), facts


def disk_rate(folder, seconds):
    """Bytes/s that two threads write and synchronise in files of 64 MiB."""
    data, count = np.random.default_rng(2).bytes(64 << 20), 0
    began = time.monotonic()

    def write(number):
        nonlocal count
        while time.monotonic() - began < seconds:
            with open(folder / f"{number}", "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            count += 1

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(write, range(2)))
    return count * len(data) / (time.monotonic() - began)


def write_archive(folder):
    """Writes the same spectra under many names."""
    for number in range(SCANS):
        (folder / f"archive/{number}").mkdir(parents=True)
        os.link(folder / "scan.raw", folder / f"archive/{number}/scan.raw")
        shutil.copy(folder / "f32.toml", folder / f"archive/{number}/scan.toml")


def rate_of_job(archive, out, workers, threads):
    """A-scans/s of a whole job, including the start of its workers."""
    began = time.monotonic()
    report = ox.cluster.reconstruct(f"{archive}/*/scan.toml", out, workers=workers, threads=threads, part_b_scans=PART)
    seconds = time.monotonic() - began
    if report.failures:
        raise ValueError(report.failures[0])
    shutil.rmtree(out)
    return SCANS * B_SCANS * A_SCANS / seconds


def say(voxel, what, where, counts, rates):
    columns = "   ".join(f"{count} {one / 1e3:9.0f} ({one / rates[0]:.2f})" for count, one in zip(counts, rates))
    print(f"{voxel:4} {what:12} to {where:7} k A-scans/s of workers (times one):   {columns}", flush=True)


def measure_step(voxel, what, scan, out, seconds, counts, threads, device):
    rates = []
    try:
        for workers in counts:
            rates.append(rate(what, scan, out, seconds, workers, threads, device)[0])
            for old in out.iterdir():
                if old.name.isdigit() and old.is_dir():
                    shutil.rmtree(old)
    except ValueError:  # a worker has ended with an error message
        print(f"{voxel:4} {what:12} failed", flush=True)
        return
    where = "memory" if out == scan.parent else "disk"
    say(voxel, what, where if what == "whole" else "-", counts, rates)


def main(folder, seconds="4", wanted="device,host,reconstruct,pack,whole,dask"):
    seconds, wanted = float(seconds), wanted.split(",")
    cores, gpus = len(os.sched_getaffinity(0)), max(2, len(worker.gpus()))
    device = "cuda" if ox.gpus() else "cpu"
    has_cupy = device == "cuda" and importlib.util.find_spec("cupy") is not None
    counts = [1 << power for power in range(gpus.bit_length())]
    threads = max(1, cores // counts[-1])
    print(f"{cores} cores, {len(worker.gpus())} GPUs, device {device}; workers have {threads} cores each")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as fast, tempfile.TemporaryDirectory(dir=folder) as slow:
        fast, slow = Path(fast), Path(slow)
        write_spectra(fast)
        print(f"disk: {disk_rate(slow, seconds) / 1e6:.0f} MB/s")
        for voxel in "f32", "u8":
            for what, out in (("device", fast), ("host", fast), ("reconstruct", fast), ("pack", fast), ("whole", fast),
                              ("whole", slow)):
                if what not in wanted or voxel == "u8" and what != "whole" or what == "device" and not has_cupy:
                    continue
                measure_step(voxel, what, fast / f"{voxel}.toml", out, seconds, counts, threads, device)
        if "dask" in wanted:
            write_archive(fast)
            for where, out in ("memory", fast), ("disk", slow):
                say("f32", "dask", where, counts, [rate_of_job(fast / "archive", out / "results", workers, threads) for workers in counts])


if __name__ == "__main__":
    if sys.argv[1] == "--work":
        work(sys.argv[2], Path(sys.argv[3]), sys.argv[4], float(sys.argv[5]), int(sys.argv[6]), sys.argv[7])
    else:
        main(Path(sys.argv[1]), *sys.argv[2:])
