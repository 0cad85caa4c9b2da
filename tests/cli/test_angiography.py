"""Angiography from the command line: alignment of repeats with a table of shifts, vessels between surfaces and their
metrics, attenuation coefficients."""
import csv
import unittest

import numpy as np

from support import ProgramCase, read_volume
from test_segment import write_nrrd

ALIGNED = ["--set", "flow.method=complex_decorrelation", "--set", "flow.align=true", "--set", "flow.window_lines=3",
           "--average", "power", "--backend", "cpu"]


def rows_of(path):
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


class MovingRepeats(ProgramCase):
    def setUp(self):
        super().setUp()
        # Motion of the simulator: about 0.5 um from repeat to repeat, and a little along the B-scan.
        self.succeed("simulate", "vessel", "-o", "scan.toml", "--samples", "512", "--a-scans", "64", "--b-scans", "4", "--b-repeats", "4",
                     "--motion-axial", "30", "--motion-lateral", "5", "--set", "simulation.motion_saccade_rate_hz=0",
                     "--set", "simulation.spacing_a_um=4")

    def test_finds_shifts_of_tissue(self):
        self.succeed("reconstruct", "scan.toml", "-o", "s.nrrd", "--flow", "f.nrrd", "--repeats", "r.csv", *ALIGNED)
        rows = rows_of(self.folder / "r.csv")
        self.assertEqual(len(rows), 16)
        z = np.array([float(row["z_um"]) for row in rows_of(self.folder / "truth/motion_rows.csv")]).reshape(4, 4)
        found = np.array([float(row["z_um"] or "nan") for row in rows]).reshape(4, 4)
        # Tissue that moved down must be shifted back up.
        np.testing.assert_allclose(found, z[:, :1] - z, atol=0.15)
        self.assertTrue(all(row["reason"] == "ok" for row in rows))

    def test_structure_is_unchanged(self):
        self.succeed("reconstruct", "scan.toml", "-o", "a.nrrd", "--flow", "fa.nrrd", *ALIGNED)
        self.succeed("reconstruct", "scan.toml", "-o", "b.nrrd", "--average", "power", "--backend", "cpu")
        np.testing.assert_array_equal(read_volume(self.folder / "a.nrrd"), read_volume(self.folder / "b.nrrd"))

    def test_rejects_unsuitable_settings(self):
        self.refuse("reconstruct", "scan.toml", "-o", "s.nrrd", "--flow", "f.nrrd", "--repeats", "r.csv", "--average", "power",
                    "--set", "flow.method=omag", names=["flow.align"], lines=None)
        self.refuse("reconstruct", "scan.toml", "-o", "s.nrrd", "--flow", "f.nrrd", "--average", "power",
                    "--set", "flow.method=doppler", "--set", "flow.align=true", names=["flow.align"], lines=None)


class Vessels(ProgramCase):
    def setUp(self):
        super().setUp()
        random = np.random.default_rng(4)
        z = np.arange(64)
        mean = np.select([z < 16, z < 40], [0.01, 1], 0.05)
        write_nrrd(self.folder / "structure.nrrd", 10 * np.log10(mean * random.exponential(1, (12, 40, 64))))
        self.flow = np.zeros((12, 40, 64))
        self.flow[:, 10:18, 20:28] = 0.5  # 8 of 40 A-scans
        self.flow[:, 10:18, 28:38] = 0.2  # its projection tail
        write_nrrd(self.folder / "flow.nrrd", self.flow, unit="", quantity="complex_decorrelation")
        self.succeed("segment", "structure.nrrd", "--preset", "layers", "--count", "2", "-o", "surfaces.nrrd")

    def test_density_and_flux_of_slab(self):
        self.succeed("segment", "flow.nrrd", "--surfaces", "surfaces.nrrd", "--density", "d.nrrd", "--flux", "x.nrrd", "--vessels", "v.csv",
                     "--en-face", "e.nrrd", "--projection", "top3", "--tail-gap", "12")
        row = rows_of(self.folder / "v.csv")[0]
        self.assertAlmostEqual(float(row["density_percent"]), 20, delta=1)
        self.assertAlmostEqual(float(row["area_mm2"]), 12 * 40 * 25e-6, delta=1e-6)
        # 12 um are nine rows, so one row of the tail remains.
        self.assertAlmostEqual(float(row["flux"]), 0.5, delta=0.05)
        flux = read_volume(self.folder / "x.nrrd").squeeze()
        self.assertEqual(np.count_nonzero(flux), 12 * 8)
        density = read_volume(self.folder / "d.nrrd")
        self.assertLess(density.max(), 60)
        self.assertIn("%", (self.folder / "d.nrrd").read_bytes()[:2000].decode(errors="ignore"))
        self.assertAlmostEqual(read_volume(self.folder / "e.nrrd").max(), 0.5, places=3)
        self.succeed("segment", "flow.nrrd", "--surfaces", "surfaces.nrrd", "--vessels", "with-tails.csv")
        self.assertLess(float(rows_of(self.folder / "with-tails.csv")[0]["flux"]), 0.4)

    def test_structure_has_no_vessels_and_flow_no_layers(self):
        self.refuse("segment", "structure.nrrd", "--surfaces", "surfaces.nrrd", "--vessels", "v.csv", names=["angiography", "db"], lines=None)
        self.refuse("segment", "flow.nrrd", "-o", "s.nrrd", names=["--surfaces"], lines=None)


class Attenuation(ProgramCase):
    def test_layers_have_their_coefficients(self):
        random = np.random.default_rng(9)
        dz = 0.0014
        mu = np.repeat([2.0, 5.0, 1.0], 150)
        left = np.exp(-2 * dz * np.concatenate([[0], np.cumsum(mu)]))
        light = np.concatenate([np.zeros(40), left[:-1] - left[1:]]) / (left[:-1] - left[1:]).max() + 1e-3
        write_nrrd(self.folder / "v.nrrd", 10 * np.log10(light * random.exponential(1, (20, 20, 490))))
        told = self.succeed("attenuation", "v.nrrd", "-o", "mu.nrrd", "--window-a-scans", "20", "--window-b-scans", "20")
        found = read_volume(self.folder / "mu.nrrd")
        for layer, expected in enumerate([2, 5, 1]):
            rows = slice(40 + 150 * layer + 15, 40 + 150 * (layer + 1) - 15)
            self.assertAlmostEqual(np.nanmean(found[:, :, rows]) / expected, 1, delta=0.06, msg=str(layer))
        self.assertIn("neither roll-off nor focus is corrected", told.err)
        self.assertTrue(np.isnan(found[:, :, :20]).all())

    def test_rejects_noise(self):
        noise = np.random.default_rng(1).exponential(1, (20, 20, 200))
        write_nrrd(self.folder / "n.nrrd", 10 * np.log10(noise), unit="dB above noise floor")
        self.refuse("attenuation", "n.nrrd", "-o", "mu.nrrd", "--noise-floor-db", "0.0001", names=["noise"], lines=None)
        write_nrrd(self.folder / "velocity.nrrd", noise, quantity="velocity", unit="mm/s")
        self.refuse("attenuation", "velocity.nrrd", "-o", "mu.nrrd", names=["velocity"], lines=None)


if __name__ == "__main__":
    unittest.main()
