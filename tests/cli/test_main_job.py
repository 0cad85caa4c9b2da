"""The main workflow: simulate, inspect, reconstruct, render. Every output format is read back with independent
readers."""
import json
import re
import struct

import numpy as np

from png_files import read_png
from scans import fringes, write_scan
from support import NO_VULKAN, ProgramCase, read_volume, reconstructed_db

FORMATS = ["nrrd", "nii.gz", "nii", "tif", "mha"]
SMALL = ["--samples", 512, "--a-scans", 24, "--b-scans", 10]


class MainJob(ProgramCase):
    def test_simulate_info_reconstruct_render(self):
        self.succeed("simulate", "vessel", "--out", "scan/scan.toml", "--seed", 7, *SMALL)
        told = self.succeed("info", "scan/scan.toml").out
        for number in ["512", "24", "10"]:
            self.assertRegex(told, rf"\b{number}\b")
        self.succeed("reconstruct", "scan/scan.toml", "-o", "volume.nrrd")
        volume = read_volume(self.folder / "volume.nrrd")
        self.assertEqual(volume.shape[:2], (10, 24))
        self.assertTrue(np.isfinite(volume).all())
        self.succeed("render", "volume.nrrd", "-o", "picture.png", "--size", "96x64")
        picture = read_png(self.folder / "picture.png")
        self.assertEqual(picture.shape[:2], (64, 96))
        self.assertGreater(picture[..., :3].std(), 2, "the picture is empty")

    def test_render_accepts_scan(self):
        self.succeed("simulate", "layers", "--out", "scan.toml", *SMALL)
        for mode in ["composite", "mip", "isosurface"]:
            self.succeed("render", "scan.toml", "-o", f"{mode}.png", "--size", "64x64", "--mode", mode)
            self.assertEqual(read_png(self.folder / f"{mode}.png").shape[:2], (64, 64))

    def test_probe_reports_voxel_under_pixel(self):
        self.succeed("simulate", "layers", "--out", "scan.toml", *SMALL)
        self.succeed("reconstruct", "scan.toml", "-o", "volume.nrrd")
        volume = read_volume(self.folder / "volume.nrrd")
        told = self.succeed("render", "volume.nrrd", "--mode", "mip", "--size", "64x64", "--probe", "32,32",
                            "--probe", "0,0").out
        found = re.search(r"pixel 32,32: value (\S+) dB above noise floor in voxel \((\d+), (\d+), (\d+)\)", told)
        self.assertTrue(found, told)
        depth, a_scan, b_scan = (int(found[i]) for i in (2, 3, 4))
        self.assertAlmostEqual(float(found[1]), volume[b_scan, a_scan, depth], delta=1e-3)
        self.assertIn("pixel 0,0: nothing is visible", told)
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

    def test_seed_determines_every_byte(self):
        for name, seed in [("one", 5), ("same", 5), ("other", 6)]:
            self.succeed("simulate", "layers", "--out", f"{name}/scan.toml", "--seed", seed, *SMALL)

        def raw_files(name):
            return {path.name: path.read_bytes() for path in (self.folder / name).iterdir() if path.suffix == ".raw"}

        self.assertTrue(raw_files("one"))
        self.assertEqual(raw_files("one"), raw_files("same"))
        self.assertNotEqual(raw_files("one"), raw_files("other"))


class Formats(ProgramCase):
    def test_each_format_matches_numpy(self):
        spectra = fringes()
        scan = write_scan(self.folder, spectra)
        expected = reconstructed_db(spectra)
        for extension in FORMATS:
            with self.subTest(extension=extension):
                self.succeed("reconstruct", scan, "-o", f"v.{extension}")
                volume = read_volume(self.folder / f"v.{extension}")
                self.assertEqual(volume.shape, expected.shape)
                self.assertEqual(volume.dtype, np.float32)
                # Above the noise floor; below it, rounding is visible in the nulls.
                clear = expected > np.median(expected)
                np.testing.assert_allclose(volume[clear], expected[clear], atol=1e-3, rtol=0)

    def test_b_scan_and_en_face_pictures(self):
        scan = write_scan(self.folder, fringes(b_scans=5, a_scans=40))
        self.succeed("reconstruct", scan, "-o", "b-scan.png", "--b-scan", 3)
        picture = read_png(self.folder / "b-scan.png")
        self.assertEqual(picture.shape[1], 40)
        self.assertGreater(picture[..., 0].std(), 5)
        self.succeed("reconstruct", scan, "-o", "en-face.png", "--en-face", "10:60")
        picture = read_png(self.folder / "en-face.png")
        self.assertEqual(picture.shape[1], 40)


class Telling(ProgramCase):
    def test_info_describes_raw_file(self):
        samples, header = 64, bytearray(512)
        header[:8] = b"SD01RAW2"
        struct.pack_into("<I", header, 0x14, samples)
        struct.pack_into("<I", header, 0x24, 4)
        struct.pack_into("<H", header, 0x54, 2)
        lines = np.random.default_rng(1).integers(900, 1100, (6, samples)).astype("<u2")
        trailer = np.concatenate([np.zeros(samples), np.arange(samples)]).astype("<f4")
        (self.folder / "b.raw").write_bytes(bytes(header) + bytes(40) + lines.tobytes() + trailer.tobytes())
        told = self.succeed("info", "b.raw").out
        for key in ("background", "k_map"):
            self.assertRegex(told, rf"\n  calibration\.{key} +\"?in the raw file, 64 numbers")
        self.assertNotIn("calibration.dark", told, "defaults are only listed with --all")
        self.assertRegex(self.succeed("info", "b.raw", "--all").out, r'\n\. calibration\.dark +""')

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

    def test_info_writes_json(self):
        scan = write_scan(self.folder, scan={"spacing_a_um": 7.0})
        told = json.loads(self.succeed("info", scan, "--json").out)
        settings = {key: told["settings"][key]["value"] for key in told["settings"]}
        self.assertEqual(settings["scan.samples"], 256)
        self.assertEqual(settings["scan.a_scans"], 12)
        self.assertEqual(settings["scan.spacing_a_um"], 7)
        self.assertEqual(settings["recipe.window"], "hann", "defaults are filled in")

    def test_micrometres_require_known_scale(self):
        def pitch(told):
            return re.search(r"^depth pitch .*$", told, re.M).group()

        unknown = write_scan(self.folder / "unknown")
        known = write_scan(self.folder / "known", calibration={"depth_pitch_um": 3.25})
        self.assertNotRegex(pitch(self.succeed("info", unknown).out), r"\b(um|µm|mm)\b")
        self.assertRegex(pitch(self.succeed("info", known).out), r"3\.25 *(um|µm)")


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


class Floor(ProgramCase):
    def test_zero_and_constant_spectra_give_lowest_value(self):
        for counts in [0, 1234, 65535]:
            for levels in ["fixed", "noise_floor", "frame"]:
                with self.subTest(counts=counts, levels=levels):
                    scan = write_scan(self.folder, np.full((3, 8, 256), counts, "<u2"), recipe={"levels": levels})
                    self.succeed("reconstruct", scan, "-o", "f.nrrd")
                    volume = read_volume(self.folder / "f.nrrd")
                    self.assertTrue(np.isfinite(volume).all())
                    self.assertEqual(volume.min(), volume.max())
                    self.succeed("reconstruct", scan, "-o", "u.nrrd", "--set", "recipe.voxel=u8")
                    codes = read_volume(self.folder / "u.nrrd")
                    self.assertEqual(codes.min(), codes.max())
                    self.assertEqual(codes.max(), 0)
