"""Missing blocks of a recording have no value in volumes and cause one warning with the counts."""
import csv
import json

import numpy as np

from support import ProgramCase, read_volume
from test_live import SMALL


class LostBlocks(ProgramCase):
    """Volumes of 8 B-scans in two blocks; the second block of volume 1 is lost."""

    def setUp(self):
        super().setUp()
        self.succeed("record", *SMALL, "--volumes", 3, "-o", "scan.toml")
        index = self.folder / "scan.index.csv"
        lines = index.read_text().splitlines(keepends=True)
        row = next(csv.DictReader([lines[0], lines[4]]))
        with open(self.folder / "scan.raw", "r+b") as raw:
            raw.seek(int(row["byte_offset"]))
            raw.write(bytes(int(row["bytes"])))
        index.write_text("".join(lines[:4] + lines[5:]))
        toml = self.folder / "scan.toml"
        text = toml.read_text()
        self.assertIn("complete = true", text)
        toml.write_text(text.replace("complete = true", "complete = false\nlost_blocks = 1\nlost_b_scans = 4"))

    def test_missing_b_scans_have_no_value(self):
        told = json.loads(self.succeed("reconstruct", "scan.toml", "-o", "v.nrrd", "--volume", 1, "--json").out)
        lost = [line for line in told["warnings"] if "have no data" in line]
        self.assertEqual(len(lost), 1, told)
        self.assertIn("1 block missing", lost[0])
        self.assertIn("4 of 24 B-scans of 1 of 3 volumes", lost[0])
        voxels = read_volume(self.folder / "v.nrrd")
        self.assertEqual(len(voxels), 8)
        self.assertTrue(np.isnan(voxels[4:]).all())
        self.assertTrue(np.isfinite(voxels[:4]).all())

    def test_info_lists_missing_blocks_first(self):
        first = self.succeed("info", "scan.toml").out.splitlines()[0]
        self.assertIn("recording is incomplete: 1 block missing, 4 B-scans without data", first)

    def test_losses_in_other_volumes_have_no_effect(self):
        told = json.loads(self.succeed("reconstruct", "scan.toml", "-o", "v.nrrd", "--volume", 0, "--json").out)
        self.assertTrue(np.isfinite(read_volume(self.folder / "v.nrrd")).all(), told)
