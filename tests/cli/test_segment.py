"""`echolux segment`: vessels between surfaces, and layers of real recordings."""
import csv
import os
import unittest
from pathlib import Path

import numpy as np

from scans import write_nrrd
from support import ProgramCase, read_volume

RECORDINGS = Path(os.environ.get("ECHOLUX_DATA", "")) / "real"


def rows_of(path):
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


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


@unittest.skipUnless(os.environ.get("ECHOLUX_DATA") and RECORDINGS.exists(), "ECHOLUX_DATA is not set")
class Recordings(ProgramCase):
    """Boundaries of real recordings: those of the device, or drawn by people. Other halves of these files were used to
    set the constants (docs/layers.md)."""

    def found(self, voxels, row_um, a_scan_um, *options):
        """Returns {surface: (rows, is_ok)} of a B-scan [a][z] of intensities."""
        write_nrrd(self.folder / "r.nrrd", voxels[None], (a_scan_um / 1000, row_um / 1000, 0.01), unit="", quantity="")
        self.succeed("segment", "r.nrrd", "-o", "r.csv", "--overwrite", *options)
        table = [line.split(",") for line in (self.folder / "r.csv").read_text().splitlines()[1:]]
        found = {}
        for _, a, name, depth, _, reason in table:
            rows, is_ok = found.setdefault(name, (np.full(len(voxels), np.nan), np.zeros(len(voxels), bool)))
            rows[int(a)] = float(depth) / row_um if depth else np.nan
            is_ok[int(a)] = reason == "ok"
        return found

    def judge(self, found, reference, near, within, false_ok):
        known = np.isfinite(reference)
        errors, is_ok = np.abs(found[0] - reference)[known], found[1][known]
        self.assertGreaterEqual((errors <= near).mean(), within)
        self.assertLessEqual((errors[is_ok] > 8).mean() if is_ok.any() else 0, false_ok)

    def test_line_scans(self):
        for path in sorted((RECORDINGS / "spectralis").glob("line_*.npz")):
            data = np.load(path)
            spacing = [float(data[f"scale_{axis}_mm"]) * 1000 for axis in "zx"]
            found = self.found(data["image"].astype("f4").T, *spacing)
            for name, line in zip(data["line_names"], data["lines"]):
                self.judge(found[{"BM": "RPE-bottom"}.get(str(name), str(name))], line, 3, 0.95, 0.02)

    def test_skin(self):
        for name in ("05_DSBad3_Slice147", "13_DSRecon_Slice32"):
            data = np.load(RECORDINGS / "skin" / f"{name}.npz")
            low, high = data["clim_dB"]
            image = data["image"].astype("f4")
            linear = np.where(image > 0, 10 ** ((image / 65535 * (high - low) + low) / 10), np.nan)
            found = self.found(linear.T, 1, 1, "--preset", "surface")
            self.judge(found["surface"], data["surface"] + 0.5, 5, 0.9, 0.02)
