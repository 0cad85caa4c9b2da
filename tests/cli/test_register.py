"""`echolux register`: voxels without values, and positions at the end of the range."""
import csv

import numpy as np

from support import ProgramCase

DEPTH, A_SCANS, B_SCANS, MARGIN = 48, 48, 24, 8


def scene(seed=4):
    """Returns the transform of band-limited complex speckle [y][x][z] under layers, which can be evaluated at any
    position."""
    noise = np.random.default_rng(seed)
    shape = (B_SCANS + 2 * MARGIN, A_SCANS + 2 * MARGIN, DEPTH)
    field = np.fft.fftn(noise.normal(size=shape) + 1j * noise.normal(size=shape))
    for axis, sigma in enumerate((1.5, 1.5, 1.5)):
        k = 2 * np.pi * np.fft.fftfreq(shape[axis])
        field = field * np.exp(-((k * sigma) ** 2) / 2).reshape([-1 if i == axis else 1 for i in range(3)])
    return field


def seen(field, places):
    """Returns the power [b][a][z]: B-scan j at j + y of the scene, its samples shifted by x and z with a phase ramp
    over the field's transform (periodic in depth; layers move along)."""
    k = [2 * np.pi * np.fft.fftfreq(n) for n in field.shape]
    volume = np.zeros((B_SCANS, A_SCANS, DEPTH), np.float32)
    for j, (z, x, y) in enumerate(places):
        ramp = np.exp(1j * (k[0][:, None, None] * y + k[1][None, :, None] * x + k[2][None, None, :] * z))
        moved = np.fft.ifftn(field * ramp)[j + MARGIN, MARGIN : MARGIN + A_SCANS]
        d = np.arange(DEPTH) + z
        volume[j] = abs(moved) ** 2 * 1e3 * (0.1 + np.exp(-(((d - 16) / 6) ** 2)) + 0.6 * np.exp(-(((d - 34) / 5) ** 2)))
    return volume


def motion():
    j = np.arange(B_SCANS)
    return np.stack([2 * np.sin(j / 5) + 0.6, 1.5 * np.cos(j / 7), 1.2 * np.sin(j / 8) - 0.3], 1)


class Register(ProgramCase):
    def put(self, name, volume):
        """In files, slices are B-scans, rows are depth and columns are A-scans."""
        np.save(self.folder / name, np.ascontiguousarray(volume.swapaxes(-1, -2)).astype(np.float32))
        return name

    def rows(self, name):
        lines = [line for line in (self.folder / name).read_text().splitlines() if not line.startswith("#")]
        return list(csv.DictReader(lines))

    def test_missing_values_are_ignored(self):
        parted = seen(scene(), motion())
        parted[:, :, :20] = np.nan
        self.put("still.npy", seen(scene(), np.zeros((B_SCANS, 3))))
        self.put("parted.npy", parted)
        self.succeed("register", "parted.npy", "--reference", "still.npy", "-o", "mean.npy", "--table", "t.csv", "--axial-range", 10,
                     "--lateral-range", 10, "--row-range", 6)
        for axis in "zx":
            found = np.array([float(row[axis]) for row in self.rows("t.csv")[4:-4]])
            self.assertLess(np.sqrt(np.mean((found - motion()[4:-4, "zxy".index(axis)]) ** 2)), 0.25, axis)
        mean = np.load(self.folder / "mean.npy")[4:-4]
        self.assertTrue(np.isnan(mean[:, :16]).all())
        self.assertGreater(np.isfinite(mean[:, 26:44, 6:-6]).mean(), 0.8)

    def test_positions_at_end_of_range_are_invalid(self):
        field = scene()
        self.put("still.npy", seen(field, np.zeros((B_SCANS, 3))))
        self.put("near.npy", seen(field, np.full((B_SCANS, 3), 0.5)))
        for axis, offset in (("y", 5), ("y", 6), ("x", 5), ("z", 5)):
            with self.subTest(axis=axis, offset=offset):
                self.put("moved.npy", seen(field, [[offset if axis == of else 0 for of in "zxy"]] * B_SCANS))
                ranges = {"--axial-range": 12, "--lateral-range": 12, "--row-range": 8}
                ranges[{"z": "--axial-range", "x": "--lateral-range", "y": "--row-range"}[axis]] = 4
                words = [word for pair in ranges.items() for word in pair]
                self.succeed("register", "still.npy", "moved.npy", "near.npy", "--table", "t.csv", "--overwrite", *words)
                reasons = [row["reason"] for row in self.rows("t.csv")[B_SCANS : 2 * B_SCANS]]
                self.assertNotIn("ok", reasons)
                self.assertGreater(reasons.count("out_of_range"), B_SCANS / 2)

    def test_zero_range_gives_zero_shift(self):
        field = scene()
        self.put("still.npy", seen(field, np.zeros((B_SCANS, 3))))
        self.put("moved.npy", seen(field, [[0, 1.5, 0]] * B_SCANS))
        self.succeed("register", "moved.npy", "--reference", "still.npy", "--table", "t.csv", "--lateral-range", 0)
        self.assertEqual({row["x"] for row in self.rows("t.csv")} - {""}, {"0.0000"})
