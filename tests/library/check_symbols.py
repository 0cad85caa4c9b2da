#!/usr/bin/env python3
"""Checks that the library exports exactly the listed symbols. The interface can then only change on purpose, and
internal symbols or those of linked libraries cannot collide with the caller's.

usage: check_symbols.py LIBRARY LIST
"""
import subprocess
import sys
from pathlib import Path


def shown(library):
    lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    return {line.split()[-1] for line in lines.splitlines()}


def main():
    listed = set(Path(sys.argv[2]).read_text(encoding="utf-8").split())
    there = shown(sys.argv[1])
    for name in sorted(there - listed):
        print(f"shown, but not in the list: {name}")
    for name in sorted(listed - there):
        print(f"in the list, but not shown: {name}")
    return 0 if there == listed else 1


if __name__ == "__main__":
    sys.exit(main())
