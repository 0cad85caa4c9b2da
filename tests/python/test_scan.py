"""Scans: opened, changed, reconstructed."""
import os
import subprocess

import numpy as np

import echolux as ox
from support import FolderCase, spectra, write_scan

PROGRAM = os.environ.get("ECHOLUX_PROGRAM")


class Reconstructing(FolderCase):
    def test_gives_an_array(self):
        volume = ox.open(write_scan(self.folder, spectra()), recipe={"window": "hann"}).reconstruct()
        self.assertEqual(volume.shape[:2], (4, 16))
        self.assertEqual(np.asarray(volume).shape, volume.shape)
        self.assertGreater(np.asarray(volume).std(), 0)

    def test_gives_what_the_program_writes(self):
        if not PROGRAM:
            self.skipTest("this build has no program")
        scan = write_scan(self.folder, spectra())
        subprocess.run([PROGRAM, "reconstruct", scan, "-o", self.folder / "program.nrrd"], check=True, capture_output=True)
        ox.open(scan).reconstruct().save(self.folder / "module.nrrd")
        self.assertEqual((self.folder / "program.nrrd").read_bytes(), (self.folder / "module.nrrd").read_bytes())
