"""`echolux register`: speckle generated with NumPy and sampled at known positions is registered to these positions, and
input that cannot be registered is reported."""
import csv
import json
import unittest

import numpy as np

from support import ProgramCase, read_volume

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

    def test_finds_positions_and_sharp_mean(self):
        field = scene()
        still, moved = seen(field, np.zeros((B_SCANS, 3))), seen(field, motion())
        self.put("a.npy", still)
        self.put("b.npy", moved)
        ranges = ["--axial-range", 10, "--lateral-range", 10, "--row-range", 6]
        finished = self.succeed("register", "a.npy", "b.npy", "-o", "mean.nrrd", "--table", "shifts.csv", *ranges)
        self.assertIn("of 48 B-scans registered", finished.out)
        self.assertIn("motion of the reference itself stays", finished.out)
        rows = self.rows("shifts.csv")
        self.assertEqual(len(rows), 2 * B_SCANS)
        self.assertTrue(all(row["reason"] == "ok" and float(row["z"]) == 0 for row in rows[:B_SCANS]))
        inner = slice(3, B_SCANS - 3)
        for axis, most in (("z", 0.15), ("x", 0.2), ("y", 0.2)):
            found = np.array([float(row[axis]) for row in rows[B_SCANS:][inner]])
            errors = found - motion()[inner, "zxy".index(axis)]
            self.assertLess(np.sqrt(np.mean(errors**2)), most, axis)
        mean = read_volume(self.folder / "mean.nrrd")
        unregistered = (still + moved) / 2
        box = (slice(6, 18), slice(8, 40), slice(8, 40))
        like = lambda volume: np.corrcoef(volume[box].ravel(), still[box].ravel())[0, 1]
        self.assertGreater(like(mean), 0.97)
        self.assertGreater(like(mean), like(unregistered) + 0.05)
        told = self.succeed("info", "mean.nrrd").out
        self.assertIn("registration.b_scans_used", told)

    def test_accepts_separate_reference_and_series(self):
        field = scene()
        still = seen(field, np.zeros((B_SCANS, 3)))
        self.put("reference.npy", still)
        self.put("series.npy", np.stack([seen(field, motion()), seen(field, np.full((B_SCANS, 3), 1.0))]))
        self.succeed("register", "series.npy", "--reference", "reference.npy", "--table", "t.csv", "--axial-range", 10)
        rows = self.rows("t.csv")
        self.assertEqual([row["volume"] for row in rows], ["0"] * B_SCANS + ["1"] * B_SCANS)
        for row in rows[B_SCANS + 3 : -3]:
            self.assertEqual(row["reason"], "ok")
            for axis in "zxy":
                self.assertAlmostEqual(float(row[axis]), 1, delta=0.2)
        self.succeed("register", "series.npy", "--reference-volume", 1, "--table", "u.csv", "--axial-range", 10)
        self.assertEqual(float(self.rows("u.csv")[B_SCANS]["x"]), 0)
        self.refuse("register", "series.npy", "--reference-volume", 2, "--table", "v.csv", lines=None,
                    names=["--reference-volume", "0 to 1"])

    def test_one_volume_is_aligned_to_its_neighbours(self):
        shaking = np.zeros((B_SCANS, 3))
        shaking[:, 0] = 1.5 * np.sin(1.3 * np.arange(B_SCANS))
        self.put("a.npy", seen(scene(), shaking))
        finished = self.succeed("register", "a.npy", "-o", "out.npy", "--table", "t.csv")
        self.assertIn("slow motion stay", finished.out)
        found = np.array([float(row["z"]) for row in self.rows("t.csv")[4:-4]])
        self.assertLess(np.std(found - shaking[4:-4, 0]), 0.3)
        self.assertEqual(float(self.rows("t.csv")[0]["quality"]), 1)
        aligned = np.load(self.folder / "out.npy")
        for b_scan in range(B_SCANS):  # also the first one, which has no predecessor
            self.assertGreater(np.isfinite(aligned[b_scan]).mean(), 0.8, b_scan)

    def test_missing_values_are_ignored(self):
        field = scene()
        still, whole = seen(field, np.zeros((B_SCANS, 3))), seen(field, motion())
        parted = whole.copy()
        parted[:, :, :20] = np.nan
        for name, volume in (("still", still), ("whole", whole), ("parted", parted)):
            self.put(name + ".npy", volume)
        for name in ("whole", "parted"):
            self.succeed("register", name + ".npy", "--reference", "still.npy", "-o", name + "_mean.npy", "--table",
                         name + ".csv", "--axial-range", 10, "--lateral-range", 10, "--row-range", 6)
        for axis in "zx":
            found = np.array([float(row[axis]) for row in self.rows("parted.csv")[4:-4]])
            self.assertLess(np.sqrt(np.mean((found - motion()[4:-4, "zxy".index(axis)]) ** 2)), 0.25, axis)
        whole, parted = np.load(self.folder / "whole_mean.npy"), np.load(self.folder / "parted_mean.npy")
        inner = slice(4, B_SCANS - 4)
        self.assertTrue(np.isnan(parted[inner, :16]).all())
        self.assertGreater(np.isfinite(parted[inner, 26:44, 6:-6]).mean(), 0.8)
        both = np.isfinite(whole) & np.isfinite(parted) & (whole > 1e-3 * np.nanmax(whole))
        self.assertLess(np.quantile(abs(10 * np.log10((parted + 1e-9)[both] / whole[both])), 0.95), 2)

    def test_backend_is_chosen(self):
        self.put("still.npy", seen(scene(), np.zeros((B_SCANS, 3))))
        self.put("moved.npy", seen(scene(), motion()))
        line = ["register", "still.npy", "moved.npy", "--axial-range", 10, "--row-range", 6, "--json"]
        told = json.loads(self.succeed(*line, "-o", "cpu.npy", "--table", "cpu.csv", "--backend", "cpu").out)
        self.assertEqual(told["backend"], "cpu")
        self.assertGreater(told["seconds"], 0)
        found = self.run_program(*line, "-o", "cuda.npy", "--table", "cuda.csv", "--backend", "cuda")
        if found.code != 0:
            self.assertIn("cuda", found.err.lower())
            self.assertFalse((self.folder / "cuda.npy").exists())
            self.succeed(*line, "-o", "cuda.npy", "--table", "cuda.csv")
        for cpu, cuda in zip(self.rows("cpu.csv"), self.rows("cuda.csv")):
            self.assertEqual(cpu["reason"], cuda["reason"])
            for axis in "zxy":
                if cpu[axis]:
                    self.assertAlmostEqual(float(cpu[axis]), float(cuda[axis]), delta=0.01)
        cpu, cuda = np.load(self.folder / "cpu.npy"), np.load(self.folder / "cuda.npy")
        np.testing.assert_allclose(cuda, cpu, atol=1e-3 * np.nanmax(cpu))

    def test_velocities_are_refused(self):
        velocity = np.random.default_rng(1).normal(size=(B_SCANS, DEPTH, A_SCANS)).astype("<f4")
        head = ("NRRD0004\ntype: float\ndimension: 3\nsizes: %d %d %d\nencoding: raw\nendian: little\n"
                "echolux_quantity:=velocity\necholux_unit:=mm/s\n\n" % (A_SCANS, DEPTH, B_SCANS))
        for name in ("a.nrrd", "b.nrrd"):
            (self.folder / name).write_bytes(head.encode() + velocity.tobytes())
        self.refuse("register", "a.nrrd", "b.nrrd", "-o", "m.nrrd", lines=None, names=["velocity", "db, intensity"])

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

    def test_noise_is_not_marked_as_saccade(self):
        self.put("still.npy", seen(scene(), np.zeros((B_SCANS, 3))))
        self.put("moved.npy", seen(scene(), motion()))
        self.put("noise.npy", np.random.default_rng(8).exponential(1, (B_SCANS, A_SCANS, DEPTH)))
        self.succeed("register", "still.npy", "moved.npy", "noise.npy", "--table", "t.csv", "--row-range", 6)
        noise = self.rows("t.csv")[2 * B_SCANS :]
        self.assertEqual({row["reason"] for row in noise}, {"weak_match"})
        self.assertEqual({row["saccade"] for row in noise}, {"0"})

    def test_settings_are_listed_and_applied(self):
        self.assertTrue("`registration.row_range`" in self.succeed("info", "--settings").out)
        self.put("still.npy", seen(scene(), np.zeros((B_SCANS, 3))))
        self.succeed("register", "still.npy", "--table", "t.csv", "--set", "registration.strip=1")

    def test_reports_unsuitable_volumes(self):
        noise = np.random.default_rng(8)
        self.put("tissue.npy", seen(scene(), np.zeros((B_SCANS, 3))))
        self.put("noise.npy", noise.exponential(1, (B_SCANS, A_SCANS, DEPTH)))
        self.put("empty.npy", np.zeros((B_SCANS, A_SCANS, DEPTH)))
        self.put("single.npy", np.load(self.folder / "tissue.npy")[:1].swapaxes(1, 2))
        self.put("small.npy", np.ones((4, 4, 4)))
        for inputs, names in [
            (["tissue.npy", "noise.npy"], ["noise.npy: no B-scan fits the reference"]),
            (["noise.npy"], ["noise.npy: no B-scan fits its neighbours"]),
            (["empty.npy"], ["empty.npy: holds nothing"]),
            (["tissue.npy", "empty.npy"], ["empty.npy: holds nothing"]),
            (["single.npy"], ["single.npy: has 1 B-scan", "neighbours"]),
            (["tissue.npy", "single.npy"], ["single.npy: is of another size"]),
            (["small.npy"], ["small.npy: ", "too few"]),
            (["gone.npy"], ["gone.npy"]),
        ]:
            with self.subTest(inputs=inputs):
                self.refuse("register", *inputs, "-o", "m.nrrd", "--table", "t.csv", lines=None, names=names)
        self.refuse("register", "tissue.npy", names=["--output"])
        self.refuse("register", "tissue.npy", "-o", "m.nrrd", "--strip", 2, lines=None, names=["strip", "odd"])
        (self.folder / "scan.toml").write_text("")
        self.refuse("register", "scan.toml", "-o", "m.nrrd", names=["is a scan", "echolux reconstruct"])


if __name__ == "__main__":
    unittest.main()
