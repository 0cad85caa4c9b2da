"""`echolux calibrate`: means, noise floors, k maps, dispersion and roll-off from recordings, compared with NumPy,
and the dispersion of a real instrument."""
import json
import os
import re
import unittest
from pathlib import Path

import numpy as np
from scipy.interpolate import CubicSpline

from png_files import read_png
from scans import write_scan
from support import ProgramCase, read_volume

N = 512
U = np.linspace(-1, 1, N)
K = 2 * np.pi / (0.845 + 0.095 * U + 0.0025 * (U**2 - 1))  # rad/um of each sample, descending
KAPPA = 2 * (K - K[-1]) / (K[0] - K[-1]) - 1
SOURCE = 2400 * np.exp(-(((KAPPA) / 0.7) ** 2))
DARK = 300
A2, A3 = 20, -4


def mirror(depth_um, side=1, lines=40, seed=1):
    """Returns u16 lines [1][lines][N] of a mirror on one side of zero delay. Depth 0: without a mirror."""
    noise = np.random.default_rng(seed).normal(0, 6, (1, lines, N))
    theta = side * (A2 * KAPPA**2 + A3 * KAPPA**3)
    fringe = 0.3 * np.cos(2 * K * depth_um + theta) if depth_um else 0
    return np.rint(DARK + SOURCE * (1 + fringe) + noise).astype("<u2")


def linear_mirror(share, noise_rms=20, lines=60, phase=None, seed=5):
    """Returns u16 lines [1][lines][N], linear in k, of a mirror at this fraction of the range, for pixels without
    gaps."""
    j = np.arange(N)
    theta = 0 if phase is None else phase
    fringe = 8000 * np.sinc(share / 2) * np.cos(np.pi * share * j + theta)
    noise = np.random.default_rng(seed).normal(0, noise_rms, (1, lines, N))
    return np.rint(20000 + fringe + noise).astype("<u2")


def noise_only(seed, b_scans=2, lines=600):
    return np.rint(20000 + np.random.default_rng(seed).normal(0, 50, (b_scans, lines, N))).astype("<u2")


def rms_of_map(positions, truth):
    """RMS error in samples over the central 76 %, apart from a straight line."""
    grid = np.arange(len(truth))
    found, true = (CubicSpline(p[:: 1 if p[0] < p[-1] else -1], grid)(grid) for p in (positions, truth))
    middle = slice(int(0.12 * len(truth)), -int(0.12 * len(truth)))
    line = np.polynomial.Polynomial.fit(true[middle], found[middle], 1)
    return np.std(found[middle] - line(true[middle]))


def numbers(text):
    return {key: float(value) for key, value in re.findall(r"^(\w+) = (-?[\d.e-]+)$", text, re.M)}


