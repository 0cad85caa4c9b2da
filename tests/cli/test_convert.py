"""Conversion of volumes and series: choices of storage, parts and limited memory. Inputs and outputs are files of NumPy or nibabel."""
import gzip
import resource

import nibabel
import numpy as np

from scans import fringes, write_scan
from support import ProgramCase, read_volume

SHAPE = (3, 5, 11, 7)  # time points, slices, rows, columns


def series(kind="<u2"):
    return (np.arange(np.prod(SHAPE)).reshape(SHAPE) * 7919 % 65521).astype(kind)


class Convert(ProgramCase):
    def put(self, name, voxels):
        np.save(self.folder / name, voxels)
        return name

    def test_choices_of_storage(self):
        self.put("in.npy", series())
        for name, options in {"a.nrrd": ["--compression", "gzip"], "b.ome.zarr": ["--ome-version", "0.5"],
                              "c.zarr": ["--compression", "blosc"], "d.tif": ["--compression", "gzip"]}.items():
            with self.subTest(name=name):
                self.succeed("convert", "in.npy", name, *options)
                self.succeed("convert", name, "out.npy", "--overwrite")
                np.testing.assert_array_equal(np.load(self.folder / "out.npy"), series())
        self.assertIn(b"encoding: gzip", (self.folder / "a.nrrd").read_bytes())

    def test_parts_of_volume_are_joined(self):
        write_scan(self.folder / "s", fringes(b_scans=10))
        for settings in ("recipe.background=running",), ("recipe.levels=noise_floor", "recipe.voxel=u16"), ():
            how = ["--overwrite", *(word for one in settings for word in ("--set", one))]
            self.succeed("reconstruct", "s/scan.toml", "-o", "whole.nrrd", *how)
            for begin, end in ((0, 3), (3, 4), (4, 10)):
                self.succeed("reconstruct", "s/scan.toml", "-o", f"part{begin}.nrrd", "--blocks", f"{begin}:{end}", *how)
            self.assertIn("joined from 3 parts", self.succeed("convert", "part*.nrrd", "joined.nrrd", "--overwrite").out)
            np.testing.assert_array_equal(read_volume(self.folder / "joined.nrrd"), read_volume(self.folder / "whole.nrrd"))
        output = self.succeed("info", "joined.nrrd").out
        self.assertRegex(output, r"B-scans +10\n")
        self.assertNotIn("time points", output)
        (self.folder / "part3.nrrd").unlink()
        self.refuse("convert", "part*.nrrd", "gap.nrrd", names=["do not join", "3 B-scans from 0 on, then B-scan 4"])

    def test_parts_of_several_volumes_are_joined(self):
        spectra = fringes(b_scans=12)
        write_scan(self.folder / "s", spectra, scan={"b_scans": 4, "volumes": 3})
        self.succeed("reconstruct", "s/scan.toml", "-o", "whole.nrrd", "--volume", "all")
        for volume in range(3):
            for begin in (0, 2):
                self.succeed("reconstruct", "s/scan.toml", "-o", f"v{volume}_{begin}.nrrd", "--volume", volume, "--blocks",
                             f"{begin}:{begin + 2}")
        self.succeed("convert", "v*.nrrd", "joined.nrrd")
        np.testing.assert_array_equal(read_volume(self.folder / "joined.nrrd"), read_volume(self.folder / "whole.nrrd"))

    def test_rejects_files_with_different_scales_as_series(self):
        for name, slope in (("t0.nii", 1.0), ("t1.nii", 2.5)):
            image = nibabel.Nifti1Image(series()[0].T, np.eye(4))
            image.header.set_slope_inter(slope, 0)
            nibabel.save(image, self.folder / name)
        self.refuse("convert", "t*.nii", "out.nrrd", names=["time point 1", "meaning of its codes"], lines=None)

    def test_memory_is_independent_of_series_length(self):
        large = np.lib.format.open_memmap(self.folder / "large.npy", mode="w+", dtype="<u2", shape=(8, 32, 512, 512))
        large[7, 31, 511, 511] = 42  # the rest of the 128 MiB is a hole
        large.flush()
        self.succeed("convert", "large.npy", "out.nii", environment={"ECHOLUX_MEMORY_MIB": "100"})
        most_mib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        self.assertLess(most_mib, 120)
        self.assertEqual(nibabel.load(self.folder / "out.nii").dataobj[511, 511, 31, 7], 42)
        np.save(self.folder / "fortran.npy", np.asfortranarray(large[:4]))
        self.refuse("convert", "fortran.npy", "no.nii", environment={"ECHOLUX_MEMORY_MIB": "50"},
                    names=["fortran.npy", "of memory"])


class Explanations(ProgramCase):
    def test_unreadable_files_are_explained(self):
        (self.folder / "e.h5").write_bytes(b"")
        self.refuse("convert", "e.h5", "w.nrrd", names=["e.h5", "is empty"])
        (self.folder / "v.nrrd.gz").write_bytes(gzip.compress(b"NRRD0004"))
        self.refuse("info", "v.nrrd.gz", names=["v.nrrd.gz", "compressed with gzip", "gunzip"])
        header = "ObjectType = Image\nNDims = 3\nDimSize = 4 4 4\nElementSpacing = 1 2\nElementType = MET_UCHAR\nElementDataFile = LOCAL\n"
        (self.folder / "a.mha").write_bytes(header.encode() + bytes(64))
        self.refuse("info", "a.mha", names=["a.mha", "2 spacings for 3 dimensions", "ElementSpacing"])

    def test_small_sizes_are_not_zero(self):
        """Units below one mebibyte are KiB and bytes."""
        np.save(self.folder / "v.npy", np.zeros((4, 64, 64), np.float32))
        refused = self.run_program("convert", "v.npy", "w.nrrd", environment={"ECHOLUX_MEMORY_MIB": "0.01"})
        self.assertEqual(refused.code, 1, refused)
        self.assertRegex(refused.err, r"needs 64 KiB of memory, 9\.21\d KiB are available")
