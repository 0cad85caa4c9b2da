"""Many scans and parts of scans with one plan."""
import signal
import threading

import numpy as np

import echolux as ox
from support import FolderCase, spectra, write_scan

FIXED = {"levels": "fixed", "low": 20.0, "high": 120.0, "background": "running"}


class Batches(FolderCase):
    def scan(self, name, seed=1, **recipe):
        (self.folder / name).mkdir(exist_ok=True)
        return ox.open(write_scan(self.folder / name, spectra(b_scans=8, seed=seed), **{**FIXED, **recipe}))

    def same(self, made, expected):
        np.testing.assert_array_equal(made[:], expected[:])
        self.assertEqual((made.provenance, made.warnings), (expected.provenance, expected.warnings))

    def test_equals_separate_reconstruction(self):
        batch = ox.Batch()
        for seed, name in enumerate("abc"):
            scan = self.scan(name, seed)
            for part in ((4, 8), (0, 4), None):
                self.same(batch.reconstruct(scan, b_scans=part), scan.reconstruct(b_scans=part))
        self.assertEqual(batch.plans, 1)
        self.assertIn("1 plan", repr(batch))
        rect = self.scan("d", window="rect")
        self.same(batch.reconstruct(rect), rect.reconstruct())
        self.assertEqual(batch.plans, 2)

    def test_reports_errors_and_continues(self):
        batch, scan = ox.Batch(), self.scan("a")
        whole = batch.reconstruct(scan)
        for wrong, error in ((lambda: batch.reconstruct("a"), ox.BadArgument), (lambda: ox.Batch(3), ox.BadArgument),
                             (lambda: batch.reconstruct(scan, 1), ox.BadSetting),
                             (lambda: batch.reconstruct(scan, b_scans=(3, 9)), ox.BadSetting),
                             (lambda: ox.Batch("tpu"), ox.BadArgument)):
            self.assertRaises(error, wrong)
        (self.folder / "a/scan.raw").unlink()
        self.assertRaises(OSError, batch.reconstruct, scan)
        self.same(batch.reconstruct(self.scan("a")), whole)

    def test_is_shared_by_threads(self):
        batch, scans, made = ox.Batch(), [self.scan(name, seed) for seed, name in enumerate("abcd")], {}
        threads = [threading.Thread(target=lambda i=i: made.update({i: batch.reconstruct(scans[i])})) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for i, scan in enumerate(scans):
            self.same(made[i], scan.reconstruct())

    def test_stops_on_ctrl_c(self):
        scan = self.scan("a")
        batch = ox.Batch("cpu")
        main, go_on, ended = threading.main_thread().ident, threading.Event(), []

        def interrupted(voxels):
            signal.pthread_kill(main, signal.SIGINT)
            go_on.wait(60)
            ended.append(1)

        scan.set_stages(voxels=interrupted)
        with self.assertRaises(KeyboardInterrupt):
            batch.reconstruct(scan)
        self.assertEqual(ended, [], "it waited for the stage")
        go_on.set()
