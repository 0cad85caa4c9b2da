"""Live sessions: named sources, sources in Python, recordings, changes while they run."""
import os
import signal
import sys
import tempfile
import threading
import time
import unittest

import numpy as np

import echolux as ox
from support import FolderCase, spectra
from waiting import wait_until

SMALL = {"samples": 256, "a_scans": 16, "b_scans": 4}
FIXED = {"levels": "fixed", "low": 0, "high": 100, "background": "none"}


def volumes(count=3):
    for seed in range(count):
        yield spectra(seed=seed + 1)


def two_volumes(gate):
    yield spectra(seed=1)
    gate.wait(30)
    yield spectra(seed=2)


class NamedSources(unittest.TestCase):
    def test_give_volumes_until_enough(self):
        with ox.live("sim:vessel", simulation=SMALL, volumes=3, lossless=True) as session:
            taken = list(session)
        self.assertEqual([volume.number for volume in taken], [0, 1, 2])
        self.assertEqual(taken[0].shape[:2], (4, 16))
        self.assertEqual(session.stats.reconstructed.volumes, 3)
        self.assertTrue(session.stats.ended or not session.stats.running)

    def test_accept_settings_while_running(self):
        with ox.live("sim:mirror", simulation={**SMALL, "mirror_um": [50], "mirror_amplitude": [0.2]},
                     recipe={"window": "rect"}) as session:
            self.assertEqual(session.recipe.window, "rect")
            next(session)
            session.recipe.window = "blackman"
            self.assertEqual(session.recipe.window, "blackman")
            for volume in session:
                if "blackman" in volume.provenance["recipe.window"]:
                    break
            with self.assertRaises(ox.BadSetting):
                session.recipe.window = "hanning"
            with self.assertRaises(AttributeError):
                session.recipe.windw = "hann"

    def test_keeps_last_volumes(self):
        keep_gb = 2.5 * 4 * 16 * 128 * 4e-9
        with ox.live("sim:vessel", simulation=SMALL, source={"keep_gb": keep_gb}, volumes=6, lossless=True) as session:
            taken = [volume.number for volume in session]  # a paced source loses volumes that are not taken in time
            self.assertEqual(len(taken), 6)
            self.assertEqual(session.kept, 2)
            shown = [session.go_to(i) for i in (0, 1)]
            self.assertEqual([one.number for one in shown], taken[-2:])
            self.assertEqual(session.go_to(-1).number, taken[-1])
            self.assertTrue((np.asarray(shown[0]) != np.asarray(shown[1])).any())
            with self.assertRaises(ox.BadSetting):
                session.go_to(2)
            with tempfile.TemporaryDirectory() as folder:
                self.assertEqual(session.save_kept(os.path.join(folder, "last.nrrd")), 2)
                series = ox.load(os.path.join(folder, "*.nrrd"))
                self.assertEqual(len(series), 2)
                for i in (0, 1):
                    np.testing.assert_array_equal(series[i], shown[i])
            session.play()

    def test_next_waits_no_longer_than_asked(self):
        with ox.live("sim:vessel", simulation=SMALL, volumes=1, lossless=True) as session:
            self.assertIsNotNone(session.next(30))
            self.assertIsNone(session.next(0.05))


class Ending(FolderCase):
    def test_waits_for_block_in_progress(self):
        begun, ended, has_begun, go_on = [], [], threading.Event(), threading.Event()

        def slow(voxels):
            begun.append(1)
            has_begun.set()
            go_on.wait(60)
            ended.append(1)

        with ox.live("sim:vessel", simulation=SMALL, stages={"voxels": slow}) as session:
            self.assertTrue(has_begun.wait(60))
            leaves = threading.Thread(target=lambda: wait_until(lambda: not session.stats.running) and go_on.set())
            leaves.start()
        done = len(begun)
        self.assertEqual(len(ended), done)
        leaves.join()
        with ox.live("sim:vessel", simulation=SMALL) as other:  # volumes later, nothing more is worked on
            wait_until(lambda: other.stats.reconstructed.volumes > 4)
        self.assertEqual((len(begun), len(ended)), (done, done))

    def test_does_not_wait_after_ctrl_c(self):
        begun, go_on, ended = threading.Event(), threading.Event(), []

        def slow(voxels):
            begun.set()
            go_on.wait(60)
            ended.append(1)

        with self.assertRaises(KeyboardInterrupt):
            with ox.live("sim:vessel", simulation=SMALL, stages={"voxels": slow}) as session:
                session.start()
                self.assertTrue(begun.wait(60))
                raise KeyboardInterrupt
        self.assertEqual(ended, [], "it waited for the stage")
        go_on.set()


