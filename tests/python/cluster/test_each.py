"""Volumes converted, rendered and measured, scans calibrated, movies: each file and each part is processed exactly
once."""
import os

import numpy as np

import echolux as ox
from archive import ClusterCase, write_archive
from echolux import cluster
from echolux.cluster import movie_tasks, results, storage
from echolux.cluster.inputs import function_token
from test_parts import reconstruct

QUIET = {"workers": 0, "progress": False}


class EachCase(ClusterCase):
    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(3)
        self.arrays = rng.random((3, 8, 6, 10), np.float32)
        for number, array in enumerate(self.arrays):
            (self.folder / f"in/eye{number}").mkdir(parents=True)
            ox.Volume.from_array(array, spacing_um=(4, 5, 6), unit="dB").save(self.folder / f"in/eye{number}/v.nrrd")
        self.volumes = str(self.folder / "in/*/v.nrrd")
        self.out = self.folder / "out"

    def files(self, pattern="*/*"):
        return sorted(str(path.relative_to(self.out)) for path in self.out.glob(pattern) if ".echolux" not in path.parts)


class Converted(EachCase):
    def convert(self, ending=".nii.gz", **job):
        report = cluster.convert(self.volumes, self.out, ending, **{**QUIET, **job})
        self.said = str(report)
        return report.made, report.there, len(report.failures)

    def test_converts_each_volume_once(self):
        self.assertEqual(self.convert(), (3, 0, 0))
        self.assertRegex(self.said, "3 of 3 volumes finished, 3 parts made")
        self.assertEqual(self.files(), [f"eye{n}/v.nii.gz" for n in range(3)])
        for number, array in enumerate(self.arrays):
            self.assertTrue(np.array_equal(ox.load(self.out / f"eye{number}/v.nii.gz")[:], array))
        self.assertEqual(self.convert(), (0, 3, 0))
        os.truncate(self.out / "eye1/v.nii.gz", 20)
        self.assertEqual(self.convert(), (1, 2, 0))
        (self.out / "eye2/v.nii.gz").write_bytes(b"x" * (self.out / "eye2/v.nii.gz").stat().st_size)
        self.assertEqual(self.convert(), (0, 3, 0))
        self.assertEqual(self.convert(verify=True), (1, 2, 0))

    def test_changed_options_require_overwrite(self):
        self.convert()
        self.assertEqual(self.convert(voxel="u8"), (0, 0, 3))
        self.assertEqual(self.convert(voxel="u8", overwrite=True), (3, 0, 0))
        self.assertEqual(ox.load(self.out / "eye0/v.nii.gz").dtype, np.uint8)

    def test_keeps_foreign_files(self):
        (self.out / "eye0").mkdir(parents=True)
        (self.out / "eye0/v.nii.gz").write_text("years of work")
        self.assertEqual(self.convert(overwrite=True), (2, 0, 1))
        self.assertEqual((self.out / "eye0/v.nii.gz").read_text(), "years of work")

    def test_writes_zarr_folders_and_remote_addresses(self):
        report = cluster.convert(self.volumes, f"local://{self.out}", ".ome.zarr", **QUIET)
        self.assertEqual((report.made, report.failures), (3, []))
        self.assertTrue(np.array_equal(ox.load(self.out / "eye2/v.ome.zarr")[:], self.arrays[2]))
        self.assertEqual(self.convert(".ome.zarr", overwrite=True)[2], 0)

    def test_failure_does_not_stop_others(self):
        (self.folder / "in/eye1/v.nrrd").write_text("no volume")
        self.assertEqual(self.convert(), (2, 0, 1))
        self.assertEqual(self.files(), ["eye0/v.nii.gz", "eye2/v.nii.gz"])
        self.assertEqual([path for path in self.out.rglob(".unfinished*")], [])

    def test_continues_after_kill_between_file_and_marker(self):
        self.convert()
        (self.out / ".echolux/eye0/v.nii.gz/whole.json").unlink()
        self.assertEqual(self.convert(), (1, 2, 0))

    def test_by_workers_of_dask(self):
        self.assertEqual(self.convert(workers=2, threads=1), (3, 0, 0))


