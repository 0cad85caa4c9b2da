"""Malicious files (hostile_files.py): each is refused in time with one line that names the problem, without side
effects."""
import os
import shutil
import subprocess
import time
import unittest

try:
    import hostile_files as hostile
except ImportError:  # h5py
    hostile = None

from support import PROGRAM, ProgramCase

LONGEST_S = 60  # a reader process has 20 s to answer, and the machine may be busy


@unittest.skipIf(hostile is None, "python3-h5py is missing")
class HostileFiles(ProgramCase):
    def each(self, files, check):
        for what, make in files.items():
            with self.subTest(what):
                place = self.folder / "given"
                shutil.rmtree(place, ignore_errors=True)
                place.mkdir()
                begin = time.monotonic()
                check(make(place))
                self.assertLess(time.monotonic() - begin, 2 * LONGEST_S)

    def refuse_all(self, path):
        self.refuse("info", path, names=[path.name])
        self.refuse("convert", path, "-o", "out.nrrd", "--quiet", names=[path.name])

    def refuse_its_voxels(self, path):
        """Its metadata may be readable, but converting the voxels must fail."""
        self.assertIn(self.run_program("info", path).code, (0, 1))
        self.refuse("convert", path, "-o", "out.nrrd", "--quiet", names=[path.name])

    def bear(self, path):
        """A damaged file may be readable or not."""
        for arguments in (["info", path], ["convert", path, "-o", "out.nrrd", "--overwrite", "--quiet"]):
            finished = self.run_program(*arguments)
            self.assertIn(finished.code, (0, 1), finished)
            self.assertEqual(len(finished.error_lines), finished.code, finished)

    def test_slow_hdf5_files_read_no_other_files(self):
        self.each(hostile.HDF5, self.refuse_all)

    def test_damaged_hdf5_files_are_harmless(self):
        self.each(hostile.HDF5_OR_READ, self.bear)

    def test_codecs_of_dicom_files_are_harmless(self):
        self.each(hostile.DICOM, self.refuse_its_voxels)

    def test_codecs_of_tiff_files_are_harmless(self):
        self.each(hostile.TIFF, self.bear)

    def test_slow_limits_nesting(self):
        def refuse(path):
            self.refuse("info", path, names=[path.name])
            for command in (["convert", path, "-o", "out.nrrd"], ["reconstruct", path, "-o", "out.nrrd"], ["reproduce", path]):
                finished = self.run_program(*command)
                self.assertIn(finished.code, (0, 1, 2), finished)
        only_borne = {"OME-XML", "colour map of ParaView"}
        self.each({what: make for what, make in hostile.DEPTH.items() if what not in only_borne and not what.startswith("picture")}, refuse)
        self.each({what: hostile.DEPTH[what] for what in ("OME-XML",)}, self.bear)

        def reproduce(path):
            finished = self.run_program("reproduce", path)
            self.assertEqual(finished.code, 1, finished)
            self.assertIn("nested", finished.err)
        self.each({what: make for what, make in hostile.DEPTH.items() if what.startswith("picture")}, reproduce)

    def test_headers_read_no_distant_files(self):
        def refuse(path):
            self.refuse("convert", path, "-o", "out.nrrd", "--quiet", names=[path.name])
            self.assertIn(self.run_program("info", path).code, (0, 1))
        self.each(hostile.NAMED, refuse)
        for place in ("secret.raw", "other.h5"):
            self.assertTrue((self.folder / "outside" / place).exists())

    def test_folders_can_be_allowed(self):
        place = self.folder / "given"
        place.mkdir()
        path = hostile.header("nhdr", "../outside/secret.raw")(place)
        refused = self.refuse("convert", path, "-o", "out.nrrd", names=["outside its folder", "--data-folder"], lines=None)
        self.assertIn(str(self.folder / "outside"), refused.err)
        self.succeed("convert", path, "-o", "out.nrrd", "--data-folder", self.folder / "outside")
        self.succeed("convert", path, "-o", "again.nrrd", environment={"ECHOLUX_DATA_FOLDERS": f"/nowhere:{self.folder / 'outside'}"})
        self.refuse("convert", path, "-o", "third.nrrd", "--data-folder", "/nowhere", names=["outside its folder"], lines=None)

    def test_headers_read_neighbouring_files(self):
        place = self.folder / "given"
        place.mkdir()
        for i, path in enumerate(hostile.harmless(place)):
            self.succeed("convert", path, "-o", f"out{i}.nrrd")

    def test_slow_does_not_wait_for_fifos(self):
        """Each ending by `info`, which tries all readers, and by another command."""
        place = self.folder / "given"
        place.mkdir()
        others = (["convert", "-o", "out.nrrd"], ["reconstruct", "-o", "out.nrrd"], ["render", "-o", "out.png"], ["info", "--guess"])
        for number, ending in enumerate(hostile.ENDINGS):
            with self.subTest(ending):
                path = place / f"x{ending}"
                os.mkfifo(path)
                for words in (["info"], others[number % len(others)]):
                    self.refuse(*words, path, names=[path.name], lines=None)
                path.unlink()

    def test_does_not_wait_for_fifos_in_folders(self):
        for ending in hostile.ENDINGS:
            with self.subTest(ending):
                place = self.folder / "given"
                shutil.rmtree(place, ignore_errors=True)
                place.mkdir()
                os.mkfifo(place / f"x{ending}")
                os.mkfifo(place / f"y{ending}")
                finished = self.run_program("info", place)
                self.assertEqual(finished.code, 1, finished)

    def test_readers_of_current_folder_are_not_started(self):
        """The program is found by its name, while the current folder contains other programs of the same names."""
        path = hostile.hdf5(hostile.voxels())(self.folder)
        for name in ("echolux", "echolux-reader"):
            (self.folder / name).write_text("#!/bin/sh\ntouch started\n")
            (self.folder / name).chmod(0o755)
        finished = subprocess.run(["echolux", "info", path], executable=PROGRAM, cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(finished.returncode, 0, finished.stderr)
        self.assertFalse((self.folder / "started").exists())

    def test_a_scan_file_names_only_regular_files(self):
        text = "[scan]\nfile = '{}'\nsamples = 64\na_scans = 8\nb_scans = 1\n[calibration]\n{}\n"
        raw = self.folder / "spectra.raw"
        raw.write_bytes(bytes(64 * 8 * 2))
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        for name in (fifo, "/dev/zero", "/proc/self/mem", self.folder):
            for spectra, calibration in ((name, ""), (raw, f"background = '{name}'"), (raw, f"k_map = '{name}'")):
                with self.subTest(str(name) + calibration):
                    (self.folder / "scan.toml").write_text(text.format(spectra, calibration))
                    self.refuse("reconstruct", "scan.toml", "-o", "out.nrrd", "--quiet")
