"""Measures the cost of a call of the module on a GPU, in blocks per second of resident spectra.

Spectra are arrays of CuPy and PyTorch. Compare the results with linear/2048 and batch.compute/N of `echolux bench` in
the same run. Prints JSON.

    PYTHONPATH=build/dev/python:tests/python/gpu python3 bench/python/call_overhead.py [--samples 2048]
"""
import argparse
import json
import statistics
import time

import numpy as np

import echolux as ox
from libraries import CuPy, Torch, on_gpu


def reconstructor(samples, a_scans, b_scans):
    u = np.linspace(-1, 1, samples)
    calibration = {"k_positions": (samples - 1) * (0.5 + 0.5 * (u + 0.08 * (u * u - 1))), "background": np.full(samples, 2000.0)}
    return ox.Reconstructor(samples=samples, a_scans=a_scans, b_scans=b_scans, calibration=calibration, device="cuda",
                            recipe={"a2_rad": 38, "a3_rad": -9, "voxel": "u8", "noise_floor_db": -9.8})


def medians(library, make, spectra, out, calls):
    """Microseconds of the call alone on the host, and of a call including its share of the GPU's time."""
    for _ in range(20):
        make(spectra, out=out)
    library.wait()
    host, both = [], []
    for _ in range(15):
        start = time.perf_counter()
        for _ in range(calls):
            make(spectra, out=out)
        called = time.perf_counter()
        library.wait()
        host.append((called - start) / calls * 1e6)
        both.append((time.perf_counter() - start) / calls * 1e6)
    return {"call_us": round(statistics.median(host), 2), "block_us": round(statistics.median(both), 2)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=2048)
    samples = parser.parse_args().samples
    result = {}
    for kind in (CuPy, Torch):
        library, why = on_gpu(kind)
        if library is None:
            result[kind.__name__] = why
            continue
        for a_scans, b_scans, calls in ((500, 1, 1000), (512, 1, 1000), (512, 64, 100), (512, 512, 10)):
            make = reconstructor(samples, a_scans, b_scans)
            raw = np.random.default_rng(1).normal(2000, 12, (1, a_scans, samples)).round().astype(np.uint16)
            spectra = library.put(np.repeat(raw, b_scans, 0))
            found = medians(library, make, spectra, make(spectra), calls)
            found["a_scans_per_s"] = round(a_scans * b_scans / found["block_us"] * 1e6)
            result[f"{kind.__name__} {b_scans} x {a_scans}"] = found
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
