"""Bad input beyond the golden files of test_refusals.py: what depends on the machine, and what must not be lost."""
import threading

import numpy as np

from scans import write_scan
from support import Finished, ProgramCase, extend, read_volume, start


class BadScanFile(ProgramCase):
    def test_growing_spectra(self):
        scan = write_scan(self.folder, np.zeros((1, 64, 256), "<u2"), scan={"b_scans": 8000}, recipe={"depth_end": 8})
        extend(self.folder / "spectra.raw", 8000 * 64 * 256 * 2)
        over = threading.Event()

        def grow():
            with open(self.folder / "spectra.raw", "ab") as raw:
                while not over.wait(0.002):
                    raw.write(bytes(512))
                    raw.flush()

        growth = threading.Thread(target=grow)
        growth.start()
        finished = Finished(start("reconstruct", scan, "-o", "v.nrrd", folder=self.folder))
        over.set()
        growth.join()
        self.assertGreater(finished.code, 0, finished)
        self.assertIn("spectra.raw", finished.error_lines[-1])
        self.assertEqual(self.files(), ["scan.toml", "spectra.raw"])


class BadRequest(ProgramCase):
    def setUp(self):
        super().setUp()
        self.scan = write_scan(self.folder)

    def test_reports_single_volume_of_several(self):
        """Reconstructing only one of several volumes used to go unnoticed."""
        fringes = np.zeros((4, 3, 4, 256), "<u2") + np.arange(256, dtype="<u2")
        write_scan(self.folder, fringes.reshape(12, 4, 256), name="many.toml", scan={"b_scans": 3, "volumes": 4})
        told = self.succeed("reconstruct", "many.toml", "-o", "one.nrrd").out
        self.assertIn("volume 0 of 4; --volume all", told)
        for words in (["--volume", "0"], ["--volume", "all"]):
            self.assertNotIn("of 4", self.succeed("reconstruct", "many.toml", "-o", "one.nrrd", *words).out)

    def test_more_gpus_than_present(self):
        reconstruct = ["reconstruct", self.scan, "-o", "v.nrrd", "--gpus"]
        self.refuse(*reconstruct, 99, names=["--gpus", "99 GPUs"])
        self.refuse(*reconstruct, "0,99", names=["--gpus", "no GPU"])
        self.refuse("live", "--source", "sim", "--seconds", 1, "--gpus", 99, names=["--gpus", "99 GPUs"])

    def test_info_describes_folders_and_pictures(self):
        self.succeed("reconstruct", self.scan, "-o", "series/v0.nrrd")
        self.succeed("convert", "series/v0.nrrd", "series/v1.nrrd")
        self.assertRegex(self.succeed("info", "series").out, r"time points +2")
        self.succeed("reconstruct", self.scan, "-o", "b.png", "--b-scan", 1)
        self.assertRegex(self.succeed("info", "b.png").out, r"pixels +[0-9a-f]{16}")

    def test_cuda_without_gpu(self):
        told = self.run_program("reconstruct", self.scan, "-o", "v.nrrd", "--backend", "cuda")
        if told.code == 0:
            self.assertEqual(read_volume(self.folder / "v.nrrd").shape, (4, 12, 128))
            self.skipTest("this machine has a CUDA backend")
        self.assertEqual(len(told.error_lines), 1, told)
        self.assertIn("cuda", told.err.lower())

    def test_existing_result_survives_refused_request(self):
        self.succeed("reconstruct", self.scan, "-o", "v.nrrd")
        before = (self.folder / "v.nrrd").read_bytes()
        self.refuse("reconstruct", self.scan, "-o", "v.nrrd", "--set", "recipe.depth_end=4000", names=["depth_end"])
        self.assertEqual((self.folder / "v.nrrd").read_bytes(), before)


class BadVolume(ProgramCase):
    def test_surface_above_all_values(self):
        self.succeed("reconstruct", write_scan(self.folder), "-o", "v.nrrd")
        render = ["render", "v.nrrd", "-o", "p.png", "--size", "16x16", "--mode", "isosurface", "--isovalue"]
        self.assertIn("no surface is visible", self.succeed(*render, 4000).err)
        self.assertNotIn("no surface", self.succeed(*render, 10).err)
