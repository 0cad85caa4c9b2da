"""Operations through every interface: the command, JSON-RPC, C and Python write the same bytes, return the same results,
refuse for the same reasons and leave no file when they are cancelled. The cases walk the table of
`echolux info --operations --json`, so a new operation needs a line in CASES and nothing else."""
import ctypes
import inspect
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import commands
import echolux as ox
import numpy as np
from scans import write_nrrd, write_scan
from support import PROGRAM, Finished, ProgramCase, extend, has_signal, read_volume, start
from waiting import wait_until

JSON = json.loads(subprocess.run([PROGRAM, "info", "--operations", "--json"], capture_output=True, check=True).stdout)
TABLE = {one["name"]: one for one in JSON["operations"]}


@dataclass
class Case:
    """Inputs and outputs by file name in the folder of the case, and arguments."""

    inputs: dict
    outputs: dict
    arguments: dict = field(default_factory=dict)
    files: dict = field(default_factory=dict)  # arguments that are files in the folder
    long: dict = field(default_factory=dict)  # inputs and arguments that take longer, in place of others
    is_slow: bool = False


TISSUE = ["tissue.npy", "tissue.npy"]
FIELD = ["field.npy", "field.npy"]
SMALL = {"samples": 256, "a_scans": 8, "b_scans": 4}
LONG = {"scan": "long/scan.toml"}
CASES = {
    "angiogram": Case({"input": "capillaries.nrrd"}, {"output": "faz.csv", "mask": "faz.nrrd", "plot": "faz.svg"}, {"gap_mm": 0.05}),
    "attenuation": Case({"input": "decay.nrrd"}, {"output": "mu.nrrd"}, {"window_a_scans": 7}),
    "calibrate_background": Case({"scan": "scan.toml"}, {"output": "mean.csv"}, long=LONG),
    "calibrate_dispersion": Case({"scan": "mirror/scan.toml"}, {"output": "theta.csv", "plot": "d.svg"}, {"lines": 8},
                                 long={"scan": "slow/scan.toml", "lines": 4096}),
    "calibrate_field": Case({"input": "bowl.nrrd"}, {"output": "field.toml", "plot": "field.svg"}, {"order": 2},
                            long={"input": "long/scan.toml"}),
    "calibrate_galvo": Case({"input": "both.nrrd", "scan": ["both.toml"]}, {"output": "galvo.toml", "plot": "galvo.svg"},
                            {"max_a_scans": 4}, long={"input": "long/scan.toml"}),
    "calibrate_grid": Case({"input": "dots.nrrd"}, {"output": "grid.toml", "plot": "grid.svg"}, {"pitch_mm": 0.04},
                           long={"input": "long/scan.toml"}),
    "calibrate_k": Case({"mirror1": "m1.csv", "mirror2": "m2.csv", "background": "mb.csv"},
                        {"output": "k.csv", "dispersion": "phase.csv", "plot": "k.svg"}, {"sides": "same", "wavelength_rises": True},
                        long={"mirror1": "long/scan.toml"}),
    "calibrate_noise": Case({"scan": "scan.toml"}, {"output": "noise.csv", "plot": "n.svg"}, {"mean": "power"}, long=LONG),
    "calibrate_rolloff": Case({"mirror": ["m1.csv", "m2.csv"], "scan": "mirror/scan.toml"}, {"output": "roll.csv", "plot": "roll.svg"},
                              {"attenuation_db": 30, "single_pass": True}, long={"mirror": ["long/scan.toml"], **LONG}),
    "catheter": Case({"input": "pullback.nrrd"}, {"output": "turns.nrrd", "cylinder": "cylinder.nrrd", "angles": "angles.csv",
                                                  "lumen": "lumen.csv", "contours": "contours.csv"},
                     {"sheath_um": 40}, long={"input": "long/scan.toml"}),
    "convert": Case({"input": "layered.nrrd"}, {"output": "c.mha"}, {"type": "u16", "range": "-50:50"}),
    "dewarp": Case({"input": "layered.nrrd", "scan": ["geometry.toml"]}, {"output": "d.nrrd"}, {"interpolation": "linear"},
                   long={"input": "long/scan.toml"}),
    "displacement": Case({"input": FIELD}, {"displacement": "nm.nrrd", "quality": "quality.nrrd", "table": "times.csv", "plot": "plot.svg"},
                         {"step_s": 0.1, "wavelength_nm": 840.0, "window_depth": 3}, long={"input": ["field.npy"] * 1500}),
    "dynamics": Case({"input": ["tissue.npy"] * 8}, {"liv": "liv.nrrd", "swiftness": "rate.nrrd", "curves": "curves.csv", "picture": "d.svg"},
                     {"step_s": 0.1, "window_depth": 5}, long={"input": ["tissue.npy"] * 1500}),
    "figure": Case({"input": "layered.nrrd"}, {"output": "f.svg"}, {"b_scan": 2, "width_mm": 85}, long={"input": "long/scan.toml", "b_scan": -1}),
    "filter": Case({"input": "layered.nrrd"}, {"output": "smooth.nrrd"}, {"method": "median"}),
    "flow": Case({"velocity": ["tube.nrrd"]}, {"output": "flow.csv", "plot": "flow.svg", "arrows": "arrows.toml"}, {"through": "12,4,32"},
                 long={"velocity": ["tube.nrrd"] * 2000, "step_s": 0.01}),
    "invert": Case({"input": "layered.nrrd"}, {"output": "negative.nrrd"}, {"offset": 1.5}),
    "measure": Case({"input": ["layered.nrrd"]}, {"output": "m.csv", "histogram": "h.csv", "plot": "m.svg", "mask": "mask.nrrd"},
                    {"percentiles": "10,90", "bins": 8}, files={"regions": "regions.toml"}, long={"input": ["tube.nrrd"] * 2000}),
    "mesh": Case({"input": "layered.nrrd"}, {"output": "mesh.ply"}, {"level": -5}),
    "page": Case({"input": "layered.nrrd"}, {"output": "p.html"}, {"frames": 2, "frame_size": 24, "section_size": 8},
                 long={"frames": 360, "frame_size": 2048}),
    "pattern": Case({}, {"output": "waves.csv"}, {"a_scans": 8, "b_scans": 2, "spacing_a_um": 10, "spacing_b_um": 10, "line_rate_hz": 1e4},
                    long={"a_scans": 200, "b_scans": 20000, "spacing_b_um": 0.1}),
    "polarisation": Case({"input": "field.npy", "channel_2": "field.npy"}, {"axis": "axis.nrrd", "dopu": "dopu.nrrd", "picture": "p.svg"},
                         {"window_depth": 5}, long={"input": "fields.npy", "channel_2": "fields.npy"}),
    "reconstruct": Case({"scan": "scan.toml"}, {"output": "volume.nrrd"}, {"window": "hamming"}, long=LONG),
    "render": Case({"input": "layered.nrrd"}, {"output": "p.png"}, {"size": "24x24", "mode": "mip"},
                   long={"size": "4096x4096", "samples": 4096}),
    "register": Case({"input": TISSUE}, {"output": "mean.nrrd", "table": "shifts.csv"}),
    "retina": Case({"input": "macula.nrrd"}, {"output": "etdrs.csv", "plot": "etdrs.svg"}, {"eye": "OD"}),
    "segment": Case({"input": "layered.nrrd"}, {"output": "surfaces.csv", "thickness": "thickness.nrrd", "picture": "b.svg"},
                    {"preset": "layers", "count": 2}),
    "stitch": Case({"input": "tiles.csv"}, {"output": "mosaic.nrrd", "positions": "positions.csv", "overlaps": "overlaps.csv"},
                   {"search_um": 15, "search_depth_um": 6}, long={"input": "many_tiles.csv"}),
    "topography": Case({"input": "dome.nrrd"}, {"output": "shape.csv", "zernike": "zernike.csv", "maps": "maps.svg"}, {"order": 4}),
    "reproduce": Case({}, {"output": "again.png"}, files={"picture": "picture.png"}),
    "simulate": Case({}, {"output": "sim/scan.toml"}, {"scene": "layers", **SMALL}, long={"a_scans": 256, "b_scans": 2000}),
    "validate": Case({}, {"output": "page.md"}, {"quick": True}, is_slow=True),
}


