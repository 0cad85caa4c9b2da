#!/usr/bin/env python3
"""Checks the string literals that users may see against the rules for messages: rooms below ui name settings rather
than command-line options, counts are formatted by plural() (compute/plural.h), and phrases that puzzle readers
(english.py) are not used.

usage: check_messages.py ROOT          prints one line per finding; exit status 1 if there is one
       check_messages.py ROOT --print  prints all messages instead, file by file, for review
"""
import re
import sys
from pathlib import Path

import english

ROOMS = ["assets", "compute", "engine", "render", "app", "library", "bench", "ui", "include"]
BELOW_UI = {"assets", "compute", "engine", "render", "app", "library", "bench"}

COMMANDS = ("demo|info|simulate|calibrate|reconstruct|batch|convert|register|segment|filter|flow|attenuation|render|reproduce|figure|view|serve|live|"
            "record|ctl|bench|validate")
OPTION = re.compile(r"(?<![\w-])--[a-z]")
COMMAND = re.compile(rf"\becholux (?:{COMMANDS})\b")

# Tables for the documentation, whose counts are never one and whose words are headings.
TABLES = {"bench", "engine/validation"}
THINGS = ("B-scans|A-scans|bins|bits|blocks|boundaries|bytes|channels|checks|chunks|columns|dimensions|files|frames|GPUs|heights|"
          "images|iterations|lines|mirrors|numbers|pages|pictures|planes|points|poses|positions|rows|samples|slices|"
          "spectra|threads|times|values|volumes|voxels")
# "3 x 1 voxels" is a size, not a count.
PLURAL = re.compile(rf"(?<!x )(?:\{{\}}|\b1) (?:more )?(?:{THINGS})\b(?!/s| x )")

TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\((.*?)\)\1"|"((?:[^"\\\n]|\\.)*)"|\'(?:[^\'\\\n]|\\.)+\'', re.S)


def literals(text):
    """Returns the (line, text) of the string literals of a source; adjacent literals are joined."""
    text = re.sub(r"^[ \t]*#[ \t]*include.*$", "", text, flags=re.M)
    found, end = [], -1
    for token in TOKEN.finditer(text):
        if token[0].startswith(("//", "/*", "'")):
            continue
        content = token[2] if token[0].startswith("R") else token[3]
        if found and not text[end:token.start()].strip():
            found[-1][1] += content
        else:
            found.append([text.count("\n", 0, token.start()) + 1, content])
        end = token.end()
    return found


def messages(root):
    for room in ROOMS:
        for path in sorted((root / room).rglob("*")):
            if path.suffix in {".h", ".hpp", ".cpp", ".cu", ".cuh"} and path.is_file():
                for line, text in literals(path.read_text(encoding="utf-8")):
                    if re.search("[A-Za-z]{2}", text):
                        yield path.relative_to(root), line, text


def faults(path, text):
    """Yields the faults of a literal in the file `path`, relative to the root."""
    if path.parts[0] in BELOW_UI and (OPTION.search(text) or COMMAND.search(text)):
        yield "names an option or a command: name the key in `backticks`, ui/cli/output.cpp translates it"
    is_table = any(path.is_relative_to(table) for table in TABLES)
    if not is_table and PLURAL.search(text):
        yield "counts: use plural() of compute/plural.h"
    if not is_table:
        yield from dict.fromkeys(advice for _, _, advice in english.IN_MESSAGES.hits(text))


def findings(root):
    for path, line, text in messages(root):
        for fault in faults(path, text):
            yield f'{path}:{line}: "{text}": {fault}'


def main(arguments):
    root = Path(arguments[0])
    if "--print" in arguments:
        last = None
        for path, line, text in messages(root):
            if " " in text:
                print(*([f"\n{path}"] if path != last else []), f"{line:5}  {text}", sep="\n")
                last = path
        return 0
    found = list(findings(root))
    for finding in found:
        print(finding)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
