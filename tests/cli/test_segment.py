"""Surfaces between layers: compared with the simulator's truth and with the exact path that NumPy finds in a B-scan.
Also the messages for input without surfaces."""
import json
import os
import re
import unittest
from pathlib import Path

import numpy as np

from support import ProgramCase, read_nrrd, read_png

RECORDINGS = Path(os.environ.get("ECHOLUX_DATA", "")) / "real"
PENALTIES = {0: 0, 1: 2, 2: 4.5, 3: 9}  # nats, for steps between neighbouring A-scans


def write_nrrd(path, voxels, spacing_mm=(0.005, 0.0014, 0.005), unit="dB", quantity="db"):
    """f32 [b][a][z] in the orientation of files: columns are A-scans, rows are depth, slices are B-scans."""
    b_scans, a_scans, depth = voxels.shape
    header = (
        f"NRRD0004\ntype: float\ndimension: 3\nsizes: {a_scans} {depth} {b_scans}\nspacings: {spacing_mm[0]} {spacing_mm[1]} "
        f"{spacing_mm[2]}\nspace units: \"mm\" \"mm\" \"mm\"\nencoding: raw\nendian: little\necholux_quantity:={quantity}\n"
        f"echolux_unit:={unit}\n\n"
    )
    path.write_bytes(header.encode() + np.ascontiguousarray(np.swapaxes(voxels, 1, 2), "<f4").tobytes())


def speckled(powers, boundaries, depth, seed, snr_db=20):
    """Exponential intensities, in dB, of layers between boundaries [k][b][a] over a noise floor. Voxel centres have
    integer coordinates."""
    z = np.arange(depth)
    mean = np.full((*boundaries.shape[1:], depth), powers[0], float)
    for k, boundary in enumerate(boundaries):
        share = np.clip(z + 0.5 - boundary[..., None], 0, 1)
        mean += share * (powers[k + 1] - powers[k])
    mean += 10 ** (-snr_db / 10)
    return 10 * np.log10(mean * np.random.default_rng(seed).exponential(1, mean.shape) + 1e-12), mean


def surfaces(path):
    """Returns [surface][b][a] of a volume file, and the names of the surfaces."""
    header = path.read_bytes().split(b"\n\n", 1)[0].decode()
    names = re.search(r"surfaces:=(.*)", header)
    return read_nrrd(path), names[1].split() if names else []


def exact_path(costs):
    """Returns the cheapest path through costs [a][z] with those penalties, by Viterbi's method."""
    n, depth = costs.shape
    total, come_from = costs[0].copy(), np.zeros((n, depth), int)
    z = np.arange(depth)
    for a in range(1, n):
        steps = []
        for step in range(-3, 4):
            near = np.clip(z + step, 0, depth - 1)
            steps.append(total[near] + PENALTIES[abs(step)] + np.where((z + step < 0) | (z + step >= depth), 1e6, 0))
        best = np.argmin(steps, axis=0)
        come_from[a] = np.clip(z + best - 3, 0, depth - 1)
        total = costs[a] + np.min(steps, axis=0)
    way = [int(np.argmin(total))]
    for a in range(n - 1, 0, -1):
        way.append(come_from[a][way[-1]])
    return np.array(way[::-1])


