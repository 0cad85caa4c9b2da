#!/usr/bin/env python3
"""Reports texts in the product's code that look like the key of a setting ("recipe.window") but are none.

Known keys are those of docs/settings.md and docs/operations.md, which tests hold to the descriptions, and names that
the code itself gives: actions, buttons and lines of provenance.

usage: check_keys.py ROOT      prints one line per finding; exit status 1 if there is one
"""
import re
import sys
from pathlib import Path

SETTINGS = "docs/settings.md"
OPERATIONS = "docs/operations.md"
ROOMS = ("compute", "engine", "render", "app", "ui", "library", "python")
ENDINGS = {".cpp", ".h", ".cu", ".cuh", ".py"}
KEY = re.compile(r"^\| `(\w+(?:\.\w+)+)`", re.MULTILINE)
OPTION = re.compile(r"^\| `(\w+)`", re.MULTILINE)
TEXT = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
COMMENT = re.compile(r"^[ \t]*(?:#|\*).*$|(?<!:)//.*$", re.MULTILINE)
# Other names: the first text of these calls, and the text between these brackets.
NAMED = re.compile(r'(?:\b(?:add|add_switch|add_tool|run|run_action|find|attempt|card|change_together|choose|draw_map|note_place|'
                   r'(?:plain|action|bar)_button)\(\s*(?:[\w.]+(?:\(\))?,\s*)*\{?\s*(?:\.id = )?|^\s*\{|places\[|provenance\[|lines\[|'
                   r'\w+_key = |where = |described\([^"\n]*)"([\w.]+)', re.MULTILINE)
FILES = {"toml", "raw", "zarr", "h"}  # "scan.toml"


def sources(root):
    return sorted(path for room in ROOMS for path in (root / room).rglob("*") if path.suffix in ENDINGS)


def known_keys(root):
    keys = set(KEY.findall((root / SETTINGS).read_text(encoding="utf-8")))
    for operation in re.split(r"^## `", (root / OPERATIONS).read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        name = operation.split("`")[0]
        keys |= {f"{name}.{option}" for option in OPTION.findall(operation)}
    return keys


def findings(root):
    known = known_keys(root)
    sections = "|".join(sorted({key.split(".")[0] for key in known}))
    looks_like_key = re.compile(rf"(?:{sections})\.[a-z]\w*[a-z0-9]")
    texts = {path: COMMENT.sub("", path.read_text(encoding="utf-8")) for path in sources(root)}
    known |= {name for text in texts.values() for name in NAMED.findall(text)}
    for path, text in texts.items():
        for match in TEXT.finditer(text):
            key = match.group(1)
            if looks_like_key.fullmatch(key) and key not in known and key.split(".")[-1] not in FILES:
                yield f"{path.relative_to(root)}:{text.count(chr(10), 0, match.start()) + 1}: {key}: there is no such setting"


def main():
    root = Path(sys.argv[1])
    found = list(findings(root))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
