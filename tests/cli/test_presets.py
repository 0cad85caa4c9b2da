"""A user's own transfer functions, colour maps, recipes and scenes: found by name, listed, and checked for errors."""
import nibabel
import numpy as np

from png_files import read_png
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

    def test_recipes_are_found_by_name_and_listed(self):
        self.succeed("simulate", "mirror", "--out", "m/scan.toml", "--samples", "512", "--a-scans", "4",
                     "--b-scans", "1")
        mine = self.own("recipes/mine.toml", '[about]\nmethod = "A test."\nuse = "None."\n\n[recipe]\nwindow = "rect"\n')
        out = self.succeed("info", "m/scan.toml", "--recipe", "mine").out
        self.assertRegex(out, r"(?m)^  recipe.window +\"rect\"")
        out = self.succeed("info", "--recipes").out
        self.assertIn(f"mine ({mine})\n  A test.\n  None.\n  recipe.window=rect\n", out)
        self.assertIn("doppler (shipped)\n", out)
        bad = self.own("recipes/mine.toml", "[recipe]\nwindov = 1\n")
        self.assertIn(f"{bad} line 2, recipe.windov: unknown key", self.succeed("info", "--recipes").out)
        self.refuse("info", "m/scan.toml", "--recipe", "mine", names=[bad, "recipe.windov"])
        self.succeed("info", "m/scan.toml", "--recipe", "doppler")

    def test_scenes_are_found_by_name(self):
        self.own("scenes/plate.toml", '[scene]\nrefractive_index = 1.5\nspacing_a_um = 4\n'
                                      "[boundaries]\ndepth = [0.2, 0.5]\n[layers]\nbrightness = 1\n")
        self.succeed("simulate", "plate", "--out", "s/scan.toml", "--samples", "128", "--a-scans", "4", "--b-scans", "2")
        text = (self.folder / "s" / "scan.toml").read_text()
        self.assertIn("refractive_index = 1.5", text)
        self.assertRegex(text, r"spacing_a_um = 4\b")
        self.refuse("simulate", "plates", "--out", "t/scan.toml", names=["scene", "plate"], lines=None)
