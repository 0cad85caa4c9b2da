"""Analysis from the command line, compared with NumPy and with real recordings: registration, flow, vessels and layers."""
import csv
import os
import tomllib
import unittest
from pathlib import Path

import numpy as np

from png_files import read_png
from scans import tube_velocities, write_nrrd
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


def rows_of(path):
    return list(csv.DictReader(line for line in path.read_text().splitlines() if not line.startswith("#")))


class Register(ProgramCase):
    def put(self, name, volume):
        """In files, slices are B-scans, rows are depth and columns are A-scans."""
        np.save(self.folder / name, np.ascontiguousarray(volume.swapaxes(-1, -2)).astype(np.float32))
        return name

    def test_missing_values_are_ignored(self):
        parted = seen(scene(), motion())
        parted[:, :, :20] = np.nan
        self.put("still.npy", seen(scene(), np.zeros((B_SCANS, 3))))
        self.put("parted.npy", parted)
        self.succeed("register", "parted.npy", "--reference", "still.npy", "-o", "mean.npy", "--table", "t.csv", "--axial-range", 10,
                     "--lateral-range", 10, "--row-range", 6)
        for axis in "zx":
            found = np.array([float(row[axis]) for row in rows_of(self.folder / "t.csv")[4:-4]])
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
                reasons = [row["reason"] for row in rows_of(self.folder / "t.csv")[B_SCANS : 2 * B_SCANS]]
                self.assertNotIn("ok", reasons)
                self.assertGreater(reasons.count("out_of_range"), B_SCANS / 2)

    def test_zero_range_gives_zero_shift(self):
        field = scene()
        self.put("still.npy", seen(field, np.zeros((B_SCANS, 3))))
        self.put("moved.npy", seen(field, [[0, 1.5, 0]] * B_SCANS))
        self.succeed("register", "moved.npy", "--reference", "still.npy", "--table", "t.csv", "--lateral-range", 0)
        self.assertEqual({row["x"] for row in rows_of(self.folder / "t.csv")} - {""}, {"0.0000"})


class Flow(ProgramCase):
    def put(self, name, factor=1.0):
        write_nrrd(self.folder / name, factor * tube_velocities(32, 12, 64), unit="mm/s", quantity="velocity")

    def test_streaks_follow_vessel_and_pulse(self):
        for v in range(10):
            self.put(f"v_{v}.nrrd", 1 + 0.5 * np.sin(2 * np.pi * 1.2 * 0.1 * v))
        self.succeed("flow", "v_*.nrrd", "--step", "0.1", "--streaks", "s.toml")
        view = tomllib.loads((self.folder / "s.toml").read_text())["view"]
        course = np.array(view["flow_streaks"]).reshape(-1, 5)
        slope = np.polyfit(course[:, 3], course[:, 1], 1)[0]  # depth over B-scans, as in the velocities
        self.assertAlmostEqual(abs(slope), 0.2, delta=0.02)
        mean = 10 / 2 * np.hypot(1, 0.2)
        np.testing.assert_allclose(course[:, 4], mean, rtol=0.2)  # the segmented lumen excludes its rim
        times, pulse = np.array(view["streak_pulse"]).reshape(-1, 2).T
        expected = 1 + 0.5 * np.sin(2 * np.pi * 1.2 * 0.1 * np.arange(10))
        np.testing.assert_allclose(pulse, expected / expected.mean(), rtol=0.05)
        np.testing.assert_allclose(np.diff(times), 0.1, atol=0.01)

    def test_slow_movie_through_time_shows_flow_of_each_volume(self):
        for v, factor in enumerate((1, 0, 1)):
            self.put(f"v_{v}.nrrd", factor)
            write_nrrd(self.folder / f"s_{v}.nrrd", np.zeros((12, 32, 64)))
        self.succeed("convert", "v_*.nrrd", "velocity.nrrd")
        self.succeed("convert", "s_*.nrrd", "structure.nrrd")
        movie = ["render", "structure.nrrd", "--movie", "f_%02d.png", "--path", "time", "--frames", "3", "--size", "32x32", "--flow-range", "2"]
        self.succeed(*movie, "--flow", "velocity.nrrd")
        frames = [(self.folder / f"f_{i:02}.png") for i in range(3)]
        colours = [read_png(frame)[..., :3].astype(int) for frame in frames]
        self.assertGreater(np.ptp(colours[0], axis=2).max(), 100)  # orange
        self.assertLess(np.ptp(colours[1], axis=2).max(), 40)
        np.testing.assert_array_equal(colours[0], colours[2])
        self.refuse(*movie, "--flow", "v_0.nrrd", "--overwrite", lines=None, names=["--flow", "1 time point"])


RECORDINGS = Path(os.environ.get("ECHOLUX_DATA", "")) / "real"


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

    def test_circle_scan(self):
        data = np.load(RECORDINGS / "spectralis" / "one_eye_circle_a.npz")
        spacing = [float(data[f"scale_{axis}_mm"]) * 1000 for axis in "zx"]
        found = self.found(data["image"].astype("f4").T, *spacing)
        names = {"BM": "RPE-bottom", "RNFL": "NFL"}
        for name, line in zip(data["line_names"], data["lines"]):
            self.judge(found[names.get(str(name), str(name))], line, 3, 0.9, 0.01)

    def test_noisy_disc_scan(self):
        data = np.load(RECORDINGS / "cirrus" / "onh_1.npz")
        spacing = [float(data[f"scale_{axis}_mm"]) * 1000 for axis in "zx"]
        found = self.found((10 ** (data["image"] / 255 * 5)).astype("f4").T, *spacing)
        bounds = {"ILM": (0, 0.95, 0.01), "IPL": (2, 0.75, 0.01), "INL": (3, 0.7, 0.01), "OPL": (4, 0.85, 0.01),
                  "ISOS": (5, 0.97, 0.005), "RPE-bottom": (8, 0.86, 0.01)}
        for name, (line, within, false_ok) in bounds.items():
            self.judge(found[name], data["lines"][line] - 0.5, 3, within, false_ok)

    def test_lumen_in_picture_of_disc(self):
        data = np.load(RECORDINGS / "catheter" / "frame_01_patient_001.npz")
        intensity = 10 ** (data["image"].astype("f4") / 255 * 4.5)
        found = self.found(intensity.T, 10, 10, "--preset", "lumen")  # an A-scan per degree
        radius, is_ok = (values[:360] for values in found["lumen"])
        angle = np.arange(360)
        is_shadow = (angle < 6) | (angle > 334)  # behind the guide wire
        error = np.abs(radius - data["lumen_radius_px"])
        self.assertGreaterEqual((error[~is_shadow] <= 3).mean(), 0.95)
        self.assertGreater(is_ok.mean(), 0.8)
        self.assertEqual((error[is_ok] > 8).sum(), 0)
        self.assertTrue(np.isnan(radius[342:358]).all())

    def test_skin(self):
        for name in ("05_DSBad3_Slice147", "09_DSOld49_Slice49", "13_DSRecon_Slice32"):
            data = np.load(RECORDINGS / "skin" / f"{name}.npz")
            low, high = data["clim_dB"]
            image = data["image"].astype("f4")
            linear = np.where(image > 0, 10 ** ((image / 65535 * (high - low) + low) / 10), np.nan)
            found = self.found(linear.T, 1, 1, "--preset", "surface")
            self.judge(found["surface"], data["surface"] + 0.5, 5, 0.9, 0.01)
