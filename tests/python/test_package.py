"""The package as seen by editors and `import *`."""
import builtins
import unittest

import echolux as ox


class Names(unittest.TestCase):
    def test_public_names_are_complete(self):
        public = {name for name in dir(ox) if not name.startswith("_")}
        self.assertEqual(public, {*ox.__all__, "open"})
        for name in public:
            self.assertIsNotNone(getattr(ox, name))
        self.assertIn("__version__", dir(ox))

    def test_star_import_keeps_builtins(self):
        names = {}
        exec("from echolux import *", names)
        self.assertFalse({name for name in names if hasattr(builtins, name)} - {"__doc__", "__name__"})
        self.assertIn("Scan", names)

    def test_lists_truth_arrays_of_scene(self):
        truth = ox.simulate("vessel", samples=256, a_scans=8, b_scans=2).truth
        self.assertLessEqual({"labels", "boundaries_um", "tubes", "en_face", "velocity_mm_s", "facts"}, set(dir(truth)))