@dataclass
class Request:
    """A run of an operation. `unknown`: a key that it does not have."""

    name: str
    inputs: dict
    outputs: dict
    arguments: dict
    overwrite: bool = False
    unknown: str = ""

    @property
    def about(self):
        return TABLE[self.name]


class Refused(Exception):
    """An error in the words of all interfaces: options become keys."""

    def __init__(self, name, code, what, where, remedy):
        key = re.compile(rf"(?<![/\w]){name}\.")  # not in names of files
        plain = [key.sub("", text.replace("`", "").replace("--", "").replace("-", "_")) for text in (what, where, remedy)]
        self.parts = (code, *(text.lower() for text in plain))
        super().__init__(*self.parts)


def many(value):
    return value if isinstance(value, list) else [value]


def text_of(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def is_needed(about):
    """Whether an operation cannot run without its first input."""
    return about["inputs"] and about["inputs"][0]["required"]


# ---- the interfaces


class Command:
    def __init__(self, folder):
        self.folder = folder

    @staticmethod
    def words(request):
        """The command line of a request. Required arguments and inputs that are positional have no option."""
        required = {one["name"] for one in request.about["arguments"] if one["required"]}
        positional = {one["name"] for one in request.about["inputs"] if one["positional"]}
        yield from request.about["command"].split()
        yield from (str(value) for key, value in request.arguments.items() if key in required)
        for key, value in request.inputs.items():
            yield from ([] if key in positional else [f"--{key}"])
            yield from map(str, many(value))
        for key, value in request.outputs.items():
            yield from (f"--{key.replace('_', '-')}", str(value))
        keys = {one["name"]: one["key"] for one in reversed(request.about["arguments"])}
        for key, value in request.arguments.items():
            if value is True:
                yield f"--{key.replace('_', '-')}"
            elif key not in required:
                yield from ("--set", f"{keys[key]}={value}")
        yield from (["--set", f"{request.unknown}=1"] if request.unknown else [])
        yield from (["--overwrite"] if request.overwrite else [])
        yield from (["--backend", "cpu"] if request.about["backend"] else [])
        yield "--json"

    def run(self, request):
        done = Finished(start(*self.words(request), folder=self.folder))
        if done.code == 0:
            return json.loads(done.out)
        error = json.loads(done.err)["error"]
        raise Refused(request.name, error["code"], error["what"], error["where"], error["remedy"])


class Rpc:
    """A window without a screen that programs control."""

    def __init__(self, folder):
        self.window = start("view", "--off-screen", "--fresh", "--control", 0, "--control-token", folder / "token", "--control-folder", folder,
                            folder=folder)
        line = self.window.stdout.readline()
        assert line.startswith("control at"), line
        self.socket = socket.create_connection(("127.0.0.1", int(line.split(":")[1].split(",")[0])), 60)
        self.stream = self.socket.makefile("rw")
        self.ask({"token": (folder / "token").read_text().split()[0]})

    def end(self):
        self.stream.close()
        self.socket.close()
        self.window.kill()
        self.window.communicate()

    def ask(self, message):
        self.stream.write(json.dumps(message) + "\n")
        self.stream.flush()
        return json.loads(self.stream.readline())

    @staticmethod
    def message(request, number=1):
        arguments = {**request.inputs, **request.outputs, **request.arguments, **({request.unknown: 1} if request.unknown else {})}
        arguments = {key: [str(one) for one in value] if isinstance(value, list) else str(value) if isinstance(value, Path) else value
                     for key, value in arguments.items()}
        params = {"name": request.name, "arguments": arguments, "overwrite": request.overwrite,
                  "backend": "cpu" if request.about["backend"] else None}
        return {"jsonrpc": "2.0", "id": number, "method": "operation.run", "params": params}

    def run(self, request):
        return self.result(request, self.ask(self.message(request)))

    @staticmethod
    def result(request, answer):
        if "result" in answer:
            return answer["result"]
        error = answer["error"]["data"]
        raise Refused(request.name, error["code"], error["what"], error["where"], error["remedy"])

    def cancelled(self, request):
        """Both requests arrive together, so the job has just begun when it is cancelled."""
        answers = self.ask([self.message(request, 1), {"jsonrpc": "2.0", "id": 2, "method": "operation.cancel"}])
        by_id = {one["id"]: one for one in answers}
        assert len(by_id[2]["result"]["jobs"]) == 1, answers
        return self.result(request, by_id[1])


class CError(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("code", ctypes.c_int32), ("what", ctypes.c_char * 512), ("where", ctypes.c_char * 256),
                ("remedy", ctypes.c_char * 256)]


class CDevice(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("kind", ctypes.c_int32), ("streams", ctypes.c_int32), ("gpus", ctypes.c_int32),
                ("reads_pinned_directly", ctypes.c_int32), ("gpu_id", ctypes.c_uint8 * 16)]


class Library:
    CODES = {1: "bad_argument", 2: "bad_setting", 3: "bad_file", 4: "output", 5: "out_of_memory", 6: "device", 7: "cancelled"}
    CPU = 1
    PROGRESS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_char_p)

    def __init__(self):
        self.library = ctypes.CDLL(os.environ["ECHOLUX_LIBRARY"])

    def call(self, name, function, *arguments):
        error = CError(size=ctypes.sizeof(CError))
        status = getattr(self.library, f"echolux_{function}")(*arguments, ctypes.byref(error))
        if status != 0:
            raise Refused(name, self.CODES[status], *(text.decode() for text in (error.what, error.where, error.remedy)))

    def text(self, name, function, *arguments):
        size = 1 << 20
        buffer, needed = ctypes.create_string_buffer(size), ctypes.c_size_t()
        self.call(name, function, *arguments, buffer, ctypes.c_size_t(size), ctypes.byref(needed))
        return buffer.value.decode()

    def run(self, request, progress=None):
        operation = ctypes.c_void_p()
        self.call(request.name, "operation_create", request.name.encode(), ctypes.byref(operation))
        try:
            values = {**request.inputs, **request.outputs, **request.arguments, **({request.unknown: 1} if request.unknown else {})}
            for key, value in values.items():
                for one in many(value):
                    self.call(request.name, "operation_set", operation, key.encode(), text_of(one).encode())
            device = CDevice(size=ctypes.sizeof(CDevice), kind=self.CPU)
            told = progress or ctypes.cast(None, self.PROGRESS)
            self.call(request.name, "operation_run", operation, ctypes.byref(device), ctypes.c_int32(request.overwrite), told, None)
            return json.loads(self.text(request.name, "operation_json", operation))
        finally:
            self.library.echolux_operation_free(operation)

    def cancelled(self, request):
        return self.run(request, self.PROGRESS(lambda *_: 1))


