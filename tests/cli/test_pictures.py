"""Stills: PNG and TIFF with 8 and 16 bits read by other readers, their metadata, and reproducing them."""
import json
import re
import shutil
import tempfile
import zlib
from pathlib import Path

import numpy as np
import tifffile

from png_files import png_chunks, png_file, png_rows, read_png
from scans import toml_text, write_scan
from support import Finished, ProgramCase, start

def fingerprint(codes):
    """64-bit FNV-1a hash of the pixels' bytes."""
    result = 0xCBF29CE484222325
    for byte in np.ascontiguousarray(codes, codes.dtype.newbyteorder("<")).tobytes():
        result = ((result ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return f"{result:016x}"


CURVE = "[transfer]\ncolours = [0.0, 0.1, 0.3, 0.2, 1.0, 1.0, 0.7, 0.4]\nextinctions = [0.0, 0.0, 1.0, 9.0]\n"
PICTURES = {"a.png": 8, "a.tif": 8, "b.png": 16, "b.tif": 16}


def read(path):
    return read_png(path) if path.suffix == ".png" else tifffile.imread(path)


class Stills(ProgramCase):
    @classmethod
    def setUpClass(cls):
        """Renders one view of one volume as each kind of picture. Cases work on copies."""
        cls.made = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.made.cleanup)
        folder = Path(cls.made.name)
        voxels = np.random.default_rng(5).random((10, 24, 16)).astype("<f4")  # [b][z][a]
        voxels[:, 14:] = 0
        tifffile.imwrite(folder / "volume.tif", voxels)
        (folder / "curve.toml").write_text(CURVE)
        for name, bits in PICTURES.items():
            done = Finished(start("render", "volume.tif", "-o", name, "--size", "72x48", "--bits", bits, "--samples", 4,
                                  "--transfer", "curve.toml", "--azimuth", 12.5, folder=folder))
            assert done.code == 0, done

    def setUp(self):
        super().setUp()
        shutil.copytree(self.made.name, self.folder, dirs_exist_ok=True)
        self.moved = Path(self.made.name)  # the folder of the volume that the pictures refer to

    def test_formats_and_depths_hold_same_picture(self):
        png8, tif8, png16, tif16 = (read(self.folder / name) for name in PICTURES)
        self.assertEqual((png8.dtype, png8.shape, tif16.dtype), (np.uint8, (48, 72, 4), np.uint16))
        np.testing.assert_array_equal(png8, tif8)
        np.testing.assert_array_equal(png16, tif16)
        self.assertLessEqual(np.abs(png8.astype(int) * 257 - png16.astype(int)).max(), 129, "not the same light")
        self.assertGreater(len(np.unique(png16[..., :3])), 600, "16 bits made of 8")

    def test_detects_altered_picture(self):
        chunks = png_chunks((self.folder / "a.png").read_bytes())
        rows = bytearray(png_rows(chunks))
        rows[5] ^= 64  # in the first row, after its filter byte
        first = [kind for kind, _ in chunks].index(b"IDAT")
        others = [chunk for chunk in chunks if chunk[0] != b"IDAT"]
        altered = png_file([*others[:first], (b"IDAT", zlib.compress(bytes(rows))), *others[first:]])
        (self.folder / "altered.png").write_bytes(altered)
        done = self.run_program("reproduce", "altered.png")
        self.assertIn("not identical", done.out)
        self.assertIn("was altered", done.err)

    def test_info_shows_how_pictures_were_made(self):
        for name in ["a.png", "b.tif"]:
            with self.subTest(name=name):
                output = self.succeed("info", name).out
                self.assertIn(fingerprint(read(self.folder / name)), output)
                for line in [r"view\.azimuth_deg\s+12\.5", r"session\.file\s+\S+volume\.tif", r"picture\.program\s+\d",
                             rf"picture\.bits\s+{PICTURES[name]}", r"picture\.device\s+\S+", r"view\.samples\s+4"]:
                    self.assertRegex(output, line)
        facts = json.loads(self.succeed("info", "a.png", "--json").out)["facts"]
        self.assertEqual(facts["view.azimuth_deg"]["value"], 12.5)
        self.assertEqual(facts["picture.input_hash"]["value"],
                         fingerprint(np.frombuffer((self.folder / "volume.tif").read_bytes(), np.uint8)))

    def test_picture_is_reproduced_bit_for_bit(self):
        (self.moved / "curve.toml").unlink(missing_ok=True)  # it is stored in the picture
        self.assertIn("identical, bit for bit", self.succeed("reproduce", "b.png").out)
        np.testing.assert_array_equal(read(self.folder / "b.png"), read(self.folder / "b-again.png"))

    def test_rejects_changed_inputs(self):
        tifffile.imwrite(self.folder / "volume.tif", tifffile.imread(self.folder / "volume.tif") + 1)
        self.refuse("reproduce", "a.png", "--input", "volume.tif", names=["volume.tif", "fingerprint"], lines=None)
        self.refuse("reproduce", "volume.tif", names=["volume.tif", "contains no record"])

    def changed(self, name, text):
        """Replaces a text in the picture's session by one of the same length."""
        chunks = png_chunks((self.folder / name).read_bytes())
        chunks = [(kind, data.replace(text, b"x" * len(text)) if data.startswith(b"session\0") else data) for kind, data in chunks]
        (self.folder / "changed.png").write_bytes(png_file(chunks))

    def test_accepts_moved_inputs_and_other_devices(self):
        text = (self.folder / "a.png").read_bytes()
        self.changed("a.png", self.moved.name.encode())
        self.refuse("reproduce", "changed.png", names=["volume.tif", "--input"])
        self.changed("a.png", re.search(rb'device = "([^"]+)"', text)[1])
        done = self.succeed("reproduce", "changed.png", "--input", "volume.tif")
        self.assertIn("identical, bit for bit", done.out)
        self.assertIn("graphics device was xxx", done.err)

    def test_slow_transparency_and_annotations_at_16_bits(self):
        options = ["--size", "72x48", "--transparent", "--no-box", "--scale-bar", "--samples", 4]
        self.succeed("render", "volume.tif", "-o", "c.png", *options)
        self.succeed("render", "volume.tif", "-o", "d.tif", *options, "--bits", 16)
        seen, fine = read(self.folder / "c.png"), read(self.folder / "d.tif")
        self.assertEqual(fine[0, 0, 3], 0)
        self.assertGreater(fine[..., 3].max(), 60000)
        opaque = seen[..., 3] > 127  # where colours are precise
        self.assertLessEqual(np.abs(seen[opaque].astype(int) * 257 - fine[opaque]).max(), 600)


class StillsOfScans(ProgramCase):
    def test_slow_pictures_of_scans_store_recipe(self):
        write_scan(self.folder, recipe={"window": "hamming", "levels": "noise_floor"})
        self.succeed("render", "scan.toml", "-o", "a.png", "--size", "72x48", "--set", "recipe.depth_end=90")
        output = self.succeed("info", "a.png").out
        self.assertRegex(output, r"recipe\.window\s+hamming")
        self.assertRegex(output, r"recipe\.depth_end\s+90")
        self.assertRegex(output, r"picture\.spectra_hash\s+\w{16}")
        self.assertIn("identical, bit for bit", self.succeed("reproduce", "a.png").out)
        (self.folder / "a-again.png").unlink()
        (self.folder / "scan.toml").write_text(toml_text({"scan": {"file": "x"}}))
        self.refuse("reproduce", "a.png", names=["scan.toml"], lines=None)
