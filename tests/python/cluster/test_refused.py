"""Impossible requests are refused before anything is written. Failures of locks, stores and devices do no harm
later."""
import errno
import json
import os
import subprocess
import sys
import threading
import unittest
from unittest import mock

import numpy as np

import echolux as ox
from archive import PARTS, PATIENCE_S, ClusterCase, batch, write_archive
from echolux import cluster
from echolux.cluster import api, jobs, lock, part, scan_tasks, storage, worker
from echolux.cluster.inputs import ScanFile
from echolux.cluster.jobs import JobRunner, LocalExecutor
from echolux.cluster.report import Progress, Report
from test_parts import reconstruct

QUIET = {"workers": 0, "progress": False, "retries": 0}


class Arguments(ClusterCase):
    def setUp(self):
        super().setUp()
        self.scans = write_archive(self.folder / "data", 1)
        self.out = self.folder / "out"

    def test_rejects_too_small_values_without_output(self):
        for name, value in (("part_b_scans", 0), ("part_b_scans", -64), ("part_seconds", 0.0), ("part_memory", 0), ("retries", -1),
                            ("workers", -1), ("threads", 0)):
            with self.subTest(name), self.assertRaisesRegex(ox.BadArgument, f"{name}: cannot be {value}"):
                reconstruct(self.scans, self.out, **{name: value})
        with self.assertRaisesRegex(ox.BadArgument, "part_frames: cannot be 0"):
            cluster.movie(self.out / "m.gif", self.folder / "data", part_frames=0)
        self.assertFalse(self.out.exists())

    def test_replaces_invalid_plan(self):
        self.assertTrue(reconstruct(self.scans, self.out).ok)
        path = self.out / ".echolux/scan.ome.zarr/plan.json"
        text = json.loads(path.read_text())
        text["plan"]["outputs"][0]["layout"]["shard"] = 0
        path.write_text(json.dumps(text))
        report = reconstruct(self.scans, self.out, overwrite=True)
        self.assertEqual((report.made, report.failures), (PARTS, []))

    def test_misspelt_option_is_named(self):
        with self.assertRaisesRegex(ox.BadArgument, r"thread: is neither .*did you mean threads\?"):
            reconstruct(self.scans, self.out, thread=2)

    def test_all_values_of_arrays_are_compared(self):
        first = np.arange(2000)
        other = first.copy()
        other[1000] = -1
        self.assertNotEqual(api._options_token({"x": first}), api._options_token({"x": other}))
        self.assertEqual(api._options_token({"x": first, "y": 1}), api._options_token({"y": 1, "x": first.copy()}))

    def test_rejects_masked_arrays(self):
        ox.Volume.from_array(np.ones((4, 4, 4), np.float32)).save(self.folder / "v.nrrd")
        with self.assertRaisesRegex(cluster.Incomplete, "returned a MaskedArray, which cannot be kept"):
            cluster.map(lambda volume: np.ma.masked_array([1, 2], [0, 1]), self.folder / "v.nrrd", out=self.out, **QUIET)


class Devices(ClusterCase):
    def test_does_not_reuse_failed_reconstructor(self):
        made = []

        class Failing(part.Reconstructor):
            def __init__(self, *scan, **device):
                super().__init__(*scan, **device)
                made.append(self)

            def __call__(self, *blocks, **more):
                if self is made[0]:
                    raise ox.errors.DeviceFailed("is gone", "cuda:0")
                return super().__call__(*blocks, **more)

        self.addCleanup(setattr, part, "Reconstructor", part.Reconstructor)
        part.Reconstructor = Failing
        report = reconstruct(write_archive(self.folder / "data", 2, noise_floor_db=17.0), self.folder / "out", retries=1)
        self.assertEqual((report.finished, len(made)), (2, 2), report)

    def test_open_scans_belong_to_one_device(self):
        devices, kept = [], part.OpenScan
        self.addCleanup(setattr, part, "OpenScan", kept)
        part.OpenScan = lambda scan, device: devices.append(device) or kept(scan, device)
        scans, out = write_archive(self.folder / "data", 1), self.folder / "out"
        for require in None, "cpu":
            reconstruct(scans, out, require=require)
            next(out.glob(".echolux/*/0-64.json")).unlink()
        self.assertEqual(devices[0], "auto")
        reconstruct(scans, out, require="cpu")
        self.assertEqual(devices[-1], "cpu")


