"""Refusals of every command: refusals/COMMAND.txt holds command lines, each followed by its exit code and error line.
Run with ECHOLUX_WRITE=1 to update the answers. A refusal leaves no file and changes none."""
import concurrent.futures
import hashlib
import os
import re
import shlex
import tempfile
import unittest
from pathlib import Path

import numpy as np

import commands
from scans import dome, fringes, tube_velocities, write_nrrd, write_scan
from support import Finished, start
from test_calibrate import N, linear_mirror, mirror, noise_only

GOLDEN = Path(__file__).with_name("refusals")
NM = np.linspace(800, 880, 256)
LINEAR = np.arange(256.0)

# Changes of scan.toml by file name.
SCANS = {
    "windw": {"recipe": {"windw": "hann"}}, "hanning": {"recipe": {"window": "hanning"}}, "many": {"scan": {"samples": "many"}},
    "minus": {"scan": {"a_scans": -12}}, "wide": {"scan": {"samples": 10**18}}, "channel": {"scan": {"channels": 1, "channel": 1}},
    "huge": {"scan": {"a_scans": 16000000, "b_scans": 16000000}},
    "no_samples": {"scan": {"samples": None}}, "zero_a_scans": {"scan": {"a_scans": 0}}, "zero_b_scans": {"scan": {"b_scans": 0}},
    "gdd": {"recipe": {"gdd_fs2": 500}}, "stored": {"recipe": {"background": "stored"}},
}
# Calibration files: key, name, content.
NUMBERS = [
    ("k_map", "nan_k", np.where(LINEAR == 100, np.nan, LINEAR)), ("k_map", "swapped_k", np.r_[LINEAR[:100], 101, 100, LINEAR[102:]]),
    ("k_map", "short_k", LINEAR[:200]), ("k_map", "unit_k", LINEAR / 255),
    ("dispersion", "short_d", np.zeros(255)), ("background", "long_b", np.ones(257)), ("wavelengths", "pm_w", NM * 1000),
    ("wavelengths", "twice_w", np.where(LINEAR == 5, NM[7], NM)),
]


def write_scans(folder):
    """Scans and calibrations with one fault each."""
    for name, changes in SCANS.items():
        write_scan(folder, name=f"{name}.toml", **changes)
    for key, name, values in NUMBERS:
        (folder / f"{name}.csv").write_text("".join(f"{value:.8g}\n" for value in values))
        recipe = {"background": "stored"} if key == "background" else {"resample": "linear"} if key != "dispersion" else {}
        write_scan(folder, calibration={key: f"{name}.csv"}, recipe=recipe, name=f"{name}.toml")
    (folder / "comma.csv").write_text("".join(f"{value:.3f}\n" for value in LINEAR).replace(".", ","))
    (folder / "words.csv").write_text("zero\n" * 256)
    (folder / "binary.csv").write_bytes(bytes(range(256)) * 40)
    (folder / "latin.csv").write_bytes(b"1\n2\n\xb5m\xff\n")
    scan = write_scan(folder)
    (folder / "line.toml").write_text('[scan]\nfile = "spectra.raw"\nsamples == 3\n')
    (folder / "section.toml").write_text(scan.read_text() + '[recipes]\nwindow = "hann"\n')
    (folder / "binary.toml").write_bytes(bytes(range(256)) * 16)
    for name, content in (("short", fringes().tobytes()[: 29 * 512 + 100]), ("tiny", b"12345"), ("empty", b"")):
        (folder / f"{name}.raw").write_bytes(content)
        (folder / f"{name}.toml").write_text(scan.read_text().replace("spectra.raw", f"{name}.raw"))
    for name in ("gone.raw", "folder"):
        (folder / f"of_{name}.toml").write_text(scan.read_text().replace("spectra.raw", name))


def write_others(folder):
    """Folders, files of other kinds, and text files of render."""
    for name in ("folder", "recording"):
        (folder / name).mkdir()
    write_scan(folder / "recording")
    texts = {"a-scan.csv": "depth_um,value\n0,5\n", "s.xml": '\ufeff<?xml version="1.0"?>\n<Scan/>\n', "k.toml": "[[key]]\ntime_s = 0\nazimut_deg = 10\n",
             "no_id.toml": "[[label]]\nname = 'a'\n", "twice.toml": "[[label]]\nid = 3\n" * 2, "color.toml": "[[label]]\nid = 3\ncolor = [1,0,0]\n",
             "two.toml": "[[label]]\nid = 3\ncolour = [1,0]\n", "large.toml": "[[label]]\nid = 3000\n"}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "noise.bin").write_bytes(bytes(range(256)) * 100)
    for ending in ("nrrd", "nii", "tif", "mha"):
        (folder / f"rubbish.{ending}").write_bytes(b"rubbish " * 100)