class OddNames(FolderCase):
    """File names whose bytes are not valid UTF-8."""

    def setUp(self):
        super().setUp()
        self.odd = os.fsencode(self.folder) + b"/caf\xe9"
        os.mkdir(self.odd)

    def test_non_utf8_paths_of_recordings_and_scans(self):
        take = self.odd + b"/take.toml"
        recording = threading.Event()

        def source():
            yield spectra()
            recording.wait()
            yield from volumes(6)

        with ox.live(source(), lossless=True, recipe=FIXED) as session:
            session.record(take)
            recording.set()
            self.assertEqual(len(list(session)), 7)
            self.assertGreater(session.stop_recording().blocks, 0)
        self.assertEqual(ox.open(take).shape, (4, 16, 256))
        with ox.live("replay:" + os.fsdecode(take), lossless=True, volumes=2, source={"line_rate_hz": 1e6}) as session:
            self.assertEqual(len(list(session)), 2)
        with ox.live(volumes(1), scan=take, lossless=True) as session:
            self.assertEqual(len(list(session)), 1)

    def test_non_utf8_paths_of_calibrations(self):
        dark = self.odd + b"/dark.csv"
        with open(dark, "w") as file:
            file.write("7\n" * 256)
        scan = ox.Reconstructor(samples=256, a_scans=4, calibration={"dark": os.fsdecode(dark)}, recipe=FIXED)._scan
        self.assertEqual(os.fsencode(scan.calibration.dark), dark)
        self.assertEqual(scan.calibration["dark"][0], 7)
        self.assertIn(os.fsdecode(b"caf\xe9"), scan.toml())


