"""The demo: pictures that are good by measure and a table that tells what was done; the README tells the same settings
as the program."""
import os
import re
import unittest
from pathlib import Path

import numpy as np

from support import ProgramCase, read_png

ROOT = Path(__file__).resolve().parents[2]


class Demo(ProgramCase):
    def test_pictures_and_table(self):
        told = self.succeed("demo")
        pictures = sorted((self.folder / "out/demo").glob("*.png"))
        self.assertGreaterEqual(len(pictures), 3, "volume, B-scan and en face")
        for path in pictures:
            with self.subTest(picture=path.name):
                pixels = read_png(path)
                grays = pixels[..., :3].mean(axis=-1)
                if pixels.shape[-1] == 4:
                    grays = grays[pixels[..., 3] > 0]
                self.assertLessEqual((grays >= 255).mean(), 0.01, "clipped")
                low, high = np.percentile(grays, [0.5, 99.5])
                self.assertGreaterEqual((high - low) / 255, 0.6, "part of the gray range that is used")
        for words in ["reconstruction +c", "A-scans/s", "ray casting +[^ ]", "out/demo"]:
            self.assertRegex(told.out, words)
        self.assertLessEqual(float(re.search(r"median error ([0-9.]+) voxels", told.out).group(1)), 1)
        self.assertGreaterEqual(float(re.search(r"Dice ([0-9.]+)", told.out).group(1)), 0.8)


class Documents(ProgramCase):
    def test_readme_lists_the_settings_of_the_program(self):
        readme = (ROOT / "README.md").read_text()
        written = readme.split("<!-- settings:begin -->")[1].split("<!-- settings:end -->")[0]
        told = self.succeed("info", "--settings").out
        self.assertIn("recipe.window", told)
        self.assertEqual(written.strip(), told.strip(), "./dev gallery writes the table anew")

    def test_readme_pictures_exist(self):
        readme = (ROOT / "README.md").read_text()
        names = [part.split(")")[0] for part in readme.split("](docs/")[1:]]
        self.assertTrue(any(name.endswith(".png") for name in names))
        for name in names:
            self.assertTrue((ROOT / "docs" / name.split("#")[0]).exists(), f"docs/{name}")
        for name in os.listdir(ROOT / "docs/pictures"):
            read_png(ROOT / "docs/pictures" / name)


if __name__ == "__main__":
    unittest.main()
