"""Parts are whole shards whose voxels and metadata are those of the program, whatever they are."""
import json
import os
import subprocess
from pathlib import Path

import numpy as np

import echolux as ox
from archive import ClusterCase, write_archive
from support import spectra, write_scan

PROGRAM = os.environ.get("ECHOLUX_PROGRAM")


def reconstruct(*arguments, **keywords):
    from echolux import cluster

    return cluster.reconstruct(*arguments, **{"workers": 0, "part_b_scans": 64, "progress": False, **keywords})


class Parts(ClusterCase):
    maxDiff = None

    def levels_of(self, path):
        import zarr

        group = zarr.open_group(path, mode="r")
        return [group[name] for name in sorted(group.array_keys())]

    def assert_is_the_program_s(self, scan, **recipe):
        """Voxels of all levels, and metadata."""
        out = self.folder / "out"
        report = reconstruct(scan, out, recipe=recipe, overwrite=True)
        self.assertTrue(report.ok, report)
        subprocess.run([PROGRAM, "reconstruct", scan, "-o", self.folder / "v.ome.zarr", "--volume", "all", "--overwrite",
                        *(f"--set=recipe.{key}={value}" for key, value in recipe.items())], check=True, capture_output=True)
        subprocess.run([PROGRAM, "convert", self.folder / "v.ome.zarr", "-o", self.folder / "w.ome.zarr", "--ome-version", "0.5",
                        "--overwrite"], check=True, capture_output=True)
        made, wanted = self.levels_of(out / "scan.ome.zarr"), self.levels_of(self.folder / "w.ome.zarr")
        self.assertEqual([one.shape for one in made], [one.shape for one in wanted])
        for one, other in zip(made, wanted):
            self.assertEqual(one.dtype, other.dtype)
            self.assertEqual(one[:].tobytes(), other[:].tobytes())
        texts = []
        for path in out / "scan.ome.zarr", self.folder / "w.ome.zarr":
            attributes = json.loads((path / "zarr.json").read_bytes())["attributes"]
            attributes["echolux"]["texts"].pop("echolux_provenance_volume", None)
            texts.append(attributes)
        self.assertEqual(*texts)

    def test_are_what_the_program_writes(self):
        if not PROGRAM:
            self.skipTest("this build has no program")
        scan = write_scan(self.folder, spectra(b_scans=131, a_scans=70))
        for recipe in {}, {"voxel": "u8"}, {"voxel": "u16"}, {"quantity": "complex"}, {"background": "running"}:
            with self.subTest(recipe):
                self.assert_is_the_program_s(scan, **recipe)

    def test_of_a_series(self):
        if not PROGRAM:
            self.skipTest("this build has no program")
        scan = write_scan(self.folder, spectra(b_scans=2 * 66, a_scans=5))
        text = scan.read_text().replace("b_scans = 132", "b_scans = 66\nvolumes = 2\nline_rate_hz = 1000.0")
        scan.write_text(text)
        self.assert_is_the_program_s(scan)

    def test_are_loaded_as_volumes(self):
        pattern = write_archive(self.folder / "data", 1)
        self.assertTrue(reconstruct(pattern, self.folder / "out").ok)
        volume = ox.load(self.folder / "out/scan.ome.zarr")
        whole = ox.open(self.folder / "data/eye0/scan.toml").reconstruct(progress=False)
        self.assertEqual(np.asarray(volume).tobytes(), np.asarray(whole).tobytes())
        self.assertEqual((volume.spacing_um, volume.unit, volume.provenance), (whole.spacing_um, whole.unit, whole.provenance))

    def test_that_are_not_whole_shards_are_refused(self):
        from echolux.cluster.shards import Layout, encoded

        layout = Layout(1, (130, 8, 8), "uint8", 64)
        for begin, end in (1, 64), (0, 63), (64, 129), (32, 96), (128, 192), (64, 64):
            with self.subTest((begin, end)), self.assertRaisesRegex(ox.BadArgument, "are not whole shards of 64"):
                encoded(layout, 0, begin, np.zeros((end - begin, 8, 8), np.uint8))
        report = reconstruct(write_archive(self.folder / "data", 1), self.folder / "out", part_b_scans=65)
        self.assertIn("give a multiple of 64", report.failures[0].reason)

    def test_every_shard_belongs_to_one_part(self):
        from echolux.cluster.shards import Layout, encoded, unit

        for shape in (130, 5, 3), (129, 300, 3), (600, 70, 3), (64, 200, 5), (7, 5, 3):
            with self.subTest(shape):
                layout = Layout(1, shape, "uint8", unit(shape, 1))
                keys = [key for begin in range(0, shape[0], layout.shard) for key in
                        encoded(layout, 0, begin, np.ones((min(layout.shard, shape[0] - begin), *shape[1:]), np.uint8))]
                self.assertEqual(len(keys), len(set(keys)))

    def test_take_about_the_time_and_memory_that_were_asked_for(self):
        from echolux.cluster import plan, scans

        write_archive(self.folder / "data", 1, b_scans=400)
        file = scans.listed(self.folder / "data/eye0/scan.toml")[0]
        shard = lambda **wanted: plan.made(file, (), **wanted).layout.shard  # noqa: E731
        self.assertEqual(shard(), 448)
        self.assertEqual(shard(seconds=1e-6), 64)
        bytes_of_64 = 64 * 6 * 64 * 4
        self.assertEqual(shard(memory=4 * 3 * bytes_of_64), 192)

    def test_go_to_any_address_of_fsspec(self):
        pattern = write_archive(self.folder / "data", 1)
        address = f"local://{self.folder}/remote"
        self.assertEqual(reconstruct(pattern, address).made, 3)
        self.assertEqual(reconstruct(pattern, address, verify=True).there, 3)
        reconstruct(pattern, self.folder / "out")
        self.assert_same_results(self.folder / "remote", self.folder / "out")
        self.assertEqual([path.name for path in Path(self.folder / "remote/.echolux").iterdir()], ["scan.ome.zarr"])