class Suspects(ClusterCase):
    def test_retries_suspected_tasks_alone(self):
        """When workers die, Dask also sets aside the tasks that were waiting on them."""
        asked, set_aside = [], {"error": "ended every worker", "was_set_aside": True}

        class Dying(LocalExecutor):
            capacity = 2

            def next(self, timeout_s):
                task = self._tasks.popleft()
                if task["do"] == "plan":
                    missing = [(0, n, n + 1) for n in range(4)]
                    return task, {"name": task["name"], "id": "", "count": 4, "missing": missing, "is_finished": False}
                if task["do"] == "finish":
                    return task, {"is_finished": True}
                asked.append((task["begin"], len(self._tasks)))
                is_bad = task["begin"] == 1 or task["begin"] == 2 and not task.get("is_suspect")
                return task, set_aside if is_bad else {"a_scans": 1, "seconds": {}}

        job = JobRunner(Dying(), [ScanFile("/a", "a")], {"kind": "scan", "verify": False, "retries": 2}, {"settings": ()}, Progress(Report(scans=1), False))
        report = job.run()
        self.assertEqual(asked[4:], [(1, 0), (2, 0)])
        self.assertEqual((report.made, [one.part for one in report.failures]), (3, ["B-scans 1:2 of volume 0"]))


class Stores(ClusterCase):
    def test_keeps_one_of_two_plans_without_links(self):
        def link(*_):
            raise OSError(errno.EPERM, "Operation not permitted")

        self.addCleanup(setattr, os, "link", os.link)
        os.link = link
        place = storage.open_store(self.folder)
        self.assertEqual((place.put_new("plan.json", b"first"), place.put_new("plan.json", b"second")), (True, False))
        self.assertEqual((place.get("plan.json"), os.listdir(self.folder)), (b"first", ["plan.json"]))

    def test_slow_explains_unwritable_output(self):
        scans = write_archive(self.folder / "data", 1)
        for address in "/proc/x", "nosuch://a/b", "ftp://127.0.0.1:9/x", "/dev/null/out":
            for words in ([scans], ["convert", scans, "--ending", ".nii"]):
                with self.subTest(address, words=words):
                    done = subprocess.run([sys.executable, *batch(*words, "-o", address, "--workers", "0")],
                                          capture_output=True, text=True, timeout=PATIENCE_S)
                    self.assertEqual(done.returncode, 1)
                    self.assertRegex(done.stderr, f"^echolux: {address}: ")
                    self.assertNotIn("Traceback", done.stderr)


class Locks(ClusterCase):
    def locked(self, address=None):
        return lock.Lock(storage.open_store(address or self.folder), tell=lambda text: None)

    def test_late_beat_does_not_restore_lock(self):
        held = self.locked()
        held.close()
        held._beat()
        self.assertEqual(os.listdir(self.folder / ".echolux"), [])

    def test_taken_lock_stays_with_second_job(self):
        address = f"memory://locks/{os.getpid()}"
        first = self.locked(address)
        self.addCleanup(setattr, lock, "STALE_S", lock.STALE_S)
        lock.STALE_S = 0
        second = self.locked(address)
        mine = second._store.get(second._key)
        first._beat()
        self.assertEqual(second._store.get(second._key), mine)
        with self.assertRaisesRegex(lock.Busy, "is written by another job"):
            first.require_held()
        first.close()
        self.assertEqual(second._store.get(second._key), mine)
        second.require_held()
        second.close()
        self.assertIsNone(second._store.get(second._key))

    def test_beats_continue_after_exceptions(self):
        self.addCleanup(setattr, lock, "BEAT_S", lock.BEAT_S)
        lock.BEAT_S = 0.01
        with self.locked() as held:
            beat, beats = held._beat, []
            held._beat = lambda: beats.append(1) or (_ for _ in ()).throw(RuntimeError("a client's own"))
            self.wait_for("beat", lambda: len(beats) > 2)
            held._beat = beat

    def test_job_that_lost_its_lock_ends(self):
        scans, place = write_archive(self.folder / "data", 1), lock.Lock._is_mine
        self.addCleanup(setattr, lock.Lock, "_is_mine", place)
        self.addCleanup(setattr, lock, "BEAT_S", lock.BEAT_S)
        is_lost = threading.Event()
        lock.BEAT_S, lock.Lock._is_mine = 0.01, lambda self: is_lost.set()
        class Clock:
            """Each look at it takes 0.6 s: the job looks at its lock every second."""

            now = 0.0

            def monotonic(self):
                self.now += 0.6
                return self.now

            def sleep(self, seconds):
                self.now += seconds

        run = worker.run
        self.addCleanup(setattr, worker, "run", run)
        worker.run = lambda task: is_lost.wait(60) and run(task)
        with mock.patch.object(jobs, "time", Clock()), self.assertRaises(lock.Busy):
            reconstruct(scans, self.folder / "out")


class Told(unittest.TestCase):
    def test_job_ends_progress_line(self):
        import pty

        with __import__("tempfile").TemporaryDirectory() as folder:
            scans = write_archive(folder, 1)
            mine, its = pty.openpty()
            job = subprocess.Popen([sys.executable, *batch(scans, "-o", folder + "/out", "--workers", "0")], stdout=its, stderr=its)
            os.close(its)
            said = b""
            try:
                while piece := os.read(mine, 1000):
                    said += piece
            except OSError:  # the process has ended
                pass
            job.wait()
            os.close(mine)
        self.assertRegex(said.decode(), r"1 worker\r\n1 of 1 scan finished")