class Segment(ProgramCase):
    def test_simulated_retina_has_subvoxel_error(self):
        self.succeed("simulate", "retina", "-o", "sim/scan.toml", "--a-scans", "128", "--b-scans", "96", "--seed", "3")
        told = self.succeed("segment", "sim/scan.toml", "-o", "s.nrrd").out
        self.assertIn("9 surfaces in 128 x 96 A-scans", told)
        found, names = surfaces(self.folder / "s.nrrd")
        self.assertEqual(len(names), 9)
        truth = np.fromfile(self.folder / "sim/truth/boundaries_um.f32", "<f4").reshape(-1, 96, 128)[:9]
        pitch = float(re.search(r"pitch_um = ([\d.]+)", (self.folder / "sim/truth/truth.toml").read_text())[1])
        errors = np.abs(found - truth) / pitch
        self.assertLess(np.isnan(found).mean(), 0.01)
        self.assertLessEqual(np.nanmean(errors), 0.8)
        worst = np.nanmean(errors, axis=(1, 2)).max()
        self.assertLessEqual(worst, 1.2)
        self.assertFalse((np.diff(found, axis=0) < 0).any())

    def test_single_b_scan_matches_exact_path(self):
        depth, a_scans = 120, 160
        at = 60 + 12 * np.sin(np.arange(a_scans) / 25)
        db, mean = speckled([0, 0.3], at[None, None, :], depth, seed=4, snr_db=12)
        write_nrrd(self.folder / "b.nrrd", db)
        self.succeed("segment", "b.nrrd", "-o", "s.nrrd", "--preset", "layers", "--count", "1")
        found = surfaces(self.folder / "s.nrrd")[0][0, 0] / 1.4
        dark, bright = mean[0, :, 0].mean(), mean[0, :, -1].mean()
        power = 10 ** (db[0] / 10)
        above = np.concatenate([np.zeros((a_scans, 1)), np.cumsum(power / dark + np.log(dark), axis=1)], axis=1)
        below = np.concatenate([np.zeros((a_scans, 1)), np.cumsum(power / bright + np.log(bright), axis=1)], axis=1)
        exact = exact_path(above + below[:, -1:] - below) - 0.5
        self.assertLess(np.abs(found - exact).mean(), 0.6)
        self.assertLess(np.abs(found - at).mean(), np.abs(exact - at).mean() + 0.05)

    def test_derives_maps_from_surfaces(self):
        boundaries = np.stack([np.full((12, 40), 20.5), np.full((12, 40), 40.5), np.full((12, 40), 65.5)])
        db, _ = speckled([0, 1, 0.1, 0], boundaries, 90, seed=5)
        write_nrrd(self.folder / "v.nrrd", db)
        search = ["--preset", "layers", "--count", "3", "--polarity", "1,-1,-1"]
        self.succeed("segment", "v.nrrd", *search, "-o", "s.nrrd", "--thickness", "t.nrrd", "--en-face", "e.nrrd",
                     "--flatten", "flat.nrrd", "--picture", "b.png")
        self.succeed("segment", "v.nrrd", *search, "-o", "s.csv", "--thickness", "t.png", "--en-face", "e.pdf")
        thickness = np.nanmean(read_nrrd(self.folder / "t.nrrd").reshape(2, 12, 40), axis=(1, 2))
        np.testing.assert_allclose(thickness, [28, 35], atol=0.7)
        lines = (self.folder / "s.csv").read_text().splitlines()
        self.assertEqual(lines[0], "b_scan,a_scan,surface,depth_um,quality,reason")
        self.assertEqual(len(lines), 1 + 12 * 40 * 3)
        colours = len(np.unique(read_png(self.folder / "b.png")[..., :3].reshape(-1, 3), axis=0))
        self.assertGreater(colours, 20)
        # Reads the surfaces from the file, without a search.
        told = self.succeed("segment", "v.nrrd", "--surfaces", "s.nrrd", "--en-face", "again.nrrd").out
        self.assertNotIn("found in", told)
        np.testing.assert_array_equal(read_nrrd(self.folder / "again.nrrd"), read_nrrd(self.folder / "e.nrrd"))
        self.succeed("segment", "flat.nrrd", "--surfaces", "s.nrrd", "--unflatten", "back.nrrd")
        difference = read_nrrd(self.folder / "back.nrrd") - read_nrrd(self.folder / "v.nrrd")
        self.assertLess(np.sqrt((difference[:, 5:85] ** 2).mean()), 3)  # dB; the speckle was interpolated twice

    def test_backend_is_chosen(self):
        boundaries = np.stack([np.full((8, 24), 20.5), np.full((8, 24), 40.5)])
        db, _ = speckled([0, 1, 0], boundaries, 64, seed=5)
        write_nrrd(self.folder / "v.nrrd", db)
        line = ["segment", "v.nrrd", "--preset", "layers", "--count", "2"]
        self.assertEqual(json.loads(self.succeed(*line, "-o", "cpu.nrrd", "--backend", "cpu", "--json").out)["backend"], "cpu")
        told = self.run_program(*line, "-o", "cuda.nrrd", "--backend", "cuda", "--json")
        if told.code != 0:
            self.assertIn("cuda", told.err.lower())
            self.assertFalse((self.folder / "cuda.nrrd").exists())
            self.succeed(*line, "-o", "cuda.nrrd", "--json")
        np.testing.assert_array_equal(surfaces(self.folder / "cuda.nrrd")[0], surfaces(self.folder / "cpu.nrrd")[0])

    def test_rejects_noise(self):
        db, _ = speckled([0], np.zeros((0, 8, 40)), 200, seed=6)
        write_nrrd(self.folder / "noise.nrrd", db)
        self.refuse("segment", "noise.nrrd", "-o", "s.nrrd", names=["no signal exceeds the noise"], lines=None)

    def test_rejects_invalid_input(self):
        boundaries = np.stack([np.full((4, 16), 20.5), np.full((4, 16), 40.5)])
        db, _ = speckled([0, 1, 0], boundaries, 60, seed=7)
        write_nrrd(self.folder / "v.nrrd", db)
        write_nrrd(self.folder / "unknown.nrrd", db, unit="dB\necholux_spacing_known:=-")
        layers = ["segment", "v.nrrd", "--preset", "layers"]
        self.refuse("segment", "v.nrrd", names=["nothing is to be written", "--output"])
        self.refuse(*layers[:2], "-o", "s.nrrd", "--preset", "retinas", names=["did you mean", "retina"])
        self.refuse(*layers, "-o", "s.xyz", names=["s.xyz"])
        self.refuse(*layers, "-o", "s.nrrd", "--count", "20", names=["20 surfaces"], lines=None)
        self.refuse(*layers, "--count", "2", "--en-face", "e.nrrd", "--between", "2:1", names=["--between"], lines=None)
        self.refuse(*layers, "--count", "2", "--en-face", "e.nrrd", "--between", "1:3", names=["there is no surface"],
                    lines=None)
        self.refuse(*layers, "--en-face", "e.nrrd", "--between", "1", names=["--between"])
        self.refuse(*layers, "-o", "s.nrrd", "--polarity", "1,1", names=["layers.polarity"], lines=None)
        self.refuse("segment", "unknown.nrrd", "-o", "s.nrrd", names=["depth pitch of the volume is unknown", "layers.row_um"], lines=None)
        self.refuse(*layers, "-o", "s.nrrd", "--count", "2", "--min", "80", names=["no depths fit"], lines=None)

    def test_voxel_quantity_is_decided_or_stated(self):
        surface = np.full((1, 160), 100.5)
        db, _ = speckled([0.001, 1], surface[None], 220, seed=8)
        looks = np.random.default_rng(9).gamma(12, 1 / 12, db.shape)
        linear = (np.where(np.arange(220) > 100.5, 1.0, 0.001) * looks)[:1]
        search = ["--preset", "surface", "-o", "s.csv", "--json", "--overwrite"]
        for name, voxels, stored_as in (("db", 10 * np.log10(linear), "db"), ("linear", linear, "intensity"),
                                        ("root", linear ** 0.25, "fourth-root")):
            write_nrrd(self.folder / f"{name}.nrrd", voxels, quantity="", unit="")
            told = json.loads(self.succeed("segment", f"{name}.nrrd", *search, "--stored-as", stored_as).out)
            self.assertEqual(told["method"], "surface")
            self.assertAlmostEqual(told["looks"], 12, delta=3)
        told = self.succeed("segment", "db.nrrd", *search[:-2], "--overwrite")
        self.assertIn("assuming that voxels hold db", told.out + told.err)
        self.refuse("segment", "db.nrrd", *search[:-2], "--overwrite", "--stored-as", "decibel", names=["--stored-as", "db"])
        self.refuse("segment", "linear.nrrd", *search[:-2], "--overwrite", "--stored-as", "log", names=["8 and 16 bits"],
                    lines=None)


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
