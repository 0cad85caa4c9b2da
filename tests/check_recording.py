#!/usr/bin/env python3
"""Checks every frame of a recording of the simulator, simulated or live: magic, sequence without gaps, size, checksum.
The frames that a live recording lacks must be missing in its index too. Needs only Python 3.11.

usage: check_recording.py scan.toml
"""
import csv
import struct
import sys
import tomllib
import zlib
from pathlib import Path

HEADER = struct.Struct("<8sQdII")


def recorded_frames(rows, stride):
    """Returns the numbers of the frames that are in the file according to the index."""
    frames = set()
    for row in rows:
        if int(row["missing"]) == 0:
            first = int(row["byte_offset"]) // stride
            frames.update(range(first, first + int(row["bytes"]) // stride))
    return frames


class Stripes:
    """Reads N striped files as one: stripe i is in file i mod N."""

    def __init__(self, paths, stripe_bytes):
        self.files = [open(path, "rb") for path in paths]
        self.stripe_bytes, self.place = stripe_bytes, 0

    def seek(self, place):
        self.place = place

    def read(self, count):
        pieces = []
        while count > 0:
            stripe, within = divmod(self.place, self.stripe_bytes)
            turn, part = divmod(stripe, len(self.files))
            self.files[part].seek(turn * self.stripe_bytes + within)
            piece = self.files[part].read(min(count, self.stripe_bytes - within))
            if not piece:
                break
            pieces.append(piece)
            self.place += len(piece)
            count -= len(piece)
        return b"".join(pieces)


def opened(folder, scan):
    names = [scan["file"], *filter(None, scan.get("stripes", "").split(";"))]
    return Stripes([folder / name for name in names], scan.get("stripe_bytes", 1 << 20))


def check_blocks(raw, rows):
    for row in rows:
        if int(row["missing"]) == 0:
            raw.seek(int(row["byte_offset"]))
            if zlib.crc32(raw.read(int(row["bytes"]))) != int(row["crc32"], 16):
                sys.exit(f"block {row['sequence']}: the checksum of the index differs")


def check_frame(frame, header, lines, first_sequence):
    """Returns the sequence number of the recording's first frame, computed from that of this frame."""
    magic, sequence, _, size, crc = HEADER.unpack(header)
    if (magic, size) != (b"ECHOLUX1", len(lines)):
        sys.exit(f"frame {frame}: header {magic} {size}, expected ECHOLUX1 {len(lines)}")
    if first_sequence not in (None, sequence - frame):
        sys.exit(f"frame {frame}: sequence {sequence}, expected {first_sequence + frame}")
    if zlib.crc32(lines, zlib.crc32(header[:28])) != crc:
        sys.exit(f"frame {frame}: checksum differs")
    return sequence - frame


def main(path):
    toml = tomllib.loads(path.read_text())
    scan = toml["scan"]
    lines = scan["a_scans"] * scan.get("a_repeats", 1)
    frame_bytes = (lines + scan.get("flyback_lines", 0)) * scan["samples"] * 2
    stride = HEADER.size + frame_bytes
    volume_frames = scan["b_scans"] * scan.get("b_repeats", 1) + scan.get("flyback_frames", 0)
    frames = volume_frames * scan.get("volumes", 1) + scan.get("trailer_bytes", 0) // stride
    index = toml.get("recording", {}).get("index")
    rows = []
    if index:
        with open(path.parent / index, newline="") as file:
            rows = list(csv.DictReader(file))
    recorded = recorded_frames(rows, stride) if index else set(range(frames))
    first_sequence = None if index else 0
    raw = opened(path.parent, scan)
    for frame in range(frames):
        header, content = raw.read(HEADER.size), raw.read(frame_bytes)
        if len(content) < frame_bytes:
            sys.exit(f"ends in frame {frame} of {frames}")
        if frame in recorded:
            first_sequence = check_frame(frame, header, content, first_sequence)
        elif any(header) or any(content):
            sys.exit(f"frame {frame}: is not in the index, but not empty")
    if raw.read(1):
        sys.exit(f"more than {frames} frames")
    check_blocks(raw, rows)
    missing = frames - len(recorded)
    print(f"{len(recorded)} frames in order, {len(recorded) * lines} A-scans, all checksums right"
          + (f"; {missing} frames missing, as the index says" if missing else ""))


main(Path(sys.argv[1]))
