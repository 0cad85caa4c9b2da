"""Settings on the command line: which one wins, and one clear line about settings that have no effect or show nothing."""
import json

import numpy as np

from scans import fringes, write_nrrd, write_scan
from support import ProgramCase, read_volume

SPARSE = ["--set", "recipe.method=compressive", "--set", "compressive.transform=fft", "--set", "compressive.iterations=8"]


class Settings(ProgramCase):
    def window_of(self, *options):
        write_scan(self.folder)
        self.succeed("reconstruct", "scan.toml", "-o", "v.nrrd", *options)
        output = self.succeed("info", "v.nrrd").out
        return "rect" if "recipe.window" in output and "rect" in output else "hann"

    def test_last_option_wins(self):
        self.assertEqual(self.window_of("--window=hann", "--set", "recipe.window=rect"), "rect")
        self.assertEqual(self.window_of("--set", "recipe.window=rect", "--window=hann"), "hann")
        self.assertEqual(self.window_of("--window", "rect", "--set", "recipe.zero_padding=2", "--window", "hann"), "hann")
        (self.folder / "mine.toml").write_text('[recipe]\nwindow = "hann"\n')
        self.assertEqual(self.window_of("--window=rect", "--recipe", "mine.toml"), "rect")  # options override a recipe


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


class NoEffect(ProgramCase):
    def setUp(self):
        super().setUp()
        random = np.random.default_rng(3)
        levels = np.where((np.arange(96) > 30) & (np.arange(96) < 60), 100.0, 1.0)
        write_nrrd(self.folder / "v.nrrd", levels * random.exponential(1, (12, 16, 96)), quantity="intensity")

    def warned(self, line, *arguments):
        self.assertIn(line, self.succeed(*arguments).err)

    def test_between_requires_outputs(self):
        segment = ["segment", "v.nrrd", "--preset", "layers", "--names", "front back", "--polarity", "1,-1", "-o", "s.csv", "--overwrite"]
        self.warned("no effect without a map", *segment, "--between", "front:back")
        self.warned("no effect without a volume", *segment, "--level", "front")
        self.assertNotIn("no effect", self.succeed(*segment, "--between", "front:back", "--thickness", "t.nrrd").err)

    def test_unknown_quantities_are_reported(self):
        one = np.random.default_rng(1).exponential(1, (16, 96))
        write_nrrd(self.folder / "unknown.nrrd", np.stack([one * (1 + 0.01 * i) for i in range(12)]), quantity="", unit="")
        self.warned("does not state the meaning of its voxels", "register", "unknown.nrrd", "-o", "r.nrrd")

    def test_slow_settings_of_view(self):
        render = ["render", "v.nrrd", "-o", "p.png", "--size", "32x32", "--overwrite"]
        self.warned("lights has no effect", *render, "--lights", "three-point")
        self.warned("area_lights has no effect", *render, "--mode", "traced", "--paths", "1", "--area-lights", "40,35,3,1.2,0,1,0.96,0.9")
        self.warned("view.point_size has no effect: view.mode is mip", *render, "--mode", "mip", "--set", "view.point_size=0.5")
        output = json.loads(self.succeed(*render, "--lights", "three-point", "--json").out)
        self.assertEqual(len(output["warnings"]), 1)
        self.assertNotIn("no effect", self.succeed(*render, "--mode", "mip").err)

    def test_slow_planes_and_slabs_outside_volume(self):
        render = ["render", "v.nrrd", "-o", "p.png", "--size", "32x32", "--overwrite"]
        self.warned("plane_offset_um is 5000", *render, "--show", "slice", "--plane-offset", "5000")
        self.warned("top_um is 5000", *render, "--top", "5000")
        self.assertNotIn("nothing is visible", self.succeed(*render, "--show", "slice").err)
        self.assertNotIn("nothing is visible", self.succeed(*render, "--top", "1").err)


class Noticed(ProgramCase):
    def test_reports_single_volume_of_several(self):
        """Reconstructing only one of several volumes used to go unnoticed."""
        fringes = np.zeros((4, 3, 4, 256), "<u2") + np.arange(256, dtype="<u2")
        write_scan(self.folder, fringes.reshape(12, 4, 256), name="many.toml", scan={"b_scans": 3, "volumes": 4})
        output = self.succeed("reconstruct", "many.toml", "-o", "one.nrrd").out
        self.assertIn("volume 0 of 4; --volume all", output)
        for words in (["--volume", "0"], ["--volume", "all"]):
            self.assertNotIn("of 4", self.succeed("reconstruct", "many.toml", "-o", "one.nrrd", *words).out)

    def test_surface_above_all_values(self):
        self.succeed("reconstruct", write_scan(self.folder), "-o", "v.nrrd")
        render = ["render", "v.nrrd", "-o", "p.png", "--size", "16x16", "--mode", "isosurface", "--isovalue"]
        self.assertIn("no surface is visible", self.succeed(*render, 4000).err)
        self.assertNotIn("no surface", self.succeed(*render, 10).err)
