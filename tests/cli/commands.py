"""A table of all commands of the program with their inputs and outputs. Tests of rules that apply to every command take
their cases from it, and fail if a command is missing."""
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from scans import dome, toml_text, tube_velocities, write_nrrd, write_scan, write_series
from support import PROGRAM, Finished, ProgramCase, start

SIMULATED = ["--samples", "256", "--a-scans", "8", "--b-scans", "4"]
# Slow enough for a busy machine: lost blocks would cause exit code 1.
SOURCE = [
    *("--source", "sim", "--line-rate-hz", "2000", "--block-b-scans", "4"),
    *("--set", "simulation.a_scans=16", "--set", "simulation.b_scans=8", "--set", "simulation.samples=512"),
    *("--set", "recipe.noise_floor_db=20"),
]


@dataclass
class Case:
    """A command line without its outputs. `outputs`: option, file name, and whether such a file can be recognised as
    ours."""

    words: list
    outputs: list = field(default_factory=list)
    inputs: list = field(default_factory=list)
    is_long: bool = False  # too long to run completely in these tests

    @property
    def command(self):
        return " ".join(self.words[:2] if self.words[0] == "calibrate" else self.words[:1])

    def line(self, names=None, only=None):
        """Returns the command line with all outputs, or only that of the option `only`. `names` overrides output
        names."""
        line = list(self.words)
        for option, name, _ in self.outputs:
            if only is None or option == only or self.is_needed(option):
                line += [option, (names or {}).get(option, name)]
        return line

    def is_needed(self, option):
        return option == "-o" and self.command not in ("live", "render", "calibrate rolloff", "calibrate dispersion",
                                                       "validate", "info", "segment")


SEGMENT = ["segment", "v.nrrd", "--preset", "layers", "--count", "2"]
ANGIOGRAPHY = ["--set", "flow.method=complex_decorrelation", "--set", "flow.align=true", "--average", "power"]
VESSELS = ["segment", "flow.nrrd", "--surfaces", "slab.nrrd"]
SCAN_FILES = ["scan.toml", "spectra.raw", "bg.csv"]
MIRRORS = ["m1.csv", "m2.csv"]

