"""Meshes, read by trimesh, and waveforms for galvanometers, read by NumPy."""
import unittest

import numpy as np

from scans import write_nrrd
from support import ProgramCase

try:
    import trimesh
except ImportError:
    trimesh = None


def ball(radius_mm):
    """Radius minus distance from the centre in mm, in voxels of 0.02 mm."""
    b, z, a = np.indices((40, 40, 40)) * 0.02 - 0.39
    return (radius_mm - np.sqrt(b**2 + z**2 + a**2)).astype("f4")


@unittest.skipIf(trimesh is None, "trimesh is not installed")
class Meshes(ProgramCase):
    def setUp(self):
        super().setUp()
        write_nrrd(self.folder / "ball.nrrd", ball(0.3), (0.02, 0.02, 0.02))

    def test_ball_is_watertight_in_every_format(self):
        for ending, unit in [("stl", 1), ("ply", 1), ("glb", 0.001)]:
            with self.subTest(ending):
                self.succeed("mesh", "ball.nrrd", "-o", f"ball.{ending}", "--level", "0")
                mesh = trimesh.load(self.folder / f"ball.{ending}", force="mesh")
                self.assertTrue(mesh.is_watertight)
                self.assertAlmostEqual(mesh.area / (4 * np.pi * (0.3 * unit) ** 2), 1, delta=0.005)
                self.assertAlmostEqual(mesh.volume / (4 / 3 * np.pi * (0.3 * unit) ** 3), 1, delta=0.005)


class Waveforms(ProgramCase):
    PATTERN = ["--a-scans", "64", "--b-scans", "6", "--spacing-a", "20", "--spacing-b", "40", "--line-rate-hz", "100000"]

    def test_numpy_and_csv_hold_same_waveforms_within_limits(self):
        self.succeed("pattern", "-o", "waves.csv", *self.PATTERN)
        self.succeed("pattern", "-o", "waves.npy", *self.PATTERN)
        table = np.genfromtxt(self.folder / "waves.csv", delimiter=",", names=True)
        waves = np.load(self.folder / "waves.npy")
        for column, name in enumerate(["x_V", "y_V", "line"]):
            np.testing.assert_allclose(waves[:, column], table[name], rtol=1e-7, atol=1e-12)
        self.assertEqual(np.count_nonzero(waves[:, 2]), 64 * 6)
        rate = 1e5
        twice = np.concatenate([waves, waves])[:, :2]  # 1 V/mm, repeated for the next volume
        for order, limit in [(1, 2e4), (2, 3e7), (3, 3e11)]:
            self.assertLessEqual(np.abs(np.diff(twice, order, axis=0)).max() * rate**order, limit * 1.001)


if __name__ == "__main__":
    unittest.main()