class Inputs(EachCase):
    def test_changed_voxels_and_spectra_are_detected(self):
        header, voxels = self.folder / "v.mhd", self.folder / "v.raw"
        voxels.write_bytes(bytes(64))
        header.write_text("ObjectType = Image\nNDims = 3\nDimSize = 4 4 4\nElementType = MET_UCHAR\nElementDataFile = v.raw\n")
        made = lambda: cluster.convert(header, self.out, ".nrrd", overwrite=True, **QUIET).made  # noqa: E731
        self.assertEqual((made(), made()), (1, 0))
        os.utime(voxels, (1, 1))
        self.assertEqual(made(), 1)
        scan = write_archive(self.folder / "data", 1, a_scans=64, samples=256)
        made = lambda: cluster.calibrate(scan, self.out, "noise_floor", overwrite=True, **QUIET).made  # noqa: E731
        self.assertEqual((made(), made()), (1, 0))
        os.utime(self.folder / "data/eye0/scan.raw", (1, 1))
        self.assertEqual(made(), 1)

    def test_changed_volumes_of_movie_are_detected(self):
        task = {"shown": self.volumes, "motion": "time", "view": {}, "frames": 3, "seconds": 0.0, "fps": "", "step": 30}
        before = movie_tasks._identity(task)
        self.assertEqual(movie_tasks._identity(task), before)
        os.utime(self.folder / "in/eye1/v.nrrd", (1, 1))
        self.assertNotEqual(movie_tasks._identity(task), before)

    def test_commits_group_metadata_last(self):
        committed = []
        place = storage.open_store(self.out)
        place.put(results.plan_key("v.zarr"), results.claim_json("convert", "id", ["v.zarr"]))
        with results.part_files(place) as files:
            for key in "v.zarr/.zattrs", "v.zarr/0/.zarray", "v.zarr/0/0/0", "v.zarr/0/0/1":
                files.create(key)
            place.move = lambda file, key, move=place.move: (committed.append(key), move(file, key))
            files.commit(place, "v.zarr", results.FINISHED, "id", {})
        self.assertEqual(committed[2:], ["v.zarr/0/.zarray", "v.zarr/.zattrs", results.marker_key("v.zarr", results.FINISHED)])

    def test_leftovers_of_killed_workers_are_removed(self):
        left = self.out / ".echolux/.unfinished-abc"
        left.mkdir(parents=True)
        (left / "v.nrrd").write_text("half")
        cluster.convert(self.volumes, self.out, ".nrrd", **QUIET)
        self.assertFalse(left.exists())


class Mapped(EachCase):
    def test_results_are_kept(self):
        calls = self.folder / "calls"

        def shape(volume):
            with open(calls, "a") as file:
                file.write("x")
            return {"shape": list(volume.shape)}

        wanted = [{"shape": [8, 6, 10]}] * 3
        for _ in range(2):
            self.assertEqual(cluster.map(shape, self.volumes, out=self.out, **QUIET), wanted)
        self.assertEqual(calls.read_text(), "xxx")
        with self.assertRaisesRegex(cluster.Incomplete, "other settings"):
            cluster.map(lambda volume: 1, self.volumes, out=self.out, **QUIET)
        for _ in range(2):
            means = cluster.map(lambda volume: volume[:].mean(0), self.volumes, out=self.folder / "means", **QUIET)
            self.assertTrue(np.array_equal(means, self.arrays.mean(1)))
        with self.assertRaisesRegex(cluster.Incomplete, "cannot be kept"):
            cluster.map(lambda volume: object(), self.volumes, out=self.folder / "objects", **QUIET)

    def test_failed_calls_are_repeated(self):
        for workers in 0, 1:
            tried = self.folder / f"tried-{workers}"

            def fails_once(volume, tried=str(tried)):
                if not os.path.exists(tried):
                    open(tried, "w").close()
                    raise RuntimeError("the storage is busy")
                return volume.shape[0]

            paths = str(self.folder / "in/eye0/v.nrrd")
            self.assertEqual(cluster.map(fails_once, paths, **{**QUIET, "workers": workers, "retries": 1}), [8])
            tried.unlink()
            with self.assertRaisesRegex(cluster.Incomplete, "RuntimeError: the storage is busy"):
                cluster.map(fails_once, paths, **{**QUIET, "workers": workers})

    def test_distinguishes_functions(self):
        def scaled(factor):
            return lambda volume: factor * volume

        self.assertEqual(function_token(scaled(2)), function_token(scaled(2)))
        self.assertNotEqual(function_token(scaled(2)), function_token(scaled(3)))

    def test_accepts_same_file_twice(self):
        path = self.folder / "in/eye0/v.nrrd"
        self.assertEqual(cluster.map(lambda volume: volume.shape, [path, path], **QUIET), [(8, 6, 10)] * 2)


class Drawn(EachCase):
    def test_figures(self):
        for ending, head in (".png", b"\x89PNG"), (".pdf", b"%PDF"), (".svg", b"<?xml"):
            with self.subTest(ending):
                report = cluster.figures(self.volumes, self.out, ending=ending, options={"vmax": 1}, **QUIET)
                self.assertEqual((report.made, report.failures), (3, []))
                path = self.out / f"eye0/v{ending}"
                before = path.read_bytes()
                self.assertTrue(before.startswith(head))
                path.unlink()
                self.assertEqual(cluster.figures(self.volumes, self.out, ending=ending, options={"vmax": 1}, **QUIET).made, 1)
                self.assertEqual(path.read_bytes(), before)
        wrong = cluster.figures(self.volumes, self.folder / "wrong", plane="c-scan", **QUIET)
        self.assertIn('there is no plane "c-scan"', wrong.table())


