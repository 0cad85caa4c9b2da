"""Memory use. A worker needs memory for a few slabs, regardless of the size of parts, scans and the archive. Client and
scheduler do not grow with the number of parts."""
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np

from archive import ClusterCase
from echolux.cluster.inputs import ScanFile
from echolux.cluster.report import Progress, Report
from support import write_scan

ALLOWED_MB = 320  # in addition to the memory after all imports
LIMITED = """
import importlib, os, resource, sys
from echolux import cluster
from echolux.cluster import jobs, worker
for one in "zarr", "numcodecs", "fsspec", "google_crc32c": importlib.import_module(one)
data = next(int(line.split()[1]) << 10 for line in open("/proc/self/status") if line.startswith("VmData"))
resource.setrlimit(resource.RLIMIT_DATA, (data + int(sys.argv[3]) * 10**6,) * 2)
worker.claim_process()
for b_scans in map(int, sys.argv[4:]):
    report = cluster.reconstruct(sys.argv[1], sys.argv[2], workers=0, part_b_scans=b_scans, overwrite=True, progress=False, retries=0)
    print(report)
    if not report.ok:
        sys.exit(1)
    os.rename(sys.argv[2], f"{sys.argv[2]}-{b_scans}")
"""


def status(key):
    """A value from /proc/self/status in bytes."""
    return next(int(line.split()[1]) << 10 for line in open("/proc/self/status") if line.startswith(key))


class OfAWorker(ClusterCase):
    def reconstruct_with(self, megabytes, out):
        return subprocess.run([sys.executable, "-c", LIMITED, self.scan, self.folder / out, str(megabytes), "6144", "512"],
                              capture_output=True, text=True)

    def test_part_may_be_larger_than_memory(self):
        """Reconstructs the scan as one part, and then as twelve."""
        rng = np.random.default_rng(1)
        block = rng.integers(1000, 3000, (64, 128, 512), np.uint16)
        self.scan = write_scan(self.folder, block)
        with open(self.folder / "scan.raw", "wb") as file:
            for _ in range(96):
                file.write(block)
        text = self.scan.read_text().replace("b_scans = 64", "b_scans = 6144")
        self.scan.write_text(text)  # 805 MB of spectra, 805 MB of voxels
        done = self.reconstruct_with(ALLOWED_MB, "out")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        largest = max(path.stat().st_size for path in (self.folder / "out-6144").rglob("*"))
        self.assertGreater(largest, ALLOWED_MB * 10**6)  # a single shard exceeds the limit
        self.assertNotEqual(self.reconstruct_with(20, "too-little").returncode, 0)  # checks that the limit is effective


class OfClientAndScheduler(ClusterCase):
    def test_ten_thousand_parts_leak_no_files_or_memory(self):
        counts, sizes, real = [], [], jobs.worker
        self.addCleanup(setattr, jobs, "worker", real)

        def tiny(task):
            if task["do"] == "plan":
                return {"name": task["name"], "id": "", "count": 100, "missing": [(0, n, n + 1) for n in range(100)],
                        "is_finished": False}
            return {"is_finished": True} if task["do"] == "finish" else {"a_scans": 1, "seconds": {}}

        jobs.worker = SimpleNamespace(run=tiny, ignore_interrupts=real.ignore_interrupts)
        with jobs.local_client(1) as client:  # the scheduler is in this process
            for scans in 10, 40, 80:
                files = [ScanFile(f"/{number}", f"{number}") for number in range(scans)]
                common = {"kind": "scan", "out": "", "device": "cpu", "threads": None, "verify": False, "retries": 0}
                report = jobs.JobRunner(jobs.DaskExecutor(client), files, common, {"settings": ()}, Progress(Report(scans=scans), False)).run()
                self.assertEqual((report.finished, report.made), (scans, 100 * scans))
                counts.append(len(os.listdir("/proc/self/fd")))
                sizes.append(status("VmRSS"))
        print(f"open files {counts}, MB {[size // 10**6 for size in sizes]}", file=sys.stderr)
        self.assertLessEqual(counts[2], counts[1])
        self.assertLess(sizes[2] - sizes[1], 30 * 10**6)
