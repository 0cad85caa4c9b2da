"""An object store with the S3 protocol (moto's server): several workers write the bytes of a folder, and jobs are
resumed there."""
import importlib.util
import os
import unittest
from unittest import mock

from archive import PARTS, PATIENCE_S, ClusterCase, batch, free_port, result_bytes, write_archive
from echolux.cluster import storage
from test_parts import reconstruct

MISSING = [name for name in ("moto", "s3fs", "flask") if importlib.util.find_spec(name) is None]
SCANS = 3


@unittest.skipIf(MISSING, f"{', '.join(MISSING)} cannot be had from PyPI")
class ObjectStore(ClusterCase):
    def setUp(self):
        super().setUp()
        import s3fs

        port = free_port()
        server = self.start("-m", "moto.server", "-H", "127.0.0.1", "-p", port)
        self.address, self.key = f"http://127.0.0.1:{port}", {"key": "key", "secret": "secret"}
        self.environment = {**os.environ, "FSSPEC_S3_ENDPOINT_URL": self.address, "FSSPEC_S3_KEY": "key", "FSSPEC_S3_SECRET": "secret"}
        self.files = s3fs.S3FileSystem(**self.key, endpoint_url=self.address, use_listings_cache=False)
        self.wait_for("server", lambda: server.poll() is None and self.answers())
        self.scans = write_archive(self.folder / "data", SCANS)
        reconstruct(self.scans, self.folder / "reference")

    def answers(self):
        try:
            self.files.mkdir("bucket")
            return True
        except Exception:  # not ready yet
            return False

    def run_batch(self, *more):
        job = self.start(*batch(self.scans, "-o", "s3://bucket/results", "--part-b-scans", "64", *more),
                         env=self.environment, stdout=-1, stderr=-2, text=True)
        said = job.communicate(timeout=PATIENCE_S)[0]
        return job.returncode, said

    def fetched(self):
        self.files.get("bucket/results", str(self.folder / "fetched"), recursive=True)
        return result_bytes(self.folder / "fetched")

    def test_workers_write_same_bytes_as_local_job(self):
        code, said = self.run_batch("--workers", "2", "--threads", "1")
        self.assertEqual(code, 0, said)
        self.assertIn(f"{SCANS} of {SCANS} scans finished, {SCANS * PARTS} parts made", said)
        self.assertEqual(self.fetched(), result_bytes(self.folder / "reference"))
        self.assertFalse(self.files.exists("bucket/results/.echolux/all.lock"))

    def test_keeps_one_of_two_concurrent_plans(self):
        """The second job saw no plan and tries to put its own; the conditional write refuses it."""
        import fsspec

        with mock.patch.dict(fsspec.config.conf, {"s3": {**self.key, "endpoint_url": self.address}}):
            first, second = (storage.open_store("s3://bucket/plans") for _ in range(2))
            second.get = lambda key: None
            self.assertTrue(first.put_new("plan.json", b"first"))
            self.assertFalse(second.put_new("plan.json", b"second"))
            self.assertEqual(first.get("plan.json"), b"first")

    def test_continues_interrupted_job(self):
        job = self.start(*batch(self.scans, "-o", "s3://bucket/results", "--part-b-scans", "64", "--workers", "0"),
                         env=self.environment)
        self.wait_for("part", lambda: len(self.files.glob("bucket/results/.echolux/*/*/0-*.json")) > 1)
        job.kill()
        job.wait()
        # On S3, the lock of a job that died on this host expires after a minute.
        code, said = self.run_batch("--workers", "0")
        self.assertEqual((code, "is written by another job" in said), (1, True))
        self.files.rm("bucket/results/.echolux/all.lock")
        there = len(self.files.glob("bucket/results/.echolux/*/*/0-*.json"))
        shard = self.files.glob("bucket/results/eye0/scan.ome.zarr/0/c/0/0/0")
        self.assertTrue(shard)
        code, said = self.run_batch("--workers", "0")
        self.assertEqual(code, 0, said)
        self.assertIn(f"{there} were there", said)
        self.files.pipe_file(shard[0], b"x")  # its size differs from its marker
        code, said = self.run_batch("--workers", "0")
        self.assertIn("1 part made", said)
        self.assertEqual(self.fetched(), result_bytes(self.folder / "reference"))
