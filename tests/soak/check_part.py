#!/usr/bin/env python3
"""Checks every byte of a recording that was made in trouble, against the stamps of the simulator and the counts of who
made it: each block in the file is a run of frames as they were sent, each hole is counted as missing or lost.

usage: check_part.py scan.toml BLOCKS MISSING     (as the recorder counted them)
Prints frames, bytes and interruptions; ends with 1 and the first thing that is wrong.
"""
import csv
import struct
import sys
import tomllib
import zlib
from pathlib import Path

HEADER = struct.Struct("<8sQdII")


def first_sequence_of(block, stride, row):
    """Of a block whose frames are all as they were sent."""
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


def main(toml_path, blocks, missing):
    toml = tomllib.loads(toml_path.read_text())
    scan, recording = toml["scan"], toml["recording"]
    lines = (scan["a_scans"] * scan.get("a_repeats", 1) + scan.get("flyback_lines", 0)) * scan["samples"] * 2
    stride = HEADER.size + lines
    with open(toml_path.parent / recording["index"], newline="") as file:
        rows = list(csv.DictReader(file))
    present = [row for row in rows if int(row["missing"]) == 0]
    if len(present) != blocks:
        sys.exit(f"{len(present)} blocks in the index, {blocks} were counted")
    if sum(int(row["missing"]) for row in rows) != missing:
        sys.exit(f"{sum(int(row['missing']) for row in rows)} missing blocks in the index, {missing} were counted")
    usual = max(int(row["bytes"]) for row in present)
    shift, interruptions, end, owed, frames = None, 0, 0, 0, 0
    with open(toml_path.parent / scan["file"], "rb") as raw:
        for row in rows:
            owed += int(row["missing"]) + int(row["lost_before"])
            if int(row["missing"]):
                continue
            place, count = int(row["byte_offset"]), int(row["bytes"])
            raw.seek(place)
            block = raw.read(count)
            if len(block) != count or zlib.crc32(block) != int(row["crc32"], 16):
                sys.exit(f"block {row['sequence']}: is not what the index says")
            now = first_sequence_of(block, stride, row) - place // stride
            hole = place - end
            if now != shift and shift is not None:  # the source began anew: with the next volume, from frame 0
                interruptions += 1
            elif shift is not None and hole != owed * usual:
                sys.exit(f"block {row['sequence']}: a hole of {hole} bytes, {owed} blocks are owned up to")
            shift, end, owed = now, place + count, 0
            frames += count // stride
    print(f"{frames} {frames * stride} {interruptions}")


main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
