"""A full disk on which space is freed later."""
import subprocess

from archive import PARTS, ClusterCase, write_archive
from test_parts import reconstruct


class FullDisk(ClusterCase):
    def test_continues_after_full_disk(self):
        scans = write_archive(self.folder / "data", 3)
        disk = self.folder / "disk"
        disk.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", disk], capture_output=True).returncode != 0:
            self.skipTest("file systems cannot be mounted here")
        self.addCleanup(subprocess.run, ["umount", disk], check=True)
        report = reconstruct(scans, disk / "out", retries=0)
        self.assertTrue(report.failures)
        self.assertIn("No space left on device", report.table())
        self.assertLess(report.finished, 3)
        subprocess.run(["mount", "-o", "remount,size=50m", disk], check=True)
        again = reconstruct(scans, disk / "out")
        self.assertEqual((again.finished, again.made + again.there), (3, 3 * PARTS), again)
        reconstruct(scans, self.folder / "reference")
        self.assert_same_results(disk / "out", self.folder / "reference")
