"""mypy --strict accepts a correct user script, and finds the mistakes in another."""
import importlib.util
import os
import subprocess
import sys
import unittest
from pathlib import Path

from support import FolderCase

GOOD = """
import numpy as np
import numpy.typing as npt

import echolux as ox


def reconstructed(path: str) -> npt.NDArray[np.float32]:
    scan = ox.open(path, recipe={"window": "hann"})
    scan.recipe.window = "blackman"
    scan.recipe.zero_padding = 2
    alpha: float = scan.recipe.tukey_alpha
    scan.calibration["background"] = np.zeros(scan.scan.samples) + alpha
    volume: ox.Volume = scan.reconstruct(progress=lambda task, done, total: print(task, done / total))
    if volume.flow is not None:
        volume.flow.velocities().save("velocities.nrrd")
    b, a, depth = volume.spacing_um
    print(volume.shape[0] * b, a, depth, volume.provenance["recipe.window"])
    picture = volume.render(mode="mip", azimuth=30)
    print(picture.shape)
    make = ox.Reconstructor(samples=1024, a_scans=512, b_scans=64, recipe={"window": "hann"})
    try:
        print(make(scan.read(), stream=None).shape)
    except ox.Error as error:
        print(error.code, error.what, error.where, error.remedy)
    return volume.values()


def looked_into(volume: ox.Volume) -> npt.NDArray[np.float32]:
    smooth: ox.Volume = ox.operations.filter(volume, method="nlm", search_b_scans=1, progress=False).output
    surfaces = ox.segment(smooth, "layers", count=3, polarity=[1, 0, -1])
    found = ox.register([volume, smooth], axial_range=32)
    print(found.mean.shape, found.reason_names[found.reasons[0, 0]], ox.operations.attenuation(volume).known)
    print(ox.flow([volume], each="b-scan", margin_um=5).flow_ul_s + 1)
    depths: npt.NDArray[np.float32] = surfaces.depths
    return depths


def operated(volume: ox.Volume) -> int:
    made = ox.operations.filter(volume, method="median", settings={"recipe": {"window": "hann"}})
    found = ox.operations.segment("eye.nrrd", surfaces=made.output, thickness=True, picture="b-scan.png")
    means: npt.NDArray[np.float32] = found.places.depth.mean((1, 2))
    print(found.thickness.values() + means.sum(), found.words("places.reason"), found.surfaces[0], found.output_csv)
    print(ox.operations.flow([volume], each="b-scan").values.flow_ul_s if not made.files else made.warnings)
    return made.looks


def halved(bins: npt.NDArray[np.complex64], place: ox.Place) -> None:
    bins *= 0.5 if place.first_b_scan > 0 else 1.0


def lived(path: str) -> float:
    sim = ox.simulate("vessel", a_scans=32)
    sim.scan.set_stages(bins=halved)
    labels: npt.NDArray[np.uint8] = sim.truth.labels
    ox.open(path).set_stages()
    with ox.live("sim:vessel", recipe={"window": "hann"}, stages={"bins": halved}) as session:
        for made in session:
            session.recipe.window = "rect"
            print(made.number, session.stats.reconstructed.load + session.stats.arrived.lost_blocks, labels.shape)
    part: npt.NDArray[np.uint8] = ox.load(path)[10:20, :, 3]
    ox.movie("turn.mp4", ox.load_series(path), seconds=3, mode="mip")
    return ox.calibrate.mirror(sim.scan, sim.spectra()).bin + float(part.mean()) + ox.operations.validate(quick=True).failed
"""
BAD = """
import echolux as ox

scan = ox.open("scan.toml")
scan.recipe.window = "hamm"
scan.recipe.windw = "hann"
scan.recipe.zero_padding = "2"
scan.reconstruct(volumes=1)
ox.register(scan.reconstruct(), strips=3)
ox.segment(scan.reconstruct(), counts=3)
ox.live("sim:vessel").stats.arrived.lost
ox.operations.fliter("eye.nrrd")
ox.operations.filter("eye.nrrd", method="nml")
ox.operations.filter("eye.nrrd", methd="nlm")
ox.operations.filter("eye.nrrd").outptu
"""


@unittest.skipIf(importlib.util.find_spec("mypy") is None, "mypy is not installed")
class Scripts(FolderCase):
    def mypy(self, script):
        (self.folder / "script.py").write_text(script)
        package = Path(importlib.util.find_spec("echolux").origin).parent.parent
        return subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", self.folder / "cache", "script.py"],
                              cwd=self.folder, capture_output=True, text=True,
                              env={**os.environ, "MYPYPATH": str(package)})

    def test_slow_are_checked(self):
        good = self.mypy(GOOD)
        self.assertEqual(good.returncode, 0, good.stdout + good.stderr)
        bad = self.mypy(BAD)
        lines = {int(line.split(":")[1]) for line in bad.stdout.splitlines() if line.startswith("script.py:")}
        self.assertEqual(lines, set(range(5, 16)), bad.stdout)
