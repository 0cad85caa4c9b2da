"""Resources of a worker: its GPU or cores, its metrics, and reasons to refuse it."""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import echolux as ox
from archive import PATIENCE_S, ClusterCase, DaskCase, write_archive
from echolux.cluster.jobs import local_client
from test_parts import reconstruct

SETTLES = """
import json, os, sys
from echolux import _core
from echolux.cluster import worker
class WithCuda:
    has = staticmethod(lambda part: True)
worker._core = WithCuda
worker.claim_process()
worker.pin_process(int(sys.argv[1]))
print(json.dumps([os.environ["CUDA_VISIBLE_DEVICES"], sorted(os.sched_getaffinity(0))]), flush=True)
sys.stdin.read()
"""
TAKES_MEMORY = """
import resource, threading
from echolux.cluster import worker
worker.claim_process()
worker.pin_process(None)
faults = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt
counts = []
def take():
    for _ in range(50):
        before = faults()
        bytearray(b"x") * (8 << 20)
        counts.append(faults() - before)
thread = threading.Thread(target=take)  # has a separate arena, like the packing threads
thread.start()
thread.join()
print(sum(counts[1:]))
"""


class OfItsOwn(ClusterCase):
    def settled(self, count, threads):
        """Returns GPU and cores of workers that run at the same time."""
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "3,GPU-7", "TMPDIR": folder}
            every = [subprocess.Popen([sys.executable, "-c", SETTLES, str(threads)], env=environment, stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, text=True) for _ in range(count)]
            found = [json.loads(one.stdout.readline()) for one in every]
            for one in every:
                one.communicate()
            return found

    def test_each_has_separate_gpu_and_cores(self):
        cores = sorted(os.sched_getaffinity(0))
        if len(cores) < 2:
            self.skipTest("this machine has one core")
        found = self.settled(2, len(cores) // 2)
        self.assertEqual(sorted(gpu for gpu, _ in found), ["3", "GPU-7"])
        self.assertFalse(set(found[0][1]) & set(found[1][1]))
        self.assertEqual({len(one) for _, one in found}, {len(cores) // 2})
        self.assertEqual({gpu for gpu, _ in self.settled(3, 1)}, {"3", "GPU-7"})  # surplus workers share GPUs

    def test_keeps_memory_despite_setting_of_dask(self):
        done = subprocess.run([sys.executable, "-c", TAKES_MEMORY], env={**os.environ, "MALLOC_TRIM_THRESHOLD_": "65536"},
                              stdout=subprocess.PIPE, text=True, check=True)
        self.assertLess(int(done.stdout), 2048)  # page faults: those of one of the fifty blocks

    def test_rejects_job_without_required_gpu(self):
        if ox.gpus():
            self.skipTest("there is a GPU")
        report = reconstruct(write_archive(self.folder / "data", 2), self.folder / "out", require="cuda", retries=0)
        self.assertEqual((report.made, len(report.failures)), (0, 2))
        self.assertRegex(report.table(), "(?i)cuda")
        with self.assertRaisesRegex(ox.BadArgument, 'give "cuda", "cpu" or None'):
            reconstruct("x.toml", self.folder / "out", require="tpu")

    def test_calling_process_keeps_its_cores(self):
        before = os.sched_getaffinity(0)
        report = reconstruct(write_archive(self.folder / "data", 1), self.folder / "out", threads=1)
        self.assertEqual((os.sched_getaffinity(0), report.made), (before, 3))
        self.assertIn("threads: has no effect with workers=0", str(report))

    def test_reports_part_size_without_effect(self):
        scans, out = write_archive(self.folder / "data", 1), self.folder / "out"
        self.assertEqual(reconstruct(scans, out).notes, [])
        self.assertEqual(reconstruct(scans, out, part_b_scans=128).notes, ["parts of 64 B-scans, as in the plan that is there"])
        self.assertEqual(reconstruct(scans, out, part_b_scans=None).notes, [])

    def test_dashboard_shows_rate(self):
        scans = write_archive(self.folder / "data", 1)
        with local_client(1) as client:
            self.assertTrue(reconstruct(scans, self.folder / "out", client=client, workers=None).ok)
            told = lambda: [one["metrics"].get("echolux_a_scans_per_s", 0)  # noqa: E731
                            for one in client.scheduler_info()["workers"].values()]
            self.wait_for("rate", lambda: client.sync(client._update_scheduler_info) or told()[0] > 0)


class OfTwoKinds(DaskCase):
    def start_one(self, **environment):
        command = [*self.worker_command(False)[1:], "--preload", str(Path(__file__).parent / "without_gpu.py")]
        return self.start(*command, env={**self.worker_environment(""), **environment})

    def test_slow_workers_without_gpu_leave_work_to_others(self):
        from distributed import Client

        if ox.gpus():
            self.skipTest("there is a GPU")
        scans, out = write_archive(self.folder / "data", 2), self.folder / "out"
        self.start_scheduler()
        for _ in range(2):
            self.start_one()
        with Client(self.address, timeout=PATIENCE_S) as client:
            client.wait_for_workers(2, timeout=PATIENCE_S)
            report = reconstruct(scans, out, client=client, workers=None, require="cuda", retries=0)
            self.assertEqual((report.made, len(report.failures)), (0, 2))
            self.assertIn("no worker has a GPU", report.table())
            self.start_one(ECHOLUX_FAKE_GPU="1")
            client.wait_for_workers(3, timeout=PATIENCE_S)
            report = reconstruct(scans, out, client=client, workers=None, require="cuda", retries=0)
        self.assertEqual((report.made, report.failures), (6, []))
        reconstruct(scans, self.folder / "reference")
        self.assert_same_results(out, self.folder / "reference")
