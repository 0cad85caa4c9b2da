"""Display of volumes: HTML and PNG, plots, windows, widgets, movies."""
import base64
import os
import re
import subprocess
import sys
import unittest
from unittest import mock

import numpy as np

import echolux as ox
from echolux import _core, show
from png_files import read_png
from support import FolderCase
from waiting import wait_until

try:
    import matplotlib
    matplotlib.use("Agg")
except ImportError:
    matplotlib = None
try:
    import anywidget
except ImportError:
    anywidget = None


def can_render():
    try:
        cube().render(width=16, height=16)
    except (ox.Unsupported, ox.DeviceFailed):
        return False
    return True


def cube(bright=200, **meaning):
    codes = np.zeros((24, 20, 32), np.uint8)
    codes[8:16, 6:14, 10:22] = bright
    return ox.Volume.from_array(codes, spacing_um=(20, 10, 5), unit="dB", quantity="db", **meaning)


class Notebook(unittest.TestCase):
    def test_png_keeps_pixels(self):
        pixels = np.random.default_rng(1).integers(0, 255, (7, 5, 4), np.uint8)
        np.testing.assert_array_equal(read_png(show.png(pixels)), pixels)

    def test_html_shows_picture_size_spacing_and_unit(self):
        text = cube()._repr_html_()
        for words in ("24 x 20 x 32", "20 x 10 x 5 um", "dB", "uint8"):
            self.assertIn(words, text)
        png = base64.b64decode(re.search(r"base64,([^']+)'", text)[1])
        self.assertGreater(read_png(png).std(), 0)
        self.assertEqual(show.picture(cube()), png)

    def test_volumes_are_rendered_once(self):
        shown = [name for name in dir(ox.Volume) if name.startswith("_repr_") and name.endswith("_")]
        self.assertEqual(shown, ["_repr_html_"])

    def test_shows_b_scan_without_renderer(self):
        with mock.patch.object(ox.Volume, "render", side_effect=ox.DeviceFailed("no device")):
            pixels = read_png(show.picture(cube()))
        self.assertEqual(pixels.shape[:2], (32, 20))
        self.assertEqual(pixels[16, 10, 0], 255)


@unittest.skipIf(matplotlib is None, "matplotlib is not installed")
class Plots(unittest.TestCase):
    def test_sections_have_axes_and_unit(self):
        axes = cube(first_depth_um=100).plot("b-scan", 12)
        self.assertEqual(axes.images[0].get_extent(), [-5, 195, 257.5, 97.5])
        self.assertEqual(axes.images[0].get_array().shape, (32, 20))
        self.assertEqual((axes.get_xlabel(), axes.get_ylabel()), ("A-scans (um)", "depth (um)"))
        np.testing.assert_array_equal(cube().plot("side").images[0].get_array(), cube()[:, 10].T)
        np.testing.assert_array_equal(cube().plot("en-face", 15, vmin=0).images[0].get_array(), cube()[:, :, 15])
        with self.assertRaises(ox.BadArgument):
            cube().plot("diagonal")
        with self.assertRaises(IndexError):
            cube().plot("b-scan", 99)