class Calibrated(ClusterCase):
    def test_writes_table_for_reconstruction(self):
        scans = write_archive(self.folder / "data", 2, a_scans=64, samples=256)
        out = self.folder / "out"
        report = cluster.calibrate(scans, out, "noise_floor", **QUIET)
        self.assertEqual((report.files, report.failures), (["noise_floor.csv"], []))
        first = ox.open(self.folder / "data/eye0/scan.toml")
        wanted = ox.calibrate.noise_floor_db(first, first.read(0, 0, 8))
        header, row, _ = (out / "noise_floor.csv").read_text().splitlines()
        self.assertEqual((header, float(row.split(",")[2])), ("scan,name,recipe.noise_floor_db", wanted))
        self.assertEqual(cluster.calibrate(scans, out, "noise_floor", **QUIET).there, 2)
        self.assertEqual(reconstruct(out / "noise_floor.csv", self.folder / "volumes").finished, 2)

    def test_dispersion(self):
        mirror = ox.simulate("mirror", samples=512, a_scans=16, b_scans=1, a2_rad=12, mirror_um=[100], mirror_amplitude=[0.2])
        mirror.save(self.folder / "scan.toml")
        report = cluster.calibrate(self.folder / "scan.toml", self.folder / "out", recipe={"a2_rad": 0}, **QUIET)
        self.assertTrue(report.ok, report)
        header, row = (self.folder / "out/dispersion.csv").read_text().splitlines()
        found = dict(zip(header.split(","), row.split(",")))
        self.assertAlmostEqual(float(found["recipe.a2_rad"]), 12, delta=0.5)


class Filmed(EachCase):
    def setUp(self):
        super().setUp()
        try:
            ox.Volume.from_array(self.arrays[0]).render(width=8, height=8)
        except ox.Error as error:
            self.skipTest(str(error))

    def movie(self, name="turn.gif", shown="in/eye0/v.nrrd", **more):
        settings = {"frames": 7, "part_frames": 3, "width": 32, "height": 24, **QUIET, **more}
        return cluster.movie(self.out / name, self.folder / shown, **settings)

    def test_slow_equals_movie_of_one_process(self):
        report = self.movie()
        self.assertEqual((report.made, report.finished, report.failures), (3, 1, []))
        ox.movie(self.folder / "alone.gif", str(self.folder / "in/eye0/v.nrrd"), frames=7, width=32, height=24, progress=False)
        self.assertEqual((self.out / "turn.gif").read_bytes(), (self.folder / "alone.gif").read_bytes())
        self.assertEqual(self.files("*"), ["turn.gif"])
        self.assertFalse(list(self.out.rglob("*.png")))
        self.assertIn("1 of 1 movie finished", str(self.movie()))
        self.assertEqual(self.movie().there, 3)
        (self.out / "turn.gif").unlink()
        self.assertEqual(self.movie().made, 3)

    def test_uses_colours_of_first_volume_through_time(self):
        for number, array in enumerate(self.arrays):
            (self.folder / "series").mkdir(exist_ok=True)
            ox.Volume.from_array(array * (number + 1)).save(self.folder / f"series/v{number}.nrrd")
        self.assertEqual(self.movie("time.gif", "series", frames=0, part_frames=1).made, 3)
        ox.movie(self.folder / "alone.gif", ox.load(self.folder / "series"), width=32, height=24, progress=False)
        self.assertEqual((self.out / "time.gif").read_bytes(), (self.folder / "alone.gif").read_bytes())

    def test_only_missing_parts_are_drawn(self):
        drawn, write = [], movie_tasks._write

        def failing(task, output, begin=0, end=0, drawn_before=""):
            drawn.append((begin, end))
            if len(drawn) == 3:
                raise RuntimeError("the graphics card is gone")
            write(task, output, begin, end, drawn_before)

        movie_tasks._write = lambda task, output, begin=0, end=0, drawn="": failing(task, output, begin, end, drawn)
        self.addCleanup(setattr, movie_tasks, "_write", write)
        report = self.movie(retries=0)
        self.assertEqual((report.made, report.finished), (2, 0))
        self.assertIn("pictures 6:7", report.table())
        drawn.clear()
        drawn += [(9, 9)] * 3
        self.assertEqual((self.movie().made, drawn[3:]), (1, [(6, 7), (0, 0)]))

    def test_rejects_invalid_movies(self):
        for more, words in (({"name": "turn_%03d.png"}, "name a movie"), ({"motion": "sweep", "frames": 0}, "give frames"),
                            ({"seconds": 1, "fps": 3}, "leave one out")):
            with self.subTest(words), self.assertRaisesRegex(ox.BadArgument, words):
                self.movie(**more)
