"""Settings that have no effect or show nothing are reported in one clear line, for any combination of options."""
import json

import numpy as np

from scans import write_nrrd
from support import ProgramCase


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
        told = json.loads(self.succeed(*render, "--lights", "three-point", "--json").out)
        self.assertEqual(len(told["warnings"]), 1)
        self.assertNotIn("no effect", self.succeed(*render, "--mode", "mip").err)

    def test_slow_planes_and_slabs_outside_volume(self):
        render = ["render", "v.nrrd", "-o", "p.png", "--size", "32x32", "--overwrite"]
        self.warned("plane_offset_um is 5000", *render, "--show", "slice", "--plane-offset", "5000")
        self.warned("top_um is 5000", *render, "--top", "5000")
        self.assertNotIn("nothing is visible", self.succeed(*render, "--show", "slice").err)
        self.assertNotIn("nothing is visible", self.succeed(*render, "--top", "1").err)
