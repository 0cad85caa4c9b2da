"""Polarisation of simulated retarders against their eigenvectors (tests/oracle/contrast_reference.py)."""
import csv
import json
import sys
import unittest
from pathlib import Path

import numpy as np

from scans import write_series
from support import ProgramCase, read_volume

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "oracle"))
import contrast_reference as reference  # noqa: E402

SHAPE = 4, 60, 90
ROW_UM = 1.4


def axis_error(found, truth):
    """In degrees; axes are the same again after 180."""
    return np.abs((found - truth + 90) % 180 - 90)


class Polarisation(ProgramCase):
    def setUp(self):
        super().setUp()
        self.random = np.random.default_rng(21)

    def write(self, fields, snr_db, offset_deg=0.0):
        """Speckle that both channels share, and noise that they do not share."""
        speckle = reference.circular(self.random, SHAPE)
        for name, field in zip(("one", "two"), fields):
            noisy = speckle * field * np.exp(1j * np.radians(offset_deg * (name == "one")))
            noisy = noisy + reference.circular(self.random, SHAPE) * 10 ** (-snr_db / 20)
            write_series(self.folder / f"{name}.nrrd", noisy[None], 0)

    def measure(self, *arguments):
        return json.loads(self.succeed("polarisation", "one.nrrd", "two.nrrd", *arguments, "--overwrite", "--json").out)

    def volume(self, name):
        return read_volume(self.folder / name)

    @staticmethod
    def stack():
        """Three layers with their own axes, and the Jones matrices of the light from each row."""
        z = np.arange(SHAPE[2])
        retardation = np.radians(np.select([z < 10, z < 40, z < 60], [0, 0.9, 0.4], 0.7))
        axis = np.radians(np.select([z < 40, z < 60], [35, 120], 80)) + np.linspace(0, 0.6, SHAPE[1])[:, None]
        retardation = np.broadcast_to(retardation, axis.shape)
        return retardation, axis, reference.returned(retardation, axis)

    def test_stack_of_retarders(self):
        """Within 2 degrees at 30 dB, where the axis is defined at all."""
        _, _, matrices = self.stack()
        truth, axis = (np.degrees(one) for one in reference.retardation_and_axis(matrices))
        for offset, sense in ((0, "forward"), (40, "forward"), (0, "backward")):
            fields = reference.channels(matrices)
            self.write(fields.conj() if sense == "backward" else fields, 30, offset)
            self.measure("--retardation", "d.nrrd", "--axis", "t.nrrd", "--phase-offset", offset, "--axis-sense", sense)
            self.assertLess(np.abs(self.volume("d.nrrd") - truth)[..., 11:].mean(), 2)
            self.assertLess(axis_error(self.volume("t.nrrd"), axis)[..., 15:].mean(), 2)
            self.assertLess(np.abs(np.median(self.volume("d.nrrd") - truth, 0))[..., 11:].mean(), 0.7)

    def test_stokes_parameters_and_reflectivity(self):
        _, _, matrices = self.stack()
        one, two = reference.channels(matrices)
        self.write((3 * one, 3 * two), 60)
        self.measure("--stokes-q", "q.nrrd", "--stokes-u", "u.nrrd", "--stokes-v", "v.nrrd", "--reflectivity", "r.nrrd", "--window-depth", 1,
                     "--window-a-scans", 1)
        bright = self.volume("r.nrrd") > -10
        for name, truth in (("q", np.abs(one) ** 2 - np.abs(two) ** 2), ("u", 2 * (one * two.conj()).real), ("v", 2 * (one * two.conj()).imag)):
            np.testing.assert_allclose(np.where(bright, self.volume(f"{name}.nrrd") - truth, 0), 0, atol=0.02)
        self.assertAlmostEqual(10 * np.log10((10 ** (self.volume("r.nrrd") / 10)).mean()), 10 * np.log10(9), delta=0.2)

    def test_dopu_of_scrambled_light_is_that_of_random_directions(self):
        fields = reference.circular(self.random, (2, *SHAPE)) / reference.circular(self.random, SHAPE)
        self.write(fields, 80)
        for rows, lines in ((1, 1), (3, 5), (7, 9)):
            self.measure("--dopu", "dopu.nrrd", "--dopu-depth", rows, "--dopu-a-scans", lines)
            inside = self.volume("dopu.nrrd")[:, lines:-lines, rows:-rows]
            self.assertAlmostEqual(np.sqrt((inside**2).mean()) * np.sqrt(rows * lines), 1, delta=0.05)
        self.write(reference.channels(self.stack()[2]), 60)
        self.assertGreater(self.measure()["mean_dopu"], 0.99)

    def test_local_retardation_is_that_of_each_layer(self):
        retardation, axis, matrices = self.stack()
        self.write(reference.channels(matrices), 40)
        self.measure("--local-retardation", "d.nrrd", "--local-axis", "t.nrrd", "--local-depth", 10, "--table", "rows.csv")
        found = self.volume("d.nrrd") * ROW_UM
        for rows in (np.s_[18:34], np.s_[46:54], np.s_[68:82]):
            expected = np.degrees(retardation[:, rows]).mean()
            self.assertAlmostEqual(np.median(found[..., rows]) / expected, 1, delta=0.05)
            error = axis_error(self.volume("t.nrrd")[..., rows], np.degrees(axis[:, rows]))
            self.assertLess(np.median(error), 4)
        with open(self.folder / "rows.csv", encoding="utf-8") as file:
            table = list(csv.DictReader(file))
        self.assertEqual(len(table), SHAPE[2])
        self.assertAlmostEqual(float(table[26]["local_retardation_deg_um"]) * ROW_UM, 0.9, delta=0.1)
        self.assertAlmostEqual(float(table[26]["depth_um"]), 26 * ROW_UM, places=3)

    def write_two_states(self, matrices, snr_db):
        """Two orthogonal states into an unknown fibre, the sample, and another unknown fibre."""
        matrices = reference.unitary(self.random) @ matrices @ reference.unitary(self.random)
        speckle = reference.circular(self.random, SHAPE)
        for state, suffix in enumerate(("", "b")):
            for channel, name in enumerate(("one", "two")):
                field = speckle * matrices[..., channel, state] + reference.circular(self.random, SHAPE) * 10 ** (-snr_db / 20)
                write_series(self.folder / f"{name}{suffix}.nrrd", field[None], 0)

    def test_two_states_need_no_calibration(self):
        retardation, _, matrices = self.stack()
        truth = np.degrees(reference.retardation_and_axis(matrices)[0])
        states = ["--channel-1b", "oneb.nrrd", "--channel-2b", "twob.nrrd"]
        self.write_two_states(matrices, 35)
        self.measure(*states, "--retardation", "d.nrrd", "--local-retardation", "local.nrrd", "--diattenuation", "loss.nrrd", "--local-depth", 10)
        error = np.abs(self.volume("d.nrrd") - truth)[..., 15:]
        self.assertLess(np.median(error), 2)
        found = self.volume("local.nrrd") * ROW_UM
        for rows in (np.s_[18:34], np.s_[46:54], np.s_[68:82]):
            self.assertAlmostEqual(np.median(found[..., rows]) / np.degrees(retardation[:, rows]).mean(), 1, delta=0.05)
        self.assertLess(np.median(self.volume("loss.nrrd")), 0.05)

    def test_diattenuation_of_both_passes(self):
        pass_down = np.array([reference.diattenuator(0.7 if z > 30 else 1, 0.4) for z in range(SHAPE[2])])
        self.write_two_states(np.broadcast_to(pass_down @ pass_down, (SHAPE[1], *pass_down.shape)), 40)
        self.measure("--channel-1b", "oneb.nrrd", "--channel-2b", "twob.nrrd", "--diattenuation", "loss.nrrd")
        expected = (1 - 0.7**4) / (1 + 0.7**4)
        self.assertAlmostEqual(np.median(self.volume("loss.nrrd")[..., 40:]) / expected, 1, delta=0.03)

    def test_dark_voxels_have_no_value(self):
        fields = np.array(np.broadcast_to(reference.channels(self.stack()[2])[:, None], (2, *SHAPE)))
        fields[..., 50:] *= 1e-4
        self.write(fields, 50)
        self.measure("--dopu", "dopu.nrrd", "--retardation", "d.nrrd", "--threshold-db", -20)
        for name in ("dopu.nrrd", "d.nrrd"):
            missing = np.isnan(self.volume(name))
            self.assertLess(missing[..., :50].mean(), 0.01)
            self.assertTrue(missing[..., 53:].all())


if __name__ == "__main__":
    unittest.main()
