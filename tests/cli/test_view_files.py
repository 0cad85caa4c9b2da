"""Files that define a picture: views, transfer functions, key frames."""
import nibabel
import numpy as np

from png_files import read_png
from support import ProgramCase


class ViewFiles(ProgramCase):
    def setUp(self):
        super().setUp()
        z, y, x = np.mgrid[-8:8, -8:8, -8:8]
        levels = (200 - 20 * np.sqrt(x**2 + 2 * y**2 + 4 * z**2)).clip(0).astype(np.uint8)
        nibabel.save(nibabel.Nifti1Image(levels, np.eye(4)), self.folder / "v.nii")

    def picture(self, *options):
        self.succeed("render", "v.nii", "-o", "p.png", "--size", "24x24", *options)
        return read_png(self.folder / "p.png")

    def test_slow_saved_transfer_function_gives_same_picture(self):
        before = self.picture("--colour-map", "magma", "--opacity", "0.5", "--save-transfer", "t.toml")
        after = self.picture("--transfer", "t.toml")
        self.assertLessEqual(np.abs(after.astype(int) - before.astype(int)).max(), 1)
        self.assertGreater(np.abs(self.picture().astype(int) - before.astype(int)).max(), 10)

    def test_slow_time_selects_view_of_key_frames(self):
        (self.folder / "k.toml").write_text("[[key]]\ntime_s = 0\nazimuth_deg = 0\n"
                                            "[[key]]\ntime_s = 2\nazimuth_deg = 90\n")
        for seconds, azimuth in ((0, 0), (1, 45), (2, 90)):
            moved = self.picture("--keyframes", "k.toml", "--at", str(seconds))
            np.testing.assert_array_equal(moved, self.picture("--azimuth", str(azimuth)))

    def test_options_override_view_file(self):
        (self.folder / "view.toml").write_text("[view]\nazimuth_deg = 70\nzoom = 2\n")
        np.testing.assert_array_equal(self.picture("--view", "view.toml", "--zoom", "1.5"),
                                      self.picture("--azimuth", "70", "--zoom", "1.5"))
