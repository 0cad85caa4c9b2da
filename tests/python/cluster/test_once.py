"""Completeness is known from the output alone: nothing is computed twice, no stale result is kept, and jobs do not
block each other."""
import json
import os
import time
from pathlib import Path

import numpy as np

import echolux as ox
from archive import PARTS, PATIENCE_S, ClusterCase, batch, write_archive
from echolux import cluster
from echolux.cluster import jobs, lock, part, storage, worker
from echolux.cluster.inputs import list_scans
from echolux.cluster.jobs import LocalExecutor, local_client
from echolux.cluster.lock import Busy
from echolux.cluster.report import Progress, Report
from test_parts import reconstruct


class Once(ClusterCase):
    def setUp(self):
        super().setUp()
        self.scans = write_archive(self.folder / "data", 2)
        self.out = self.folder / "out"

    def again(self, **keywords):
        report = reconstruct(self.scans, self.out, **keywords)
        return report.made, report.there

    def test_makes_only_missing_parts(self):
        self.assertEqual(self.again(), (2 * PARTS, 0))
        self.assertEqual(self.again(), (0, 2 * PARTS))
        (self.out / ".echolux/eye0/scan.ome.zarr/0-64.json").unlink()
        self.assertEqual(self.again(), (1, 2 * PARTS - 1))
        os.truncate(self.out / "eye1/scan.ome.zarr/0/c/1/0/0", 10)
        self.assertEqual(self.again(), (1, 2 * PARTS - 1))
        (self.out / "eye1/scan.ome.zarr/1/c/2/0/0").unlink()
        self.assertEqual(self.again(), (1, 2 * PARTS - 1))
        (self.out / ".echolux/eye1/scan.ome.zarr/0-0.json").write_text("{")
        self.assertEqual(self.again(), (1, 2 * PARTS - 1))
        (self.out / "eye1/scan.ome.zarr/zarr.json").unlink()
        self.assertEqual(self.again(), (0, 2 * PARTS))
        self.assertTrue((self.out / "eye1/scan.ome.zarr/zarr.json").exists())
        reconstruct(self.scans, self.folder / "reference")
        self.assert_same_results(self.out, self.folder / "reference")

    def test_checksums_find_changed_parts(self):
        self.again()
        shard = self.out / "eye0/scan.ome.zarr/0/c/0/0/0"
        data = bytearray(shard.read_bytes())
        data[100] ^= 1
        shard.write_bytes(data)
        self.assertEqual(self.again(), (0, 2 * PARTS))
        self.assertEqual(self.again(verify=True), (1, 2 * PARTS - 1))

    def test_other_settings_require_overwrite(self):
        self.again()
        report = reconstruct(self.scans, self.out, recipe={"window": "blackman"})
        self.assertEqual((report.made, len(report.failures)), (0, 2))
        self.assertIn("holds the result of other settings", report.failures[0].reason)
        self.assertEqual(self.again(), (0, 2 * PARTS))
        self.assertEqual(self.again(recipe={"window": "blackman"}, overwrite=True), (2 * PARTS, 0))
        reconstruct(self.scans, self.folder / "reference", recipe={"window": "blackman"})
        self.assert_same_results(self.out, self.folder / "reference")

    def test_ignores_stale_parts_of_unfinished_job(self):
        self.again()
        for group in self.out.rglob("scan.ome.zarr/zarr.json"):
            group.unlink()
        self.assertEqual(self.again(recipe={"window": "blackman"}), (2 * PARTS, 0))
        scan = self.folder / "data/eye0/scan.raw"
        for group in self.out.rglob("scan.ome.zarr/zarr.json"):
            group.unlink()
        os.utime(scan, (1, 1))  # counts as another input
        self.assertEqual(self.again(recipe={"window": "blackman"}), (PARTS, PARTS))

    def test_keeps_foreign_files(self):
        place = self.out / "eye0/scan.ome.zarr"
        place.mkdir(parents=True)
        (place / "thesis.tex").write_text("years of work")
        report = reconstruct(self.scans, self.out, overwrite=True)
        self.assertIn("is in the way", report.failures[0].reason)
        self.assertEqual((report.made, report.finished), (PARTS, 1))
        self.assertEqual([path.name for path in place.iterdir()], ["thesis.tex"])

    def test_unreadable_scan_does_not_stop_others(self):
        raw = self.folder / "data/eye0/scan.raw"
        content, times = raw.read_bytes(), (raw.stat().st_atime_ns, raw.stat().st_mtime_ns)
        os.truncate(raw, 100)
        report = reconstruct(self.scans, self.out)
        self.assertEqual((report.finished, [one.scan for one in report.failures]), (1, [str(raw.with_suffix(".toml"))]))
        self.assertIn("scan.raw", report.table())
        raw.write_bytes(content)
        os.utime(raw, ns=times)
        self.assertEqual(self.again(), (PARTS, PARTS))

    def test_reports_scan_truncated_during_job(self):
        raw = self.folder / "data/eye0/scan.raw"
        made = part.make

        def truncating(plan, *rest):
            if "eye0" in plan.name:
                os.truncate(raw, 1000)
            return made(plan, *rest)

        content = raw.read_bytes()
        part.make = truncating
        self.addCleanup(setattr, part, "make", made)
        report = reconstruct(self.scans, self.out)
        self.assertEqual((report.finished, len(report.failures)), (1, 1))
        raw.write_bytes(content)
        part.make = made
        self.assertTrue(reconstruct(self.scans, self.out).ok)
        reconstruct(self.scans, self.folder / "reference")
        self.assert_same_results(self.out, self.folder / "reference")

    def test_shares_together_finish_job(self):
        for share in range(3):
            reconstruct(self.scans, self.out, share=(share, 3))
        reconstruct(self.scans, self.folder / "reference")
        self.assert_same_results(self.out, self.folder / "reference")
        self.assertEqual(self.again(), (0, 2 * PARTS))


