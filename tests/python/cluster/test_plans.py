"""Plans separate jobs with the same output: jobs of different kinds, settings and part sizes do not use or remove each
other's results."""
import os
import shutil

import numpy as np

import echolux as ox
from archive import PARTS, ClusterCase, result_bytes, write_archive
from echolux import cluster
from echolux.cluster import inputs, part, plan, results, scan_tasks, storage
from echolux.cluster.inputs import list_scans
from echolux.cluster.part import OpenScan
from test_parts import reconstruct

QUIET = {"workers": 0, "progress": False, "retries": 0}


class PlansCase(ClusterCase):
    def setUp(self):
        super().setUp()
        self.scans = write_archive(self.folder / "data", 1)
        self.out = self.folder / "out"
        self.volume = self.out / "scan.ome.zarr"

    def plan(self, b_scans, settings=()):
        return plan.make_plan(list_scans(self.scans)[0], settings, plan.PartSize(b_scans=b_scans))

    def source(self, plan):
        return OpenScan(inputs.open_scan(plan.path, plan.settings), "cpu")


class OfTwoKinds(PlansCase):
    def setUp(self):
        super().setUp()
        ox.Volume.from_array(np.ones((4, 5, 6), np.float32), spacing_um=(1, 1, 1)).save(self.folder / "scan.nrrd")

    def convert(self, volume=None, **more):
        return cluster.convert(volume or self.folder / "scan.nrrd", self.out, ".ome.zarr", **QUIET, **more)

    def test_conversion_keeps_finished_reconstruction(self):
        self.assertTrue(reconstruct(self.scans, self.out).ok)
        before = result_bytes(self.out)
        self.assertIn("holds the result of other settings", self.convert().table())
        self.assertEqual(result_bytes(self.out), before)
        self.assertTrue(self.convert(overwrite=True).ok)
        self.assertEqual(ox.load(self.volume).shape, (4, 5, 6))

    def test_reconstruction_keeps_finished_conversion(self):
        self.assertTrue(self.convert().ok)
        before = result_bytes(self.out)
        self.assertIn("holds the result of other settings", reconstruct(self.scans, self.out).table())
        self.assertEqual(result_bytes(self.out), before)
        self.assertTrue(reconstruct(self.scans, self.out, overwrite=True).ok)
        self.assertFalse((self.volume / ".zattrs").exists())

    def test_never_replaces_inputs(self):
        self.assertTrue(reconstruct(self.scans, self.out).ok)
        before = result_bytes(self.out)
        for out in str(self.out), f"local://{self.out}":
            with self.subTest(out):
                report = cluster.convert(self.volume, out, ".ome.zarr", voxel="u8", overwrite=True, **QUIET)
                self.assertIn("is an input, and would be replaced", report.table())
                self.assertEqual(result_bytes(self.out), before)


class OfTwoSizes(PlansCase):
    def test_rejects_parts_of_other_size(self):
        import zarr
        small, large = self.plan(64), self.plan(128)
        self.assertEqual((small.fingerprint, small.identity == large.identity), (large.fingerprint, False))
        place = storage.open_store(self.out)
        place.put(results.plan_key(small.name), small.to_json())
        part.run(place, small, small.parts()[0], self.source(small))
        place.put(results.plan_key(large.name), large.to_json())  # a concurrent share of the job has written its plan
        made = [part.run(place, large, one, self.source(large)).get("was_there", False) for one in large.parts()]
        self.assertEqual(made, [False, False])
        self.assertTrue(scan_tasks.write_groups(place, large))
        whole = ox.open(self.folder / "data/eye0/scan.toml").reconstruct(progress=False)
        self.assertEqual(zarr.open_array(self.volume / "0", mode="r")[:].transpose(0, 2, 1).tobytes(), np.asarray(whole).tobytes())

    def test_running_worker_accepts_new_part_size(self):
        self.assertEqual(reconstruct(self.scans, self.out).made, PARTS)
        shutil.rmtree(self.out)
        report = reconstruct(self.scans, self.out, part_b_scans=128, retries=0)
        self.assertEqual((report.made, report.failures), (2, []))

    def test_keeps_one_of_two_concurrent_plans(self):
        import fsspec
        for address in str(self.out), f"local://{self.out}/there", "memory://plans/out":
            with self.subTest(address):
                first, second = storage.open_store(address), storage.open_store(address)
                second.get = lambda key, get=second.get, asked=[]: asked.append(key) or (get(key) if len(asked) > 1 else None)
                self.assertTrue(first.put_new("plan.json", b"first"))
                self.assertFalse(second.put_new("plan.json", b"second"))  # it saw no plan and tries to put its own
                self.assertEqual(first.get("plan.json"), b"first")
        fsspec.filesystem("memory").rm("/plans", recursive=True)


