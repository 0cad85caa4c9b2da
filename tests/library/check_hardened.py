#!/usr/bin/env python3
"""Checks that the flags of ECHOLUX_HARDEN took effect in linked files: the program and the library.

usage: check_hardened.py FILE...
"""
import subprocess
import sys


def readelf(option, path):
    return subprocess.run(["readelf", option, "--wide", path], check=True, capture_output=True, text=True).stdout


def missing(path):
    segments, dynamic, symbols = (readelf(option, path) for option in ("--segments", "--dynamic", "--dyn-syms"))
    stack = next((line.split() for line in segments.splitlines() if "GNU_STACK" in line), [])
    wanted = {
        "position-independent code": "Elf file type is DYN" in segments,
        "a table of addresses that is read-only after the start (relro)": "GNU_RELRO" in segments,
        "all addresses bound at the start (now)": "BIND_NOW" in dynamic or "Flags: NOW" in dynamic,
        "a stack that cannot be executed": bool(stack) and "E" not in stack[6],
        "stack protectors": "__stack_chk_fail" in symbols,
        "checked functions of the C library (FORTIFY)": "__memcpy_chk" in symbols or "__snprintf_chk" in symbols,
    }
    return [name for name, is_there in wanted.items() if not is_there]


def main():
    lacking = [f"{path} lacks {what}" for path in sys.argv[1:] for what in missing(path)]
    print("\n".join(lacking))
    return 1 if lacking else 0


if __name__ == "__main__":
    sys.exit(main())