class Windows(FolderCase):
    def program(self):
        """Replaces the program echolux by a script that writes its arguments to a file and waits."""
        program = self.folder / "echolux"
        program.write_text(f'#!/bin/sh\necho "$@" > {self.folder}/asked\nsleep 60\n')
        program.chmod(0o755)
        return mock.patch.dict(os.environ, {"PATH": f"{self.folder}:{os.environ['PATH']}", "DISPLAY": ":7"})

    @unittest.skipUnless(_core.has("render"), "this build has no renderer")
    def test_open_with_screen(self):
        with self.program():
            window = cube().view(mode="mip", azimuth=30)
            while not (self.folder / "asked").exists() or not (self.folder / "asked").read_text():
                self.assertTrue(window.is_open)
            asked = (self.folder / "asked").read_text()
            file = asked.split()[1]
            self.assertIn("--set view.mode=mip view.azimuth_deg=30", asked)
            np.testing.assert_array_equal(ox.load(file)[:], cube()[:])
            window.close()
            self.assertFalse(window.is_open)
            with self.assertRaises(ox.BadArgument):
                cube().view(colour="pink")

    def test_remove_files_if_python_ends_first(self):
        (self.folder / "tmp").mkdir()
        os.mkfifo(self.folder / "end")
        with self.program():
            (self.folder / "echolux").write_text(f'#!/bin/sh\nread end < {self.folder}/end\n')
            script = "import os, numpy, echolux; " \
                     "echolux.Volume.from_array(numpy.ones((2, 3, 4), 'u1')).view(window=True); os._exit(0)"
            subprocess.run([sys.executable, "-c", script], check=True, env={**os.environ, "TMPDIR": str(self.folder / "tmp")})
        self.assertEqual(len(list((self.folder / "tmp").iterdir())), 1)
        (self.folder / "end").write_text("\n")  # opening it waits for the reader
        wait_until(lambda: not list((self.folder / "tmp").iterdir()), "an empty folder")

    def test_window_requires_program(self):
        with mock.patch.dict(os.environ, {"PATH": str(self.folder)}):
            with self.assertRaises(ox.Unsupported):
                cube().view(window=True)

    def test_widgets_need_anywidget(self):
        with mock.patch.dict("sys.modules", {"anywidget": None}):
            with self.assertRaisesRegex(ox.Unsupported, "pip install anywidget"):
                cube().view(window=False)


@unittest.skipIf(anywidget is None or not can_render(), "anywidget or a Vulkan device is missing")
class Widgets(FolderCase):
    def test_widget_turns_zooms_and_changes_presets(self):
        widget = cube().view(window=False, width=64, height=48)
        self.assertEqual(read_png(widget.picture).shape[:2], (48, 64))
        seen = {widget.picture}
        for change in ({"azimuth": 80.0}, {"elevation": -10.0}, {"zoom": 2.0}, {"preset": "bone"}):
            widget.set_state(change)
            seen.add(widget.picture)
        self.assertEqual(len(seen), 5)
        widget.set_state({"is_dragged": True})
        self.assertEqual(read_png(widget.picture).shape[:2], (24, 32))
        self.assertIn("tissue", widget.presets)

    def test_widget_steps_through_time(self):
        for t, bright in enumerate((40, 250)):
            cube(bright).save(self.folder / f"t_{t}.nrrd")
        widget = ox.load_series(self.folder / "t_*.nrrd").view(width=64, height=48, low=0, high=255)
        self.assertEqual(widget.time_points, 2)
        first = widget.picture
        widget.set_state({"time_point": 1})
        self.assertNotEqual(widget.picture, first)


@unittest.skipUnless(can_render(), "no Vulkan device")
class Movies(FolderCase):
    def test_draws_volumes_and_series(self):
        ox.movie(self.folder / "turn_%02d.png", cube(), frames=3, width=48, height=32)
        pictures = sorted(self.folder.glob("turn_*.png"))
        self.assertEqual(len(pictures), 3)
        self.assertNotEqual(pictures[0].read_bytes()[200:], pictures[1].read_bytes()[200:])
        for t, bright in enumerate((40, 250)):
            cube(bright).save(self.folder / f"t_{t}.nrrd")
        ox.movie(self.folder / "beat_%02d.png", ox.load_series(self.folder / "t_*.nrrd"), width=48, height=32)
        self.assertEqual(len(list(self.folder.glob("beat_*.png"))), 2)

    def test_rejects_invalid_movies(self):
        with self.assertRaises(ox.BadSetting):
            ox.movie(self.folder / "no_%02d.png", cube(), motion="dance")
        with self.assertRaises(ox.Error):
            ox.movie(self.folder / "no.docx", cube(), frames=2)
        with self.assertRaises(ZeroDivisionError):
            ox.movie(self.folder / "stop_%02d.png", cube(), frames=500, progress=lambda *_: 1 / 0)
