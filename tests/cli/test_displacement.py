"""Displacement, strain, waves and motion between surfaces of simulated speckle (tests/oracle/contrast_reference.py)."""
import csv
import json
import sys
import unittest
from pathlib import Path

import numpy as np

from scans import write_nrrd, write_scan, write_series
from support import ProgramCase, read_volume

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "oracle"))
import contrast_reference as reference  # noqa: E402

WAVELENGTH_UM, INDEX, ROW_UM = 0.84, 1.38, 1.4
ABOUT = ["--wavelength", 1000 * WAVELENGTH_UM, "--refractive-index", INDEX]


def phase_of(nm):
    return reference.phase_of_nm(nm, WAVELENGTH_UM, INDEX)


class Displacement(ProgramCase):
    def setUp(self):
        super().setUp()
        self.random = np.random.default_rng(11)

    def write(self, phase, snr_db, step_s=0.001, **more):
        """Speckle that moves by these phases, [moment][b][a][z]. Returns its field at rest."""
        field = reference.circular(self.random, np.broadcast_shapes(phase.shape[1:]))
        write_series(self.folder / "moving.nrrd", reference.moved(self.random, field, phase, snr_db), step_s, **more)
        return field

    def measure(self, *arguments, name="moving.nrrd"):
        return json.loads(self.succeed("displacement", name, *ABOUT, *arguments, "--overwrite", "--json").out)

    def volume(self, name):
        return read_volume(self.folder / name)

    def strain_case(self, strain, snr_db, kernel, b_scans, a_scans=150):
        rows = 31
        z = np.arange(128)
        slope = phase_of(1000 * strain * ROW_UM)  # rad per row
        phase = np.stack([np.zeros((b_scans, a_scans, 128)), np.broadcast_to(slope * (z - 64), (b_scans, a_scans, 128))])
        field = self.write(phase, snr_db)
        self.measure("--strain", "strain.nrrd", "--strain-window", rows, "--window-depth", 1, "--window-a-scans", kernel, "--min-quality", 0)
        found = self.volume("strain.nrrd")[..., rows // 2:-(rows // 2)]
        snr = np.abs(field) ** 2 * 10 ** (snr_db / 10)
        if kernel > 1:
            snr = np.apply_along_axis(lambda line: np.convolve(line, np.ones(kernel), "same"), 1, snr)
        bound = reference.slope_bound(snr, rows) * strain / slope
        apart = np.s_[:, kernel // 2:a_scans - kernel // 2:kernel, ::rows]  # windows that share no noise
        return found[apart], bound[apart]

    def test_strain_has_no_bias_and_varies_as_noise_demands(self):
        for strain, snr_db, kernel, b_scans in ((1e-5, 50, 1, 10), (1e-4, 40, 1, 5), (-1e-3, 20, 1, 5), (1e-2, 20, 1, 5), (1e-2, 10, 5, 8)):
            with self.subTest(strain=strain):
                found, bound = self.strain_case(strain, snr_db, kernel, b_scans)
                weights = 1 / bound**2
                self.assertAlmostEqual((found * weights).sum() / weights.sum() / strain, 1, delta=0.01)
                spread = np.std((found - strain) / bound)
                self.assertLess(spread, 1.2)
                self.assertGreater(spread, 0.9)  # otherwise the bound would be wrong

    def test_given_index_rescales_rows_of_scan(self):
        """Rows of a scan without an index are in air."""
        slope = phase_of(1000 * 1e-3 * ROW_UM)
        phase = np.broadcast_to(slope * np.arange(128) * np.arange(2)[:, None, None, None], (2, 1, 40, 128))
        self.write(phase, 40, spacing_mm=(0.005, ROW_UM * INDEX / 1000, 0.005), more={"scan.samples": 256})
        found = self.measure("--strain", "strain.nrrd")
        self.assertAlmostEqual(found["median_strain"], 1e-3, delta=2e-5)

    def test_strain_of_point_scatterers(self):
        """Here the phase gradient also changes the speckle, which the noise bound does not contain."""
        for strain in (1e-4, 1e-2):
            field = reference.compressed(self.random, (80, 96), strain, ROW_UM, WAVELENGTH_UM, INDEX)
            write_series(self.folder / "moving.nrrd", field, 0.001)
            self.measure("--strain", "strain.nrrd")
            found = self.volume("strain.nrrd")[0, 2:-2, 24:-24]
            self.assertAlmostEqual(np.median(found) / strain, 1, delta=0.01)
            self.assertLess(np.std(found) / strain, 0.02)

    def test_displacement_is_that_of_tissue(self):
        nm = 40 * np.sin(np.arange(12) / 2)[:, None, None, None] * np.linspace(0, 1, 96)
        self.write(np.broadcast_to(phase_of(nm), (12, 2, 24, 96)), 25)
        found = self.measure("--displacement", "nm.nrrd", "--quality", "quality.nrrd", "--moment", 5, "--table", "times.csv")
        error = self.volume("nm.nrrd") - nm[5]
        self.assertLess(abs(np.nanmean(error)), 0.1)
        self.assertLess(np.nanstd(error), 2)
        self.assertGreater(self.volume("quality.nrrd").mean(), 0.98)
        with open(self.folder / "times.csv", encoding="utf-8") as file:
            means = [float(row["displacement_nm"]) for row in csv.DictReader(file)]
        np.testing.assert_allclose(means, nm.mean((1, 2, 3)), atol=0.2)
        self.assertAlmostEqual(found["mean_displacement_nm"], means[5], places=3)

    def test_many_turns_are_unwrapped_in_time(self):
        nm = np.broadcast_to((130.0 * np.arange(20))[:, None, None, None], (20, 1, 16, 32))  # 0.85 of half a turn per step
        self.write(phase_of(nm), 25)
        self.measure("--displacement", "nm.nrrd")
        np.testing.assert_allclose(self.volume("nm.nrrd"), 130.0 * 19, atol=8)

    def test_many_turns_are_unwrapped_in_space(self):
        """From one moment to the next, between none and three turns over the field; the seed decides the multiple."""
        turns = 3 * np.linspace(0, 1, 80)[:, None] * np.linspace(1, 0.5, 120)
        self.write(2 * np.pi * np.stack([0 * turns, turns])[:, None], 25)
        found = {}
        for more in ([], ["--no-unwrap-space"]):
            self.measure("--displacement", "nm.nrrd", *more)
            off = phase_of(self.volume("nm.nrrd")[0]) / (2 * np.pi) - turns
            found[bool(more)] = np.nanmax(np.abs(off - np.round(np.nanmedian(off))))
        self.assertLess(found[False], 0.1)
        self.assertGreater(found[True], 0.5)

    def test_noise_has_no_displacement(self):
        field = reference.circular(self.random, (6, 1, 40, 60))
        field[:, :, :20] = field[0, :, :20]
        write_series(self.folder / "moving.nrrd", field, 0.001)
        found = self.measure("--displacement", "nm.nrrd")
        missing = np.isnan(self.volume("nm.nrrd")[0])
        self.assertEqual(missing[:17].mean(), 0)
        self.assertGreater(missing[23:].mean(), 0.99)
        self.assertAlmostEqual(found["known"], 1 - missing.mean(), delta=0.001)

    def test_surface_moves_against_another_within_nanometre(self):
        """The whole eye moves by more than a turn per step, differently in each A-scan."""
        nm = 300 * (1 - np.exp(-np.arange(30) / 8.0))
        field = np.zeros((30, 4, 32, 64), complex)
        bulk = self.random.uniform(-np.pi, np.pi, (30, 4, 32))
        rows = [15 + np.arange(32) // 8, 40 + np.arange(32) // 16]
        for row, motion in zip(rows, (np.zeros(30), nm)):
            speckle = reference.circular(self.random, (4, 32))
            for a in range(32):
                field[:, :, a, row[a]] = speckle[:, a] * np.exp(1j * (bulk[..., a] + phase_of(motion)[:, None]))
        field += 0.01 * reference.circular(self.random, field.shape)
        write_series(self.folder / "moving.nrrd", field, 0.02)
        depths = np.stack([np.broadcast_to(row[:, None] * ROW_UM, (32, 4)) for row in rows])
        write_nrrd(self.folder / "surfaces.nrrd", depths, (0.005, 0.005, 1), unit="um", quantity="depth")
        found = self.measure("--surfaces", "surfaces.nrrd", "--table", "times.csv", "--min-quality", 0, "--a-scans", "2:30")
        with open(self.folder / "times.csv", encoding="utf-8") as file:
            table = list(csv.DictReader(file))
        between = np.array([float(row["between_nm"]) for row in table])
        self.assertLess(abs((between - nm).mean()), 1)
        np.testing.assert_allclose(between, nm, atol=1)
        self.assertLess(found["between_error_nm"], 1)
        self.assertAlmostEqual(float(table[-1]["time_s"]), 29 * 0.02)

    def wave(self, speed_m_s, lines_s=0.0):
        """A pulse of 1 ms along A-scans of 20 um, in volumes every 0.25 ms."""
        t = 0.00025 * np.arange(80)[:, None] + lines_s * np.arange(64)
        x = 20e-6 * np.arange(64)
        nm = 60 * np.exp(-(((t - 0.008 - (x - x.mean()) / speed_m_s) / 0.001) ** 2))
        return phase_of(np.broadcast_to(nm[:, None, :, None], (80, 1, 64, 24)))

    def test_wave_has_its_speed(self):
        scan = {"scan.line_rate_hz": 100000.0, "scan.a_scans": 64, "scan.b_scans": 1}
        for speed in (0.4, 2.0, -1.5):
            for lines_s, more in ((0.0, {}), (1e-5, scan)):
                with self.subTest(speed=speed, lines_s=lines_s):
                    self.write(self.wave(speed, lines_s), 20, 0.00025, spacing_mm=(0.02, 0.0014, 0.02), more=more)
                    found = self.measure("--wave", "wave.csv")
                    self.assertAlmostEqual(found["wave_speed_m_s"] / speed, 1, delta=0.02)
                    self.assertLess(abs(found["wave_speed_m_s"] - speed), 5 * found["wave_speed_error_m_s"] + 0.005 * abs(speed))

    def test_uneven_moments_and_both_directions_have_no_wave(self):
        times = " ".join(f"{0.00025 * (t + (t > 40)):.9g}" for t in range(80))
        both = {"scan.line_rate_hz": 100000.0, "scan.a_scans": 64, "scan.b_scans": 1, "scan.bidirectional": "true"}
        for more, problem in (({"note": f"-\necholux_times_s:={times}"}, "not evenly spaced"), (both, "both directions")):
            self.write(self.wave(0.4), 20, 0.00025, spacing_mm=(0.02, 0.0014, 0.02), more=more)
            found = self.measure("--wave", "wave.csv")
            self.assertIsNone(found["wave_speed_m_s"])
            self.assertIn(problem, found["no_wave"])

    def test_noise_is_no_wave(self):
        self.write(0.3 * self.random.standard_normal((40, 1, 32, 1)) * np.ones((40, 1, 32, 8)), 20)
        found = self.measure("--plot", "plot.svg")
        self.assertIsNone(found["wave_speed_m_s"])
        self.assertTrue(found["no_wave"])

    def test_positive_is_away_from_zero_delay(self):
        """Spectra of reflectors that are deeper by a tenth of a bin in the second of two B-scans of a position."""
        j, a = np.arange(256), np.arange(12)[:, None]
        envelope = np.exp(-(((j - 128) / 64) ** 2))
        spectra = np.array([20000 + 8000 * envelope * np.cos(2 * np.pi * place * j / 256 + 2.4 * a) for place in (40.0, 40.1)])
        write_scan(self.folder, spectra.astype("<u2"), scan={"b_scans": 1, "b_repeats": 2, "line_rate_hz": 1000.0}, calibration={"centre_wavelength_nm": 840.0},
                   recipe={"quantity": "complex"})
        self.succeed("reconstruct", "scan.toml", "-o", "complex.nrrd")
        found = json.loads(self.succeed("displacement", "complex.nrrd", "--displacement", "nm.nrrd", "--json").out)
        moved = self.volume("nm.nrrd")[0, 4:8, 39:42].mean()
        self.assertAlmostEqual(moved, 840 / (4 * np.pi) * 2 * np.pi * 0.1 * 0.5, delta=1)
        self.assertEqual(found["moments"], 2)

    def test_series_of_all_moments(self):
        nm = np.broadcast_to(10.0 * np.arange(5)[:, None, None, None], (5, 2, 16, 32))
        self.write(phase_of(nm), 40)
        self.measure("--displacement", "all.nrrd", "--all-moments")
        series = self.volume("all.nrrd")
        self.assertEqual(series.shape, (5, 2, 16, 32))
        np.testing.assert_allclose(series.mean((1, 2, 3)), 10.0 * np.arange(5), atol=0.2)


if __name__ == "__main__":
    unittest.main()