CASES = [
    Case(["simulate", "layers", *SIMULATED], [("-o", "sim/scan.toml", True), ("--velocity", "velocity.nrrd", True)]),
    Case(["reconstruct", "scan.toml"], [("-o", "r.nrrd", True)], SCAN_FILES),
    Case(["reconstruct", "scan.toml", "--b-scan", "1"], [("-o", "b.png", True)], SCAN_FILES),
    Case(["reconstruct", "scan.toml"], [("-o", "r.npy", False)], SCAN_FILES),
    Case(["reconstruct", "repeats/scan.toml", *ANGIOGRAPHY], [("-o", "r.nrrd", True), ("--flow", "f.nrrd", True), ("--repeats", "r.csv", True)],
         ["repeats/scan.toml", "repeats/scan.raw"]),
    Case(["convert", "v.nrrd"], [("-o", "c.mha", True)], ["v.nrrd"]),
    Case(["register", "tissue.npy", "tissue.npy"], [("-o", "mean.nrrd", True), ("--table", "shifts.csv", True)], ["tissue.npy"]),
    Case(["render", "v.nrrd", "--size", "24x24", "--view", "look.toml"],
         [("-o", "p.png", True), ("--save-transfer", "t.toml", False)], ["v.nrrd", "look.toml"]),
    Case(["render", "v.nrrd", "--size", "24x24", "--frames", "2"], [("--movie", "frames/f_%02d.png", True)],
         ["v.nrrd"]),
    Case(["render", "v.nrrd", "--size", "24x24", "--frames", "2"], [("--movie", "m.mp4", True)], ["v.nrrd"]),
    Case(["reproduce", "picture.png"], [("-o", "again.png", True)], ["picture.png", "v.nrrd"]),
    Case(["figure", "v.nrrd"], [("-o", "f.png", True)], ["v.nrrd"]),
    Case(["figure", "v.nrrd"], [("-o", "f.pdf", True)], ["v.nrrd"]),
    Case(["figure", "v.nrrd"], [("-o", "f.svg", True)], ["v.nrrd"]),
    Case(["figure", "v.nrrd", "--a-scan", "1,1"], [("-o", "a.csv", True)], ["v.nrrd"]),
    Case(["figure", "v.nrrd", "--psf"], [("-o", "psf.csv", True)], ["v.nrrd"]),
    Case([*SEGMENT], [("-o", "s.nrrd", True), ("--picture", "s.png", True), ("--thickness", "s.pdf", True),
                      ("--en-face", "s.svg", True), ("--flatten", "flat.nrrd", True)], ["v.nrrd"]),
    Case([*SEGMENT], [("-o", "s.csv", True), ("--thickness", "t.nrrd", True), ("--en-face", "e.nrrd", True)], ["v.nrrd"]),
    Case([*SEGMENT, "--surfaces", "known.nrrd"], [("--unflatten", "u.nrrd", True)], ["v.nrrd", "known.nrrd"]),
    Case([*VESSELS], [("--density", "d.png", True), ("--flux", "x.nrrd", True), ("--vessels", "v.csv", True)], ["flow.nrrd", "slab.nrrd"]),
    Case(["attenuation", "decay.nrrd"], [("-o", "mu.nrrd", True)], ["decay.nrrd"]),
    Case(["flow", "tube.nrrd", "--through", "12,4,32"], [("-o", "q.csv", True), ("--plot", "q.svg", True)], ["tube.nrrd"]),
    Case(["filter", "v.nrrd", "--method", "median"], [("-o", "smooth.nrrd", True)], ["v.nrrd"]),
    Case(["filter", "v.nrrd", "v2.nrrd"], [("-o", "mean.mha", True)], ["v.nrrd", "v2.nrrd"]),
    Case(["topography", "dome.nrrd"], [("-o", "shape.csv", True), ("--zernike", "zernike.csv", True), ("--maps", "maps.png", True)], ["dome.nrrd"]),
    Case(["dynamics", "cells.nrrd"], [("--liv", "liv.nrrd", True), ("--curves", "curves.csv", True), ("--picture", "cells.svg", True)], ["cells.nrrd"]),
    Case(["displacement", "moving.nrrd", "--wavelength", "840"],
         [("--displacement", "nm.nrrd", True), ("--table", "times.csv", True), ("--wave", "wave.csv", True), ("--plot", "wave.svg", True)], ["moving.nrrd"]),
    Case(["polarisation", "moving.nrrd", "crossed.nrrd"],
         [("--axis", "axis.nrrd", True), ("--table", "rows.csv", True), ("--picture", "axis.svg", True)], ["moving.nrrd", "crossed.nrrd"]),
    Case(["measure", "v.nrrd", "--regions", "regions.toml"],
         [("-o", "m.csv", True), ("--histogram", "h.csv", True), ("--plot", "m.svg", True), ("--mask", "mask.nrrd", True)],
         ["v.nrrd", "regions.toml"]),
    Case(["retina", "macula.nrrd", "--eye", "OD"], [("-o", "etdrs.csv", True), ("--plot", "etdrs.png", True)], ["macula.nrrd"]),
    Case(["retina", "circle.nrrd", "--eye", "OS"], [("-o", "tsnit.json", True), ("--profile", "profile.csv", True)], ["circle.nrrd"]),
    Case(["angiogram", "capillaries.nrrd"], [("-o", "faz.csv", True), ("--mask", "faz.nrrd", True), ("--plot", "faz.pdf", True)],
         ["capillaries.nrrd"]),
    Case(["page", "v.nrrd", "--frames", "2", "--frame-size", "24"], [("-o", "page.html", True)], ["v.nrrd"]),
    Case(["mesh", "v.nrrd", "--level", "10"], [("-o", "mesh.stl", True)], ["v.nrrd"]),
    Case(["pattern", "--a-scans", "8", "--b-scans", "2", "--line-rate-hz", "10000", "--spacing-a", "10", "--spacing-b", "10"], [("-o", "waves.csv", True)]),
    Case(["dewarp", "layered.nrrd", "--scan", "geometry.toml"], [("-o", "d.nrrd", True)], ["layered.nrrd", "geometry.toml"]),
    Case(["stitch", "tiles.csv", "--search", "15", "--search-depth", "6"],
         [("-o", "mosaic.nrrd", True), ("--positions", "positions.csv", True), ("--overlaps", "overlaps.csv", True)],
         ["tiles.csv", "west.nrrd", "east.nrrd"]),
    Case(["catheter", "pullback.nrrd", "--zero-radius", "20"],
         [("-o", "turns.nrrd", True), ("--cylinder", "cylinder.nrrd", True), ("--angles", "angles.csv", True), ("--lumen", "lumen.csv", True),
          ("--contours", "contours.csv", True)], ["pullback.nrrd"]),
    Case(["calibrate", "field", "bowl.nrrd"], [("-o", "field.toml", True), ("--plot", "field.png", True)], ["bowl.nrrd"]),
    Case(["calibrate", "grid", "dots.nrrd", "--pitch", "0.04"], [("-o", "grid.toml", True), ("--plot", "grid.svg", True)], ["dots.nrrd"]),
    Case(["calibrate", "galvo", "both.nrrd", "--scan", "both.toml", "--max-a-scans", "4"],
         [("-o", "galvo.toml", True), ("--plot", "galvo.pdf", True)], ["both.nrrd", "both.toml"]),
    Case(["calibrate", "background", "scan.toml"], [("-o", "mean.csv", True)], SCAN_FILES),
    Case(["calibrate", "noise", "scan.toml"], [("-o", "noise.csv", True), ("--plot", "noise.svg", True)], SCAN_FILES),
    Case(["calibrate", "k", *MIRRORS, "--background", "mb.csv", "--sides", "same"],
         [("-o", "k.csv", True), ("--dispersion", "d.csv", True), ("--plot", "k.pdf", True)], [*MIRRORS, "mb.csv"]),
    Case(["calibrate", "dispersion", "scan.toml", "--lines", "8"],
         [("-o", "theta.csv", True), ("--plot", "theta.png", True)], SCAN_FILES),
    Case(["calibrate", "rolloff", *MIRRORS, "--scan", "mirror/scan.toml"],
         [("-o", "roll.csv", True), ("--plot", "roll.png", True)], [*MIRRORS, "mirror/scan.toml", "mirror/scan.raw"]),
    Case(["live", *SOURCE, "--volumes", "3", "--size", "24x24", "--backend", "cpu", "--set", "registration.shown=true"],
         [("-o", "last.png", True), ("--report", "live.json", True), ("--shifts", "shifts.csv", True)]),
    Case(["record", *SOURCE, "--volumes", "2"], [("-o", "rec.toml", False), ("--report", "rec.json", True)]),
    Case(["record", "--source", "replay:scan.toml", "--line-rate-hz", "20000", "--volumes", "1"], [("-o", "copy.toml", False)], SCAN_FILES),
    Case(["view", "v.nrrd", "--size", "320x240", "--after", "0"], [("--picture", "window.png", True)], ["v.nrrd"]),
    Case(["serve", "v.nrrd", "--port", "0", "--fresh"], [], ["v.nrrd"], is_long=True),
    Case(["info", "spectra.raw", "--guess"], [("-o", "guess.toml", False)], ["spectra.raw"]),
    Case(["bench", "--quick", "--lengths", "512", "--backend", "cpu"], [("--json", "bench.json", True)], is_long=True),
    Case(["validate", "--quick"], [("-o", "page.md", True)], is_long=True),
    Case(["demo"], [("-o", "demo", True)], is_long=True),
]


