#!/usr/bin/env python3
"""Checks every frame of a simulated recording: magic, sequence without gaps, size, checksum. Needs only Python 3.11.

usage: check_recording.py scan.toml
"""
import struct
import sys
import tomllib
import zlib
from pathlib import Path

path = Path(sys.argv[1])
scan = tomllib.loads(path.read_text())["scan"]
lines = scan["a_scans"] * scan.get("a_repeats", 1)
frames = scan["b_scans"] * scan.get("b_repeats", 1) * scan.get("volumes", 1)
frame_bytes = lines * scan["samples"] * 2
with open(path.parent / scan["file"], "rb") as raw:
    for sequence in range(frames):
        header, frame = raw.read(32), raw.read(frame_bytes)
        magic, number, seconds, size, crc = struct.unpack("<8sQdII", header)
        if (magic, number, size) != (b"ECHOLUX1", sequence, frame_bytes):
            sys.exit(f"frame {sequence}: header {magic} {number} {size}, expected ECHOLUX1 {sequence} {frame_bytes}")
        if zlib.crc32(frame, zlib.crc32(header[:28])) != crc:
            sys.exit(f"frame {sequence}: checksum differs")
    if raw.read(1):
        sys.exit(f"more than {frames} frames")
print(f"{frames} frames in order, {frames * lines} A-scans, all checksums right")
