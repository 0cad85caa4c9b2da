#!/usr/bin/env python3
"""Tests check_part.py: recordings with faults pass as the recorder writes them, and fail with one error added."""
import csv
import re
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib
from pathlib import Path

CHECK = Path(__file__).resolve().parent / "check_part.py"
SAMPLES, A_SCANS, B_SCANS, BLOCK = 8, 3, 8, 2  # 4 blocks per volume
STRIDE = 32 + A_SCANS * SAMPLES * 2
COLUMNS = "sequence volume first_b_scan b_scans byte_offset bytes lost_before missing crc32 interruptions".split()


def frame(sequence):
    lines = bytes((sequence * 7 + i) % 251 for i in range(A_SCANS * SAMPLES * 2))
    head = struct.pack("<8sQdI", b"ECHOLUX1", sequence, 0.5 * sequence, len(lines))
    return head + struct.pack("<I", zlib.crc32(lines, zlib.crc32(head))) + lines


class Recording:
    """Builds a recording from blocks, given by place in the file and the source's number of the first frame."""

    def __init__(self):
        self.rows, self.raw = [], bytearray()

    def block(self, at, sequence, lost=0, interruptions=0, missing=0):
        """`at` is in blocks."""
        data = b"" if missing else b"".join(frame(sequence + i) for i in range(BLOCK))
        place = at * BLOCK * STRIDE
        if data:
            self.raw.extend(bytes(place + len(data) - len(self.raw)))
            self.raw[place:] = data
        self.rows.append([len(self.rows), at // 4, at % 4 * BLOCK, BLOCK, place, len(data), lost, missing,
                          f"{zlib.crc32(data):08x}", interruptions])
        return self

    def blocks(self, begin, end, run=0, **first):
        """Adds the blocks [begin, end) of the file, from a source whose frame 0 is at block `run`."""
        for at in range(begin, end):
            self.block(at, (at - run) * BLOCK, **(first if at == begin else {}))
        return self

    def check(self, counts=None):
        """Returns the output of check_part.py. The recorder's counts are those in the index unless `counts` overrides
        them."""
        sums = [sum(row[7] == 0 for row in self.rows), sum(row[7] for row in self.rows), sum(row[6] for row in self.rows)]
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "scan.raw").write_bytes(self.raw)
            with open(folder / "scan.index.csv", "w", newline="") as file:
                csv.writer(file).writerows([COLUMNS, *self.rows])
            (folder / "scan.toml").write_text(
                f"[scan]\nfile = 'scan.raw'\nsamples = {SAMPLES}\na_scans = {A_SCANS}\nb_scans = {B_SCANS}\n"
                "[recording]\nindex = 'scan.index.csv'\n")
            done = subprocess.run([sys.executable, "-B", CHECK, folder / "scan.toml", *map(str, counts or sums)],
                                  capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else done.stderr.strip()


class CheckPart(unittest.TestCase):
    def right(self, recording):
        blocks = sum(row[7] == 0 for row in recording.rows)
        self.assertRegex(recording.check(), rf"^{blocks * BLOCK} {blocks * BLOCK * STRIDE} \d+$")

    def wrong(self, recording, words, counts=None):
        self.assertRegex(recording.check(counts), re.escape(words))

    def test_accepts_complete_recordings(self):
        self.right(Recording().blocks(0, 10))
        self.right(Recording().blocks(0, 10, run=-400))  # the source was already running

    def test_accepts_reported_holes(self):
        self.right(Recording().blocks(0, 3).blocks(5, 9, lost=2))
        self.right(Recording().blocks(0, 3).block(4, 0, lost=1, missing=2).blocks(6, 9))
        self.wrong(Recording().blocks(0, 3).blocks(5, 9, lost=1), "a hole of 4 frames, 1 blocks are in the index")
        self.wrong(Recording().blocks(0, 3).blocks(5, 9), "a hole of 4 frames, 0 blocks")
        self.wrong(Recording().blocks(0, 3).blocks(3, 9, lost=1), "a hole of 0 frames, 1 blocks")

    def test_accepts_restarted_source(self):
        """The source continues in a volume behind the one it left; blocks lost since then are a hole there."""
        self.right(Recording().blocks(0, 3).blocks(4, 9, run=4, interruptions=1))
        self.right(Recording().blocks(0, 4).blocks(4, 9, run=4, interruptions=3))
        self.right(Recording().blocks(0, 5).blocks(10, 14, run=8, interruptions=1, lost=2))
        self.right(Recording().blocks(0, 5).blocks(12, 14, run=8, interruptions=1, lost=4))

    def test_rejects_restarted_source_with_uncounted_holes(self):
        begun = Recording().blocks(0, 5)
        self.wrong(begun.blocks(12, 14, run=12, interruptions=1), "in volume 3, expected 2 to 2")
        self.wrong(Recording().blocks(0, 5).blocks(6, 9, run=6, interruptions=1), "restarted with frame 4 of a volume")
        self.wrong(Recording().blocks(0, 5).blocks(10, 14, run=8, interruptions=1), "4 frames of the source")
        self.wrong(Recording().blocks(0, 5).blocks(8, 14, run=8, interruptions=1, lost=2), "0 frames of the source")
        self.wrong(Recording().blocks(0, 5).blocks(8, 14, run=8), "restarted, which is not in the index")
        self.wrong(Recording().blocks(0, 5).blocks(8, 14, interruptions=1), "in volume 0, expected 2 to 2")

    def test_accepts_restarted_source_with_missing_blocks(self):
        self.right(Recording().blocks(0, 5).block(5, 0, missing=2).blocks(8, 9, run=8, interruptions=1))
        self.right(Recording().blocks(0, 5).block(5, 0, missing=5, interruptions=1).blocks(12, 13, run=12, interruptions=1))
        self.right(Recording().blocks(0, 5).block(5, 0, missing=4, interruptions=1).blocks(10, 13, run=8))
        self.wrong(Recording().blocks(0, 5).block(5, 0, missing=1).blocks(40, 41, run=40, interruptions=1),
                   "in volume 10, expected 2 to 3")
        self.wrong(Recording().blocks(0, 5).block(5, 0, missing=1).blocks(11, 12, run=8, interruptions=1),
                   "6 frames of the source")

    def test_compares_counts_and_bytes(self):
        good = Recording().blocks(0, 3).block(3, 0, missing=1).blocks(5, 9, lost=1)
        self.right(good)
        self.wrong(good, "7 blocks in the index, 8 were counted", (8, 1, 1))
        self.wrong(good, "1 missing blocks in the index, 0 were counted", (7, 0, 1))
        self.wrong(good, "1 lost blocks in the index, 2 were counted", (7, 1, 2))
        good.raw[100] ^= 1
        self.wrong(good, "is not what the index says")
        self.wrong(Recording().block(0, 0).block(1, 3), "the source restarted, which is not in the index")


if __name__ == "__main__":
    unittest.main()
