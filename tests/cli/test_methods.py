"""Reconstruction methods from the command line: empty voxels of compressive sensing, and messages about settings."""
import re

import numpy as np

from png_files import read_png
from scans import fringes, write_scan
from support import ProgramCase, read_volume

SPARSE = ["--set", "recipe.method=compressive", "--set", "compressive.transform=fft", "--set", "compressive.iterations=8"]


class Settings(ProgramCase):
    def window_of(self, *options):
        write_scan(self.folder)
        self.succeed("reconstruct", "scan.toml", "-o", "v.nrrd", *options)
        told = self.succeed("info", "v.nrrd").out
        return "rect" if "recipe.window" in told and "rect" in told else "hann"

    def test_last_option_wins(self):
        self.assertEqual(self.window_of("--window=hann", "--set", "recipe.window=rect"), "rect")
        self.assertEqual(self.window_of("--set", "recipe.window=rect", "--window=hann"), "hann")
        self.assertEqual(self.window_of("--window", "rect", "--set", "recipe.zero_padding=2", "--window", "hann"), "hann")
        (self.folder / "mine.toml").write_text('[recipe]\nwindow = "hann"\n')
        self.assertEqual(self.window_of("--window=rect", "--recipe", "mine.toml"), "rect")  # options override a recipe

    def test_settings_without_effect_are_reported(self):
        write_scan(self.folder)
        told = self.succeed("reconstruct", "scan.toml", "-o", "v.nrrd", "--set", "defr.iterations=3", "--tukey-alpha=0.1").err
        self.assertIn("defr.iterations has no effect: recipe.method is plain", told)
        self.assertIn("recipe.tukey_alpha has no effect: recipe.window is hann", told)

    def test_unwritten_flow_is_reported(self):
        write_scan(self.folder)
        doppler = ["reconstruct", "scan.toml", "-o", "v.nrrd", "--set", "flow.method=doppler"]
        self.assertIn("flow.method: doppler is not written; name a volume for it with --flow", self.succeed(*doppler).err)
        self.assertNotIn("not written", self.succeed(*doppler, "--flow", "f.nrrd").err)

    def test_wavelengths_in_any_unit(self):
        nm = np.linspace(800, 890, 256)
        pitches = []
        for scale in (1, 1e-3, 1e-9):
            np.savetxt(self.folder / "w.csv", nm * scale)
            write_scan(self.folder, calibration={"wavelengths": "w.csv"}, recipe={"resample": "linear"})
            done = self.succeed("reconstruct", "scan.toml", "-o", "v.nrrd")
            self.assertEqual("interpreted as" in done.err, scale != 1, done)
            pitches.append(re.search(r"depth pitch +([\d.]+) um", self.succeed("info", "v.nrrd").out)[1])
        self.assertEqual(len(set(pitches)), 1)

    def test_warns_of_unlikely_layouts_and_numbers(self):
        write_scan(self.folder, fringes(b_scans=4, a_scans=64), scan={"line_rate_hz": 76})
        told = self.succeed("reconstruct", "scan.toml", "-o", "v.nrrd", "--set", "scan.byte_order=big").err
        self.assertIn("echolux: warning: scan.byte_order", told)
        self.assertIn("scan.line_rate_hz: 76 Hz is unlikely", told)


class MovingRepeats(ProgramCase):
    def test_aligning_flow_leaves_structure_unchanged(self):
        """The simulator moves by about 0.5 um from repeat to repeat, and a little along the B-scan."""
        self.succeed("simulate", "vessel", "-o", "scan.toml", "--samples", "512", "--a-scans", "64", "--b-scans", "4", "--b-repeats", "4",
                     "--motion-axial", "30", "--motion-lateral", "5", "--set", "simulation.motion_saccade_rate_hz=0",
                     "--set", "simulation.spacing_a_um=4")
        plain = ["reconstruct", "scan.toml", "--average", "power", "--backend", "cpu", "-o"]
        self.succeed(*plain, "a.nrrd", "--flow", "fa.nrrd", "--set", "flow.method=complex_decorrelation", "--set", "flow.align=true")
        self.succeed(*plain, "b.nrrd")
        np.testing.assert_array_equal(read_volume(self.folder / "a.nrrd"), read_volume(self.folder / "b.nrrd"))


class FullRange(ProgramCase):
    def test_unsuitable_dispersion_is_reported(self):
        kappa, j = np.linspace(-1, 1, 512), np.arange(512)
        noise = np.random.default_rng(4).normal(0, 20, (1, 16, 512))
        spectra = 20000 + noise
        for bin_, side in ((60, 1), (140, -1)):
            phase = 2 * np.pi * (bin_ + np.arange(16)[:, None]) * j / 512 + side * 60 * kappa**2
            spectra = spectra + 3000 * np.cos(phase)
        write_scan(self.folder, np.rint(spectra).astype("<u2"), recipe={"background": "none"})
        defr = ["reconstruct", "scan.toml", "-o", "v.nrrd", "--set", "recipe.method=defr"]
        self.assertNotIn("does not fit", self.succeed(*defr, "--set", "recipe.a2_rad=60").err)
        self.assertIn("sharpest with about 2.0 times as much", self.succeed(*defr, "--set", "recipe.a2_rad=30").err)
        self.assertIn("sharpest with about 0.5 times as much", self.succeed(*defr, "--set", "recipe.a2_rad=120").err)


class Compressive(ProgramCase):
    def test_tau_with_empty_result_is_reported(self):
        scan = write_scan(self.folder)
        done = self.succeed("reconstruct", scan, "-o", "v.nrrd", *SPARSE, "--set", "compressive.tau_relative=1")
        self.assertIn("compressive.tau_relative: 100.00 % of the depth bins are left empty", done.err)
        self.assertLessEqual(read_volume(self.folder / "v.nrrd").max(), -190)
        done = self.succeed("reconstruct", scan, "-o", "v.nrrd", *SPARSE)
        self.assertNotIn("empty", done.err)

    def test_empty_voxels_do_not_affect_range(self):
        scan = write_scan(self.folder)
        self.succeed("reconstruct", scan, "-o", "v.nrrd", *SPARSE)
        volume = read_volume(self.folder / "v.nrrd")
        self.assertGreater((volume < -150).mean(), 0.3)
        self.succeed("reconstruct", scan, "-o", "b.png", "--b-scan", "1", *SPARSE)
        grays = read_png(self.folder / "b.png")[..., 0]
        self.assertGreater(len(np.unique(grays)), 100)  # the reflectors alone span the gray scale
        self.assertGreater((grays == 0).mean(), 0.3)