def all_commands():
    """Returns the commands listed by --help, including subcommands such as `calibrate k`. `ctl` is left out because it
    only sends requests to an open window: see test_control.py. `batch` is a command of the Python module: see
    tests/python/cluster/test_command.py. `invert` is an operation of tests/operations."""
    names = []
    for name in listed([]):
        if name in ("batch", "ctl", "invert"):
            continue
        below = listed([name]) if name == "calibrate" else []
        names += [f"{name} {word}" for word in below] or [name]
    return names


def listed(words):
    help_text = subprocess.run([PROGRAM, *words, "--help"], capture_output=True, text=True, check=True).stdout
    lines = help_text.split("Commands:")[1].splitlines()
    return [match[1] for match in (re.match(r"^  ([a-z]+) ", line) for line in lines) if match]


def write_tissue(folder, random):
    """Writes two layers with a vessel between them, and light that decays with depth."""
    depth, a_scans, b_scans = 64, 24, 6
    speckle = random.exponential(1, (b_scans, a_scans, depth))
    z = np.arange(depth)
    write_nrrd(folder / "layered.nrrd", 10 * np.log10(speckle * np.select([z < 16, z < 40], [0.01, 1], 0.05)))
    write_nrrd(folder / "decay.nrrd", 10 * np.log10(speckle * (np.exp(-0.03 * z) * (z > 8) + 0.001)))
    flow = np.zeros((b_scans, a_scans, depth))
    flow[:, 8:14, 20:28] = 0.4
    write_nrrd(folder / "flow.nrrd", flow, unit="", quantity="complex_decorrelation")
    write_nrrd(folder / "dome.nrrd", dome(), (0.1, 0.1, 1), unit="um", quantity="depth")
    (folder / "regions.toml").write_text('[[region]]\nname = "box"\nunit = "voxels"\nfrom = [2, 1, 10]\nto = [12, 4, 40]\n')
    write_nrrd(folder / "tube.nrrd", tube_velocities(24, 8, depth), unit="mm/s", quantity="velocity")
    write_contrasts(folder, np.random.default_rng(9))


