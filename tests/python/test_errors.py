"""Errors: each kind is what Python's users expect, and carries what, where and remedy."""
import pickle
import unittest

import echolux as ox
from echolux.errors import made
from support import FolderCase, spectra, write_scan


class Kinds(unittest.TestCase):
    def test_are_exceptions_of_python(self):
        kinds = {1: (ox.BadArgument, ValueError, TypeError), 2: (ox.BadSetting, ValueError), 3: (ox.BadFile, OSError),
                 4: (ox.OutputFailed, OSError), 5: (ox.OutOfMemory, MemoryError), 6: (ox.DeviceFailed, RuntimeError),
                 7: (ox.Cancelled, RuntimeError), 8: (ox.Unsupported, NotImplementedError), 11: (ox.Error, RuntimeError)}
        for status, classes in kinds.items():
            error = made(status, "is wrong", "", "do it")
            for kind in (*classes, ox.Error):
                self.assertIsInstance(error, kind)
            self.assertEqual(str(error), "is wrong (do it)")

    def test_carry_what_where_and_remedy(self):
        error = made(2, "is wrong", "recipe.window", "do it")
        self.assertEqual((error.code, error.what, error.where, error.remedy),
                         ("bad_setting", "is wrong", "recipe.window", "do it"))
        self.assertEqual(str(error), "recipe.window: is wrong (do it)")
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((type(again), again.where, again.remedy), (type(error), error.where, error.remedy))


class Files(FolderCase):
    def test_that_are_not_there(self):
        for opened in (lambda: ox.open(self.folder / "missing.toml"), lambda: ox.load(self.folder / "missing.nrrd")):
            with self.assertRaises(FileNotFoundError) as error:
                opened()
            self.assertEqual(error.exception.code, "bad_file")
            self.assertIn("missing", error.exception.where)

    def test_that_are_wrong(self):
        path = write_scan(self.folder, spectra())
        (self.folder / "scan.raw").write_bytes(b"short")
        with self.assertRaises(ox.Error):
            ox.open(path).reconstruct()
        path.write_text("[scan\n")
        with self.assertRaises(ox.Error):
            ox.open(path)
        (self.folder / "one.nrrd").write_text("NRRD0004\n")
        with self.assertRaises(OSError):
            ox.load(self.folder / "one.nrrd")

    def test_that_have_no_such_volume(self):
        scan = ox.open(write_scan(self.folder, spectra()))
        with self.assertRaisesRegex(ox.BadSetting, "no volume 1"):
            scan.reconstruct(1)
        with self.assertRaises(ox.BadSetting):
            scan.reconstruct(b_scans=(3, 9))