class PythonSources(FolderCase):
    def test_generator_equals_reconstructor(self):
        make = ox.Reconstructor(samples=256, a_scans=16, b_scans=4, recipe=FIXED)
        with ox.live(volumes(), lossless=True, recipe=FIXED) as session:
            for seed, volume in enumerate(session):
                np.testing.assert_array_equal(volume[:], make(spectra(seed=seed + 1)))
        self.assertEqual(seed, 2)

    def test_none_ends_callable(self):
        left = [spectra(seed=2), spectra(seed=1)]
        with ox.live(lambda: left.pop() if left else None, lossless=True, recipe=FIXED) as session:
            self.assertEqual(len(list(session)), 2)

    def test_accepts_parts_of_volumes(self):
        parts = (spectra()[i:i + 2] for i in (0, 2))
        with ox.live(parts, lossless=True, scan={"b_scans": 4}, recipe=FIXED) as session:
            whole = next(session)
        np.testing.assert_array_equal(whole[:], ox.Reconstructor(samples=256, a_scans=16, b_scans=4, recipe=FIXED)(spectra()))

    def test_errors_of_source_follow_its_volumes(self):
        raised = threading.Event()

        def broken():
            yield from volumes(2)
            raised.set()
            raise OSError("the cable is out")

        with ox.live(broken(), lossless=True, recipe=FIXED) as session:
            self.assertTrue(raised.wait(30))
            wait_until(lambda: session.stats.ended, "the session to notice it")
            taken = [session.next(30).number, session.next(30).number]
            with self.assertRaisesRegex(OSError, "cable"):
                session.next(30)
        self.assertEqual(taken, [0, 1])

    def test_accepts_gpu_arrays(self):
        class OnGpu:  # like CuPy's arrays, which NumPy cannot read
            def __init__(self, codes):
                self._codes = codes

            def get(self):
                return self._codes

            def __array__(self, *_, **__):
                raise TypeError("implicit conversion to a NumPy array is not allowed")

            __dlpack__ = __array__

        with ox.live((OnGpu(one) for one in volumes()), lossless=True, recipe=FIXED) as session:
            self.assertEqual(len(list(session)), 3)

    def test_accepts_both_byte_orders(self):
        turned = [one.astype(one.dtype.newbyteorder()) for one in volumes()]
        with ox.live(turned, lossless=True, recipe=FIXED) as session:
            for one, volume in zip(volumes(), session):
                np.testing.assert_array_equal(
                    volume[:], ox.Reconstructor(samples=256, a_scans=16, b_scans=4, recipe=FIXED)(one))
        self.assertEqual(volume.number, 2)

    def test_source_ends_with_dropped_session(self):
        def endless():
            while True:
                yield spectra()

        before = set(threading.enumerate())
        session = ox.live(endless(), recipe=FIXED)
        next(session)
        [source] = (one for one in set(threading.enumerate()) - before if one.name == "echolux source")
        del session
        source.join(10)
        self.assertFalse(source.is_alive())

    def test_wrong_arrays_are_refused(self):
        with self.assertRaises(ox.BadArgument):
            ox.live(iter(["text"]))
        with ox.live(iter([spectra(), spectra(a_scans=8)]), lossless=True, recipe=FIXED) as session:
            with self.assertRaisesRegex(ox.BadArgument, "shape"):
                list(session)

    def test_records_pushed_volumes(self):
        path = self.folder / "take.toml"
        gate = threading.Event()
        with ox.live(two_volumes(gate), lossless=True, recipe=FIXED) as session:
            next(session)
            session.record(path)
            gate.set()
            next(session)
            self.assertTrue(session.stats.recording)
            recorded = session.stop_recording()
        self.assertEqual((recorded.blocks, recorded.missing_blocks), (1, 0))
        self.assertEqual(session.stats.recorder, recorded)
        np.testing.assert_array_equal(ox.open(path).read(), spectra(seed=2))

    def test_records_in_stripes_over_several_disks(self):
        path, second = self.folder / "take.toml", self.folder / "disk 2"
        second.mkdir()
        gate = threading.Event()
        with ox.live(two_volumes(gate), lossless=True, recipe=FIXED) as session:
            next(session)
            with self.assertRaisesRegex(ox.OutputFailed, "disk 3"):
                session.record(path, stripe_folders=[self.folder / "disk 3"])
            session.record(path, stripe_folders=[second])
            gate.set()
            next(session)
            self.assertEqual(session.stop_recording().blocks, 1)
        self.assertTrue((second / "take.stripe-2.raw").exists())
        np.testing.assert_array_equal(ox.open(path).read(), spectra(seed=2))

    def test_stage_changes_volumes_and_raises_errors(self):
        def black(voxels):
            voxels[...] = 7

        with ox.live(volumes(), lossless=True, recipe=FIXED, stages={"voxels": black}) as session:
            self.assertEqual(set(np.unique(next(session)[:])), {7})

        def broken(voxels):
            raise ZeroDivisionError("in the stage")

        with ox.live(volumes(), lossless=True, recipe=FIXED, stages={"voxels": broken}) as session:
            with self.assertRaisesRegex(ZeroDivisionError, "in the stage"):
                list(session)

    def test_stage_may_read_its_session(self):
        seen = []

        def looks(voxels):
            seen.append((session.stats.reconstructed.volumes, session.recipe.window, session.events()))

        session = ox.live(volumes(), lossless=True, recipe=FIXED, stages={"voxels": looks})
        with session:
            list(session)
        self.assertEqual(len(seen), 3)


class Interrupts(unittest.TestCase):
    def test_interrupts_are_handled_at_once(self):
        goes_on = threading.Event()
        self.addCleanup(goes_on.set)

        def never():
            yield spectra()
            goes_on.wait(30)

        main = threading.main_thread().ident

        def interrupt():
            wait_until(lambda: sys._current_frames()[main].f_code.co_name in ("__next__", "_taken"), "a call of next()")
            self.sent = time.monotonic()
            os.kill(os.getpid(), signal.SIGINT)

        session = ox.live(never(), lossless=True, recipe=FIXED)
        next(session)
        threading.Thread(target=interrupt).start()
        with self.assertRaises(KeyboardInterrupt):
            next(session)
        self.assertLess(time.monotonic() - self.sent, 0.2)
