"""Operations as functions: signatures, documentation and stubs follow from the descriptions of the library."""
import ast
import gc
import importlib.util
import inspect
import json
import os
import subprocess
import sys
import unittest
import weakref
from pathlib import Path

import numpy as np

import echolux as ox
from echolux import _core
from png_files import read_png
from scans import layered
from support import FolderCase, spectra, write_scan

DESCRIPTIONS = json.loads(_core.operations_json())
SHAPE = (4, 16, 64)


def layers(seed=1):
    return ox.Volume.from_array(layered(seed, SHAPE), spacing_um=(5, 5, 1.4), quantity="db", unit="dB")


class Descriptions(unittest.TestCase):
    def test_lists_operations(self):
        names = {one["name"] for one in DESCRIPTIONS}
        self.assertLessEqual({"attenuation", "filter", "flow", "register", "segment"}, names)
        self.assertEqual({name for name in dir(ox.operations) if not name.startswith("_")}, {*names, "Result"})
        with self.assertRaisesRegex(AttributeError, "did you mean filter"):
            ox.operations.fliter
        with self.assertRaisesRegex(AttributeError, "did you mean operations.figure"):
            ox.figure

    def test_signature_names_inputs_arguments_and_outputs(self):
        for about in DESCRIPTIONS:
            signature = inspect.signature(getattr(ox.operations, about["name"]))
            section = next((one["section"] for one in about["arguments"] if one["section"]), "")
            arguments = [one for one in about["arguments"] if one["section"] in ("", section)]
            for one in (*about["inputs"], *arguments, *about["outputs"]):
                self.assertIn(one["name"], signature.parameters, about["name"])
            for one in arguments:
                if not one["required"] and one["section"] == "" and not one.get("scan"):
                    self.assertEqual(signature.parameters[one["name"]].default, one["default"], one["key"])
            self.assertIs(signature.return_annotation, ox.operations.Result)
            own = {one["name"] for one in arguments}
            self.assertEqual("device" in signature.parameters, bool(about["backend"]) or "device" in own, about["name"])

    def test_documents_units_choices_and_results(self):
        for about in DESCRIPTIONS:
            doc = " ".join(getattr(ox.operations, about["name"]).__doc__.split())
            self.assertTrue(doc.startswith(about["summary"]))
            for one in (*about["inputs"], *about["outputs"], *about["results"]):
                self.assertIn(f"{one['name']}: ", doc.replace("_csv: ", ": "), about["name"])
                self.assertIn(" ".join(one["help"].split()), doc, about["name"])
        doc = " ".join(ox.operations.filter.__doc__.split())
        for text in ("one of nlm, median, bilateral; default nlm", "in voxels", "from 1 to 63", "output: Volume",
                     "looks: int"):
            self.assertIn(text, doc)

    def test_stub_matches(self):
        stub = ast.parse(Path(importlib.util.find_spec("echolux").origin).with_name("operations.pyi").read_text())
        functions = {one.name: one for one in stub.body if isinstance(one, ast.FunctionDef)}
        classes = {one.name: one for one in stub.body if isinstance(one, ast.ClassDef)}
        self.assertEqual(set(functions), {one["name"] for one in DESCRIPTIONS})
        for name, function in functions.items():
            made = getattr(ox.operations, name)
            listed = {one.name: one.kind for one in inspect.signature(made).parameters.values()}
            positional, keywords = ([one.arg for one in group] for group in (function.args.args, function.args.kwonlyargs))
            self.assertEqual({**dict.fromkeys(positional, inspect.Parameter.POSITIONAL_OR_KEYWORD),
                              **dict.fromkeys(keywords, inspect.Parameter.KEYWORD_ONLY)}, listed)
            self.assertEqual(inspect.cleandoc(ast.get_docstring(function)), inspect.cleandoc(made.__doc__))
            fields = {one.target.id for one in classes[function.returns.id].body if isinstance(one, ast.AnnAssign)}
            results = next(one["results"] for one in DESCRIPTIONS if one["name"] == name)
            self.assertLessEqual({one["name"].partition(".")[0] for one in results}, fields)

    def test_are_read_on_first_use(self):
        code = "import sys, echolux; print([name for name in sys.modules if name.startswith('echolux.operation')])"
        self.assertEqual(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout, "[]\n")


