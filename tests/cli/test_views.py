"""Files that define a picture (views, transfer functions, colour maps, key frames), and several volumes in one picture."""
import nibabel
import numpy as np

from png_files import read_png
from scans import write_nrrd
from support import ProgramCase

TRANSFER = "[transfer]\nrelative = true\ncolours = [0, 0, 0, 0,  1, 0, 1, 0]\nextinctions = [0, 50,  1, 500]\n"


class OwnFiles(ProgramCase):
    def setUp(self):
        super().setUp()
        self.config = self.folder / "config" / "echolux"

    def own(self, name, text):
        path = self.config / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def run_program(self, *arguments, **how):
        how["environment"] = {"XDG_CONFIG_HOME": str(self.folder / "config"), **how.get("environment", {})}
        return super().run_program(*arguments, **how)

    def picture(self, *options):
        if not (self.folder / "v.nii").exists():
            z, y, x = np.mgrid[-8:8, -8:8, -8:8]
            levels = (200 - 20 * np.sqrt(x**2 + 2 * y**2 + 4 * z**2)).clip(0).astype(np.uint8)
            nibabel.save(nibabel.Nifti1Image(levels, np.eye(4)), self.folder / "v.nii")
        self.succeed("render", "v.nii", "-o", "p.png", "--size", "24x24", "--no-lighting", *options)
        return read_png(self.folder / "p.png").astype(int)

    def test_named_directions_follow_patient(self):
        """Voxels in another order give equal pictures."""
        head = np.zeros((16, 16, 16), np.uint8)
        head[2:5, 3:6, 3:13] = 255  # a column: left or right, in front or behind
        pictures = []
        for name, voxels, affine in (("ras", head, np.eye(4)), ("lps", head[::-1, ::-1], np.diag([-1, -1, 1, 1]))):
            nibabel.save(nibabel.Nifti1Image(voxels, affine.astype(float)), self.folder / f"{name}.nii")
            self.succeed("render", f"{name}.nii", "-o", f"{name}.png", "--size", "32x32", "--set", "view.look=front",
                         "--set", "view.mode=mip", "--overwrite")
            pictures.append(read_png(self.folder / f"{name}.png").astype(int))
        self.assertGreater(np.ptp(pictures[0][..., :3]), 50)
        np.testing.assert_allclose(*pictures, atol=2)

    def greener(self, picture):
        return (picture[..., 1] - picture[..., 0]).max()

    def test_slow_user_presets_override_shipped_ones(self):
        self.assertLess(self.greener(self.picture("--preset", "bone")), 10)
        self.own("transfer/mine.toml", TRANSFER)
        self.own("transfer/bone.toml", TRANSFER)
        self.assertGreater(self.greener(self.picture("--preset", "mine")), 40)
        np.testing.assert_array_equal(self.picture("--set", "view.preset=mine"), self.picture("--preset", "bone"))
        self.refuse("render", "v.nii", "-o", "q.png", "--preset", "yours", names=["view.preset", "automatic", "mine"])

    def test_colour_maps_are_found_by_name(self):
        self.own("colour_maps/green.txt", "# two colours\n000000\n00ff00\n")
        self.assertGreater(self.greener(self.picture("--colour-map", "green")), 50)
        self.own("colour_maps/green.txt", "000000\n00ff0\n")
        self.refuse("render", "v.nii", "-o", "q.png", "--colour-map", "green",
                    names=["green.txt line 2", "six hexadecimal digits", "one colour per line"])

    def test_listed_presets_have_their_origin(self):
        good = self.own("transfer/mine.toml", TRANSFER)
        over = self.own("colour_maps/magma.txt", "000000\nffffff\n")
        bad = self.own("transfer/bad.toml", "[transfer]\ncolors = [1]\n")
        scene = self.own("scenes/worse.toml", "[tubes]\ndepth = 0.5\nradius = [1, 1]\n")
        lines = [line.strip() for line in self.succeed("info", "--presets").out.splitlines()]
        listed = {line.split()[0]: " ".join(line.split()[1:]) for line in lines if line}
        self.assertEqual(listed["tissue"], "shipped")
        self.assertEqual(listed["capillary"], "shipped")
        self.assertEqual(listed["mine"], str(good))
        self.assertEqual(listed["magma"], f"{over}, in place of the shipped one")
        self.assertIn(f'{bad} line 2, transfer.colors: unknown key (did you mean "transfer.colours"?)', lines)
        self.assertIn(f"{scene}, tubes.radius: has 2 numbers for 1 (specify one for all, or one for each)", lines)
        self.refuse("info", "--presets", "--recipes", names=["--presets"], lines=None)


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


LABELS = """
[[label]]
id = 3
name = "RNFL"
colour = [1.0, 0.0, 0.0]
extinction = 400.0
"""
VIEW = ["--size", "64x64", "--no-box", "--low", "0", "--high", "40", "--background", "0,0,0"]


class Channels(ProgramCase):
    def setUp(self):
        super().setUp()
        random = np.random.default_rng(5)
        write_nrrd(self.folder / "structure.nrrd", 40 * random.random((16, 16, 16)))
        vessel = np.zeros((16, 16, 16))
        vessel[:, 6:10, 6:10] = 30
        write_nrrd(self.folder / "octa.nrrd", vessel, unit="dB", quantity="contrast")
        ids = np.zeros((16, 16, 16))
        ids[:, :, :4] = 3
        write_nrrd(self.folder / "ids.nrrd", ids, unit="", quantity="")
        write_nrrd(self.folder / "small.nrrd", np.zeros((16, 16, 15)))
        write_nrrd(self.folder / "fractions.nrrd", ids + 0.5, unit="", quantity="")
        (self.folder / "labels.toml").write_text(LABELS)

    def picture(self, name, *options):
        self.succeed("render", "structure.nrrd", "-o", name, *VIEW, *options)
        return read_png(self.folder / name)[..., :3].astype(int)

    def test_slow_channels_are_drawn_and_listed(self):
        plain = self.picture("plain.png")
        both = self.picture("both.png", "--channel", "octa.nrrd:angiogram", "--channel", "ids.nrrd:labels.toml")
        self.assertGreater(np.abs(both - plain).max(), 50)
        red = self.picture("red.png", "--channel", "ids.nrrd:labels.toml", "--set", "view.channel_1_shown=false")
        self.assertGreater(red[..., 0].max(), 200)
        self.assertEqual(red[..., 1:].max(), 0)
        hidden = self.picture("hidden.png", "--channel", "octa.nrrd:angiogram", "--channel-2-shown=false")
        np.testing.assert_array_equal(hidden, plain)
        output = self.succeed("info", "both.png").out
        self.assertRegex(output, r"view\.channel_2_file\s+\S*octa\.nrrd")
        self.assertRegex(output, r"view\.channel_3_curve\s+\S*labels\.toml")
        self.assertRegex(output, r"picture\.channel_hashes\s+\w{16}")
        self.assertIn("identical, bit for bit", self.succeed("reproduce", "both.png").out)
        write_nrrd(self.folder / "octa.nrrd", np.ones((16, 16, 16)))
        self.refuse("reproduce", "both.png", names=["octa.nrrd", "changed"], lines=None)

    def test_single_channel_equals_its_volume(self):
        alone = self.picture("alone.png", "--channel", "octa.nrrd:gray", "--set", "view.channel_1_shown=false",
                             "--set", "view.channel_2_low=0", "--set", "view.channel_2_high=40")
        self.succeed("render", "octa.nrrd", "-o", "octa.png", *VIEW, "--preset", "gray")
        np.testing.assert_array_equal(alone, read_png(self.folder / "octa.png")[..., :3])