class Stop(Exception):
    """Raised by a progress callback."""


class Module:
    @staticmethod
    def run(request, progress=None):
        section, _, key = request.unknown.partition(".")
        how = {"settings": {section: {key: 1}}} if key else {}
        if request.about["backend"]:
            how["device"] = "cpu"
        inputs = {key: [str(one) for one in value] if isinstance(value, list) else str(value) for key, value in request.inputs.items()}
        outputs = {key: str(value) for key, value in request.outputs.items()}
        try:
            made = getattr(ox.operations, request.name)(**inputs, **outputs, **request.arguments, progress=progress,
                                                        overwrite=request.overwrite, **how)
        except ox.Error as error:
            raise Refused(request.name, error.code, error.what, error.where, error.remedy) from error
        return {"files": made.files, "warnings": made.warnings}

    def cancelled(self, request):
        def stop(*_):
            raise Stop

        try:
            return self.run(request, stop)
        except Stop:
            raise Refused(request.name, "cancelled", "", "", "") from None


# ---- the cases


class Everywhere(ProgramCase):
    """The inputs, and the interfaces by name."""

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.shared = Path(temporary.name).resolve()
        noise = np.random.default_rng(5)
        commands.write_tissue(cls.shared, noise)
        commands.write_geometry(cls.shared, np.random.default_rng(6))
        commands.write_eyes(cls.shared)
        commands.write_tiles(cls.shared, np.random.default_rng(7))
        commands.write_pullback(cls.shared, np.random.default_rng(8))
        np.save(cls.shared / "tissue.npy", noise.exponential(1, (6, 32, 24)).astype(np.float32))
        np.save(cls.shared / "field.npy", np.exp(1j * noise.normal(0, 1, (6, 32, 24))).astype(np.complex64))
        np.save(cls.shared / "fields.npy", np.ones((600, 128, 128), np.complex64))
        write_scan(cls.shared)
        commands.write_mirrors(cls.shared, noise)
        done = Finished(start("render", "layered.nrrd", "--size", "24x24", "-o", "picture.png", folder=cls.shared))
        assert done.code == 0, str(done)
        rpc = Rpc(cls.shared)
        cls.addClassCleanup(rpc.end)
        cls.faces = {"command": Command(cls.shared), "rpc": rpc, "c": Library(), "python": Module()}

    def request(self, name, folder, *, is_long=False, **changes):
        """A run whose outputs are in a folder beside the inputs, which is emptied first."""
        case = CASES[name]
        place = self.shared / folder
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        long = case.long if is_long else {}
        inputs = {key: long.get(key, value) for key, value in case.inputs.items()}
        inputs = {key: [self.shared / one for one in value] if isinstance(value, list) else self.shared / value
                  for key, value in inputs.items()}
        arguments = {**case.arguments, **{key: str(self.shared / value) for key, value in case.files.items()},
                     **{key: value for key, value in long.items() if key not in inputs}}
        how = {"inputs": inputs, "outputs": {key: place / value for key, value in case.outputs.items()}, "arguments": arguments}
        return Request(name, **{**how, **changes})

    def refusals(self, request):
        """The refusal of each interface, none of which may write a file."""
        folder = self.shared / "refused"
        before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        refused = {}
        for face, one in self.faces.items():
            with self.assertRaises(Refused, msg=face) as caught:
                one.run(request)
            refused[face] = caught.exception.parts
            self.assertEqual({path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}, before, face)
        return refused

    def assert_alike(self, request, code, *words):
        refused = self.refusals(request)
        for face, parts in refused.items():
            self.assertEqual(parts, refused["rpc"], face)
        self.assertEqual(refused["rpc"][0], code, refused)
        for word in words:
            self.assertIn(str(word).replace("-", "_").lower(), " ".join(refused["rpc"]))

    def assert_equal(self, name):
        """Runs the operation through each interface, and compares files and results."""
        made, told = {}, {}
        for face, one in self.faces.items():
            with self.subTest(name, face=face):
                request = self.request(name, face)
                told[face] = one.run(request)
                self.assertEqual(sorted(map(str, request.outputs.values())), sorted(told[face].pop("files")))
                made[face] = {path.relative_to(self.shared / face): path.read_bytes()
                              for path in (self.shared / face).rglob("*") if path.is_file()}
                self.assertTrue(made[face])
                self.assertEqual(sorted(made[face]), sorted(made["command"]))
                for path, content in made[face].items():
                    self.assertTrue(content == made["command"][path], f"{path} differs")
        for results in told.values():
            results.pop("seconds", None)
            results["warnings"] = len(results["warnings"])  # those of the command name options
        self.assertEqual(told["rpc"], told["command"], name)
        self.assertEqual(told["c"], told["command"], name)
        self.assertEqual(told["python"]["warnings"], told["command"]["warnings"], name)


