"""The demo: pictures that pass measured quality checks, and a volume that NumPy and SciPy, independently of the
program, find to match the simulated one."""
import re
import tempfile
import tomllib
import unittest
from pathlib import Path

import numpy as np
from scipy import ndimage

from png_files import read_png
from support import Finished, read_volume, start

REACH = 8  # rows on either side of the true position in which a boundary is searched
HALF = 4  # rows averaged on either side of a step


def boundary_rows(power, expected):
    """Returns the row of the strongest step near `expected` for each A-scan. A step between samples z - 1 and z is at z
    - 0.5."""
    summed = ndimage.gaussian_filter(power, (2.5, 2.5, 0)).astype(np.float64).cumsum(axis=2)
    rows = np.rint(expected + 0.5).astype(int)[..., None] + np.arange(-REACH, REACH + 1)
    rows = np.clip(rows, HALF + 1, power.shape[2] - HALF) - 1
    before, edge, after = (np.take_along_axis(summed, rows + shift, axis=2) for shift in (-HALF, 0, HALF))
    steps = after - 2 * edge + before
    steps *= np.sign(steps[..., REACH - 2 : REACH + 3].mean())
    return np.take_along_axis(rows, steps.argmax(axis=2)[..., None], axis=2)[..., 0] + 0.5


def below(power, first, rows):
    """Returns `rows` rows of each A-scan, starting at the row in `first`."""
    at = first[..., None] + np.arange(rows)
    return np.take_along_axis(power, np.clip(at, 0, power.shape[2] - 1), axis=2)


def otsu_threshold(values):
    count, edges = np.histogram(values, 256)
    middle = (edges[1:] + edges[:-1]) / 2
    low = count.cumsum()[:-1]
    high = count.sum() - low
    low_sum = (count * middle).cumsum()[:-1]
    high_sum = (count * middle).sum() - low_sum
    between = low * high * (low_sum / low - high_sum / np.maximum(high, 1)) ** 2
    return edges[1 + between.argmax()]


class Demo(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.told = Finished(start("demo", folder=temporary.name))
        assert cls.told.code == 0, cls.told
        cls.folder = Path(temporary.name) / "out/demo"
        truth = cls.folder / "scan/truth"
        facts = tomllib.loads((truth / "truth.toml").read_text())["truth"]
        lines = (facts["b_scans"], facts["a_scans"])
        cls.boundaries = np.fromfile(truth / "boundaries_um.f32", "<f4").reshape(-1, *lines) / facts["pitch_um"]
        cls.vessels = np.fromfile(truth / "en_face.u8", np.uint8).reshape(lines) > 0
        cls.power = (10 ** (read_volume(cls.folder / "volume.nrrd").astype(np.float64) / 10)).astype(np.float32)
        cls.surface = ndimage.gaussian_filter(boundary_rows(cls.power, cls.boundaries[0]), 2)

    def printed(self, pattern):
        return float(re.search(pattern, self.told.out).group(1))

    def test_slow_pictures(self):
        pictures = sorted(self.folder.glob("*.png"))
        self.assertGreaterEqual(len(pictures), 3, "volume, B-scan and en face")
        for path in pictures:
            with self.subTest(picture=path.name):
                pixels = read_png(path)
                grays = pixels[..., :3].astype(float)
                grays = grays @ [0.2126, 0.7152, 0.0722] if pixels.shape[-1] >= 3 else grays[..., 0]
                self.assertLessEqual((grays >= 254.5).mean(), 0.01, "white")
                # 63 % of the noise of a B-scan is below its mean, at most a third of the B-scan is noise
                is_b_scan = path.name == "b-scan.png"
                self.assertLessEqual((grays < 0.5).mean(), 0.25 if is_b_scan else 0.01, "black")
                low, high = np.percentile(grays, [0.5, 99.5])
                self.assertGreaterEqual((high - low) / 255, 0.6, "part of the gray range that is used")

    def test_slow_table(self):
        for words in ["reconstruction +c", "A-scans/s", "ray casting +[^ ]", "out/demo"]:
            self.assertRegex(self.told.out, words)
        self.assertGreaterEqual(self.printed(r"([0-9.]+) % within 1 voxel"), 95)
        self.assertGreaterEqual(self.printed(r"Dice ([0-9.]+)"), 0.8)

    def test_slow_boundaries_match_simulation(self):
        self.assertEqual(len(self.boundaries), 5)
        rows_above = 40
        first = np.rint(self.surface).astype(int) - rows_above
        flat = below(self.power, first, self.power.shape[2] - first.min())
        for n, truth in enumerate(self.boundaries):
            with self.subTest(boundary=n):
                found = ndimage.gaussian_filter(boundary_rows(flat, truth - first) + first, 2)
                self.assertGreaterEqual((np.abs(found - truth) <= 1).mean(), 0.95)

    def test_slow_vessels_match_simulation(self):
        margin = 20
        depths = self.boundaries - self.surface
        begin, end = int(depths[-2].max()) + margin, int(depths[-1].min()) - margin
        rows = below(self.power, np.rint(self.surface).astype(int) + begin, end - begin)
        rows /= np.median(rows, axis=(0, 1))
        brightest = ndimage.gaussian_filter(rows, (1.5, 1.5, 6)).max(axis=2)
        found = brightest > otsu_threshold(brightest)
        dice = 2 * (found & self.vessels).sum() / (found.sum() + self.vessels.sum())
        self.assertGreaterEqual(dice, 0.8)
