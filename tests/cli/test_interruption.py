"""Work that is stopped halfway by the user or by a full disk leaves no file under its final name, and no temporary
files."""
import signal
import time

import numpy as np

from scans import fringes, write_scan
from support import Finished, ProgramCase, extend, start


class Interrupted(ProgramCase):
    def interrupt(self, *arguments, times=1):
        before = self.files()
        process = start(*arguments, folder=self.folder)
        self.wait_until_it_works(process)
        self.send_signals(process, *[signal.SIGINT] * times)
        begin = time.monotonic()
        finished = Finished(process)
        self.assertEqual(finished.code, 130, finished)
        self.assertLess(time.monotonic() - begin, 30)
        self.assertEqual(self.files(), before)

    def test_simulate(self):
        self.interrupt("simulate", "vessel", "--out", "scan/scan.toml", "--samples", 512, "--a-scans", 100,
                       "--b-scans", 20000)
        self.assertFalse((self.folder / "scan").exists(), "the folder that it made is left, empty")

    def test_reconstruct(self):
        scan = write_scan(self.folder, np.zeros((1, 512, 1024), "<u2"), scan={"b_scans": 16000},
                          recipe={"depth_end": 16, "voxel": "u8"})
        extend(self.folder / "spectra.raw", 16000 * 512 * 1024 * 2)
        self.interrupt("reconstruct", scan, "-o", "v.nrrd")
        self.interrupt("reconstruct", scan, "-o", "v.nrrd", times=2)


class NobodyReads(ProgramCase):
    """The pipe is closed while the program still prints, as by `| head`."""

    def test_interrupted_reconstruction_leaves_no_files(self):
        scan = write_scan(self.folder, np.zeros((1, 512, 1024), "<u2"), scan={"b_scans": 16000},
                          recipe={"depth_end": 16, "voxel": "u8"})
        extend(self.folder / "spectra.raw", 16000 * 512 * 1024 * 2)
        before = self.files()
        process = start("reconstruct", scan, "-o", "v.nrrd", folder=self.folder)
        process.stderr.close()
        process.stderr = None
        process.stdout.close()
        process.stdout = None
        self.assertEqual(process.wait(timeout=60), 141)
        self.assertEqual(self.files(), before)


class FullDisk(ProgramCase):
    """A limit on the file size simulates a full disk: writing fails halfway."""

    def test_reconstruct_to_each_format(self):
        scan = write_scan(self.folder, fringes(b_scans=16, a_scans=64))
        for name in ["v.nrrd", "v.nii", "v.nii.gz", "v.tif", "v.mha"]:
            with self.subTest(name=name):
                self.refuse("reconstruct", scan, "-o", name, names=[name], lines=None, most_file_bytes=20000)

    def test_reconstruct_to_picture(self):
        scan = write_scan(self.folder, fringes(b_scans=2, a_scans=400))
        self.refuse("reconstruct", scan, "-o", "b.png", "--b-scan", 1, names=["b.png"], lines=None,
                    most_file_bytes=4000)

    def test_simulate(self):
        self.refuse("simulate", "layers", "--out", "scan/scan.toml", "--samples", 512, "--a-scans", 32, "--b-scans", 32,
                    lines=None, most_file_bytes=100000)

    def test_existing_result_survives(self):
        scan = write_scan(self.folder, fringes(b_scans=16, a_scans=64))
        self.succeed("reconstruct", scan, "-o", "v.nrrd")
        before = (self.folder / "v.nrrd").read_bytes()
        self.refuse("reconstruct", scan, "-o", "v.nrrd", lines=None, most_file_bytes=20000)
        self.assertEqual((self.folder / "v.nrrd").read_bytes(), before)