# Files of regions, each with one fault.
BOX = 'name = "a"\nunit = "voxels"\n'
REGIONS = {
    "outside": BOX + "from = [500, 0, 0]\nto = [600, 5, 5]", "between": BOX + "from = [1.2, 1.2, 1.2]\nto = [1.8, 1.8, 1.8]",
    "twisted": BOX + 'shape = "polygon"\npoints = [0, 0, 9, 5, 9, 0, 0, 5]', "backwards": BOX + "from = [5, 0, 0]\nto = [2, 5, 5]",
    "two_corners": BOX + 'shape = "polygon"\npoints = [0, 0, 9, 5]', "doubled": BOX + 'shape = "polygon"\npoints = [0, 0, 9, 5, 9, 5, 0, 5]',
    "spike": BOX + 'shape = "polygon"\npoints = [0, 0, 9, 0, 4, 0, 4, 5]', "layer": BOX + 'shape = "slab"\nupper = "1"\nlower = "1"',
    "no_name": "from = [0, 0, 0]\nto = [1, 1, 1]", "key": BOX + "form = [0, 0, 0]", "short_box": BOX + "from = [0, 0]\nto = [5, 5, 5]",
    "point": BOX + 'shape = "ellipsoid"\ncentre = [3, 3, 3]\nradii = [0, 1, 1]', "mm": 'name = "a"\nfrom = [0, 0, 0]\nto = [1, 1, 1]',
    "word": BOX + 'from = "left"', "cone": BOX + 'shape = "cone"', "good": BOX + "from = [0, 0, 0]\nto = [4, 4, 4]",
}


def write_regions(folder):
    for name, text in REGIONS.items():
        (folder / f"region_{name}.toml").write_text(f"[[region]]\n{text}\n")
    (folder / "region_twice.toml").write_text(f"[[region]]\n{REGIONS['good']}\n" * 2)
    (folder / "region_none.toml").write_text("[scan]\nsamples = 3\n")


def write_volumes(folder):
    """Volumes that some command cannot use."""
    random = np.random.default_rng(8)
    commands.write_tissue(folder, random)
    volume = random.exponential(1, (6, 24, 64))
    unknown = {"quantity": "", "unit": ""}
    write_nrrd(folder / "noise.nrrd", volume, quantity="intensity", unit="")
    write_nrrd(folder / "floor.nrrd", 10 * np.log10(volume), unit="dB above noise floor")
    write_nrrd(folder / "unknown.nrrd", volume, **unknown)
    write_nrrd(folder / "nothing.nrrd", np.full_like(volume, np.nan))
    write_nrrd(folder / "zero.nrrd", np.zeros_like(volume), quantity="intensity", unit="")
    write_nrrd(folder / "still.nrrd", np.zeros_like(volume), quantity="velocity", unit="mm/s")
    commands.write_tiles(folder, np.random.default_rng(9))
    commands.write_pullback(folder, np.random.default_rng(10))
    write_nrrd(folder / "bare_pullback.nrrd", 10 * np.log10(np.random.default_rng(11).exponential(1, (4, 40, 64))))
    (folder / "marks.csv").write_text("0,12,5000\n")
    write_nrrd(folder / "noisy.nrrd", 10 * np.log10(volume))
    write_nrrd(folder / "coarse.nrrd", volume, (0.01, 0.0014, 0.005))
    lists = {"missing": "west.nrrd,0,0\ngone.nrrd,0.06,0\n", "coarse": "west.nrrd,0,0\ncoarse.nrrd,0.06,0\n",
             "apart": "west.nrrd,0,0\neast.nrrd,0.5,0\n", "strange": "west.nrrd,0,0\nnoisy.nrrd,0.06,0\n",
             "words": "west.nrrd,0,0\neast.nrrd,left\n", "lonely": "west.nrrd,0,0\n", "kinds": "west.nrrd,0,0\nnoise.nrrd,0.06,0\n",
             "moving": "still.nrrd,0,0\nstill.nrrd,0.06,0\n"}
    for name, text in lists.items():
        (folder / f"{name}_tiles.csv").write_text(text)
    write_nrrd(folder / "dome.nrrd", dome(), (0.1, 0.1, 1), unit="um", quantity="depth")
    write_nrrd(folder / "bare.nrrd", 10 * np.log10(volume), unit="dB\necholux_spacing_known:=-")
    write_nrrd(folder / "single.nrrd", volume[:1], quantity="intensity", unit="")
    write_nrrd(folder / "half.nrrd", volume[:3])
    write_nrrd(folder / "small.nrrd", np.ones((4, 4, 4)), quantity="intensity", unit="")
    write_nrrd(folder / "fractions.nrrd", volume, **unknown)
    write_nrrd(folder / "ids.nrrd", np.full_like(volume, 3), **unknown)
    for name, how in (("flat", {"slope": 0.02}), ("one", {"b_scans": 1}), ("two", {"b_scans": 2})):
        velocities = tube_velocities(**{"a_scans": 24, "b_scans": 8, "depth": 64, **how})
        write_nrrd(folder / f"{name}_tube.nrrd", velocities + random.normal(0, 0.0005, velocities.shape), unit="mm/s", quantity="velocity")
    times = (folder / "tube.nrrd").read_bytes().replace(b"\n", b"\necholux_times_s:=0.1 0\n", 1)
    (folder / "back.nrrd").write_bytes(times)
    commands.write_eyes(folder)
    for name in ("tissue", "other_tissue"):
        np.save(folder / f"{name}.npy", random.exponential(1, (2, 6, 32, 24)).astype("f4"))
    np.save(folder / "codes.npy", random.integers(0, 255, (3, 5, 11, 7), np.uint16))