class Mapped(ClusterCase):
    def test_maps_function_over_volumes(self):
        reconstruct(write_archive(self.folder / "data", 3), self.out)
        mean = lambda volume: float(np.asarray(volume).mean())  # noqa: E731
        pattern = str(self.out / "*" / "*.ome.zarr")
        wanted = [mean(ox.load(path)) for path in sorted(self.out.glob("*/*.ome.zarr"))]
        self.assertEqual(cluster.map(mean, pattern, workers=0, progress=False), wanted)
        self.assertEqual(cluster.map(mean, pattern, workers=1, progress=False), wanted)
        (self.out / "eye1/scan.ome.zarr/zarr.json").unlink()
        with self.assertRaisesRegex(cluster.Incomplete, "1 of 3 volumes failed") as caught:
            cluster.map(lambda volume: volume.shape, pattern, workers=0, progress=False)
        self.assertEqual([one is None for one in caught.exception.results], [False, True, False])

    @property
    def out(self):
        return self.folder / "out"


class Network(ClusterCase):
    def test_local_workers_listen_only_locally(self):
        import psutil
        with local_client(2) as client:
            family = [psutil.Process(), *psutil.Process().children(recursive=True)]
            listening = {one.laddr.ip for process in family for one in process.net_connections() if one.status == "LISTEN"}
            self.assertEqual(client.submit(lambda: 7).result(), 7)
        self.assertEqual(listening, {"127.0.0.1"})


