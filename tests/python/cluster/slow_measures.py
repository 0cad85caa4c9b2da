"""The measuring scripts for docs/scale.md still run, with very little data."""
import unittest
from pathlib import Path

import measure
import measure_gpus
from archive import ClusterCase


class Scripts(ClusterCase):
    def small(self, module, **sizes):
        for name, size in sizes.items():
            self.addCleanup(setattr, module, name, getattr(module, name))
            setattr(module, name, size)

    def test_measures_parts_and_tasks(self):
        self.small(measure, PART=64, B_SCANS=128, A_SCANS=4, SAMPLES=128, SCANS=1, TASKS=20, REPEATS=1, SLEEPS=4, WORKERS=(1,), IDLE_S=0.1, SLEEP_S=0.01)
        measure.main(self.folder)
        self.assertTrue((self.folder / "out/scan.ome.zarr/zarr.json").exists())

    def test_measures_steps(self):
        self.small(measure_gpus, B_SCANS=64, A_SCANS=4, SAMPLES=128, PART=64)
        measure_gpus.write_spectra(self.folder)
        for voxel, what in ("f32", "host"), ("f32", "reconstruct"), ("f32", "pack"), ("u8", "whole"):
            with self.subTest(what):
                scan = self.folder / f"{voxel}.toml"
                source = measure_gpus.OpenScan(measure_gpus.inputs.open_scan(str(scan)), "cpu")
                steps = measure_gpus.pieces(what, measure_gpus.plan_of(scan), source, self.folder / "out")
                self.assertEqual([next(steps), next(steps)], [256, 256])
        self.assertTrue(list(Path(self.folder / "out").rglob("0-0.json")))

    def test_measures_jobs(self):
        self.small(measure_gpus, B_SCANS=64, A_SCANS=4, SAMPLES=128, PART=64, SCANS=2)
        measure_gpus.write_spectra(self.folder)
        measure_gpus.write_archive(self.folder)
        self.assertGreater(measure_gpus.rate_of_job(self.folder / "archive", self.folder / "out", 2, 1), 0)


if __name__ == "__main__":
    unittest.main()
