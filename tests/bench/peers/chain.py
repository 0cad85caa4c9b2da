#!/usr/bin/env python3
"""Runs the standard chain in array code, for comparison with `echolux bench`.

Versions: NumPy, CuPy, PyTorch eager, torch.compile, and the `echolux` module on arrays of each. From u16 counts on the
device to u8 dB on the device: background, Lagrange-3 resampling, window x dispersion, transform, power of the first
half, dB, codes. Each version is written as its users would write it: tables are computed once, lines are processed in
batches, and the best of several batch sizes counts. Each version is first checked against the same formulas in NumPy
float64. Libraries that are not installed or find no GPU are skipped with the reason. Prints JSON; A-scans/s are medians
over repetitions after warm-up.

usage: chain.py [--samples 2048] [--a-scans 512] [--b-scans 512] [--seconds 1] [--only NAME,NAME]
"""
import argparse
import json
import statistics
import sys
import time

import numpy as np

BATCHES = [4096, 16384, 65536, 262144]  # lines per batch
A_SCANS = 512  # per B-scan; batches are whole B-scans
A2_RAD, A3_RAD = 38, -9
LOW_DB, HIGH_DB = -5.0, 45.0


class Tables:
    """The tables that are computed once, in float64, for the instrument that `echolux bench` simulates."""

    def __init__(self, samples, b_scans):
        u = np.linspace(-1, 1, samples)
        at = np.clip((samples - 1) * (0.5 + 0.5 * (u + 0.08 * (u * u - 1))), 0, samples - 1)
        self.positions = at
        first = np.clip(np.floor(at).astype(np.int64), 1, samples - 3) - 1
        t = at - first
        self.taps = [self.lagrange(t, m) for m in range(4)]
        self.first = first
        window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(samples) / (samples - 1))
        self.weight = window * np.exp(-1j * (A2_RAD * u**2 + A3_RAD * u**3))
        self.background = np.full(samples, 2000.0)
        self.power_scale = 1 / window.sum() ** 2
        self.samples, self.b_scans = samples, b_scans
        self.reference_db = 0.0  # later set to the median level, so that all codes occur
        self.codes_per_db = 255 / (HIGH_DB - LOW_DB)

    @staticmethod
    def lagrange(t, m):
        weight = np.ones_like(t)
        for n in range(4):
            if n != m:
                weight = weight * (t - n) / (m - n)
        return weight


