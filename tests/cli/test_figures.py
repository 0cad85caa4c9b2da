"""Figures with axes as PDF, SVG and PNG, and tables of A-scans, compared with known positions and values."""
import re
import shutil
import subprocess
import unittest

import nibabel
import numpy as np

from png_files import read_png
from support import ProgramCase

SPACING_UM = (2.5, 10.0, 20.0)  # depth, A-scans, B-scans
DEPTH, A_SCANS, B_SCANS = 80, 60, 12
BRIGHT_ROW, BRIGHT_COLUMN = 40, 20  # depth 100 um, x 200 um
POINTS_PER_MM = 72 / 25.4


def cross_of_lines():
    """Returns [b][a][z]: dark, with a bright depth row and a bright A-scan in every B-scan, and one bright B-scan."""
    volume = np.zeros((B_SCANS, A_SCANS, DEPTH), np.float32)
    volume[:, :, BRIGHT_ROW] = 1
    volume[:, BRIGHT_COLUMN, :] = 1
    volume[3] += 0.5
    return volume


def write_nifti(path, volume, spacing_um=SPACING_UM):
    """Uses the program's orientation of files: columns are A-scans, rows are depth, slices are B-scans."""
    image = nibabel.Nifti1Image(np.transpose(volume, (1, 2, 0)), np.diag([spacing_um[1], spacing_um[0], spacing_um[2], 1.0]))
    image.header.set_xyzt_units("micron")
    nibabel.save(image, path)


def words_of(pdf):
    """Returns each word of the first page with the centre of its box, in points."""
    output = subprocess.run(["pdftotext", "-bbox", pdf, "-"], capture_output=True, text=True, check=True).stdout
    boxes = re.findall(r'<word xMin="(\S+)" yMin="(\S+)" xMax="(\S+)" yMax="(\S+)">(.*?)</word>', output)
    return [(box[4], (float(box[0]) + float(box[2])) / 2, (float(box[1]) + float(box[3])) / 2) for box in boxes]


def placed_picture(svg):
    """Returns the placement of the first picture in points: size of a voxel across and down, left and top."""
    matrix = re.search(r'<use xlink:href="#image\S*" transform="matrix\(([^)]+)\)"', svg)[1]
    across, _, _, down, left, top = map(float, matrix.split(","))
    return across, down, left, top


def ticks(svg, left, bottom):
    """Returns the positions of the ticks at the left edge of the picture and at its lower edge."""
    lines = [tuple(map(float, ends)) for ends in re.findall(r'd="M (\S+) (\S+) L (\S+) (\S+) ?"', svg)]
    rows = [y for x, y, to_x, to_y in lines if y == to_y and abs(to_x - left) < 0.01 and 0 < to_x - x < 5]
    columns = [x for x, y, to_x, to_y in lines if x == to_x and abs(y - bottom) < 0.01 and 0 < to_y - y < 5]
    return sorted(rows), sorted(columns)