class Results(Everywhere):
    def test_every_operation_has_case(self):
        self.assertEqual(set(CASES), set(TABLE))

    def test_bytes_and_results_are_equal(self):
        for name, case in CASES.items():
            if not case.is_slow:
                self.assert_equal(name)


class SlowResults(Everywhere):
    def test_bytes_and_results_are_equal(self):
        for name, case in CASES.items():
            if case.is_slow:
                self.assert_equal(name)


class Refusals(Everywhere):
    def test_unknown_argument(self):
        for name in TABLE:
            with self.subTest(name):
                self.assert_alike(self.request(name, "refused", unknown=f"{name}.nonsense"), "bad_setting", "nonsense")

    def test_value_out_of_range(self):
        """An integer of the operation itself, or one of several words."""
        for name, about in TABLE.items():
            own = [one for one in about["arguments"] if not one["section"]]
            integers = [one for one in own if one["type"] == "integer" and one["max"] <= 1e9]
            words = [one for one in own if "choices" in one]
            if not integers and not words:
                self.assertLessEqual({one["type"] for one in own}, {"text", "bool"}, f"{name} has another range to test")
                continue
            one = (integers or words)[0]
            with self.subTest(name, argument=one["name"]):
                request = self.request(name, "refused")
                request.arguments[one["name"]] = int(2 * one["max"] + 1) if integers else "nonsense"
                self.assert_alike(request, "bad_setting", one["name"], "expected", request.arguments[one["name"]])

    def test_missing_input(self):
        """The command's own parser comes first: a name that is missing from a command line is a usage error."""
        for name, about in TABLE.items():
            if not is_needed(about):
                continue
            with self.subTest(name):
                first = about["inputs"][0]["name"]
                refused = self.refusals(self.request(name, "refused", inputs={}))
                usage = refused.pop("command")
                self.assertEqual(usage[0], "usage")
                self.assertIn(first, usage[1])
                self.assertEqual(set(refused.values()), {("bad_setting", "is missing", first, "name a volume")})

    def test_missing_file(self):
        for name, about in TABLE.items():
            if not is_needed(about):
                continue
            with self.subTest(name):
                first = about["inputs"][0]
                request = self.request(name, "refused")
                gone = many(request.inputs[first["name"]])[0].with_stem("gone")
                request.inputs[first["name"]] = [gone] if first["many"] else gone
                self.assert_alike(request, "bad_file", gone.name)

    def test_output_that_exists(self):
        for name in TABLE:
            with self.subTest(name):
                request = self.request(name, "refused")
                output = next(iter(request.outputs.values()))
                output.parent.mkdir(exist_ok=True)
                output.write_text("mine")
                self.assert_alike(request, "output", output.name)
                for face, one in () if CASES[name].is_slow else self.faces.items():
                    output.write_text("mine")
                    request.overwrite = True
                    one.run(request)
                    self.assertNotEqual(output.read_bytes(), b"mine", face)

    def test_wrong_ending(self):
        for name in TABLE:
            with self.subTest(name):
                request = self.request(name, "refused")
                first = next(iter(request.outputs))
                request.outputs[first] = request.outputs[first].with_suffix(".xyz")
                refused = self.refusals(request)
                self.assertEqual(len(set(refused.values())), 1, refused)
                self.assertIn(".xyz", refused["rpc"][2])


