"""Volumes in files that are read in part."""
import pickle
import unittest
from unittest import mock

import numpy as np

import echolux as ox
from support import FolderCase

try:
    import dask.array
except ImportError:
    dask = None

CODES = np.arange(12 * 10 * 16, dtype=np.uint16).reshape(12, 10, 16)


def volume(offset=0):
    return ox.Volume.from_array(CODES + offset, spacing_um=(20, 10, 2), unit="dB", quantity="db", scale=0.5)


class Parts(FolderCase):
    def test_slices_match_numpy(self):
        keys = [np.s_[:], np.s_[3], np.s_[-1], np.s_[2:9, :, 4:7], np.s_[::-2, 3, ::5], np.s_[..., 2], np.s_[1, 2, 3],
                np.s_[5:5], np.s_[:, 8:1:-3, -4:], np.s_[..., ::-1], np.s_[[1, 3], 2:4], np.s_[CODES > 3]]
        for name in ("a.nrrd", "a.ome.zarr", "a.tiff"):
            volume().save(self.folder / name)
            loaded = ox.load(self.folder / name)
            for key in keys:
                np.testing.assert_array_equal(loaded[key], CODES[key], err_msg=f"{name} {key}")
            self.assertEqual(np.asarray(loaded).dtype, np.uint16)
            with self.assertRaises(IndexError):
                loaded[12]
            with self.assertRaises(IndexError):
                loaded[0, 0, 0, 0]

    def test_have_metadata_without_reading(self):
        volume().save(self.folder / "a.nrrd")
        loaded = ox.load(self.folder / "a.nrrd")
        self.assertEqual((loaded.shape, loaded.ndim, loaded.dtype), ((12, 10, 16), 3, np.uint16))
        self.assertEqual((loaded.spacing_um, loaded.scale, loaded.unit), ((20, 10, 2), 0.5, "dB"))
        self.assertEqual(loaded.size, CODES.size)
        self.assertIn("in a file", repr(loaded))

    def test_behave_like_volumes(self):
        volume().save(self.folder / "a.nrrd")
        loaded = ox.load(self.folder / "a.nrrd")
        self.assertIsInstance(loaded.read(), ox.Volume)
        np.testing.assert_allclose(loaded.values(), CODES * 0.5)
        loaded.save(self.folder / "b.nrrd")
        np.testing.assert_array_equal(ox.load(self.folder / "b.nrrd")[:], CODES)
        with self.assertRaises(AttributeError):
            loaded.nothing

    def test_read_only_requested_voxels(self):
        volume().save(self.folder / "a.nrrd")
        loaded = ox.load(self.folder / "a.nrrd")
        with mock.patch.object(ox.LazyVolume, "read", side_effect=AssertionError("all of it was read")):
            self.assertFalse(hasattr(loaded, "chunks"))
            self.assertFalse(hasattr(loaded, "_ipython_display_"))
            self.assertEqual((loaded.flow, loaded.v_max_mm_s), (None, 0))
            for name in ("values", "to_xarray", "converted", "velocities", "save", "render", "plot", "view"):
                self.assertIn(name, dir(loaded))

    def test_display_reads_only_parts(self):
        volume().save(self.folder / "a.nrrd")
        loaded, parts = ox.load(self.folder / "a.nrrd"), []
        read_part = ox.LazyVolume.__getitem__

        def watched(self, key):
            part = read_part(self, key)
            parts.append(part.nbytes)
            return part

        with mock.patch("echolux.series._PIECE", 1), mock.patch.object(ox.LazyVolume, "__getitem__", watched), \
                mock.patch.object(ox.LazyVolume, "read", side_effect=AssertionError("all of it was read")):
            text = loaded._repr_html_()
        self.assertEqual(parts, [CODES[0].nbytes])
        for words in ("12 x 10 x 16", "uint16", "20 x 10 x 2 um", "db, dB", "base64,"):
            self.assertIn(words, text)
        self.assertIn("base64,", loaded._repr_html_())

    def test_lending_requires_copy(self):
        volume().save(self.folder / "a.nrrd")
        for whole in (ox.load(self.folder / "a.nrrd"), ox.load_series(self.folder / "a.nrrd")):
            with self.assertRaisesRegex(ValueError, "without a copy"):
                whole.__array__(copy=False)

    def test_pickling_works(self):
        volume().save(self.folder / "a.nrrd")
        again = pickle.loads(pickle.dumps(ox.load(self.folder / "a.nrrd")))
        np.testing.assert_array_equal(again[3:5], CODES[3:5])

    @unittest.skipIf(dask is None, "Dask is not installed")
    def test_converts_to_dask(self):
        volume().save(self.folder / "a.ome.zarr")
        lazy = ox.load(self.folder / "a.ome.zarr").to_dask(chunks=(5, 10, 16))
        self.assertEqual(lazy.chunks[0], (5, 5, 2))
        np.testing.assert_array_equal(lazy[4:7, 2].compute(), CODES[4:7, 2])


class Series(FolderCase):
    def setUp(self):
        super().setUp()
        for t in range(3):
            volume(1000 * t).save(self.folder / f"beat_{t}.nrrd")
        self.series = ox.load_series(self.folder / "beat_*.nrrd")
        self.all = np.stack([CODES + 1000 * t for t in range(3)])

    def test_slices_match_numpy(self):
        self.assertEqual((len(self.series), self.series.shape, self.series.ndim), (3, (3, 12, 10, 16), 4))
        self.assertEqual(self.series.size, 3 * CODES.size)
        for key in (np.s_[:], np.s_[1:, 4], np.s_[:, 2:4, :, 3], np.s_[2, 1, 5], np.s_[::-1, ..., 7], np.s_[1:1, 2]):
            np.testing.assert_array_equal(self.series[key], self.all[key], err_msg=str(key))
        np.testing.assert_array_equal(np.asarray(self.series), self.all)

    def test_lists_and_masks_match_numpy(self):
        keys = (np.s_[[0, 2]], np.s_[np.array([True, False, True])], np.s_[[-1, 0, 0], 3], np.s_[[]], np.s_[1, [2, 3]],
                np.s_[1:, [4, 1], :, [0, 2]], np.s_[2, :, 1:, [0, 2]], np.s_[self.all > 1500], np.s_[None, 1],
                np.s_[..., [1, 2]], np.s_[[0, 1], [2, 3], [4, 5]])
        for key in keys:
            np.testing.assert_array_equal(self.series[key], self.all[key], err_msg=str(key))
        for wrong in (np.s_[[3]], np.s_[[True, False]], np.s_["a", [1]]):
            with self.assertRaises(IndexError):
                self.series[wrong]

    def test_yields_lazy_volumes(self):
        self.assertIsInstance(self.series[1], ox.LazyVolume)
        self.assertEqual([one.number for one in self.series], [0, 1, 2])
        np.testing.assert_array_equal(self.series[-1][:], self.all[2])
        self.assertEqual(self.series.times_s.shape, (3,))
        self.assertIsInstance(ox.load(self.folder / "beat_*.nrrd"), ox.Series)
        self.assertEqual(len(pickle.loads(pickle.dumps(self.series))), 3)

    @unittest.skipIf(dask is None, "Dask is not installed")
    def test_converts_to_dask(self):
        np.testing.assert_array_equal(self.series.to_dask()[:, 3, :, 2].compute(), self.all[:, 3, :, 2])