class Calibrate(ProgramCase):
    def write(self, name, spectra):
        return write_scan(self.folder / name, spectra)

    def write_mirrors(self, side):
        self.write("m1", mirror(60, seed=1))
        self.write("m2", mirror(150, side, seed=2))
        self.write("bg", mirror(0, seed=3))

    def test_k_map_and_dispersion_of_two_mirrors(self):
        truth = CubicSpline(K[::-1], np.arange(N)[::-1])(np.linspace(K[-1], K[0], N))
        for side, name in ((1, "same"), (-1, "opposite")):
            self.write_mirrors(side)
            printed = self.succeed(
                "calibrate", "k", "m1/scan.toml", "m2/scan.toml", "--background", "bg/scan.toml", "--sides", name,
                "--wavelength-rises", "--displacement", 90 if side > 0 else 210, "-o", "k.csv").out
            self.assertLess(rms_of_map(np.loadtxt(self.folder / "k.csv"), truth), 0.05, name)
            found = numbers(printed)
            self.assertAlmostEqual(found["a2_rad"], A2, delta=0.3, msg=name)
            self.assertAlmostEqual(found["a3_rad"], A3, delta=0.3, msg=name)
            pitch = np.pi * (N - 1) / N / (K[0] - K[-1])
            self.assertAlmostEqual(found["depth_pitch_um"], pitch, delta=5e-3 * pitch, msg=name)

    def test_warns_of_displacement_in_another_unit(self):
        self.write_mirrors(1)
        line = ["calibrate", "k", "m1/scan.toml", "m2/scan.toml", "--background", "bg/scan.toml", "--sides", "same",
                "--wavelength-rises", "-o", "k.csv", "--displacement"]
        self.assertNotIn("--displacement", self.succeed(*line, 90).err)
        for value, unit in ((0.09, "mm"), (90000, "nm")):
            warned = self.succeed(*line, value).err
            self.assertRegex(warned, rf"--displacement: {value:g} um makes a depth bin .* \(is it in {unit}\?\)")

    def test_warns_of_reversed_wavelengths(self):
        self.succeed("simulate", "mirror", "-o", "sim/scan.toml", "--samples", 512, "--a-scans", 16, "--b-scans", 2)
        self.assertNotIn("opposite order", self.succeed("reconstruct", "sim/scan.toml", "-o", "v.nrrd").err)
        stored = self.folder / "sim/scan.wavelengths.f64"
        np.fromfile(stored)[::-1].tofile(stored)
        warned = self.succeed("reconstruct", "sim/scan.toml", "-o", "v.nrrd", "--overwrite").err
        self.assertIn("sharper with the wavelengths in the opposite order", warned)

    def test_warns_without_k_map(self):
        """Without a k map, the phase also compensates for uneven sampling in k."""
        self.succeed("simulate", "mirror", "-o", "sim/scan.toml", "--samples", 512, "--a-scans", 16, "--b-scans", 2)
        self.assertNotIn("k map", self.succeed("calibrate", "dispersion", "sim/scan.toml").err)
        scan = self.folder / "sim/scan.toml"
        lines = [line for line in scan.read_text().splitlines() if not line.startswith("wavelengths")]
        scan.write_text("\n".join(lines) + "\n")
        self.assertIn("the scan has no k map", self.succeed("calibrate", "dispersion", "sim/scan.toml").err)

    def test_noise_floor_is_subtracted_by_scans(self):
        self.write("bg", noise_only(1))
        self.succeed("calibrate", "background", "bg/scan.toml", "-o", "bg.csv")
        np.testing.assert_allclose(np.loadtxt(self.folder / "bg.csv"), noise_only(1).mean((0, 1)), rtol=1e-12)
        stored = {"calibration": {"background": "../bg.csv"}, "recipe": {"background": "stored"}}
        write_scan(self.folder / "empty", noise_only(2), **stored)
        printed = self.succeed("calibrate", "noise", "empty/scan.toml", "-o", "noise.csv", "--plot", "noise.png").out
        self.assertRegex(printed, r'noise_floor = "/.*/noise\.csv"')  # absolute, so that it can be pasted anywhere
        self.assertIn('noise_floor = "amplitude"', printed)
        window = np.hanning(N)
        light = (noise_only(2) - np.loadtxt(self.folder / "bg.csv")) * window / window.sum()
        expected = np.abs(np.fft.fft(light)[..., : N // 2]).mean((0, 1))
        np.testing.assert_allclose(np.loadtxt(self.folder / "noise.csv"), expected, rtol=1e-4)
        self.assertLess(read_png(self.folder / "noise.png").min(), 100)

        stored["calibration"]["noise_floor"] = "../noise.csv"
        stored["recipe"] |= {"noise_floor": "amplitude", "quantity": "amplitude"}
        write_scan(self.folder / "after", noise_only(3), **stored)
        self.succeed("reconstruct", "after/scan.toml", "-o", "left.nrrd")
        left = read_volume(self.folder / "left.nrrd").mean((0, 1)) / expected
        self.assertAlmostEqual(left[1:].mean(), 0.21, delta=0.01)  # for Rayleigh-distributed noise
        power = self.succeed("calibrate", "noise", "empty/scan.toml", "-o", "p.csv", "--mean", "power").out
        self.assertIn('noise_floor = "power"', power)
        root = np.sqrt((np.abs(np.fft.fft(light)[..., : N // 2]) ** 2).mean((0, 1)))
        np.testing.assert_allclose(np.loadtxt(self.folder / "p.csv"), root, rtol=1e-4)

    def test_roll_off_of_mirrors_at_several_depths(self):
        flat = np.full((1, 1, N), 20000, "<u2")
        self.write("bg", flat)
        shares = [0.1, 0.25, 0.5, 0.8]
        for share in shares:
            self.write(f"m{share}", linear_mirror(share))
        names = [f"m{share}/scan.toml" for share in reversed(shares)]
        printed = self.succeed("calibrate", "rolloff", *names, "--background", "bg/scan.toml", "--attenuation-db", 30,
                               "-o", "table.csv", "--set", "calibration.depth_pitch_um=4").out
        self.assertIn("roll-off below 6 dB", printed)
        table = np.genfromtxt(self.folder / "table.csv", delimiter=",", names=True)
        bins = np.array(shares) * N / 2
        np.testing.assert_allclose(table["depth_bin"], bins, atol=0.02)
        np.testing.assert_allclose(table["depth_um"], 4 * bins, atol=0.08)
        level = 20 * np.log10(4000 * np.sinc(np.array(shares) / 2))
        np.testing.assert_allclose(table["level_db"], level, atol=0.01)
        noise = 10 * np.log10((20**2 + 1 / 12) * (np.hanning(N) ** 2).sum() / np.hanning(N).sum() ** 2)
        np.testing.assert_allclose(table["snr_db"], level - noise, atol=0.15)
        np.testing.assert_allclose(table["sensitivity_db"], table["snr_db"] + 30, atol=2e-3)
        np.testing.assert_allclose(table["fwhm_um"], 8, atol=0.05)

        bare = self.succeed("calibrate", "rolloff", *names, "-o", "bare.csv", "--background", "bg/scan.toml").out
        self.assertNotIn("sensitivity", bare)
        rows = [line.split(",") for line in (self.folder / "bare.csv").read_text().splitlines()]
        self.assertEqual({row[rows[0].index("sensitivity_db")] for row in rows[1:]}, {""})
        zero = self.succeed("calibrate", "rolloff", *names, "--attenuation-db", 0).out
        self.assertIn("sensitivity", zero)

        double = self.succeed("calibrate", "rolloff", names[0], "--attenuation-db", 15, "--single-pass").out
        self.assertAlmostEqual(float(re.search(r"sensitivity ([\d.]+) dB", double)[1]), table["sensitivity_db"][3], delta=0.05)

    def test_roll_off_excludes_loss_of_interpolation(self):
        depths = (80, 180, 280, 380)
        for depth in depths:
            self.succeed("simulate", "mirror", "--out", f"m{depth}/scan.toml", "--samples", 512, "--a-scans", 4, "--b-scans", 1,
                         "--mirror", depth, "--mirror-amplitude", 0.2)
        names = [f"m{depth}/scan.toml" for depth in depths]
        found = []
        for resample in ("linear", "catmull_rom", "nufft"):
            output = self.succeed("calibrate", "rolloff", *names, "--set", f"recipe.resample={resample}", "--json").out
            found.append([mirror["level_db"] for mirror in json.loads(output)["mirrors"]])
        np.testing.assert_allclose(found[0], found[2], atol=0.02)
        np.testing.assert_allclose(found[1], found[2], atol=0.02)

    def test_marks_depth_beyond_mirrors_as_extrapolated(self):
        def written(name, share):  # falls off faster than the pixel width alone explains
            j = np.arange(N)
            fringe = 8000 * np.sinc(share / 2) * 10 ** (-0.3 * share**2) * np.cos(np.pi * share * j)
            return self.write(name, np.rint(20000 + fringe + np.random.default_rng(3).normal(0, 20, (1, 20, N))).astype("<u2"))
        flat = np.full((1, 1, N), 20000, "<u2")
        self.write("bg", flat)
        for name, share in (("a", 0.1), ("b", 0.3), ("c", 0.45), ("near", 0.12), ("deep", 0.95)):
            written(name, share)
        rolloff = ["calibrate", "rolloff", "--background", "bg/scan.toml", "a/scan.toml"]
        out = self.succeed(*rolloff, "b/scan.toml", "c/scan.toml").out
        self.assertRegex(out, r"6 dB roll-off at [\d.]+ bins \(extrapolated; deepest mirror at 115\.2 bins\)")
        self.assertNotIn("extrapolated", self.succeed(*rolloff, "c/scan.toml", "deep/scan.toml").out)
        near = self.succeed(*rolloff, "near/scan.toml").out
        self.assertIn("a tenth of the range apart", near)
        self.assertNotIn("6 dB", near)

    def test_many_depths_in_one_file_with_references(self):
        """31 depths in the A-scans of one file, with increasing light, and their references in another file."""
        shares = np.linspace(0.02, 0.92, 31)
        light = 20000 * (1 + 0.02 * np.arange(31))[:, None] * np.hanning(N + 40)[20:-20]
        fringes = np.concatenate([linear_mirror(share, lines=1, seed=i)[0] for i, share in enumerate(shares)]) - 20000.0
        self.write("depths", np.rint(light + fringes + 9000)[None].astype("<u2"))
        self.write("references", np.rint(light + 9000)[None].astype("<u2"))
        rolloff = ["calibrate", "rolloff", "depths/scan.toml", "--background", "references/scan.toml", "-o", "table.csv"]
        finished = self.succeed(*rolloff, "--each", "a-scan", "--depths", "4:")
        self.assertNotIn("warning", finished.err)
        table = np.genfromtxt(self.folder / "table.csv", delimiter=",", names=True)
        np.testing.assert_allclose(table["depth_bin"], shares * N / 2, atol=0.1)
        np.testing.assert_allclose(table["level_db"], 20 * np.log10(4000 * np.sinc(shares / 2)), atol=0.2)
        self.assertIn("depths/scan.toml A-scan 30", finished.out)

        self.write("columns", np.rint(light + fringes + 9000)[:, None].repeat(5, 1).astype("<u2"))
        self.write("few", np.rint(light + 9000)[:7, None].repeat(5, 1).astype("<u2"))
        self.succeed("calibrate", "rolloff", "columns/scan.toml", "--background", "references/scan.toml", "--each", "b-scan",
                     "--depths", "4:", "-o", "mean.csv")  # one B-scan of references: uses their mean
        self.refuse("calibrate", "rolloff", "columns/scan.toml", "--background", "few/scan.toml", "--each", "b-scan",
                    names=["few/scan.toml", "7 references", "31 mirrors"], lines=None)

    def test_mirrors_on_both_sides_have_opposite_dispersion(self):
        kappa = np.linspace(-1, 1, N)
        np.savetxt(self.folder / "theta.csv", 20 * kappa**2 - 4 * kappa**3)
        self.write("bg", np.full((1, 1, N), 20000, "<u2"))
        for name, share, side in (("near", 0.2, 1), ("far", 0.5, -1)):
            write_scan(self.folder / name, linear_mirror(share, phase=side * (20 * kappa**2 - 4 * kappa**3)),
                       calibration={"dispersion": "../theta.csv"})
        out = self.succeed("calibrate", "rolloff", "near/scan.toml", "far/scan.toml", "--background", "bg/scan.toml", "-o",
                           "t.csv").out
        table = np.genfromtxt(self.folder / "t.csv", delimiter=",", names=True)
        np.testing.assert_array_equal(table["side"], [1, -1])
        np.testing.assert_allclose(table["fwhm_bins"], 2, atol=0.05)
        self.assertEqual(out.count("beyond zero delay"), 1)


PHANTOMS = Path(os.environ.get("ECHOLUX_DATA", "")) / "ocp930-bscans"


@unittest.skipUnless(PHANTOMS.exists() and os.environ.get("ECHOLUX_DATA"), "ECHOLUX_DATA is not set")
class CalibrateRealPhantoms(ProgramCase):
    """The dispersion of one instrument, measured with a silicone phantom, agrees for any number of A-scans and any
    depth."""

    def searched(self, *options):
        printed = self.succeed("calibrate", "dispersion", PHANTOMS.resolve() / "pdms.raw", "--backend", "cpu", *options).out
        errors = re.search(r"a2 ([\d.]+) rad, a3 ([\d.]+) rad, by leaving out", printed)
        return numbers(printed)["a2_rad"], float(errors[1])

    def test_slow_results_agree_within_their_errors(self):
        found, error = self.searched("--lines", 512)
        self.assertLess(error, 0.3)
        for options in (["--lines", 16], [], ["--range", 20], ["--region", "0:,30:90"], ["--region", "0:,100:400"]):
            a2, its_error = self.searched(*options)
            self.assertLess(abs(a2 - found), 3 * its_error + 0.3, options)