class Cancelling(Everywhere):
    """Larger inputs, because Python reports progress, and stops, every 50 ms. The operations that are left out have little to do
    and end before they can be interrupted."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        many_times = 1500
        for name, quantity in (("layered", "db"), ("decay", "db")):
            voxels = read_volume(cls.shared / f"{name}.nrrd")
            write_nrrd(cls.shared / f"{name}.nrrd", np.tile(voxels, (many_times, 1, 1)), quantity=quantity)
        np.save(cls.shared / "tissue.npy", np.tile(np.load(cls.shared / "tissue.npy"), (many_times, 1, 1)))
        write_scan(cls.shared / "long", np.zeros((1, 512, 1024), "<u2"), scan={"b_scans": 16000}, recipe={"depth_end": 16, "voxel": "u8"})
        extend(cls.shared / "long/spectra.raw", 16000 * 512 * 1024 * 2)
        write_scan(cls.shared / "slow", np.random.default_rng(1).normal(2000, 100, (1, 4096, 8192)).astype("<u2"))

    def test_leaves_no_file(self):
        for name in set(TABLE) - {"angiogram", "reproduce", "retina", "topography"}:
            for face in ("rpc", "c", "python"):
                with self.subTest(name, face=face):
                    request = self.request(name, "cancelled", is_long=True)
                    with self.assertRaises(Refused) as caught:
                        self.faces[face].cancelled(request)
                    self.assertEqual(caught.exception.parts[0], "cancelled")
                    self.assert_nothing_is_left()
            with self.subTest(name, face="command"):
                request = self.request(name, "cancelled", is_long=True)
                done = self.interrupted(request)
                self.assertEqual(done.code, 130, done)
                self.assertEqual(json.loads(done.err)["error"]["code"], "cancelled")
                self.assert_nothing_is_left()

    def assert_nothing_is_left(self):
        """Python does not wait for the thread that it stops, which then removes its unfinished files."""
        wait_until(lambda: not any(path.is_file() for path in (self.shared / "cancelled").rglob("*")), "no file is left")

    def interrupted(self, request):
        """Interrupts the command while it waits for its first input at standard input, and then gives the input to it.
        An operation that reads no standard input, and one of a scan or of a list of files beside it, is interrupted at work."""
        first = next(iter(request.inputs), "")
        if not first or many(request.inputs[first])[0].suffix == ".toml" or request.name == "stitch":
            process = start(*Command.words(request), folder=self.shared)
            self.wait_until_it_works(process)
            process.send_signal(signal.SIGINT)
            return Finished(process)
        content = many(request.inputs[first])[0].read_bytes()
        request.inputs[first] = ["-", *many(request.inputs[first])[1:]]
        with tempfile.TemporaryDirectory() as folder:
            process = subprocess.Popen([PROGRAM, *Command.words(request)], cwd=self.shared, env={**os.environ, "TMPDIR": folder},
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            wait_until(lambda: [*Path(folder).glob("*/stdin")], "the wait for standard input")
            process.send_signal(signal.SIGINT)
            wait_until(lambda: process.poll() is not None or not has_signal(process, "ShdPnd", signal.SIGINT), "the signal is received")
            _, err = process.communicate(content, timeout=120)
            return SimpleNamespace(code=process.returncode, err=err)


class Toy(Everywhere):
    """`invert` is described in tests/operations/invert.cpp alone."""

    HELP = "value from which it subtracts"

    def test_is_in_help_list_and_documentation(self):
        self.assertRegex(self.succeed("--help").out, r"(?m)^  invert ")
        told = self.succeed("invert", "--help").out
        for words in ("--offset", self.HELP, "--output", "--overwrite"):
            self.assertIn(words, told)
        self.assertIn("Negative of a volume", self.succeed("info", "--operations").out)
        page = self.succeed("info", "--operations", "--markdown").out
        self.assertRegex(page, rf"## `invert`[^#]*\| `offset` \| number from -1e\+06 to 1e\+06 \| `0.0` \| {self.HELP} \|")

    def test_is_in_c_and_json_rpc(self):
        described = json.loads(self.faces["c"].text("", "operations_json"))
        self.assertEqual({one["name"]: one for one in described}, TABLE)
        listed = self.faces["rpc"].ask({"jsonrpc": "2.0", "id": 1, "method": "operation.list"})["result"]["operations"]
        self.assertEqual({one["name"]: one for one in listed}, TABLE)

    def test_is_in_python(self):
        self.assertIn("invert", dir(ox.operations))
        signature = inspect.signature(ox.operations.invert)
        self.assertEqual(signature.parameters["offset"].default, 0)
        self.assertEqual(next(iter(signature.parameters)), "input")
        self.assertIn(self.HELP, " ".join(ox.operations.invert.__doc__.lower().split()))
        stub = Path(ox.__file__).with_name("operations.pyi").read_text()
        self.assertRegex(stub, r"def invert\(\s*input:")

    def test_subtracts(self):
        voxels = np.random.default_rng(2).normal(0, 1, (2, 3, 4)).astype(np.float32)
        made = ox.operations.invert(voxels, offset=2)
        np.testing.assert_array_equal(np.asarray(made.output), np.float32(2) - voxels)
        self.assertEqual(made.voxels, voxels.size)
