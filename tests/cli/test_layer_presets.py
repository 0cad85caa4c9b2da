"""Presets of tissue without recordings of known boundaries (skin, cornea, clear coat), on own scenes of the simulator, as
single looks and as devices average and cut them. Bounds: error in pixels of the simulated depth."""
import csv

import numpy as np

from support import ProgramCase

CORNEA = """
[scene]
refractive_index = 1.376
spacing_a_um = 20
[boundaries]
depth = [0.15, 0.20, 0.216, 0.70, 0.712]  # epithelium, Bowman's layer, stroma, endothelium
bow = 0.12
reflex = [0.25, 0, 0, 0, 0.05]
[layers]
brightness = [0.35, 0.8, 0.45, 0.7]
attenuation_per_mm = [0.5, 1, 0.8, 1]
"""
CLEAR_COAT = """
[scene]
refractive_index = 1.5
spacing_a_um = 10
[boundaries]
depth = [0.2, 0.28, 0.36, 0.6]  # clear coat, pigmented base, primer
tilt = 0.03
wave = 0.004
reflex = [0.3, 0.1, 0, 0]
[layers]
brightness = [0.02, 0.9, 0.5]
attenuation_per_mm = [0.5, 8, 4]
"""
SINGLE = ("--b-scans", 2, "--brightness", 0.0045)
AVERAGED = ("--b-scans", 1, "--b-repeats", 8, "--renewal", 0.0005, "--brightness", 0.02, "--picture", "v.nrrd")
A_SCANS = 120


class SlowLayerPresets(ProgramCase):
    def run_program(self, *arguments, **how):
        return super().run_program(*arguments, **{**how, "environment": {"XDG_CONFIG_HOME": str(self.folder / "config")}})

    def simulated(self, scene, text, how):
        if text:
            path = self.folder / "config" / "echolux" / "scenes" / f"{scene}.toml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.succeed("simulate", scene, "-o", "s/scan.toml", "--overwrite", "--a-scans", A_SCANS, *how)
        if how is SINGLE:
            self.succeed("reconstruct", "s/scan.toml", "-o", "v.nrrd", "--overwrite")
        truth = (self.folder / "s/truth/truth.toml").read_text()
        self.pitch = float(next(line.split("=")[1] for line in truth.splitlines() if line.startswith("pitch_um")))
        return np.fromfile(self.folder / "s/truth/boundaries_um.f32", "<f4").reshape(-1, how[1], A_SCANS)

    def found(self, preset):
        """Returns {surface: (depths in um, is_ok)}, [b_scan][a_scan]."""
        self.succeed("segment", "v.nrrd", "-o", "v.csv", "--overwrite", "--preset", preset)
        with open(self.folder / "v.csv") as table:
            rows = list(csv.DictReader(table))
        found = {}
        for name in dict.fromkeys(row["surface"] for row in rows):
            own = [row for row in rows if row["surface"] == name]
            shape = (-1, A_SCANS)
            found[name] = (np.array([float(row["depth_um"] or "nan") for row in own]).reshape(shape),
                           np.array([row["reason"] == "ok" for row in own]).reshape(shape))
        return found

    def judge(self, found, truth, within, ok, near=3):
        pixels = np.abs(found[0] - truth) / self.pitch
        self.assertGreaterEqual((pixels <= near).mean(), within)
        self.assertGreaterEqual(found[1].mean(), ok)
        self.assertLessEqual((pixels[found[1]] > 8).mean(), 0.02)

    def test_cornea(self):
        for how in (SINGLE, AVERAGED):
            with self.subTest(how=how):
                truth = self.simulated("cornea", CORNEA, how)
                found = self.found("anterior")
                self.judge(found["front"], truth[0], 0.95, 0.7)
                self.judge(found["back"], truth[4], 0.95, 0.6)

    def test_skin(self):
        for how in (SINGLE, AVERAGED):
            with self.subTest(how=how):
                truth = self.simulated("vessel", "", how)
                found = self.found("skin")
                self.judge(found["surface"], truth[0], 0.95, 0.8, near=5)  # the foot of the edge
                self.judge(found["dermis"], truth[2], 0.95, 0.8)

    def test_clear_coat(self):
        truth = self.simulated("coat", CLEAR_COAT, SINGLE)
        found = self.found("coating")
        self.judge(found["surface"], truth[0], 0.95, 0.8)
        self.judge(found["base"], truth[1], 0.95, 0.8)
        # The preset surface takes the line above the dim film for a coverslip.
        self.assertGreater(np.nanmedian(self.found("surface")["surface"][0] - truth[0]), 20)

    def test_missing_boundary_is_not_found(self):
        plain = CORNEA.replace("0.70, 0.712]", "0.98, 0.99]").replace("0.05]", "0]")
        self.simulated("thick", plain, SINGLE)
        self.assertLess(self.found("anterior")["back"][1].mean(), 0.1)
