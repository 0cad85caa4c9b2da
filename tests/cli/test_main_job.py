"""The main workflow: simulate, inspect, reconstruct, render."""
import json
import re

import numpy as np

from png_files import read_png
from scans import write_scan
from support import NO_VULKAN, ProgramCase, read_volume

SMALL = ["--samples", 512, "--a-scans", 24, "--b-scans", 10]


class MainJob(ProgramCase):
    def test_simulate_info_reconstruct_render(self):
        self.succeed("simulate", "vessel", "--out", "scan/scan.toml", "--seed", 7, *SMALL)
        output = self.succeed("info", "scan/scan.toml").out
        for number in ["512", "24", "10"]:
            self.assertRegex(output, rf"\b{number}\b")
        self.succeed("reconstruct", "scan/scan.toml", "-o", "volume.nrrd")
        volume = read_volume(self.folder / "volume.nrrd")
        self.assertEqual(volume.shape[:2], (10, 24))
        self.assertTrue(np.isfinite(volume).all())
        self.succeed("render", "volume.nrrd", "-o", "picture.png", "--size", "96x64")
        picture = read_png(self.folder / "picture.png")
        self.assertEqual(picture.shape[:2], (64, 96))
        self.assertGreater(picture[..., :3].std(), 2, "the picture is empty")

    def test_probe_reports_voxel_under_pixel(self):
        self.succeed("simulate", "layers", "--out", "scan.toml", *SMALL)
        self.succeed("reconstruct", "scan.toml", "-o", "volume.nrrd")
        volume = read_volume(self.folder / "volume.nrrd")
        output = self.succeed("render", "volume.nrrd", "--mode", "mip", "--size", "64x64", "--probe", "32,32",
                            "--probe", "0,0").out
        found = re.search(r"pixel 32,32: value (\S+) dB above noise floor in voxel \((\d+), (\d+), (\d+)\)", output)
        self.assertTrue(found, output)
        depth, a_scan, b_scan = (int(found[i]) for i in (2, 3, 4))
        self.assertAlmostEqual(float(found[1]), volume[b_scan, a_scan, depth], delta=1e-3)
        self.assertIn("pixel 0,0: nothing is visible", output)
        self.refuse("render", "volume.nrrd", "--size", "64x64", "--probe", "64,0", names=["64 x 64"])

    def test_each_scene_is_simulated(self):
        for scene in ["mirror", "layers", "vessel", "capillary", "retina"]:
            with self.subTest(scene=scene):
                self.succeed("simulate", scene, "--out", f"{scene}/scan.toml", "--samples", 512, "--a-scans", 8,
                             "--b-scans", 2)
                self.succeed("reconstruct", f"{scene}/scan.toml", "-o", f"{scene}.nrrd")
                volume = read_volume(self.folder / f"{scene}.nrrd")
                self.assertEqual(volume.shape[:2], (2, 8))
                self.assertGreater(volume.max() - np.median(volume), 15, "nothing stands out of the noise")


class Flow(ProgramCase):
    def test_truth_of_repeats_matches_voxels_of_flow(self):
        self.succeed("simulate", "capillary", "--out", "c/scan.toml", "--a-scans", 12, "--b-scans", 3, "--samples", 512,
                     "--a-repeats", 4, "--velocity", "true.nrrd")
        self.succeed("reconstruct", "c/scan.toml", "-o", "v.nrrd", "--flow", "f.nrrd", "--set", "flow.method=doppler", "--set",
                     "recipe.average=power")
        true, found = read_volume(self.folder / "true.nrrd"), read_volume(self.folder / "f.nrrd")
        self.assertEqual(true.shape, found.shape)
        vessel = (np.abs(true) > 2) & np.isfinite(found)
        self.assertGreater(vessel.sum(), 100)
        self.assertGreater(np.corrcoef(true[vessel], found[vessel])[0, 1], 0.5)


class WithoutVulkan(ProgramCase):
    def test_reconstruct_needs_no_vulkan(self):
        scan = write_scan(self.folder)
        self.succeed("reconstruct", scan, "-o", "v.nrrd", environment=NO_VULKAN)
        self.assertEqual(read_volume(self.folder / "v.nrrd").shape, (4, 12, 128))
        self.succeed("reconstruct", scan, "-o", "b.png", "--b-scan", 0, environment=NO_VULKAN)
        self.assertEqual(read_png(self.folder / "b.png").shape[1], 12)

    def test_render_reports_missing_vulkan(self):
        scan = write_scan(self.folder)
        self.succeed("reconstruct", scan, "-o", "v.nrrd")
        self.refuse("render", "v.nrrd", "-o", "p.png", environment=NO_VULKAN, names=["vulkan"])


class InvalidSpectra(ProgramCase):
    def test_have_no_value_and_change_no_mean(self):
        """NumPy subtracts the mean of the valid spectra of each B-scan."""
        spectra = np.random.default_rng(3).normal(1000, 50, (3, 12, 256)).astype("<f4")
        bad = [(0, 2), (1, 0), (1, 11)]
        for place, value in zip(bad, (np.nan, -np.inf, 1e20)):
            spectra[place + (100,)] = value
        scan = write_scan(self.folder, spectra, scan={"sample_format": "f32"},
                          recipe={"background": "frame_mean", "window": "hann", "quantity": "amplitude", "voxel": "f32"})
        told = json.loads(self.succeed("reconstruct", scan, "-o", "v.nrrd", "--json").out)
        self.assertEqual([line for line in told["warnings"] if "not finite" in line],
                         [line for line in told["warnings"] if line.startswith("volume 0: the spectra of 3 A-scans")])
        self.assertEqual(sum("not finite" in line for line in told["warnings"]), 1)
        self.assertIn("invalid_a_scans", self.succeed("info", "v.nrrd").out)
        valid = spectra.astype(float)
        for place in bad:
            valid[place] = np.nan
        fringes = (valid - np.nanmean(valid, axis=1, keepdims=True)) * np.hanning(256)
        expected = np.abs(np.fft.fft(fringes)[..., :128]) / np.hanning(256).sum()
        np.testing.assert_allclose(read_volume(self.folder / "v.nrrd"), expected, atol=1e-3 * np.nanmax(expected))