def codes_in_numpy(lines, tables, real=np.float64, complex_=np.complex128):
    x = lines.astype(real) - tables.background.astype(real)
    y = sum(tables.taps[m].astype(real) * x[:, tables.first + m] for m in range(4))
    bins = np.fft.fft(y * tables.weight.astype(complex_))[:, : tables.samples // 2]
    db = 10 * np.log10(np.maximum((bins.real**2 + bins.imag**2) * tables.power_scale, 1e-20)) - tables.reference_db
    return np.clip((db - LOW_DB) * tables.codes_per_db + 0.5, 0, 255).astype(np.uint8)


class NumPy:
    """Uses float32 where NumPy supports it; runs on one core, with fewer lines."""

    def __init__(self, tables):
        self.tables, self.name, self.device = tables, f"NumPy {np.__version__}", "cpu"

    def put(self, lines):
        return lines[:2048]

    def counts(self, lines):
        return lines

    def run(self, lines):
        return codes_in_numpy(lines, self.tables, np.float32, np.complex64)

    def wait(self):
        pass

    def fetch(self, codes):
        return codes


class CuPy:
    def __init__(self, tables):
        import cupy

        self.cupy = cupy
        if cupy.cuda.runtime.getDeviceCount() < 1:
            raise RuntimeError("no GPU")
        self.name = f"CuPy {cupy.__version__}"
        self.device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
        self.samples, self.first = tables.samples, [cupy.asarray(tables.first + m) for m in range(4)]
        self.taps = [cupy.asarray(tap, cupy.float32) for tap in tables.taps]
        self.weight = cupy.asarray(tables.weight, cupy.complex64)
        self.background = cupy.asarray(tables.background, cupy.float32)
        scale, reference = tables.power_scale, tables.reference_db
        # One fused elementwise kernel for everything after the transform, using CuPy's ElementwiseKernel.
        self.code = cupy.ElementwiseKernel(
            "complex64 bin", "uint8 code",
            f"""float power = (bin.real() * bin.real() + bin.imag() * bin.imag()) * {scale:.9e}f;
                float db = 10.0f * log10f(fmaxf(power, 1e-20f)) - {reference:.9e}f;
                code = (unsigned char)fminf(fmaxf((db - {LOW_DB}f) * {tables.codes_per_db:.9e}f + 0.5f, 0.0f), 255.0f);
            """, "echolux_peer_code")

    def put(self, lines):
        return self.cupy.asarray(lines)

    def counts(self, lines):
        return lines

    def run(self, lines):
        x = lines.astype(self.cupy.float32) - self.background
        y = self.taps[0] * x[:, self.first[0]]
        for m in range(1, 4):
            y += self.taps[m] * x[:, self.first[m]]
        return self.code(self.cupy.fft.fft(y * self.weight)[:, : self.samples // 2])

    def wait(self):
        self.cupy.cuda.Device().synchronize()

    def fetch(self, codes):
        return self.cupy.asnumpy(codes)


class Torch:
    compiled = False

    def __init__(self, tables):
        import torch

        self.torch = torch
        if not torch.cuda.is_available():
            raise RuntimeError("no GPU")
        self.name = f"PyTorch {torch.__version__} " + ("torch.compile" if self.compiled else "eager")
        self.device = torch.cuda.get_device_name(0)
        on_gpu = lambda array, dtype: torch.as_tensor(array).to("cuda", dtype)  # noqa: E731
        first = [on_gpu(tables.first + m, torch.int64) for m in range(4)]
        taps = [on_gpu(tap, torch.float32) for tap in tables.taps]
        weight, background = on_gpu(tables.weight, torch.complex64), on_gpu(tables.background, torch.float32)
        bins, scale, reference, slope = tables.samples // 2, tables.power_scale, tables.reference_db, tables.codes_per_db

        def chain(lines):
            x = lines.to(torch.float32) - background
            y = sum(taps[m] * x[:, first[m]] for m in range(4))
            spectrum = torch.fft.fft(y * weight)[:, :bins]
            power = (spectrum.real**2 + spectrum.imag**2) * scale
            db = 10 * torch.log10(torch.clamp(power, min=1e-20)) - reference
            return torch.clamp((db - LOW_DB) * slope + 0.5, 0, 255).to(torch.uint8)

        self.chain = torch.compile(chain, dynamic=False) if self.compiled else chain

    def put(self, lines):
        return self.torch.from_numpy(lines.view(np.int16)).to("cuda")  # counts < 4096: equal bytes; int16 has all operators

    def counts(self, lines):
        return lines.view(self.torch.uint16)

    def run(self, lines):
        return self.chain(lines)

    def wait(self):
        self.torch.cuda.synchronize()

    def fetch(self, codes):
        return codes.cpu().numpy()


class TorchCompiled(Torch):
    compiled = True


class Module:
    """The `echolux` module on arrays of another library."""

    def __init__(self, tables, arrays):
        import echolux

        self.arrays = arrays
        calibration = {"k_positions": tables.positions, "background": tables.background}
        recipe = {"background": "stored", "a2_rad": A2_RAD, "a3_rad": A3_RAD, "voxel": "u8", "levels": "fixed",
                  "low": LOW_DB + tables.reference_db, "high": HIGH_DB + tables.reference_db}
        self.make = echolux.Reconstructor(samples=tables.samples, a_scans=A_SCANS, b_scans=tables.b_scans, recipe=recipe,
                                          calibration=calibration, device="cpu" if arrays.device == "cpu" else "cuda")
        self.name, self.device = f"echolux on arrays of {arrays.name}", self.make.device

    def put(self, lines):
        return self.arrays.counts(self.arrays.put(lines))

    def run(self, lines):
        return self.make(lines.reshape(-1, A_SCANS, lines.shape[-1]))

    def wait(self):
        self.arrays.wait()

    def fetch(self, codes):
        fetched = self.arrays.fetch(codes)
        return fetched.reshape(-1, fetched.shape[-1])


PEERS = {"numpy": NumPy, "cupy": CuPy, "torch": Torch, "torch_compile": TorchCompiled,
         "echolux_numpy": lambda tables: Module(tables, NumPy(tables)),
         "echolux_cupy": lambda tables: Module(tables, CuPy(tables)),
         "echolux_torch": lambda tables: Module(tables, Torch(tables))}


def spectra(samples, a_scans, b_scans):
    """Simulates reflectors, speckle-like noise and shot noise. One B-scan is repeated with different phases of the
    noise."""
    random = np.random.default_rng(1)
    j = np.arange(samples)
    one = np.full((a_scans, samples), 2000.0)
    for depth, height in [(samples * 0.05, 300), (samples * 0.12, 120), (samples * 0.31, 30)]:
        one += height * np.cos(2 * np.pi * depth * j / samples + random.uniform(0, 6.3, (a_scans, 1)))
    one += random.normal(0, 20, one.shape)
    one = np.clip(np.rint(one), 0, 4095).astype(np.uint16)
    return np.concatenate([np.roll(one, 7 * b, axis=0) for b in range(b_scans)])


def agreement(codes, truth):
    difference = np.abs(codes.astype(int) - truth.astype(int))
    return {"codes_off_by_one": float((difference == 1).mean()), "codes_off_by_more": float((difference > 1).mean())}


def rates(peer, lines, batch, seconds):
    """Returns the A-scans/s of whole volumes processed in batches, one value per repetition."""
    parts = [lines[i : i + batch] for i in range(0, len(lines), batch)]

    def volume():
        for part in parts:
            peer.run(part)
        peer.wait()

    for _ in range(2):
        volume()
    found = []
    begin = time.perf_counter()
    while len(found) < 5 or time.perf_counter() - begin < seconds:
        start = time.perf_counter()
        volume()
        found.append(len(lines) / (time.perf_counter() - start))
    return found


def measured(name, lines, tables, seconds):
    try:
        peer = PEERS[name](tables)
    except Exception as problem:  # not installed, or no GPU: report it and continue
        return {"skipped": f"{type(problem).__name__}: {problem}".splitlines()[0]}
    sample = lines[:1024]
    held = agreement(peer.fetch(peer.run(peer.put(sample))), codes_in_numpy(sample, tables))
    if held["codes_off_by_more"] > 0 or held["codes_off_by_one"] > 0.01:
        return {"library": peer.name, "wrong": held}
    on_device, best = peer.put(lines), None
    for batch in BATCHES:
        if batch > len(on_device) and best:
            continue
        found = rates(peer, on_device, batch, seconds)
        if best is None or statistics.median(found) > best["a_scans_per_s"]:
            best = {"library": peer.name, "device": peer.device, "a_scans_per_s": statistics.median(found),
                    "least": min(found), "greatest": max(found), "repetitions": len(found), "batch": batch, **held}
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=2048)
    parser.add_argument("--a-scans", type=int, default=512)
    parser.add_argument("--b-scans", type=int, default=512)
    parser.add_argument("--seconds", type=float, default=1.0, help="of measuring for each batch size")
    parser.add_argument("--only", default=",".join(PEERS))
    arguments = parser.parse_args()

    tables = Tables(arguments.samples, arguments.b_scans)
    lines = spectra(arguments.samples, arguments.a_scans, arguments.b_scans)
    bins = np.fft.fft((lines[:64] - tables.background) * tables.weight)[:, : arguments.samples // 2]
    tables.reference_db = float(np.median(10 * np.log10(np.abs(bins) ** 2 * tables.power_scale)))
    result = {"samples": arguments.samples, "a_scans": arguments.a_scans, "b_scans": arguments.b_scans,
              "chain": "u16 on the device to u8 dB on the device", "peers": {}}
    wrong = False
    for name in arguments.only.split(","):
        result["peers"][name] = found = measured(name, lines, tables, arguments.seconds)
        wrong = wrong or "wrong" in found
        print(f"{name}: {found}", file=sys.stderr)
    print(json.dumps(result, indent=1))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
