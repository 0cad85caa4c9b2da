"""Python functions in the pipeline."""

import numpy as np

import echolux as ox
from support import FolderCase, spectra, write_scan

FIXED = {"levels": "fixed", "low": 0, "high": 100, "background": "none"}


def scan(**recipe):
    return ox.Reconstructor(samples=256, a_scans=16, b_scans=4, recipe={**FIXED, **recipe})._scan


class Stages(FolderCase):
    def test_empty_stages_change_no_bit(self):
        seen = {"spectra": [], "bins": [], "voxels": []}
        staged = scan()
        staged.set_stages(*(lambda array, place, name=name: seen[name].append((array.shape, array.dtype.name, place))
                            for name in seen))
        np.testing.assert_array_equal(ox.Reconstructor(staged)(spectra()), ox.Reconstructor(scan())(spectra()))
        for name, edges, dtype in (("spectra", (16, 256), "float32"), ("bins", (16, 128), "complex64"),
                                   ("voxels", (16, 128), "float32")):
            self.assertEqual({(shape[1:], kind) for shape, kind, _ in seen[name]}, {(edges, dtype)})
            self.assertEqual(sum(shape[0] for shape, _, _ in seen[name]), 4)
            self.assertEqual(seen[name][-1][2].first_b_scan, 4 - seen[name][-1][0][0])

    def test_change_in_place_or_return(self):
        plain = ox.Reconstructor(scan())(spectra())

        def louder(counts):
            counts *= 10

        for stages in ({"spectra": louder}, {"bins": lambda bins: 10 * bins}):
            staged = scan()
            staged.set_stages(**stages)
            louder_by = ox.Reconstructor(staged)(spectra()) - plain
            np.testing.assert_allclose(louder_by[plain > 20], 20, atol=1e-3)
        staged.set_stages()
        np.testing.assert_array_equal(ox.Reconstructor(staged)(spectra()), plain)

    def test_stages_may_request_place(self):
        seen = []

        def strong(counts, strength=0.5):
            seen.append(strength)

        def any_number(*arrays):
            seen.append(len(arrays))

        def placed(counts, place=None):
            seen.append(place.first_b_scan)

        def second(counts, where, strength=0.5):
            seen.append((where.first_b_scan, strength))

        for stage, expected in ((strong, 0.5), (any_number, 1), (placed, 0), (second, (0, 0.5)), (np.nan_to_num, None)):
            staged = scan()
            staged.set_stages(stage)
            ox.Reconstructor(staged)(spectra())
            self.assertEqual(seen[0] if seen else None, expected, stage)
            seen.clear()

    def test_errors_of_stages_are_raised(self):
        staged = scan()

        def broken(counts):
            raise ZeroDivisionError("in the stage")

        staged.set_stages(spectra=broken)
        with self.assertRaisesRegex(ZeroDivisionError, "in the stage"):
            ox.Reconstructor(staged)(spectra())

    def test_kept_array_is_error(self):
        kept = []
        staged = scan()
        staged.set_stages(bins=kept.append)
        with self.assertRaisesRegex(ox.BadArgument, "kept the array"):
            ox.Reconstructor(staged)(spectra())

    def test_kept_arrays_have_separate_memory(self):
        for name in ("spectra", "bins", "voxels"):
            kept = []
            staged = scan()
            staged.set_stages(**{name: lambda array: None if kept else kept.append(array)})
            make, out = ox.Reconstructor(staged), np.empty((4, 16, 128), np.float32)
            with self.assertRaisesRegex(ox.BadArgument, "kept the array"):
                make(spectra(), out=out)
            before = kept[0].copy()
            make(spectra(seed=2), out=out)
            np.testing.assert_array_equal(kept[0], before)

    def test_provenance_names_stages(self):
        staged = ox.open(write_scan(self.folder, spectra()), recipe=FIXED)
        staged.set_stages(voxels=lambda voxels: np.zeros_like(voxels))
        volume = staged.reconstruct()
        self.assertEqual(np.abs(volume[:]).max(), 0)
        self.assertEqual(volume.provenance["stages"], "voxels")

    def test_rejects_invalid_stages(self):
        with self.assertRaises(ox.BadArgument):
            scan().set_stages(spectra="no function")
        with self.assertRaises(ox.BadArgument):
            ox.live("sim:vessel", stages={"pixels": print})
        staged = scan()
        staged.set_stages(spectra=lambda counts: None)
        with self.assertRaises(ox.DeviceFailed):
            ox.Reconstructor(staged, device="cuda")
