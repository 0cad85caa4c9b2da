#!/usr/bin/env python3
"""Checks that the library exports exactly the functions that its headers declare, so internal symbols or those of linked
libraries cannot collide with the caller's. Also calls each function with null and zero arguments, which must be refused.

usage: check_symbols.py LIBRARY FOLDER_OF_HEADERS [--call]
"""
import ctypes
import re
import subprocess
import sys
from pathlib import Path

OK, BAD_ARGUMENT, UNSUPPORTED = 0, 1, 8
OPTIONAL = {"echolux_operations_json"}  # has no handle, and its buffer is optional


def declared(folder):
    """Return type and arguments by name of function."""
    text = "\n".join(re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(encoding="utf-8"), flags=re.S) for path in Path(folder).glob("*.h"))
    found = re.findall(r"^ECHOLUX_API\s+([\w\s*]+?)\s*\b(echolux_\w+)\(([^;]*)\);", text, re.M)
    return {name: (kind, [one.strip() for one in arguments.split(",") if one.strip() != "void"]) for kind, name, arguments in found}


def exported(library):
    lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    return {line.split()[-1] for line in lines.splitlines()}


def nothing(argument):
    """Null or zero, of the type of an argument."""
    if "*" in argument or re.match(r"echolux_\w+ ", argument):  # a callback
        return ctypes.c_void_p()
    return ctypes.c_double() if argument.startswith("double") else ctypes.c_int64()


def refusals(library, functions):
    """Functions that do not refuse null."""
    loaded = ctypes.CDLL(library)
    for name, (kind, arguments) in functions.items():
        if kind != "echolux_status" or name in OPTIONAL:
            continue
        status = getattr(loaded, name)(*map(nothing, arguments))
        expected = {OK} if name.endswith("_free") else {BAD_ARGUMENT}
        if not loaded.echolux_has(b"render"):
            expected.add(UNSUPPORTED)
        if status not in expected:
            yield f"{name}: returned {status} for null arguments"


def main():
    functions, there = declared(sys.argv[2]), exported(sys.argv[1])
    problems = [f"exported, but not declared: {name}" for name in sorted(there - set(functions))]
    problems += [f"declared, but not exported: {name}" for name in sorted(set(functions) - there)]
    if not problems and "--call" in sys.argv:
        problems += refusals(sys.argv[1], functions)
    print("\n".join(problems))
    return 1 if problems or not functions else 0


if __name__ == "__main__":
    sys.exit(main())
