"""Volumes: as arrays, converted, saved and loaded."""
import copy
import pickle
import unittest

import numpy as np

import echolux as ox
from support import FolderCase, spectra, write_scan

CODES = np.arange(2 * 3 * 4, dtype=np.uint16).reshape(2, 3, 4)


def volume():
    return ox.Volume.from_array(CODES, spacing_um=(7, 5, 3), unit="dB", quantity="db", scale=0.5, offset=-2,
                                first_depth_um=10)


class Arrays(unittest.TestCase):
    def test_see_codes_without_copy(self):
        one = volume()
        codes = np.asarray(one)
        np.testing.assert_array_equal(codes, CODES)
        self.assertTrue(np.shares_memory(codes, np.asarray(one)))
        self.assertTrue(np.shares_memory(codes, one[1:]))
        self.assertFalse(codes.flags.writeable)
        self.assertFalse(np.shares_memory(np.array(one, copy=True), codes))
        self.assertEqual(np.asarray(one, np.float64).dtype, np.float64)
        with self.assertRaises(ValueError):
            one.__array__(np.float64, copy=False)

    def test_outlive_volume(self):
        codes = np.asarray(volume())
        np.testing.assert_array_equal(codes, CODES)

    def test_support_dlpack(self):
        one = volume()
        lent = np.from_dlpack(one)
        np.testing.assert_array_equal(lent, CODES)
        self.assertTrue(np.shares_memory(lent, np.asarray(one)))
        self.assertEqual(one.__dlpack_device__(), (1, 0))
        for how in ({"max_version": (1, 0)}, {"max_version": (0, 8)}, {"max_version": None}, {"dl_device": (1, 0)},
                    {"copy": False}, {"copy": True}, {"stream": None}):
            capsule = one.__dlpack__(**how)
            is_new = (how.get("max_version") or (0,))[0] >= 1
            self.assertIn('"dltensor_versioned"' if is_new else '"dltensor"', repr(capsule))
        for how in ({"stream": 1}, {"stream": -1}, {"dl_device": (2, 0)}):
            with self.assertRaises(BufferError):
                one.__dlpack__(**how)
        with self.assertRaises(TypeError):
            one.__dlpack__(None)

    def test_are_sliced(self):
        np.testing.assert_array_equal(volume()[0:1, :, 1:3], CODES[0:1, :, 1:3])
        self.assertEqual(volume()[1, 2, 3], 23)
        self.assertEqual((len(volume()), volume().ndim, volume().nbytes), (2, 3, 48))

    def test_values_apply_scale(self):
        np.testing.assert_array_equal(volume().values(), CODES * 0.5 - 2)
        self.assertEqual(volume().values().dtype, np.float32)

    def test_convert_to_xarray(self):
        try:
            import xarray  # noqa: F401
        except ImportError:
            self.skipTest("xarray is not installed")
        array = volume().to_xarray()
        self.assertEqual(array.dims, ("b", "a", "depth"))
        self.assertEqual((array.attrs["units"], array.name, array.depth.attrs["units"]), ("dB", "db", "um"))
        np.testing.assert_array_equal(array.depth, [10, 13, 16, 19])
        np.testing.assert_array_equal(array.sel(b=7, a=5), CODES[1, 1] * 0.5 - 2)

    def test_pass_between_processes(self):
        one = pickle.loads(pickle.dumps(volume()))
        np.testing.assert_array_equal(one, CODES)
        self.assertEqual((one.spacing_um, one.unit, one.scale), ((7.0, 5.0, 3.0), "dB", 0.5))

    def test_have_attributes_of_arrays(self):
        one = volume()
        self.assertEqual(one.size, 24)
        np.testing.assert_array_equal(one.T, CODES.T)
        self.assertTrue(np.shares_memory(one.T, np.asarray(one)))
        self.assertEqual(one.astype("f8").dtype, np.float64)

    def test_convert_other_types(self):
        for array, dtype in ((CODES.astype(">u2"), "u2"), (CODES.astype(">f4"), "f4"), (CODES / 2, "f4"),
                             (CODES.astype(">f8"), "f4"), (CODES > 5, "u1"), (CODES.astype(">c8"), "c8")):
            made = ox.Volume.from_array(array)
            self.assertEqual(made.dtype, np.dtype(dtype))
            np.testing.assert_array_equal(made, array)