class Calls(FolderCase):
    def test_keeps_required_outputs_in_memory(self):
        volume = layers()
        made = ox.operations.filter(volume, method="median", device="cpu", progress=False)
        self.assertIsInstance(made.output, ox.Volume)
        self.assertEqual((made.looks, made.files, made.backend), (1, [], "cpu"))
        self.assertGreaterEqual(made.seconds, 0)
        self.assertLessEqual({"output", "looks", "seconds", "files", "warnings"}, set(dir(made)))
        self.assertIn("output, looks", repr(made))
        with self.assertRaisesRegex(AttributeError, "did you mean output"):
            made.outptu

    def test_reconstructs_scans_with_settings(self):
        path = write_scan(self.folder, spectra())
        made = ox.operations.filter(path, method="median", settings={"recipe": {"window": "blackman"}}, progress=False)
        volume = ox.open(path, recipe={"window": "blackman"}).reconstruct(progress=False)
        np.testing.assert_array_equal(made.output, ox.operations.filter(volume, method="median", progress=False).output)
        with self.assertRaisesRegex(ox.BadSetting, "window"):
            ox.operations.filter(path, settings={"recipe": {"window": "hamm"}})

    def test_accepts_several_inputs(self):
        looks = [layers(seed) for seed in (1, 2)]
        for i, look in enumerate(looks):
            look.save(self.folder / f"{i}.nrrd", progress=False)
        made = ox.operations.filter(looks, progress=False)
        self.assertEqual(made.looks, 2)
        files = ox.operations.filter([self.folder / "0.nrrd", str(self.folder / "1.nrrd")], progress=False)
        np.testing.assert_array_equal(made.output, files.output)
        self.assertRaises(ox.BadArgument, ox.operations.filter, [looks[0], self.folder / "1.nrrd"])
        self.assertRaises(ox.BadArgument, ox.operations.filter, [])

    def test_makes_further_outputs_on_request(self):
        made = ox.operations.segment(layers(), preset="layers", names="top bottom", polarity=[1, -1], thickness=True,
                                     picture=True, settings={"figure": {"dpi": 50}}, device="cpu", progress=False)
        self.assertEqual((made.surfaces, made.output.unit, made.thickness.shape[0]), (["top", "bottom"], "um", 1))
        self.assertTrue(made.output_csv.splitlines()[1:])
        colours = np.unique(read_png(made.picture)[..., :3].reshape(-1, 3), axis=0)
        self.assertGreater(len(colours), 20)
        with self.assertRaisesRegex(AttributeError, "en_face=True"):
            made.en_face

    def test_arrays_share_memory_of_operation(self):
        made = ox.operations.segment(layers(), preset="layers", names="top bottom", polarity=[1, -1], device="cpu",
                                     progress=False)
        depth, codes = made.places.depth, made.places.reason
        self.assertEqual((depth.shape, depth.dtype, codes.dtype), ((2, *SHAPE[:2]), np.float32, np.uint8))
        self.assertTrue(np.shares_memory(depth, made._reader.core.array("places.depth")[0]))
        self.assertFalse(depth.flags.writeable)
        self.assertEqual(made.words("places.reason")[codes[0, 0, 0]], "ok")
        copy = depth.copy()
        del made
        gc.collect()
        np.testing.assert_array_equal(depth, copy)

    def test_releases_memory_with_result(self):
        made = ox.operations.filter(layers(), method="median", progress=False)
        self.assertEqual((made.looks, made.output.shape), (1, SHAPE))
        released = weakref.ref(made)
        gc.disable()
        self.addCleanup(gc.enable)
        del made
        self.assertIsNone(released())

    def test_volumes_of_input_are_not_copied(self):
        core = _core.Operation("filter")
        before = resident_bytes()
        big = ox.Volume.from_array(np.ones((64, 256, 256), np.float32), quantity="intensity")
        with_volume = resident_bytes()
        for _ in range(8):
            core.add_input("input", big)
        self.assertLess(resident_bytes() - with_volume, (with_volume - before) / 2)


class Refusals(unittest.TestCase):
    def test_suggests_nearest_argument(self):
        with self.assertRaisesRegex(TypeError, "methd: is not an argument of filter.*did you mean method"):
            ox.operations.filter(layers(), methd="nlm")

    def test_rejects_wrong_calls(self):
        volume = layers()
        for wrong in (lambda: ox.operations.filter(volume, "nlm"), lambda: ox.operations.filter(7),
                      lambda: ox.operations.filter(volume, input=volume), lambda: ox.operations.filter(volume, device=3),
                      lambda: ox.operations.attenuation(volume, device="cpu")):
            self.assertRaises(TypeError, wrong)
        for wrong in ({"method": "mean"}, {"patch": 4}, {"settings": {"filter": {"strenght": 1}}}, {"output": False},
                      {"input": None}):
            with self.assertRaises(ox.BadSetting, msg=wrong):
                ox.operations.filter(**{"input": volume, "progress": False, **wrong})


def resident_bytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
