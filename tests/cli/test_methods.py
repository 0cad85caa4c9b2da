"""Methods from the command line: what compressive sensing leaves empty, and what is said of it."""
import numpy as np

from support import ProgramCase, read_png, read_volume, write_scan

SPARSE = ["--set", "recipe.method=compressive", "--set", "compressive.transform=fft", "--set", "compressive.iterations=8"]


class Compressive(ProgramCase):
    def test_a_tau_that_leaves_nothing_is_told(self):
        scan = write_scan(self.folder)
        done = self.succeed("reconstruct", scan, "-o", "v.nrrd", *SPARSE, "--set", "compressive.tau_relative=1")
        self.assertIn("compressive.tau_relative: 100.00 % of the depth bins are left empty", done.err)
        self.assertLessEqual(read_volume(self.folder / "v.nrrd").max(), -190)
        done = self.succeed("reconstruct", scan, "-o", "v.nrrd", *SPARSE)
        self.assertNotIn("empty", done.err)

    def test_empty_voxels_do_not_decide_what_pictures_span(self):
        scan = write_scan(self.folder)
        self.succeed("reconstruct", scan, "-o", "v.nrrd", *SPARSE)
        volume = read_volume(self.folder / "v.nrrd")
        self.assertGreater((volume < -150).mean(), 0.3)
        self.succeed("reconstruct", scan, "-o", "b.png", "--b-scan", "1", *SPARSE)
        grays = read_png(self.folder / "b.png")[..., 0]
        self.assertGreater(len(np.unique(grays)), 100)  # the reflectors alone use all grays
        self.assertGreater((grays == 0).mean(), 0.3)