class OfAJobThatWasStopped(PlansCase):
    def test_late_part_keeps_result_of_next_job(self):
        reconstruct(self.scans, self.folder / "reference", recipe={"window": "blackman"})
        for address in f"local://{self.out}", str(self.folder / "folder"):
            with self.subTest(address):
                place = storage.open_store(address)
                old = plan.find_or_make_plan(place, list_scans(self.scans)[0], ("recipe.window=hann",), plan.PartSize(b_scans=64))
                with results.part_files(place) as files:
                    first = old.parts()[0]
                    facts = part.make(old, first, self.source(old), files)
                    self.assertTrue(reconstruct(self.scans, address, recipe={"window": "blackman"}).ok)
                    with self.assertRaisesRegex(results.Stale, "no longer the output of this job"):
                        files.commit(place, old.name, first.key, old.identity, facts)
                self.assert_same_results(address.removeprefix("local://"), self.folder / "reference")


class ThatAreNotFinished(PlansCase):
    def damaging(self, times):
        """Whenever the last part is finished, damages the first one."""
        work, left = part.run, [times]

        def losing(store, plan, one, *rest, **more):
            made = work(store, plan, one, *rest, **more)
            lost = one.begin == 128 if left[0] == times else True
            if lost and left[0]:
                left[0] -= 1
                os.truncate(self.volume / "0/c/0/0/0", 5)
            return made

        part.run = losing
        self.addCleanup(setattr, part, "run", work)

    def test_remakes_lost_part(self):
        self.damaging(1)
        report = reconstruct(self.scans, self.out)
        self.assertEqual((report.ok, report.finished, report.made), (True, 1, PARTS + 1), report)
        reconstruct(self.scans, self.folder / "reference")
        self.assert_same_results(self.out, self.folder / "reference")

    def test_repeatedly_lost_part_is_failure(self):
        self.damaging(9)
        report = reconstruct(self.scans, self.out, retries=1)
        self.assertEqual((report.ok, report.finished, len(report.failures)), (False, 0, 1), report)
        self.assertIn("were lost or damaged", report.table())


class OfCalibrations(PlansCase):
    def test_files_changed_during_job_fail_scan(self):
        scan, dark = self.folder / "data/eye0/scan.toml", self.folder / "data/eye0/dark.txt"
        scan.write_text(scan.read_text().replace("[calibration]", '[calibration]\nbackground = "dark.txt"'))
        dark.write_text("100\n" * 128)
        work = part.run

        def changing(store, plan, one, *rest, **more):
            made = work(store, plan, one, *rest, **more)
            if one.begin == 0:
                dark.write_text("".join(f"{1000 + 50 * (n % 7)}\n" for n in range(128)))
                scan_tasks.forget()  # simulates a worker that opens the scan later
            return made

        part.run = changing
        self.addCleanup(setattr, part, "run", work)
        report = reconstruct(self.scans, self.out, recipe={"background": "stored"}, retries=0)
        self.assertEqual((report.finished, report.ok), (0, False))
        self.assertIn("dark.txt: has changed since the job began", report.table())
