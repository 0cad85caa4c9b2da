"""Parts are whole shards. Their voxels and metadata equal those of the program for any part size."""
import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import echolux as ox
from archive import ClusterCase, write_archive
from echolux.cluster import inputs, ome_zarr, part, plan, results
from echolux.cluster.ome_zarr import Layout
from echolux.cluster.storage import Folder
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
        """Compares the voxels of all levels and the metadata."""
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

    def test_parts_equal_output_of_program(self):
        if not PROGRAM:
            self.skipTest("this build has no program")
        scan = write_scan(self.folder, spectra(b_scans=131, a_scans=70))
        for recipe in {}, {"voxel": "u8"}, {"voxel": "u16"}, {"quantity": "complex"}, {"background": "running"}:
            with self.subTest(recipe):
                self.assert_is_the_program_s(scan, **recipe)

    def test_includes_flow(self):
        if not PROGRAM:
            self.skipTest("this build has no program")
        scan = write_scan(self.folder, spectra(b_scans=131, a_scans=70))
        flow = {"method": "doppler", "threshold_db": 0}
        report = reconstruct(scan, self.folder / "out", flow=flow)
        self.assertTrue(report.ok, report)
        subprocess.run([PROGRAM, "reconstruct", scan, "-o", self.folder / "v.nrrd", "--flow", self.folder / "f.ome.zarr",
                        "--set=flow.method=doppler", "--set=flow.threshold_db=0"], check=True, capture_output=True)
        subprocess.run([PROGRAM, "convert", self.folder / "f.ome.zarr", "-o", self.folder / "w.ome.zarr", "--ome-version", "0.5"],
                       check=True, capture_output=True)
        made, wanted = self.levels_of(self.folder / "out/scan-flow.ome.zarr"), self.levels_of(self.folder / "w.ome.zarr")
        for one, other in zip(made, wanted):
            self.assertEqual((one.dtype, one[:].tobytes()), (other.dtype, other[:].tobytes()))
        loaded, of_program = (ox.load(self.folder / name) for name in ("out/scan-flow.ome.zarr", "f.ome.zarr"))
        self.assertEqual((loaded.unit, loaded.quantity, loaded.spacing_um),
                         (of_program.unit, of_program.quantity, of_program.spacing_um))
        self.assertEqual(reconstruct(scan, self.folder / "out", flow=flow).there, 3)
        # Without flow, the earlier flow volume is removed.
        report = reconstruct(scan, self.folder / "out", overwrite=True)
        self.assertEqual((report.made, (self.folder / "out/scan-flow.ome.zarr").exists()), (3, False))

    def test_scans_of_one_protocol_share_plan(self):
        plans, kept = [], part.Reconstructor
        self.addCleanup(setattr, part, "Reconstructor", kept)
        part.Reconstructor = lambda *scan, **device: plans.append(scan) or kept(*scan, **device)
        scans = write_archive(self.folder / "data", 3)
        for recipe, count in ({"noise_floor_db": 31.0}, 1), ({"noise_floor_db": 32.0, "window": "tukey"}, 2):
            report = reconstruct(scans, self.folder / "out", recipe=recipe, overwrite=True)
            self.assertEqual((report.finished, len(plans)), (3, count))
        for number in range(3):
            whole = ox.open(self.folder / f"data/eye{number}/scan.toml", recipe=recipe).reconstruct(progress=False)
            made = ox.load(self.folder / f"out/eye{number}/scan.ome.zarr")
            self.assertEqual(made[:].tobytes(), np.asarray(whole).tobytes())

    def test_series_equals_output_of_program(self):
        if not PROGRAM:
            self.skipTest("this build has no program")
        scan = write_scan(self.folder, spectra(b_scans=2 * 66, a_scans=5))
        text = scan.read_text().replace("b_scans = 132", "b_scans = 66\nvolumes = 2\nline_rate_hz = 1000.0")
        scan.write_text(text)
        self.assert_is_the_program_s(scan)

    def test_results_load_as_volumes(self):
        pattern = write_archive(self.folder / "data", 1)
        self.assertTrue(reconstruct(pattern, self.folder / "out").ok)
        volume = ox.load(self.folder / "out/scan.ome.zarr")
        whole = ox.open(self.folder / "data/eye0/scan.toml").reconstruct(progress=False)
        self.assertEqual(np.asarray(volume).tobytes(), np.asarray(whole).tobytes())
        self.assertEqual((volume.spacing_um, volume.unit, volume.provenance), (whole.spacing_um, whole.unit, whole.provenance))

    def test_rejects_partial_shards(self):
        layout = Layout(1, (130, 8, 8), "uint8", 64)
        for begin, end in (1, 64), (0, 63), (64, 129), (32, 96), (128, 192), (64, 64):
            with self.subTest((begin, end)), self.assertRaisesRegex(ox.BadArgument, "are not whole shards of 64"):
                layout.check(begin, end)
        report = reconstruct(write_archive(self.folder / "data", 1), self.folder / "out", part_b_scans=65)
        self.assertIn("give a multiple of 64", report.failures[0].reason)

    def test_shards_belong_to_one_part_and_match_zarr(self):
        import zarr
        rng = np.random.default_rng(2)
        writer = ThreadPoolExecutor(1)
        self.addCleanup(writer.shutdown)
        for number, (shape, units, dtype, times) in enumerate((
                ((130, 5, 3), 1, "uint8", 1), ((129, 300, 3), 2, "float32", 1), ((600, 70, 3), 3, "uint16", 1),
                ((64, 200, 5), 1, "complex64", 1), ((7, 5, 3), 1, "int16", 2), ((200, 9, 70), 1, "float16", 2))):
            with self.subTest(shape):
                store, unit = Folder(self.folder / str(number)), ome_zarr.Layout(1, shape, dtype, 1).unit(1)
                made = ome_zarr.Layout(times, shape, dtype, units * unit)
                voxels = (rng.random((times, *shape)) * (200 if dtype[0] != "c" else 3 + 4j)).astype(dtype)
                keys = []
                for time in range(times):
                    for begin in range(0, shape[0], made.shard):
                        end = min(begin + made.shard, shape[0])
                        with results.part_files(store) as files:
                            packer = ome_zarr.ShardWriter(made, time, begin, end, lambda key: keys.append(key) or files.create(key), writer)
                            for first in range(begin, end, unit):
                                packer.add(voxels[time, first:min(first + unit, end)])
                            packer.close()[-1].result()
                            for key, file in files._files.items():
                                store.move(file, key)
                self.assertEqual(len(keys), len(set(keys)))
                for key, metadata in ome_zarr.array_metadata(made).items():
                    store.put(key, metadata)
                for level in range(len(made.levels())):
                    array = zarr.open_array(self.folder / str(number) / str(level), mode="r")
                    for time in range(times):
                        whole = voxels[time]
                        for _ in range(level):
                            whole = ome_zarr.downsample(whole)
                        read = array[time] if times > 1 else array[:]
                        self.assertEqual(read.tobytes(), whole.tobytes())

    def test_parts_follow_requested_time_and_memory(self):
        write_archive(self.folder / "data", 1, b_scans=400)
        file = inputs.list_scans(self.folder / "data/eye0/scan.toml")[0]
        shard = lambda **wanted: plan.make_plan(file, (), plan.PartSize(**wanted)).layout.shard  # noqa: E731
        self.assertEqual(shard(), 448)
        self.assertEqual(shard(seconds=1e-6), 64)
        bytes_of_64 = 64 * 6 * 64 * 4
        self.assertEqual(shard(memory=3 * bytes_of_64), 192)

    def test_writes_to_fsspec_addresses(self):
        pattern = write_archive(self.folder / "data", 1)
        address = f"local://{self.folder}/remote"
        self.assertEqual(reconstruct(pattern, address).made, 3)
        self.assertEqual(reconstruct(pattern, address, verify=True).there, 3)
        reconstruct(pattern, self.folder / "out")
        self.assert_same_results(self.folder / "remote", self.folder / "out")
        self.assertEqual([path.name for path in Path(self.folder / "remote/.echolux").iterdir()], ["scan.ome.zarr"])
