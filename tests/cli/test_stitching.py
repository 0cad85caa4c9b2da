"""`stitch` joins tiles without holding them: memory, formats and tables."""
import json
import os
import subprocess
import sys
import unittest

import numpy as np

from scans import write_nrrd
from support import PROGRAM, ProgramCase

SIDE, STEP, DEPTH, ROWS = 64, 48, 128, 6
MM = 0.005


class Stitching(ProgramCase):
    def write_tiles(self):
        """36 tiles of 2 MiB, cut from one volume, the stage 2 voxels off along A-scans and 1 along B-scans."""
        random = np.random.default_rng(3)
        width = STEP * (ROWS - 1) + SIDE + 4
        volume = random.exponential(1, (width, width, DEPTH)).astype(np.float32)
        volume = (volume + np.roll(volume, 1, 0) + np.roll(volume, 1, 1) + np.roll(volume, 1, 2)) * np.where(np.arange(DEPTH) < 30, 0.01, 1)
        lines = ["file,x_mm,y_mm"]
        for i in range(ROWS * ROWS):
            a, b = i % ROWS * STEP, i // ROWS * STEP
            off = i % 3
            tile = volume[b + (off == 1):, a + off:][:SIDE, :SIDE]
            write_nrrd(self.folder / f"t{i}.nrrd", 10 * np.log10(tile), (MM, MM, MM))
            lines.append(f"t{i}.nrrd,{a * MM},{b * MM}")
        (self.folder / "tiles.csv").write_text("\n".join(lines) + "\n")
        return volume

    def peak_bytes(self, *words):
        """Peak memory of the program alone."""
        script = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); " \
                 "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
        finished = subprocess.run([sys.executable, "-c", script, PROGRAM, *map(str, words)], cwd=self.folder, capture_output=True, text=True,
                                  env=os.environ, check=True)
        return 1024 * int(finished.stdout.splitlines()[-1])

    def test_slow_memory_is_half_of_tiles(self):
        volume = self.write_tiles()
        search = ("--search", 20, "--search-depth", 10)
        idle = self.peak_bytes("info", "--settings")
        peak = self.peak_bytes("stitch", "tiles.csv", "-o", "m.ome.zarr", *search) - idle
        tiles = ROWS * ROWS * SIDE * SIDE * DEPTH * 4
        self.assertLess(peak, tiles / 2, f"{peak / 2**20:.0f} MiB for {tiles / 2**20:.0f} MiB of tiles")
        found = json.loads(self.succeed("stitch", "tiles.csv", "-o", "m.npy", "--positions", "p.csv", *search, "--no-equalise", "--json").out)
        self.assertEqual(found["tiles"], ROWS * ROWS)
        self.assertLess(found["rms_voxels"], 0.05)
        self.succeed("convert", "m.ome.zarr", "z.npy")
        mosaic, zarr = np.load(self.folder / "m.npy"), np.load(self.folder / "z.npy")
        self.assertEqual(mosaic.shape, zarr.shape)
        moved = np.genfromtxt(self.folder / "p.csv", delimiter=",", names=True, dtype=None, encoding="utf-8")
        x = moved["moved_x_um"] / 5
        self.assertLess(np.abs(x - x[0] - [i % 3 for i in range(ROWS * ROWS)]).max(), 0.1)

    def test_unknown_voxels_count_nothing(self):
        """Tiles that a lens was corrected in are NaN at their edges; the other tile counts alone there."""
        volume = 1000 * np.random.default_rng(4).exponential(1, (40, 70, 48))
        tiles = [10 * np.log10(volume[:, :40]), 10 * np.log10(volume[:, 30:])]
        tiles[0][:, 36:] = np.nan
        tiles[1][:, :2] = np.nan
        for name, tile in zip("ab", tiles):
            write_nrrd(self.folder / f"{name}.nrrd", tile, (MM, MM, MM))
        (self.folder / "tiles.csv").write_text(f"a.nrrd,0,0\nb.nrrd,{30 * MM},0\n")
        self.succeed("stitch", "tiles.csv", "-o", "m.npy", "--search", 15, "--search-depth", 10, "--no-equalise")
        mosaic = np.load(self.folder / "m.npy")
        level = 10 * np.log10(np.nanmean(10 ** (mosaic / 10), axis=(0, 2)))
        np.testing.assert_allclose(level, 30, atol=1)
        self.assertGreater(np.nanmin(mosaic), -60)

    def test_groups_without_common_overlap_are_named(self):
        """Two pairs of tiles of different samples: the distance of the pairs is that of the stage. Spreadsheets write a byte order mark."""
        random = np.random.default_rng(5)
        lines = ["\ufefffile,x_mm,y_mm"]
        for pair in range(2):
            volume = 10 * np.log10(random.exponential(1000, (40, 70, 48)))
            for side in range(2):
                name = "abcd"[2 * pair + side]
                write_nrrd(self.folder / f"{name}.nrrd", volume[:, 30 * side:30 * side + 40], (MM, MM, MM))
                lines.append(f"{name}.nrrd,{30 * (2 * pair + side) * MM},0")
        (self.folder / "tiles.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        found = json.loads(self.succeed("stitch", "tiles.csv", "-o", "m.npy", "--search", 15, "--search-depth", 10, "--json").out)
        self.assertEqual(found["used"], 2)
        self.assertTrue(any(warning.startswith("c.nrrd: no overlap connects its tiles with those of a.nrrd") for warning in found["warnings"]), found)

    def test_refuses_lists_without_files(self):
        (self.folder / "tiles.csv").write_text("a.nrrd,0,0\n")
        finished = self.run_program("stitch", "tiles.csv", "-o", "m.nrrd")
        self.assertEqual(finished.code, 1)
        self.assertIn("line 1: there is no file a.nrrd", finished.err)


if __name__ == "__main__":
    unittest.main()
