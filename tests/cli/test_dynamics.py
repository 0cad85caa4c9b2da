"""Dynamics of simulated speckle against closed forms and SciPy's fits (tests/oracle/contrast_reference.py)."""
import csv
import json
import sys
import unittest
from pathlib import Path

import numpy as np

from scans import write_nrrd, write_series
from support import ProgramCase, read_volume

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "oracle"))
import contrast_reference as reference  # noqa: E402

STEP_S = 0.05
WAVELENGTH_UM, INDEX = 0.84, 1.38


class Dynamics(ProgramCase):
    def measure(self, *arguments):
        return json.loads(self.succeed("dynamics", *arguments, "--json").out)

    def curves(self, name="curves.csv"):
        found = {}
        with open(self.folder / name, encoding="utf-8") as file:
            for row in csv.DictReader(file):
                found.setdefault(row["curve"], []).append((float(row["x"]), float(row["value"])))
        return {key: np.array(values).T for key, values in found.items()}

    def write_diffusion(self, diffusion_um2_s, moments=64, shape=(1, 60, 64), seed=1):
        field = reference.diffusing_field(np.random.default_rng(seed), moments, shape, STEP_S, diffusion_um2_s, WAVELENGTH_UM, INDEX)
        write_series(self.folder / "cells.nrrd", field, STEP_S)

        def correlation(lag):
            return reference.field_correlation(lag * STEP_S, diffusion_um2_s, WAVELENGTH_UM, INDEX)

        return correlation

    def test_fresh_speckle_has_variance_of_logarithm(self):
        random = np.random.default_rng(3)
        for quantity, values in (("db", lambda power: 10 * np.log10(power)), ("intensity", lambda power: power), ("amplitude", np.sqrt)):
            power = 1000 * random.exponential(1, (24, 3, 160, 64))
            write_series(self.folder / "speckle.nrrd", values(power), STEP_S, quantity=quantity)
            self.measure("speckle.nrrd", "--liv", "liv.nrrd", "--overwrite")
            liv = read_volume(self.folder / "liv.nrrd")
            self.assertEqual(liv.shape, (3, 160, 64))
            self.assertAlmostEqual(liv.mean() / reference.FRESH_SPECKLE_LIV, 1, delta=0.01, msg=quantity)
            header = (self.folder / "liv.nrrd").read_bytes()[:4000]
            self.assertIn(b"echolux_quantity:=liv\n", header)
            self.assertIn(b"echolux_unit:=dB^2\n", header)

    def test_maps_of_diffusion_are_those_expected(self):
        for diffusion in (0.0003, 0.002):
            correlation = self.write_diffusion(diffusion)
            found = self.measure("cells.nrrd", "--curves", "curves.csv", "--overwrite", "--window-depth", 15, "--window-a-scans", 15)
            curves = self.curves()
            windows, liv = curves["liv_db2_of_window_s"]

            def covariance(lag):
                return reference.decibel_covariance(correlation(lag))

            expected = [reference.window_variance(round(t / STEP_S) + 1, covariance) for t in windows]
            np.testing.assert_allclose(liv, expected, rtol=0.05)
            amplitude, rate = reference.expected_dynamics(windows, STEP_S, covariance)
            self.assertAlmostEqual(found["median_aliv_db2"] / amplitude, 1, delta=0.1)
            self.assertAlmostEqual(found["median_swiftness_per_s"] / rate, 1, delta=0.1)
            lags = np.arange(1, 17)
            expected = [reference.expected_correlation(64, lag, covariance) for lag in (0, *lags)]
            decay = -np.polyfit(lags * STEP_S, np.array(expected[1:]) / expected[0], 1)[0]
            self.assertAlmostEqual(found["median_ocds_per_s"] / decay, 1, delta=0.1)

    def test_frequencies_of_diffusion_are_those_expected(self):
        correlation = self.write_diffusion(0.001)
        self.measure("cells.nrrd", "--curves", "curves.csv", "--mean-frequency", "mean.nrrd", "--bandwidth", "width.nrrd", "--low", "low.nrrd",
                     "--mid", "mid.nrrd", "--high", "high.nrrd", "--bands-hz", "0,1,3,11", "--window-depth", 63, "--window-a-scans", 59)
        hz, power_db = self.curves()["power_db_of_hz"]
        expected = reference.expected_spectrum(64, lambda lag: reference.amplitude_covariance(correlation(lag)))
        np.testing.assert_allclose(hz, np.arange(1, 33) / (64 * STEP_S))
        np.testing.assert_allclose(power_db, 10 * np.log10(expected), atol=0.3)
        mean = (hz * expected).sum() / expected.sum()
        width = np.sqrt((hz**2 * expected).sum() / expected.sum() - mean**2)
        self.assertAlmostEqual(np.median(read_volume(self.folder / "mean.nrrd")) / mean, 1, delta=0.03)
        self.assertAlmostEqual(np.median(read_volume(self.folder / "width.nrrd")) / width, 1, delta=0.03)
        for name, low, high in (("low", 0, 1), ("mid", 1, 3), ("high", 3, 11)):
            band = 10 * np.log10(expected[(hz >= low) & (hz < high)].sum())
            self.assertAlmostEqual(np.median(read_volume(self.folder / f"{name}.nrrd")), band, delta=0.3, msg=name)

    def test_repeats_files_and_series_have_same_maps(self):
        power = np.random.default_rng(5).exponential(1, (8, 2, 6, 16))
        series = 10 * np.log10(power)
        write_series(self.folder / "series.nrrd", series, STEP_S)
        for t in range(8):
            write_nrrd(self.folder / f"part_{t}.nrrd", series[t])
        write_nrrd(self.folder / "repeats.nrrd", series.transpose(1, 0, 2, 3).reshape(16, 6, 16))
        expected = {"liv": series.astype(np.float32).astype(float).var(0, ddof=1)}
        for name, more in (("series.nrrd", []), ("part_*.nrrd", ["--step", STEP_S]), ("repeats.nrrd", ["--repeats", 8, "--step", STEP_S])):
            self.measure(name, *more, "--liv", "liv.nrrd", "--overwrite")
            np.testing.assert_allclose(read_volume(self.folder / "liv.nrrd"), expected["liv"], rtol=1e-4)

    def test_dark_and_missing_voxels_have_no_value(self):
        series = 10 * np.log10(np.random.default_rng(6).exponential(1, (8, 1, 6, 16)))
        series[:, :, :3] -= 40
        series[4, :, 4, 7] = np.nan
        write_series(self.folder / "series.nrrd", series, STEP_S)
        self.measure("series.nrrd", "--liv", "liv.nrrd", "--aliv", "aliv.nrrd", "--threshold-db", -20)
        for name in ("liv", "aliv"):
            missing = np.isnan(read_volume(self.folder / f"{name}.nrrd")[0])
            self.assertTrue(missing[:3].all())
            self.assertTrue(missing[4, 7])
            self.assertEqual(missing[3:].sum(), 1)

    def test_alignment_removes_motion(self):
        """Static layers that move in depth and along A-scans fluctuate until they are aligned."""
        random = np.random.default_rng(7)
        layers = np.repeat(random.exponential(1, (6, 96, 30)), 4, axis=2) * np.select([np.arange(120) < 30], [0.01], 1)
        shifts = [(0, 0), *((int(random.integers(-4, 5)), int(random.integers(-3, 4))) for _ in range(9))]
        moved = np.array([np.roll(layers, shift, axis=(2, 1)) for shift in shifts])
        write_series(self.folder / "moved.nrrd", 10 * np.log10(moved + 1e-4), STEP_S)
        loose = self.measure("moved.nrrd", "--threshold-db", -10)
        still = self.measure("moved.nrrd", "--threshold-db", -10, "--align")
        self.assertLess(still["median_liv_db2"], 0.1 * loose["median_liv_db2"])


if __name__ == "__main__":
    unittest.main()