def write_mirrors(folder):
    """Recordings for `calibrate`."""
    for name, spectra in {"m1": mirror(60, seed=1), "m2": mirror(150, seed=2), "bg": mirror(0, seed=3), "near": linear_mirror(0.3),
                          "same": linear_mirror(0.3004, seed=9), "shallow": linear_mirror(0.03), "noise": noise_only(1, lines=60),
                          "still": np.full((2, 4, N), 20000, "<u2"),
                          "blurred": linear_mirror(0.3, lines=8, phase=60 * np.linspace(-1, 1, N) ** 2)}.items():
        write_scan(folder / name, spectra)
    (folder / "nan.csv").write_text("1\n2\nnan\n" + "4\n" * (N - 3))
    (folder / "lines.csv").write_text("4\n" * N)


def asked(path):
    """The command lines of a golden file."""
    return re.findall(r"^\$ (.*)$", path.read_text(encoding="utf-8"), re.M)


def golden_files():
    """Those of the commands that this build has."""
    names = ["echolux", *commands.listed([])]
    return [path for path in sorted(GOLDEN.glob("*.txt")) if path.stem in names]


class Refusals(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name).resolve()
        for write in (write_scans, write_others, write_regions, write_volumes, write_mirrors):
            write(cls.folder)

    def contents(self):
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in self.folder.rglob("*") if path.is_file()}

    def answer(self, line):
        finished = Finished(start(*shlex.split(line)[1:], folder=self.folder))
        last = finished.error_lines[-1] if finished.error_lines else ""
        return f"$ {line}\n{finished.code} {last}\n".replace(str(self.folder), "FOLDER")

    def test_match_golden_files(self):
        self.maxDiff = None
        before = self.contents()
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            told = {path: pool.map(self.answer, asked(path)) for path in golden_files()}
            for path, answers in told.items():
                with self.subTest(path.name):
                    text = "".join(answers)
                    if "ECHOLUX_WRITE" in os.environ:
                        path.write_text(text, encoding="utf-8")
                    self.assertEqual(text, path.read_text(encoding="utf-8"), "run this test with ECHOLUX_WRITE=1")
        self.assertEqual(self.contents(), before)

    def test_are_refusals_in_plain_words(self):
        for path in golden_files():
            for line in path.read_text(encoding="utf-8").splitlines():
                with self.subTest(line):
                    self.assertRegex(line, r"^(\$ echolux|[12] echolux: )")
                    self.assertTrue(line.isprintable())
                    self.assertNotRegex(line, r"\{|\}")

    def test_every_command_has_file(self):
        elsewhere = {"demo", "batch", "invert"}  # batch: tests/python/cluster, invert: tests/operations
        self.assertEqual({path.stem for path in golden_files()} - {"echolux"}, set(commands.listed([])) - elsewhere)
