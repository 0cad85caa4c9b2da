"""Speckle filters from the command line: their gain compared with NumPy, and refused input."""
import json
import re

import numpy as np

from support import ProgramCase, read_volume
from test_segment import speckled, write_nrrd


class Filter(ProgramCase):
    def setUp(self):
        super().setUp()
        boundaries = np.stack([np.full((6, 40), 24.5), np.full((6, 40), 44.5)])
        self.db, self.mean = speckled([0.01, 1, 0.1], boundaries, 64, seed=8, snr_db=30)
        write_nrrd(self.folder / "v.nrrd", self.db)

    def error_db(self, name):
        return np.sqrt(np.mean((read_volume(self.folder / name) - 10 * np.log10(self.mean)) ** 2))

    def test_reduces_speckle_and_keeps_brightness(self):
        raw = np.sqrt(np.mean((self.db - 10 * np.log10(self.mean)) ** 2))
        for method in ("nlm", "median", "bilateral"):
            self.succeed("filter", "v.nrrd", "-o", "f.nrrd", "--method", method, "--search-depth", "7",
                         "--search-a-scans", "7", "--search-b-scans", "3", "--overwrite")
            self.assertLess(self.error_db("f.nrrd"), raw / 3, method)
            layer = 10 ** (read_volume(self.folder / "f.nrrd")[:, :, 28:41] / 10)
            self.assertAlmostEqual(layer.mean(), 1, delta=0.06, msg=method)

    def test_several_looks_are_averaged_in_power(self):
        looks = [self.db]
        for seed in (21, 22, 23):
            rng = np.random.default_rng(seed)
            looks.append(10 * np.log10(self.mean * rng.exponential(1, self.mean.shape) + 1e-12))
            write_nrrd(self.folder / f"look{seed}.nrrd", looks[-1])
        told = self.succeed("filter", "v.nrrd", "look21.nrrd", "look22.nrrd", "look23.nrrd", "-o", "mean.nrrd").out
        self.assertAlmostEqual(float(re.search(r"as good as ([\d.]+)", told)[1]), 4, delta=0.3)
        mean = 10 * np.log10(np.mean([10 ** (look / 10) for look in looks], axis=0))
        np.testing.assert_allclose(read_volume(self.folder / "mean.nrrd"), mean, atol=1e-3)
        told = self.succeed("filter", "v.nrrd", "v.nrrd", "v.nrrd", "-o", "same.nrrd").out
        self.assertIn("as good as 1.0", told)

    def test_backend_is_chosen(self):
        line = ["filter", "v.nrrd", "--method", "median"]
        self.assertEqual(json.loads(self.succeed(*line, "-o", "cpu.nrrd", "--backend", "cpu", "--json").out)["backend"], "cpu")
        told = self.run_program(*line, "-o", "cuda.nrrd", "--backend", "cuda", "--json")
        if told.code != 0:
            self.assertIn("cuda", told.err.lower())
            self.assertFalse((self.folder / "cuda.nrrd").exists())
            told = self.succeed(*line, "-o", "cuda.nrrd", "--json")
        np.testing.assert_allclose(read_volume(self.folder / "cuda.nrrd"), read_volume(self.folder / "cpu.nrrd"), atol=1e-3)

    def test_rejects_unsuitable_volumes(self):
        write_nrrd(self.folder / "gray.nrrd", self.db, quantity="", unit="")
        write_nrrd(self.folder / "velocity.nrrd", self.db, quantity="velocity", unit="mm/s")
        self.refuse("filter", "gray.nrrd", "-o", "f.nrrd", names=["filter.stored_as"], lines=None)
        self.refuse("filter", "velocity.nrrd", "-o", "f.nrrd", names=["velocity"], lines=None)
        self.succeed("filter", "gray.nrrd", "-o", "f.nrrd", "--stored-as", "db", "--method", "median")
        self.refuse("filter", "v.nrrd", "-o", "g.nrrd", "--patch", "4", names=["filter.patch", "odd"])
        write_nrrd(self.folder / "other.nrrd", self.db[:3])
        self.refuse("filter", "v.nrrd", "other.nrrd", "-o", "g.nrrd", names=["the first"], lines=None)
        write_nrrd(self.folder / "nothing.nrrd", np.full_like(self.db, np.nan))
        self.refuse("filter", "nothing.nrrd", "-o", "g.nrrd", names=["nothing.nrrd: holds nothing"], lines=None)
