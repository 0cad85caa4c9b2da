"""The data passed to napari: layers of volumes, series and scans, and samples. napari itself is not needed."""
import unittest
from pathlib import Path

import numpy as np

import echolux as ox
from echolux import napari
from support import FolderCase, spectra, write_scan

try:
    from npe2 import PluginManifest
except ImportError:
    PluginManifest = None
try:
    import dask.array
except ImportError:
    dask = None

CODES = np.arange(12 * 10 * 16, dtype=np.uint16).reshape(12, 10, 16)


def volume(offset=0):
    return ox.Volume.from_array(CODES + offset, spacing_um=(20, 10, 2), unit="dB", quantity="db", first_depth_um=50)


class Readers(FolderCase):
    def layer(self, path):
        read = napari.reader(str(path))
        self.assertIsNotNone(read, path)
        return read(str(path))

    def test_volumes_have_scale_units_and_axes(self):
        for name in ("a.nrrd", "a.ome.zarr", "a.tiff", "a.nii.gz"):
            volume().save(self.folder / name)
            [(data, meaning, kind)] = self.layer(self.folder / name)
            self.assertEqual(kind, "image")
            whole = data[0] if meaning.get("multiscale") else data
            np.testing.assert_array_equal(np.asarray(whole), CODES.swapaxes(1, 2), err_msg=name)
            self.assertEqual([round(one, 3) for one in meaning["scale"]], [20, 2, 10], name)
            self.assertEqual((meaning["units"], meaning["axis_labels"]), (["um"] * 3, ["b", "depth", "a"]))
            self.assertLess(*meaning["contrast_limits"])
            self.assertEqual(meaning["name"], name)

    @unittest.skipIf(dask is None, "Dask is not installed")
    def test_series_are_lazy_and_have_time(self):
        for t in range(3):
            volume(1000 * t).save(self.folder / f"beat_{t}.nrrd")
        [(data, meaning, _)] = self.layer(self.folder)
        self.assertIsInstance(data, dask.array.Array)
        self.assertEqual((data.shape, meaning["axis_labels"][0]), ((3, 12, 16, 10), "t"))
        np.testing.assert_array_equal(np.asarray(data[2]), (CODES + 2000).swapaxes(1, 2))
        self.assertEqual(len(meaning["scale"]), 4)

    def test_scans_are_reconstructed(self):
        scan = write_scan(self.folder, spectra())
        [(data, meaning, _)] = self.layer(scan)
        np.testing.assert_array_equal(np.asarray(data), ox.open(scan).reconstruct()[:].swapaxes(1, 2))
        self.assertEqual(meaning["scale"][0], 7)

    @unittest.skipIf(dask is None, "Dask is not installed")
    def test_later_volumes_and_flow_are_loaded_lazily(self):
        ox.simulate("vessel", samples=256, a_scans=32, b_scans=4, volumes=2).save(self.folder / "scan.toml")
        text = (self.folder / "scan.toml").read_text() + '\n[flow]\nmethod = "doppler"\n'
        (self.folder / "scan.toml").write_text(text)
        (data, meaning, _), (flow, about, _) = self.layer(self.folder / "scan.toml")
        self.assertEqual((data.shape[0], flow.shape), (2, data.shape))
        second = ox.open(self.folder / "scan.toml").reconstruct(1)
        np.testing.assert_array_equal(np.asarray(data[1]), second[:].swapaxes(1, 2))
        np.testing.assert_array_equal(np.asarray(flow[1]), second.flow.velocities()[:].swapaxes(1, 2))
        self.assertGreater(meaning["scale"][0], 0)
        self.assertEqual(about["metadata"]["unit"], "mm/s")

    def test_declines_other_files(self):
        (self.folder / "notes.txt").write_text("nothing")
        (self.folder / "empty").mkdir()
        for name in ("notes.txt", "missing.nrrd", "empty"):
            self.assertIsNone(napari.reader(str(self.folder / name)), name)
        volume().save(self.folder / "a.nrrd")
        both = [str(self.folder / "a.nrrd"), str(self.folder / "notes.txt")]
        self.assertIsNone(napari.reader(both))
        self.assertEqual(len(napari.read(both[:1] * 2)), 2)


class Samples(unittest.TestCase):
    def test_have_labels(self):
        (image, meaning, kind), (labels, about, other) = napari.sample_layers()
        self.assertEqual((kind, other, image.shape), ("image", "labels", labels.shape))
        self.assertEqual(meaning["scale"], about["scale"])
        self.assertGreater(labels.max(), 2)


@unittest.skipIf(PluginManifest is None, "npe2 is not installed")
class Manifest(unittest.TestCase):
    def test_manifest_is_valid_and_complete(self):
        manifest = PluginManifest.from_file(Path(ox.__file__).with_name("napari.yaml"))
        manifest.validate_imports()
        self.assertEqual(manifest.name, "echolux")
        self.assertTrue(manifest.contributions.readers[0].accepts_directories)
        self.assertEqual({one.command for one in manifest.contributions.sample_data}, {"echolux.vessel", "echolux.layers"})
