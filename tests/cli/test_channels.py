"""Several volumes in one picture: visibility, refused combinations, and metadata of the picture."""

import numpy as np

from png_files import read_png
from scans import write_nrrd
from support import ProgramCase

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
        told = self.succeed("info", "both.png").out
        self.assertRegex(told, r"view\.channel_2_file\s+\S*octa\.nrrd")
        self.assertRegex(told, r"view\.channel_3_curve\s+\S*labels\.toml")
        self.assertRegex(told, r"picture\.channel_hashes\s+\w{16}")
        self.assertIn("identical, bit for bit", self.succeed("reproduce", "both.png").out)
        write_nrrd(self.folder / "octa.nrrd", np.ones((16, 16, 16)))
        self.refuse("reproduce", "both.png", names=["octa.nrrd", "changed"], lines=None)

    def test_single_channel_equals_its_volume(self):
        alone = self.picture("alone.png", "--channel", "octa.nrrd:gray", "--set", "view.channel_1_shown=false",
                             "--set", "view.channel_2_low=0", "--set", "view.channel_2_high=40")
        self.succeed("render", "octa.nrrd", "-o", "octa.png", *VIEW, "--preset", "gray")
        np.testing.assert_array_equal(alone, read_png(self.folder / "octa.png")[..., :3])

    def test_slow_from_view_file(self):
        (self.folder / "view.toml").write_text(
            '[view]\nchannel_2_file = "octa.nrrd"\nchannel_2_curve = "angiogram"\nchannel_2_blend = "over"\n')
        self.picture("a.png", "--view", "view.toml")
        self.picture("b.png", "--channel", "octa.nrrd:angiogram", "--set", "view.channel_2_blend=over")
        np.testing.assert_array_equal(read_png(self.folder / "a.png"), read_png(self.folder / "b.png"))

    def test_movie_shows_channels(self):
        self.succeed("render", "structure.nrrd", "--movie", "turn_%02d.png", "--frames", 2, *VIEW, "--channel", "octa.nrrd:angiogram")
        first = read_png(self.folder / "turn_00.png")[..., :3].astype(int)
        self.succeed("render", "structure.nrrd", "--movie", "plain_%02d.png", "--frames", 2, *VIEW)
        self.assertGreater(np.abs(first - read_png(self.folder / "plain_00.png")[..., :3]).max(), 50)