class Meaning(FolderCase):
    def test_flow_is_copied_with_structure(self):
        flow = {"method": "doppler", "threshold_db": -100.0}
        path = write_scan(self.folder, spectra())
        made = ox.open(path, flow=flow, scan={"line_rate_hz": 50000.0},
                       calibration={"centre_wavelength_nm": 840.0}).reconstruct()
        for again in (pickle.loads(pickle.dumps(made)), copy.copy(made), copy.deepcopy(made)):
            for one, other in ((made, again), (made.flow, again.flow)):
                np.testing.assert_array_equal(other, one)
                for name in ("shape", "dtype", "spacing_um", "unit", "quantity", "scale", "offset", "first_depth_um",
                             "v_max_mm_s", "number", "time_s", "provenance", "warnings"):
                    self.assertEqual(getattr(other, name), getattr(one, name), name)
            self.assertEqual(again.flow.velocities().unit, "mm/s")

    def test_provenance_describes_reconstruction(self):
        make = ox.Reconstructor(samples=256, a_scans=16, b_scans=4, recipe={"window": "blackman"})
        made = make.volume(spectra(), number=3)
        self.assertEqual((made.number, made.provenance["volume"], made.provenance["recipe.window"]), (3, "3", '"blackman"'))
        self.assertNotEqual(float(made.provenance["recipe.noise_floor_db"]), 0)
        made.save(self.folder / "made.nrrd")
        loaded = ox.load(self.folder / "made.nrrd")
        self.assertEqual({key: loaded.provenance[key] for key in made.provenance}, made.provenance)
        self.assertEqual(made.converted("u8").provenance, made.provenance)
        told = ox.Volume.from_array(CODES, time_s=1.5, number=2, provenance={"eye": '"left"'})
        self.assertEqual((told.time_s, told.number, told.provenance), (1.5, 2, {"eye": '"left"'}))
        for wrong in ({"eye": "left\rright"}, {"eye\nof": "left"}, {"": "left"}, {"a = b": "c"}, {"eye": 3}):
            with self.assertRaises(ox.BadArgument):
                ox.Volume.from_array(CODES, provenance=wrong)

    def test_replaces_own_files_only(self):
        path = self.folder / "mine.nrrd"
        path.write_text("my data")
        with self.assertRaises(ox.OutputFailed):
            volume().save(path)
        self.assertEqual(path.read_text(), "my data")
        volume().save(path, overwrite=True)
        volume().save(path)
        self.assertEqual(ox.load(path).shape, volume().shape)

    def test_reports_orientation_of_patient(self):
        volume().save(self.folder / "ours.nrrd")
        self.assertEqual((volume().orientation, ox.load(self.folder / "ours.nrrd").orientation), ("", ""))
        (self.folder / "theirs.nhdr").write_text(
            "NRRD0005\ntype: uint8\ndimension: 3\nspace: left-posterior-superior\nsizes: 4 3 2\n"
            "space directions: (0,0.1,0) (0.1,0,0) (0,0,0.1)\nencoding: raw\ndata file: theirs.raw\n\n")
        (self.folder / "theirs.raw").write_bytes(bytes(24))
        self.assertEqual(ox.load(self.folder / "theirs.nhdr").orientation, "LPS")
        self.assertEqual(ox.load(self.folder / "theirs.nhdr").read().orientation, "LPS")

    def test_texts_are_complete_or_rejected(self):
        for name in ("unit", "quantity"):
            with self.assertRaisesRegex(ox.BadArgument, f"{name}: is too long: 200 bytes"):
                ox.Volume.from_array(CODES, **{name: "µ" * 100})
        self.assertEqual(ox.Volume.from_array(CODES, unit="µm").unit, "µm")
        for odd in ("µ" * 300, "a" + "µ" * 300):  # the message truncates long names
            with self.assertRaises(ox.BadArgument) as refused:
                volume().converted(odd)
            self.assertIn("µµµ", str(refused.exception))

    def test_repr_describes_volume(self):
        self.assertEqual(repr(volume()), "<Volume 2x3x4 u16, spacing 7 x 5 x 3 um, db, in dB>")
        self.assertEqual(volume().dtype, np.uint16)

    def test_converts_voxel_type(self):
        converted = volume().converted("u8", -2, 49)
        self.assertEqual(converted.dtype, np.uint8)
        np.testing.assert_allclose(converted.values(), volume().values(), atol=0.11)
        self.assertEqual(volume().converted("f32")[1, 2, 3], 23 * 0.5 - 2)
        self.assertEqual(volume().converted("u8").values().max(), 9.5)
        for wrong in ({"voxel": "u9"}, {"voxel": "u8", "low": float("nan"), "high": 1}):
            with self.assertRaises(ox.BadArgument):
                volume().converted(**wrong)

    def test_rejects_invalid_arrays(self):
        for wrong in (CODES[0], CODES.astype(np.int64), [[1]]):
            with self.assertRaises(ox.BadArgument):
                ox.Volume.from_array(wrong)
        with self.assertRaises(ox.BadArgument):
            ox.Volume.from_array(CODES, spacing_um=(1, 2))
        with self.assertRaises(ox.BadArgument):
            ox.Volume.from_array(CODES, scale=float("inf"))
        with self.assertRaises(ox.BadSetting):
            volume().velocities()
        with self.assertRaises(FileNotFoundError):
            ox.load(self.folder / "missing.nrrd")
        with self.assertRaises(ox.Error):
            volume().save(self.folder / "one.unknown")
        (self.folder / "file").write_text("")
        with self.assertRaises(OSError):
            volume().save(self.folder / "file" / "one.nrrd")


class Pictures(FolderCase):
    def test_are_rgba(self):
        try:
            picture = volume().render(mode="mip", azimuth=30, width=64, height=48, box=False)
        except (ox.Unsupported, ox.DeviceFailed) as error:
            self.skipTest(str(error))
        self.assertEqual((picture.shape, picture.dtype), ((48, 64, 4), np.uint8))
        self.assertGreater(picture[..., :3].std(), 1)
        turned = volume().render(mode="mip", azimuth_deg=120, width=64, height=48, box=False)
        self.assertFalse(np.array_equal(picture, turned))
        with self.assertRaisesRegex(ox.BadArgument, "did you mean azimuth"):
            volume().render(azimut=3)
        with self.assertRaises(ox.BadSetting):
            volume().render(mode="mips")

    def test_show_flow(self):
        scan = ox.open(write_scan(self.folder, spectra()), flow={"method": "doppler", "threshold_db": -100.0})
        made = scan.reconstruct()
        try:
            with_flow = made.render(width=64, height=64)
        except (ox.Unsupported, ox.DeviceFailed) as error:
            self.skipTest(str(error))
        self.assertFalse(np.array_equal(with_flow, made.render(width=64, height=64, flow_shown="hidden")))