class Figures(ProgramCase):
    def setUp(self):
        super().setUp()
        write_nifti(self.folder / "v.nii", cross_of_lines())

    def figure(self, name, *options):
        done = self.run_program("figure", "v.nii", "-o", name, *options)
        if "built without figures" in done.err:
            self.skipTest("built without figures")
        self.assertEqual(done.code, 0, done)
        return self.folder / name

    @unittest.skipUnless(shutil.which("pdftotext"), "pdftotext (poppler-utils) is not installed")
    def test_reflectors_are_at_their_axis_positions(self):
        style = ["--b-scan", 5, "--width", 100, "--no-scale-bar", "--no-colour-bar"]
        words = words_of(self.figure("f.pdf", *style))
        svg = self.figure("f.svg", *style).read_text()
        across, down, left, top = placed_picture(svg)
        row_y = top + (BRIGHT_ROW + 0.5) * down
        column_x = left + (BRIGHT_COLUMN + 0.5) * across
        self.assertAlmostEqual(across / down, SPACING_UM[1] / SPACING_UM[0], places=3, msg="proportions")
        depths = sorted((y, word) for word, x, y in words if x < left and word.isdigit())
        places = sorted((x, word) for word, x, y in words if y > top + DEPTH * down and word.isdigit())
        rows, columns = ticks(svg, left, top + DEPTH * down)
        self.assertEqual((len(depths), len(places)), (len(rows), len(columns)), words)
        for tick, (middle, _) in zip(rows, depths):
            self.assertAlmostEqual(tick, middle, delta=1.5, msg="a number beside its tick")
        self.assertAlmostEqual(dict(zip((word for _, word in depths), rows))["100"], row_y, delta=0.01)
        self.assertAlmostEqual(dict(zip((word for _, word in places), columns))["200"], column_x, delta=0.01)
        self.assertIn("Depth", [word for word, _, _ in words])
        picture = read_png(self.figure("f.png", *style, "--dpi", 144))[..., 0]
        row, column = round(row_y * 2), round(column_x * 2)
        self.assertGreater(picture[row, round((left + 40 * across) * 2)], 200)
        self.assertGreater(picture[round((top + 70 * down) * 2), column], 200)
        self.assertLess(picture[round((top + 70 * down) * 2), round((left + 40 * across) * 2)], 30)

    def test_inverted_pictures_and_bars(self):
        parts = ["--b-scan", 5, "--no-axes", "--no-scale-bar", "--no-colour-bar", "--dpi", 72]
        normal = read_png(self.figure("a.png", *parts)).astype(int)
        inverted = read_png(self.figure("b.png", *parts, "--gray", "inverted")).astype(int)
        inside = (slice(20, -20), slice(20, -20))
        np.testing.assert_array_less(np.abs(255 - normal[inside] - inverted[inside]), 3)

    def test_layouts(self):
        short = read_png(self.figure("a.png", "--dpi", 72, "--layout", "bscan+enface")).shape
        both = read_png(self.figure("b.png", "--dpi", 72, "--layout", "bscan/enface")).shape
        self.assertEqual(short[1], both[1])
        self.assertEqual(short[1], round(170 * POINTS_PER_MM))
        self.assertGreater(both[0], 1.4 * short[0])
        whole = self.figure("c.png", "--dpi", 72, "--layout", "volume+bscan+enface", "--size", "64x64", "--set",
                            "view.mode=mip")
        self.assertGreater(read_png(whole)[..., :3].std(), 5)

    def test_one_b_scan_is_drawn_without_projection(self):
        write_nifti(self.folder / "v.nii", cross_of_lines()[3:4])
        alone = read_png(self.figure("a.png", "--dpi", 72))
        np.testing.assert_array_equal(alone, read_png(self.figure("b.png", "--dpi", 72, "--layout", "bscan")))
        beside = read_png(self.figure("c.png", "--dpi", 72, "--layout", "bscan+enface"))
        self.assertNotEqual(alone.shape, beside.shape)


class Tables(ProgramCase):
    def test_echoes_of_known_width(self):
        # Gaussian amplitudes, for which the parabola through their logarithms is exact. A second echo is 26 dB lower.
        z = np.arange(200)
        places, sigma = 60 + 3.3 * np.arange(12), 4.0
        main = np.exp(-((z - places[:, None]) ** 2) / (2 * sigma**2))
        volume = (7 * (main + 0.05 * np.exp(-((z - 150) ** 2) / 8.0))).astype(np.float32)[None]
        write_nifti(self.folder / "v.nii", volume)
        self.succeed("figure", "v.nii", "-o", "e.csv", "--psf")
        header = (self.folder / "e.csv").read_text().splitlines()[0]
        self.assertEqual(header.split(",")[:3], ["b_scan", "a_scan", "depth_um"])
        rows = np.loadtxt(self.folder / "e.csv", delimiter=",", skiprows=1)
        np.testing.assert_array_equal(rows[:, 1], np.arange(12))
        np.testing.assert_allclose(rows[:, 2], places * SPACING_UM[0], atol=0.02)
        np.testing.assert_allclose(rows[:, 3], 7, rtol=1e-3)
        np.testing.assert_allclose(rows[:, 4], 2 * np.sqrt(2 * np.log(2)) * sigma * SPACING_UM[0], rtol=0.02)
        np.testing.assert_allclose(rows[:, 5], 20 * np.log10(0.05), atol=0.1)
        self.succeed("figure", "v.nii", "-o", "f.csv", "--psf", "--rows", "140:160")
        rows = np.loadtxt(self.folder / "f.csv", delimiter=",", skiprows=1)
        np.testing.assert_allclose(rows[:, 2], 150 * SPACING_UM[0], atol=0.5)