def write_contrasts(folder, random):
    """Writes speckle that fluctuates, complex speckle that moves away by 5 nm per moment, and a second channel."""
    write_series(folder / "cells.nrrd", 10 * np.log10(random.exponential(1, (8, 2, 6, 20))), 0.1)
    field = (random.normal(0, 1, (2, 1, 2, 12, 40)) * np.array([1, 1j])[:, None, None, None, None]).sum(0)
    write_series(folder / "moving.nrrd", field * np.exp(1j * 0.1 * np.arange(3))[:, None, None, None], 0.01)
    write_series(folder / "crossed.nrrd", 0.5 * field, 0)


def write_eyes(folder):
    """Writes surfaces of a macula and of a circle around a disc, and an en-face image of capillaries around a zone."""
    a, b = np.indices((37, 33)) * 0.2 - [[[3.6]], [[3.2]]]
    top = 300 + 10 * a
    write_nrrd(folder / "macula.nrrd", np.array([top, top + 320 - 90 * np.exp(-(a**2 + b**2))]), (0.2, 0.2, 1), unit="um", quantity="depth")
    ring = 100 + 30 * np.cos(np.linspace(0, 4 * np.pi, 96, endpoint=False))[None, :, None]
    write_nrrd(folder / "circle.nrrd", np.concatenate([0 * ring, ring]), (0.1, 0.1, 1), unit="um", quantity="depth")
    row, column = np.indices((96, 96))
    lit = ((row % 3 == 0) | (column % 3 == 0)) & (np.hypot(row - 48, column - 48) > 20)
    write_nrrd(folder / "capillaries.nrrd", lit[None].astype(float), (0.01, 0.01, 1), unit="", quantity="decorrelation")


def write_geometry(folder, random):
    """Writes a geometry, and what its calibrations need: a curved mirror, a grid of dots, a scan in both directions."""
    (folder / "geometry.toml").write_text("[geometry]\npivot_x_mm = 20.0\npath_um = [0.0, 0.0, 0.0, 40.0]\n")
    (folder / "both.toml").write_text("[scan]\nbidirectional = true\nline_rate_hz = 100000.0\n")
    b, a, z = np.meshgrid(np.arange(12), np.arange(24), np.arange(48), indexing="ij")
    row = 20 + ((a - 11.5) / 12) ** 2
    write_nrrd(folder / "bowl.nrrd", -3 * (z - row) ** 2 + random.normal(0, 0.1, z.shape))
    b, a = np.meshgrid(np.arange(56.0), np.arange(60.0), indexing="ij")
    dots = np.exp(-((((a + 3.7) % 8 - 4) ** 2 + ((b + 3.8) % 8 - 4) ** 2) / 2))
    write_nrrd(folder / "dots.nrrd", 10 * np.log10(dots[..., None] * np.ones(4) + 0.01))
    field = random.exponential(1, (1, 60, 16)).repeat(8, 0)
    field[1::2] = np.roll(field[1::2], 2, 1)
    write_nrrd(folder / "both.nrrd", 10 * np.log10(field))