class Locks(ClusterCase):
    def lock(self, share="all"):
        return lock.Lock(storage.open_store(self.folder), share, self.told.append)

    def setUp(self):
        super().setUp()
        self.told = []
        self.file = self.folder / ".echolux/all.lock"

    def test_second_job_is_refused(self):
        with self.lock():
            with self.assertRaisesRegex(Busy, f"process {os.getpid()} on .* seen 0 s ago"):
                self.lock()
            with self.assertRaises(Busy):
                self.lock("0-of-2")
        with self.lock("0-of-2"), self.lock("1-of-2"):
            for share in "all", "0-of-2":
                with self.assertRaises(Busy):
                    self.lock(share)
        self.lock().close()
        self.assertEqual(self.told, [])

    def test_takes_over_lock_of_dead_job(self):
        self.file.parent.mkdir()
        hour_ago = {"host": "elsewhere", "pid": 7, "alive": time.time() - 3600}
        self.file.write_text(json.dumps(hour_ago))
        with self.lock():
            self.assertRegex(self.told[0], "took over from process 7 on elsewhere, which was seen 3600 s ago")

    def test_lock_of_other_host_is_valid_for_one_minute(self):
        self.file.parent.mkdir()
        self.file.write_text(json.dumps({"host": "elsewhere", "pid": 7, "alive": time.time() - 30}))
        with self.assertRaisesRegex(Busy, "process 7 on elsewhere"):
            self.lock()

    def test_killed_job_leaves_no_valid_lock(self):
        script = ("import signal; from echolux.cluster import lock, storage\n"
                  f"lock.Lock(storage.open_store({str(self.folder)!r})); signal.pause()")
        process = self.start("-c", script)
        self.wait_for("lock", lambda: self.file.exists() and self.file.read_text().strip())
        process.kill()
        process.wait()
        self.lock().close()
        self.assertIn(f"took over from process {process.pid}", self.told[0])

    def test_refuses_concurrent_same_job(self):
        scans = write_archive(self.folder / "data", 4)
        jobs = [self.start(*batch(scans, "-o", self.folder / "out", "--workers", "0", "--part-b-scans", "64", "--quiet"),
                           stderr=-1, text=True) for _ in range(2)]
        said = [job.communicate(timeout=PATIENCE_S)[1] for job in jobs]
        codes = sorted(job.returncode for job in jobs)
        self.assertIn(codes, ([0, 1], [0, 0]), said)  # [0, 0]: one ended before the other began
        if codes == [0, 1]:
            self.assertIn("is written by another job", "".join(said))
        reconstruct(scans, self.folder / "reference")
        self.assert_same_results(self.folder / "out", self.folder / "reference")


class Files(ClusterCase):
    def test_ten_thousand_parts_leak_no_files_or_memory(self):
        scan = write_archive(self.folder / "data", 1, b_scans=1, a_scans=2, samples=16)
        settings = ("scan.b_scans=1",)
        opened = lambda: len(list(Path("/proc/self/fd").iterdir()))  # noqa: E731
        made, kept = worker.run, {}

        def tiny(task):  # 10,000 scans of one part each, one in a hundred of which is really computed
            number = int(task["label"].rpartition("-")[2])
            if task["do"] == "plan":
                return {"name": f"{number}", "id": "", "count": 1, "missing": [(0, 0, 1)], "is_finished": False}
            if task["do"] == "finish":
                return {"is_finished": True}
            if number % 100 == 0:
                out = str(self.folder / "out" / str(number))
                kept["report"] = reconstruct(scan, out, part_b_scans=None)
            return {"a_scans": 1, "seconds": {}}

        first = list_scans(scan)[0]
        files = (type(first)(f"{first.path}-{number}", f"{number}", settings) for number in range(10_000))
        reconstruct(scan, self.folder / "warm", part_b_scans=None)
        before = opened()
        worker.run = lambda task: tiny(task) if "label" in task and "-" in task["label"][-6:] else made(task)
        self.addCleanup(setattr, worker, "run", made)
        planning = {"settings": (), "overwrite": False, "verify": False, "share": (0, 1), "part_size": {}}
        one = jobs.JobRunner(LocalExecutor(), list(files), {"out": "", "device": "cpu", "threads": None, "retries": 0}, planning, Progress(Report(scans=10_000), False))
        report = one.run()
        self.assertEqual((report.finished, report.made), (10_000, 10_000), report)
        self.assertTrue(kept["report"].ok, kept["report"])
        self.assertLessEqual(opened(), before)
        self.assertLess(len(one._left) + len(one._sources), 3)
