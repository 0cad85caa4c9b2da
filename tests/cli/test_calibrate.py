"""`echolux calibrate`: means, k maps and dispersion from recordings, against NumPy and a real instrument's mirrors."""
import os
import re
import unittest
from pathlib import Path

import numpy as np
from scipy.interpolate import CubicSpline

from support import ProgramCase, read_volume, write_scan

FOLDER = Path(os.environ.get("ECHOLUX_DATA", "")) / "sd-oct-volume"
N = 512
U = np.linspace(-1, 1, N)
K = 2 * np.pi / (0.845 + 0.095 * U + 0.0025 * (U**2 - 1))  # rad/um of each sample, falling
KAPPA = 2 * (K - K[-1]) / (K[0] - K[-1]) - 1
SOURCE = 2400 * np.exp(-(((KAPPA) / 0.7) ** 2))
DARK = 300
A2, A3 = 20, -4


def mirror(depth_um, side=1, lines=40, seed=1):
    """u16 lines [1][lines][N] of a mirror on one side of zero delay; depth 0: none."""
    noise = np.random.default_rng(seed).normal(0, 6, (1, lines, N))
    theta = side * (A2 * KAPPA**2 + A3 * KAPPA**3)
    fringe = 0.3 * np.cos(2 * K * depth_um + theta) if depth_um else 0
    return np.rint(DARK + SOURCE * (1 + fringe) + noise).astype("<u2")


def rms_of_map(positions, truth):
    """Samples, over the central 76 %, a straight line apart."""
    grid = np.arange(len(truth))
    found, true = (CubicSpline(p[:: 1 if p[0] < p[-1] else -1], grid)(grid) for p in (positions, truth))
    middle = slice(int(0.12 * len(truth)), -int(0.12 * len(truth)))
    line = np.polynomial.Polynomial.fit(true[middle], found[middle], 1)
    return np.std(found[middle] - line(true[middle]))


def numbers(text):
    return {key: float(value) for key, value in re.findall(r"^(\w+) = (-?[\d.e-]+)$", text, re.M)}


class Calibrate(ProgramCase):
    def write(self, name, spectra):
        return write_scan(self.folder / name, spectra)

    def write_mirrors(self, side):
        self.write("m1", mirror(60, seed=1))
        self.write("m2", mirror(150, side, seed=2))
        self.write("bg", mirror(0, seed=3))

    def test_background_is_the_mean_of_all_lines(self):
        spectra = np.concatenate([mirror(60, seed=s) for s in (1, 2, 3)])
        self.write("scan", spectra)
        self.succeed("calibrate", "background", "scan/scan.toml", "-o", "mean.csv")
        np.testing.assert_allclose(np.loadtxt(self.folder / "mean.csv"), spectra.mean((0, 1)), rtol=1e-12)

    def test_k_map_and_dispersion_of_two_mirrors(self):
        truth = CubicSpline(K[::-1], np.arange(N)[::-1])(np.linspace(K[-1], K[0], N))
        for side, name in ((1, "same"), (-1, "opposite")):
            self.write_mirrors(side)
            printed = self.succeed(
                "calibrate", "k", "m1/scan.toml", "m2/scan.toml", "--background", "bg/scan.toml", "--sides", name,
                "--wavelength-rises", "--displacement", 90 if side > 0 else 210, "-o", "k.csv").out
            self.assertLess(rms_of_map(np.loadtxt(self.folder / "k.csv"), truth), 0.05, name)
            found = numbers(printed)
            self.assertAlmostEqual(found["a2_rad"], A2, delta=0.3, msg=name)
            self.assertAlmostEqual(found["a3_rad"], A3, delta=0.3, msg=name)
            pitch = np.pi * (N - 1) / N / (K[0] - K[-1])
            self.assertAlmostEqual(found["depth_pitch_um"], pitch, delta=5e-3 * pitch, msg=name)

    def test_written_files_make_a_scan_sharp(self):
        self.write_mirrors(1)
        self.succeed("calibrate", "k", "m1/scan.toml", "m2/scan.toml", "--background", "bg/scan.toml", "--sides",
                     "same", "-o", "k.csv", "--dispersion", "phase.csv")
        self.succeed("calibrate", "background", "bg/scan.toml", "-o", "bg.csv")
        peaks = []
        for calibration in ({}, {"k_map": "../k.csv", "dispersion": "../phase.csv"}):
            write_scan(self.folder / "third", mirror(230, seed=4), calibration={"background": "../bg.csv", **calibration},
                       recipe={"background": "stored", "resample": "spline" if calibration else "none"})
            self.succeed("reconstruct", "third/scan.toml", "-o", f"v{len(peaks)}.nrrd")
            peaks.append(read_volume(self.folder / f"v{len(peaks)}.nrrd")[0].mean(0)[10:].max())
        self.assertGreater(peaks[1], peaks[0] + 8)

    def test_dispersion_is_found_by_search(self):
        self.succeed("simulate", "mirror", "--out", "sim/scan.toml", "--samples", 512, "--a-scans", 16, "--b-scans", 2,
                     "--a2", 30, "--a3", -5)
        printed = self.succeed("calibrate", "dispersion", "sim/scan.toml", "--set", "recipe.a2_rad=0", "--set",
                               "recipe.a3_rad=0").out
        self.assertAlmostEqual(numbers(printed)["a2_rad"], 30, delta=0.5)
        self.assertAlmostEqual(numbers(printed)["a3_rad"], -5, delta=1)

    def test_what_cannot_work_is_refused_in_one_line(self):
        self.write_mirrors(1)
        k = ["calibrate", "k", "m1/scan.toml", "m2/scan.toml", "-o", "k.csv"]
        self.refuse(*k, "--background", "bg/scan.toml", names=["--sides"])
        self.refuse(*k, "--background", "none.csv", "--sides", "same", names=["none.csv"], lines=None)
        self.refuse("calibrate", "k", "m1/scan.toml", "bg/scan.toml", "--background", "bg/scan.toml", "--sides", "same",
                    "-o", "k.csv", names=["mirror 2"], lines=None)
        self.refuse("calibrate", "dispersoin", "m1/scan.toml", names=["dispersion"])
        self.refuse("calibrate", "dispersion", "m1/scan.toml", "--b-scan", 7, names=["7", "--b-scan"])


@unittest.skipUnless(FOLDER.exists() and FOLDER.name and os.environ.get("ECHOLUX_DATA"), "ECHOLUX_DATA is not set")
class CalibrateRealMirrors(ProgramCase):
    def test_agrees_with_the_published_map(self):
        self.succeed("calibrate", "k", FOLDER.resolve() / "mirror1.csv", FOLDER.resolve() / "mirror2.csv",
                     "--background", FOLDER.resolve() / "dark_ref.csv", "--dark", FOLDER.resolve() / "dark_not.csv",
                     "--sides", "opposite", "-o", "k.csv", "--dispersion", "phase.csv")
        found, truth = np.loadtxt(self.folder / "k.csv"), np.loadtxt(FOLDER / "k_linear_positions.csv")
        self.assertLess(rms_of_map(found, truth), 0.05)