def write_tiles(folder, random):
    """Writes two tiles that overlap by half, and lists of tiles: the two, and one that takes long."""
    field = 10 * np.log10(random.exponential(1, (24, 36, 32)) * np.where(np.arange(32) < 8, 0.01, 1))
    write_nrrd(folder / "west.nrrd", field[:, :24])
    write_nrrd(folder / "east.nrrd", field[:, 12:])
    (folder / "tiles.csv").write_text("file,x_mm,y_mm\nwest.nrrd,0,0\neast.nrrd,0.06,0\n")
    (folder / "many_tiles.csv").write_text("west.nrrd,0,0\neast.nrrd,0.06,0\n" * 200)


def write_pullback(folder, random):
    """Writes turns of a catheter in a lumen: speckle that is wider than an A-scan and longer than a turn."""
    white = random.normal(0, 1, (2, 12, 64, 64))
    for axis, width in ((1, 1), (2, 2)):
        white = sum(np.roll(white, k, axis) for k in range(-width, width + 1))
    power = (white**2).sum(0) * np.where(np.arange(64) < 24, 0.003, 1)
    power[..., 10] = 30  # the sheath
    write_nrrd(folder / "pullback.nrrd", 10 * np.log10(power))


def run_in(folder, *words):
    finished = Finished(start(*words, folder=folder))
    assert finished.code == 0, str(finished)


def write_mirrors(folder, random):
    """Writes a scan of a mirror, mean spectra of a mirror at two depths, and one without a mirror."""
    run_in(folder, "simulate", "mirror", "-o", "mirror/scan.toml", "--samples", "512", "--a-scans", "4", "--b-scans", "1")
    j = np.arange(512)
    envelope = 2000 * np.exp(-(((j - 256) / 140) ** 2))
    for name, bins in (("m1", 40), ("m2", 110)):
        fringe = 1 + 0.5 * np.cos(2 * np.pi * bins * (j / 512 + 0.02 * (j / 512) ** 2))
        np.savetxt(folder / f"{name}.csv", envelope * fringe + 100 + random.normal(0, 0.05, 512))
    np.savetxt(folder / "mb.csv", envelope + 100)


def prepare(folder):
    """Creates the input files of the table."""

    def run(*words):
        run_in(folder, *words)

    noise = np.random.default_rng(5)
    write_scan(folder, calibration={"background": "bg.csv"})
    (folder / "bg.csv").write_text("".join(f"{3000 + 0.5 * i}\n" for i in range(256)))
    run("reconstruct", "scan.toml", "-o", "v.nrrd")
    run("convert", "v.nrrd", "v2.nrrd")
    run(*SEGMENT, "-o", "known.nrrd")
    write_tissue(folder, noise)
    write_geometry(folder, np.random.default_rng(6))
    write_tiles(folder, np.random.default_rng(7))
    write_pullback(folder, np.random.default_rng(8))
    write_eyes(folder)
    run("segment", "layered.nrrd", "--preset", "layers", "--count", "2", "-o", "slab.nrrd")
    run("simulate", "vessel", "-o", "repeats/scan.toml", *SIMULATED, "--b-repeats", "2")
    (folder / "look.toml").write_text(toml_text({"view": {"mode": "mip"}}))
    run("render", "v.nrrd", "--size", "24x24", "-o", "picture.png")
    write_mirrors(folder, noise)
    np.save(folder / "tissue.npy", noise.exponential(1, (6, 32, 24)).astype(np.float32))


class PreparedCase(ProgramCase):
    """A case whose folder contains the inputs of every command. They are created once per class."""

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.prepared = Path(temporary.name) / "prepared"
        cls.prepared.mkdir()
        prepare(cls.prepared)

    def setUp(self):
        super().setUp()
        shutil.copytree(self.prepared, self.folder, dirs_exist_ok=True)
