#!/usr/bin/env python3
"""Checks every byte of a recording made under faults, against the stamps of the simulator and the counts of the
recorder: each block in the file is an unchanged run of frames, each hole is counted as missing or lost, and after
each restart of the source the frames are in the right place.

usage: check_part.py scan.toml BLOCKS MISSING LOST     (as counted by the recorder)

Prints frames, bytes and interruptions. On the first error, prints it and exits with status 1.
"""
import csv
import struct
import sys
import tomllib
import zlib
from pathlib import Path

HEADER = struct.Struct("<8sQdII")


def first_sequence_of(block, stride, row):
    """Returns the first sequence number of a block whose frames are all unchanged."""
    first = None
    for at in range(0, len(block), stride):
        magic, sequence, _, size, crc = HEADER.unpack_from(block, at)
        lines = memoryview(block)[at + HEADER.size : at + stride]
        where = f"block {row['sequence']}, frame {at // stride}"
        if (magic, size) != (b"ECHOLUX1", len(lines)):
            sys.exit(f"{where}: header {magic} {size}")
        if zlib.crc32(lines, zlib.crc32(memoryview(block)[at : at + 28])) != crc:
            sys.exit(f"{where}: the simulator's checksum differs")
        if first is None:
            first = sequence
        if sequence != first + at // stride:
            sys.exit(f"{where}: sequence {sequence} after {first}")
    return first


class Gap:
    """Missing blocks, lost blocks and interruptions that the index reports between two blocks in the file."""

    def __init__(self):
        self.missing = self.lost = self.interruptions = 0

    def add(self, row):
        self.missing += int(row["missing"])
        self.lost += int(row["lost_before"])
        self.interruptions += int(row["interruptions"])


class Order:
    """Checks the position of each block: behind the previous one, or in a following volume if the source restarted."""

    def __init__(self, frames_in_block, frames_in_volume):
        self.block, self.volume = frames_in_block, frames_in_volume
        self.run = None  # frame of the file that corresponds to frame 0 of the source; may be outside the file
        self.end = 0

    def check(self, place, count, sequence, gap):
        """All positions are in frames. Returns the error, or ""."""
        run, before, end = place - sequence, self.run, self.end
        self.run, self.end = run, place + count
        if before is None:
            return ""
        owed = gap.missing + gap.lost
        if gap.interruptions == 0:
            if run != before:
                return "the source restarted, which is not in the index"
            hole = place - end
            return "" if hole == owed * self.block else f"a hole of {hole} frames, {owed} blocks are in the index"
        next_volume = (end - 1) // self.volume + 1
        begins, rest = divmod(run, self.volume)
        if rest != 0:
            return f"the source restarted with frame {rest} of a volume"
        if gap.missing == 0:  # nothing in between: every frame is accounted for
            last = next_volume
        else:  # the index counts these interruptions but not the volumes they fell in
            last = next_volume + gap.interruptions + owed * self.block // self.volume
        if not next_volume <= begins <= last:
            return f"the source restarted in volume {begins}, expected {next_volume} to {last}"
        least = gap.lost if gap.missing == 0 else 0
        if not least * self.block <= sequence <= owed * self.block:
            return f"{sequence} frames of the source are missing after its restart, {owed} blocks are in the index"
        return ""


def expect(what, counted, there):
    if counted != there:
        sys.exit(f"{there} {what} in the index, {counted} were counted")


def main(toml_path, blocks, missing, lost):
    toml = tomllib.loads(toml_path.read_text())
    scan, recording = toml["scan"], toml["recording"]
    lines = (scan["a_scans"] * scan.get("a_repeats", 1) + scan.get("flyback_lines", 0)) * scan["samples"] * 2
    stride = HEADER.size + lines
    volume = scan["b_scans"] * scan.get("b_repeats", 1) + scan.get("flyback_frames", 0)
    with open(toml_path.parent / recording["index"], newline="") as file:
        rows = list(csv.DictReader(file))
    present = [row for row in rows if int(row["missing"]) == 0]
    expect("blocks", blocks, len(present))
    expect("missing blocks", missing, sum(int(row["missing"]) for row in rows))
    expect("lost blocks", lost, sum(int(row["lost_before"]) for row in rows))
    order, gap, frames = Order(max(int(row["bytes"]) for row in present) // stride, volume), Gap(), 0
    with open(toml_path.parent / scan["file"], "rb") as raw:
        for row in rows:
            gap.add(row)
            if int(row["missing"]):
                continue
            place, count = int(row["byte_offset"]), int(row["bytes"])
            raw.seek(place)
            block = raw.read(count)
            if len(block) != count or zlib.crc32(block) != int(row["crc32"], 16):
                sys.exit(f"block {row['sequence']}: is not what the index says")
            sequence = first_sequence_of(block, stride, row)
            if wrong := order.check(place // stride, count // stride, sequence, gap):
                sys.exit(f"block {row['sequence']}: {wrong}")
            gap = Gap()
            frames += count // stride
    print(f"{frames} {frames * stride} {sum(int(row['interruptions']) for row in rows)}")


main(Path(sys.argv[1]), *map(int, sys.argv[2:5]))
