"""Simulation and calibration on arrays."""
import unittest

import numpy as np

import echolux as ox
from support import FolderCase

SMALL = {"samples": 256, "a_scans": 16, "b_scans": 4}


class Simulating(FolderCase):
    def test_returns_spectra_and_truth(self):
        sim = ox.simulate("vessel", **SMALL)
        spectra = sim.spectra()
        self.assertEqual((spectra.shape, spectra.dtype), ((4, 16, 256), np.uint16))
        np.testing.assert_array_equal(sim.spectra(first=2, count=1), spectra[2:3])
        self.assertEqual(sim.truth.labels.shape, (4, 16, sim.truth.facts["depth_bins"]))
        self.assertEqual(sim.truth["boundaries_um"].shape[1:], (4, 16))
        self.assertEqual(sim.truth.velocity_mm_s.shape, sim.reconstruct().shape)
        self.assertGreater(np.abs(sim.truth.velocity_mm_s).max(), 0)
        self.assertEqual(sim.truth.tubes.shape[-1], 3)
        self.assertEqual(len(sim.truth.facts["tube_radius_um"]), sim.truth.tubes.shape[0])

    def test_equals_saved_files(self):
        sim = ox.simulate("layers", **SMALL)
        sim.save(self.folder / "scan.toml")
        np.testing.assert_array_equal(ox.open(self.folder / "scan.toml").read(), sim.spectra())


class Calibrating(unittest.TestCase):
    N = 1024

    def mirror(self, bin, a2=6.0):
        x = np.arange(self.N) / (self.N - 1)
        k = x + 0.06 * x * (1 - x)
        u = 2 * k - 1
        return 1000 + np.exp(-3 * u * u) * (3000 + 800 * np.cos(2 * np.pi * bin * k * (self.N - 1) / self.N + a2 * u * u))

    def light(self):
        x = np.arange(self.N) / (self.N - 1)
        u = 2 * (x + 0.06 * x * (1 - x)) - 1
        return 1000 + 3000 * np.exp(-3 * u * u)

    def test_two_mirrors(self):
        found = ox.calibrate.mirrors(self.mirror(60), self.mirror(160), self.light(), np.full(self.N, 1000.0),
                                     displacement_um=300)
        self.assertAlmostEqual(found.bin[0], 60, delta=1)
        self.assertAlmostEqual(found.depth_pitch_um, 3, delta=0.1)
        self.assertLess(found.fwhm[1], 0.6 * found.fwhm_before[1])
        scan = ox.Reconstructor(samples=self.N, a_scans=4, recipe={"levels": "fixed"})._scan
        found.apply(scan)
        np.testing.assert_allclose(scan.calibration["k_positions"], found.k_positions)
        with self.assertRaises(ox.BadArgument):
            ox.calibrate.mirrors(self.mirror(60), self.mirror(160)[:-1], self.light())

    def test_means_noise_mirrors_and_roll_off(self):
        rng = np.random.default_rng(1)
        x = np.arange(self.N) / self.N
        scan = ox.Reconstructor(samples=self.N, a_scans=8, sample_format="f32",
                                recipe={"levels": "fixed", "background": "none"})._scan
        readings = []
        for step in (1, 2, 3, 4):
            lines = 2000 + 900 * 10 ** (-0.1 * step) * np.cos(2 * np.pi * 80 * step * x) + rng.normal(0, 8, (1, 8, self.N))
            readings.append(ox.calibrate.mirror(scan, lines.astype(np.float32), np.full(self.N, 2000.0)))
            self.assertAlmostEqual(readings[-1].bin, 80 * step, delta=0.6)
        fit = ox.calibrate.roll_off([one.bin for one in readings], [one.level_db for one in readings], readings[0].bins)
        self.assertGreater(fit.six_db_bin, 200)
        noise = rng.normal(2000, 8, (1, 8, self.N)).astype(np.float32)
        np.testing.assert_allclose(ox.calibrate.mean_spectrum(scan, noise), noise.mean((0, 1)), rtol=1e-5)
        self.assertEqual(ox.calibrate.noise_profile(scan, noise).shape, (self.N // 2,))
        self.assertTrue(np.isfinite(ox.calibrate.noise_floor_db(scan, noise)))
        with self.assertRaises(ox.BadFile):
            ox.calibrate.mirror(scan, noise, np.full(self.N, 2000.0))
        with self.assertRaises(ox.BadArgument):
            ox.calibrate.mean_spectrum(scan, noise.astype(np.float64))
        for samples in (3, self.N - 1, self.N + 1):
            with self.assertRaisesRegex(ox.BadArgument, "background"):
                ox.calibrate.mirror(scan, lines.astype(np.float32), np.full(samples, 2000.0))
