#!/usr/bin/env python3
"""Checks a finished recording without Echolux: opens it with the code in docs/recordings.md, and compares its index
with its bytes. Needs Python 3.11 and NumPy (exit status 3 if NumPy is missing).

usage: recorder_files.py docs/recordings.md scan.toml
"""
import csv
import datetime
import os
import re
import sys
import tomllib
import zlib
from pathlib import Path

try:
    import numpy
except ImportError:
    sys.exit(3)


def expect(is_right, what):
    if not is_right:
        sys.exit(f"{toml}: {what}")


def blocks_of_the_docs():
    return re.findall(r"```python\n(.*?)```", docs.read_text(), re.DOTALL)


def opened_as_the_docs_say():
    """Returns the spectra of all frames, in order."""
    plain, with_headers, _ = blocks_of_the_docs()
    is_plain = "frame_offset_bytes" not in scan and "b_repeats" not in scan
    names = {"volumes": 1, "a_repeats": 1, "b_repeats": 1, "flyback_lines": 0, "flyback_frames": 0, **scan, "numpy": numpy}
    exec((plain if is_plain else with_headers).replace("scan.raw", scan["file"]), names)
    return names["raw"].reshape(-1, lines, scan["samples"])


def utc(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


docs, toml = Path(sys.argv[1]), Path(sys.argv[2])
told = tomllib.loads(toml.read_text())
scan, recording = told["scan"], told["recording"]
os.chdir(toml.parent)
if "stripes" in scan:
    exec(blocks_of_the_docs()[2], {"stripe_bytes": 1 << 20, **scan})
    scan["file"] = "whole.raw"
raw = Path(scan["file"]).read_bytes()

header = scan.get("frame_offset_bytes", 0)
lines = scan["a_scans"] + scan.get("flyback_lines", 0)
frame_bytes = header + lines * scan["samples"] * 2
frames_a_b_scan = scan.get("b_repeats", 1)
frames_a_volume = scan["b_scans"] * frames_a_b_scan + scan.get("flyback_frames", 0)
volumes = scan.get("volumes", 1)
expect(len(raw) == volumes * frames_a_volume * frame_bytes + scan.get("trailer_bytes", 0), "size of the raw file")

spectra = opened_as_the_docs_say()
expect(len(spectra) == volumes * frames_a_volume, f"{len(spectra)} frames")
for frame in range(len(spectra)):
    place = frame * frame_bytes + header
    expect(spectra[frame].tobytes() == raw[place : place + frame_bytes - header], f"frame {frame} as NumPy sees it")

rows = list(csv.DictReader(open(recording["index"], newline="")))
end = sequence = lost = missing = 0
before = (-1.0, utc(recording["started"]))
for row in rows:
    where = f"index row {row}"
    number = {key: int(text) for key, text in row.items() if key not in ("time_s", "arrived_utc", "crc32")}
    place = (number["volume"] * frames_a_volume + number["first_b_scan"] * frames_a_b_scan) * frame_bytes
    expect(number["byte_offset"] == place >= end, where)
    expect(not any(raw[end:place]), where + ": what is missing before is not zeros")
    expect(number["sequence"] == sequence + number["lost_before"], where + ": blocks left out and not counted")
    expect(number["durable_bytes"] <= place, where)
    now = (float(row["time_s"]), utc(row["arrived_utc"]))
    expect(now[0] > before[0] and now[1] >= before[1], where + ": times")
    block = raw[place : place + number["bytes"]]
    expect(len(block) == number["bytes"] and zlib.crc32(block) == int(row["crc32"], 16), where + ": checksum")
    expect(number["missing"] > 0 or number["bytes"] >= number["b_scans"] * frames_a_b_scan * frame_bytes, where)
    end, before = place + number["bytes"], now
    sequence = number["sequence"] + max(1, number["missing"])
    lost += number["lost_before"]
    missing += number["missing"]
expect(end == len(raw), f"the last row ends at byte {end} of {len(raw)}")
expect(recording["finished"] is True, "finished")
expect(recording.get("complete", False) == (lost == 0 and missing == 0), "complete")
expect(recording.get("lost_blocks", 0) == lost, f"lost_blocks, the index counts {lost}")
expect(recording.get("missing_blocks", 0) == missing, f"missing_blocks, the index counts {missing}")
print(f"{len(rows)} rows, {lost} lost, {missing} missing, {volumes} volumes: bytes, checksums and numbers agree")
