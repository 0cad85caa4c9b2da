"""The reconstructor on arrays: accepted input, results, and refused input."""
import importlib.util
import pickle
import threading
import unittest

import numpy as np

import echolux as ox
from support import FolderCase, spectra, write_scan

RAW = spectra(b_scans=6)
SHAPE = {"samples": 256, "a_scans": 16, "b_scans": 6}


class Foreign:
    """An array of an unknown library, in host memory."""

    def __init__(self, array):
        self.array = array
        self.shape = array.shape
        self.device = "cpu"

    def __dlpack__(self, **how):
        return self.array.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __array_namespace__(self):
        return ForeignSpace


class ForeignSpace:
    float32, uint8 = "f4", "u1"

    @staticmethod
    def empty(shape, dtype, device):
        return Foreign(np.empty(shape, dtype))


class Elsewhere(Foreign):
    """An array that claims to be on a GPU."""

    def __init__(self, array, device=(2, 0)):
        super().__init__(array)
        self.place = device

    def __dlpack_device__(self):
        return self.place


class Calling(FolderCase):
    def test_equals_scan(self):
        scan = ox.open(write_scan(self.folder, RAW))
        self.assertEqual(scan.reconstruct()[:].tobytes(), ox.Reconstructor(scan)(RAW).tobytes())

    def test_has_same_bits_in_any_pieces(self):
        make = ox.Reconstructor(**SHAPE, recipe={"levels": "fixed"})
        whole = make(RAW)
        self.assertEqual((whole.shape, whole.dtype), ((6, 16, 128), np.float32))
        pieces = np.concatenate([make(RAW[b:b + 2], first_b_scan=b) for b in (0, 2, 4)])
        np.testing.assert_array_equal(whole, pieces)
        np.testing.assert_array_equal(whole[3], make(RAW[3]))
        self.assertEqual(make(RAW[3]).shape, (16, 128))

    def test_splits_long_work_without_changing_bits(self):  # it checks for signals between pieces
        recipe = {"background": "running", "levels": "fixed"}
        make, whole = (ox.Reconstructor(**SHAPE, recipe=recipe) for _ in range(2))
        for _ in range(8):  # the first pieces are single B-scans
            made = make(RAW)
        np.testing.assert_array_equal(made, ox.Reconstructor(**SHAPE, recipe=recipe)(RAW))
        np.testing.assert_array_equal(made, np.concatenate([whole(RAW[:4]), whole(RAW[4:], first_b_scan=4)]))

    def test_measures_noise_floor_in_first_call(self):
        make = ox.Reconstructor(**SHAPE)
        self.assertEqual(make.noise_floor_db, 0)
        first = make(RAW)
        self.assertNotEqual(make.noise_floor_db, 0)
        self.assertLess(abs(np.median(first)), 15)  # dB above the noise floor
        np.testing.assert_array_equal(first, make(RAW))

    def test_keeps_scan_of_caller(self):
        scan = ox.simulate("vessel", samples=256, a_scans=16, b_scans=6).scan
        make, before = ox.Reconstructor(scan), scan.toml()
        scan.recipe.window = "rect"  # changed after construction
        first = make(RAW)
        scan.recipe.window = "hann"
        self.assertEqual((scan.toml(), scan.recipe.noise_floor_db), (before, 0))
        self.assertNotEqual(make.noise_floor_db, 0)
        np.testing.assert_array_equal(first, ox.Reconstructor(scan)(RAW))

    def test_volumes_know_their_settings(self):
        make = ox.Reconstructor(**SHAPE, recipe={"levels": "fixed"}, flow={"method": "doppler", "threshold_db": -100})
        made = make.volume(RAW, number=3)
        for volume in (made, made.flow, pickle.loads(pickle.dumps(made)).flow, made.flow.velocities()):
            self.assertEqual((volume.number, volume.provenance["recipe.levels"]), (3, '"fixed"'))
            self.assertIn("cpu", volume.provenance["backend"])
        self.assertIn("16x256 u16", repr(make))

    def test_writes_to_out(self):
        make = ox.Reconstructor(**SHAPE, recipe={"levels": "fixed"})
        expected, out = make(RAW), np.full((6, 16, 128), np.nan, np.float32)
        self.assertIs(make(RAW, out=out), out)
        np.testing.assert_array_equal(out, expected)
        larger = np.full((7, 20, 128), np.nan, np.float32)
        make(RAW, out=larger[1:, 2:18])
        np.testing.assert_array_equal(larger[1:, 2:18], expected)
        self.assertTrue(np.isnan(larger[0]).all() and np.isnan(larger[:, :2]).all() and np.isnan(larger[:, 18:]).all())

    def test_accepts_separated_b_scans(self):
        make = ox.Reconstructor(**SHAPE, recipe={"levels": "fixed"})
        apart = np.zeros((6, 20, 256), np.uint16)
        apart[:, :16] = RAW
        np.testing.assert_array_equal(make(apart[:, :16]), make(RAW))

    def test_accepts_every_sample_format(self):
        expected = ox.Reconstructor(**SHAPE, recipe={"levels": "fixed"})(RAW)
        pairs = RAW.reshape(6, 16, 128, 2).astype(np.uint32)
        together = pairs[..., 0] | pairs[..., 1] << 12
        packed = np.stack([together & 255, together >> 8 & 255, together >> 16], -1).astype(np.uint8).reshape(6, 16, 384)
        for name, array in (("u32", RAW.astype(np.uint32)), ("i16", RAW.astype(np.int16)), ("f32", RAW.astype(np.float32)),
                            ("packed12", packed)):
            made = ox.Reconstructor(**SHAPE, sample_format=name, recipe={"levels": "fixed"})(array)
            np.testing.assert_array_equal(made, expected, name)
        self.assertEqual(ox.Reconstructor(**SHAPE, sample_format="u8", recipe={"levels": "fixed"})(
            (RAW // 16).astype(np.uint8)).shape, expected.shape)

    def test_accepts_big_endian_samples_of_big_endian_scans(self):
        make = ox.Reconstructor(**SHAPE, recipe={"levels": "fixed"}, scan={"byte_order": "big"})
        expected = ox.Reconstructor(**SHAPE, recipe={"levels": "fixed"})(RAW)
        np.testing.assert_array_equal(make(RAW.astype(">u2")), expected)
        with self.assertRaisesRegex(ox.BadArgument, "byte order"):
            make(RAW)

    def test_accepts_spectra_read_from_any_byte_order(self):
        write_scan(self.folder, RAW.astype(">u2"))
        big = ox.open(self.folder / "scan.toml", scan={"byte_order": "big"})
        write_scan(self.folder, RAW.astype(">u2"))
        read = big.read()
        little = ox.Reconstructor(**SHAPE)
        np.testing.assert_array_equal(ox.calibrate.mean_spectrum(big, read), RAW.mean((0, 1)))
        self.assertEqual(ox.calibrate.noise_profile(big, read).shape, (128,))
        for function in (ox.calibrate.noise_floor_db, ox.calibrate.dispersion, ox.calibrate.mirror):
            function(big, read)
        made = ox.Reconstructor(**SHAPE, scan={"byte_order": "big"}).volume(read)
        np.testing.assert_array_equal(made, little(RAW))

    def test_returns_flow(self):
        make = ox.Reconstructor(**SHAPE, recipe={"levels": "fixed"}, flow={"method": "doppler", "threshold_db": -100})
        structure, flow = make.with_flow(RAW)
        self.assertEqual((flow.shape, flow.dtype), ((6, 16, 128, 2), np.int8))
        np.testing.assert_array_equal(structure, make(RAW))
        with self.assertRaises(ox.BadSetting):
            ox.Reconstructor(**SHAPE, recipe={"levels": "fixed"}).with_flow(RAW)

    def test_accepts_arrays_of_other_libraries(self):
        make = ox.Reconstructor(**SHAPE, recipe={"levels": "fixed"})
        made = make(Foreign(RAW))
        self.assertIsInstance(made, Foreign)
        np.testing.assert_array_equal(made.array, make(RAW))

    def test_is_closed_after_with(self):
        begun, made = threading.Event(), []
        scan = ox.Reconstructor(**SHAPE, recipe={"levels": "fixed"})._scan
        scan.set_stages(lambda spectra: begun.set())
        with ox.Reconstructor(scan) as make:
            thread = threading.Thread(target=lambda: made.append(make(RAW)))
            thread.start()
            self.assertTrue(begun.wait(60))
        thread.join()
        self.assertEqual(len(made), 1)
        for call in (lambda: make(RAW), lambda: make.volume(RAW), make.grid):
            with self.assertRaisesRegex(ox.BadArgument, "is closed"):
                call()
        make.close()


class Libraries(unittest.TestCase):
    """Host arrays of other libraries are returned as arrays of that library, each call's in separate memory."""

    def check(self, array_of, kind):
        make = ox.Reconstructor(**SHAPE, recipe={"levels": "fixed"})
        other = RAW[::-1].copy()
        expected, expected_other = make(RAW), make(other)
        for _ in range(20):
            made, made_other = make(array_of(RAW)), make(array_of(other))
            self.assertIsInstance(made, kind)
            np.testing.assert_array_equal(np.asarray(made), expected)
            np.testing.assert_array_equal(np.asarray(made_other), expected_other)

    def test_torch(self):
        if importlib.util.find_spec("torch") is None:
            self.skipTest("PyTorch is not installed")
        import torch

        self.check(torch.from_numpy, torch.Tensor)
        volume = ox.Volume.from_array(RAW)
        self.assertEqual(torch.from_dlpack(volume).data_ptr(), np.asarray(volume).ctypes.data)

    def test_jax(self):
        if importlib.util.find_spec("jax") is None:
            self.skipTest("JAX is not installed")
        import jax

        self.check(jax.numpy.asarray, jax.Array)
        np.testing.assert_array_equal(jax.numpy.from_dlpack(ox.Volume.from_array(RAW)), RAW)


class Refusing(unittest.TestCase):
    def setUp(self):
        self.make = ox.Reconstructor(**SHAPE, recipe={"levels": "fixed"})

    def refuse(self, what, *arguments, **how):
        with self.assertRaisesRegex(ox.BadArgument, what) as refused:
            self.make(*arguments, **how)
        self.assertEqual(refused.exception.code, "bad_argument")

    def test_rejects_unsuitable_spectra(self):
        self.refuse(r"float64, not uint16.*astype", RAW.astype(float))
        self.refuse(r"int64, not uint16", RAW.astype(int).tolist())
        self.refuse(r"shape \[6, 16, 128\], expected is \[b_scans, 16, 256\]", RAW[:, :, :128])
        self.refuse(r"shape \[96, 256\]", RAW.reshape(96, 256))
        self.refuse(r"ascontiguousarray", np.repeat(RAW, 2, 2)[:, :, ::2])
        self.refuse(r"ascontiguousarray", np.asfortranarray(RAW))
        self.refuse(r"ascontiguousarray", RAW[::-1])
        self.refuse("spectra: has no B-scan", RAW[:0])
        self.refuse("not an array", "spectra")
        self.refuse("not an array", None)

    def test_rejects_unsuitable_output(self):
        self.refuse("out: holds float64, not float32", RAW, out=np.empty((6, 16, 128)))
        self.refuse(r"out: has the shape \[6, 16, 127\], expected is \[6, 16, 128\]", RAW, out=np.empty((6, 16, 127), "f4"))
        self.refuse("out: .*contiguous along depth", RAW, out=np.empty((6, 16, 256), "f4")[:, :, ::2])
        fixed = np.empty((6, 16, 128), "f4")
        fixed.flags.writeable = False
        self.refuse("out: cannot be written to: it is read-only", RAW, out=fixed)
        self.refuse(r'out: holds float64.*numpy.empty\(shape, "float32"\)', RAW, out=np.empty((6, 16, 128)))
        self.refuse("out: is not an array but of type list", RAW, out=[1])
        immutable = type("Array", (Foreign,), {"__module__": "jaxlib.xla_extension"})
        self.refuse("out: is an array of JAX, which never changes", RAW, out=immutable(np.empty((6, 16, 128), "f4")))
        self.refuse("GPU", RAW, out=Elsewhere(fixed))

    def test_rejects_unsuitable_device(self):
        self.refuse("lies on a GPU, but this Reconstructor works on: cpu", Elsewhere(RAW))
        self.refuse("neither the CPU nor CUDA", Elsewhere(RAW, (8, 0)))
        self.refuse("stream: is for arrays on a GPU", RAW, stream=1)
        with self.assertRaisesRegex(ox.BadArgument, 'no device "gpu"'):
            ox.Reconstructor(**SHAPE, device="gpu")
        if not ox.gpus():
            with self.assertRaises(ox.DeviceFailed) as failed:
                ox.Reconstructor(**SHAPE, recipe={"levels": "fixed"}, device="cuda")
            self.assertEqual(failed.exception.code, "device")
        with self.assertRaisesRegex(ox.BadArgument, "cuda:1"):
            ox.Reconstructor(**SHAPE, device="cuda:x")

    def test_rejects_invalid_settings(self):
        with self.assertRaisesRegex(ox.BadSetting, "window"):
            ox.Reconstructor(**SHAPE, recipe={"windw": "hann"})
        with self.assertRaises(ox.BadSetting):
            ox.Reconstructor(samples=0, a_scans=4)
        with self.assertRaisesRegex(ox.BadSetting, "mapping"):
            ox.Reconstructor(**SHAPE, recipe="hann")
        with self.assertRaises(ox.BadSetting):
            ox.Reconstructor(**SHAPE, calibration={"k_positions": np.arange(7.0)})
        scan = ox.simulate("vessel", samples=256, a_scans=16, b_scans=6).scan
        for beside in ({"b_scans": 3}, {"sample_format": "u16"}, {"samples": 0}, {"recipe": {"window": "hann"}}):
            with self.assertRaisesRegex(ox.BadArgument, "a scan is given"):
                ox.Reconstructor(scan, **beside)
