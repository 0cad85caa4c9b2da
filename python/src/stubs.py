"""Writes _sections.pyi beside the module: the settings of a scan and the statistics of a session as typed attributes with
documentation, generated from the library's descriptions.

Settings of the tissue analyses are keyword arguments: one TypedDict per section.

usage: stubs.py OUTPUT      with the package `echolux` on PYTHONPATH
"""
import sys

from echolux import _core
from echolux.settings import described

TYPES = ("bool", "int", "float", "str", "Sequence[float]")


def type_of(setting):
    if setting.choices:
        return f"Literal[{', '.join(repr(choice) for choice in setting.choices)}]"
    return TYPES[setting.kind]


def keywords(settings):
    lines, section = [], ""
    for setting in settings:
        now, _, name = setting.key.partition(".")
        if now != section:
            section = now
            lines += ["", f"class {''.join(map(str.capitalize, section.split('_')))}Settings(TypedDict, total=False):"]
        lines += [f"    {name}: {type_of(setting)}", f'    """{described(setting)}"""'.replace("\\", "\\\\")]
    return lines


def statistics():
    """Returns a class per group of keys: `stats.latency.shown` is a LatencyShownStats."""
    classes = {}
    for key, unit, explanation, kind in _core.Live.described_stats():
        path, _, name = key.rpartition(".")
        body = classes.setdefault(path, {})
        body[name] = f'{TYPES[kind]}\n    """{explanation}{f" ({unit})" if unit else ""}"""'
        while path:
            outer, _, group = path.rpartition(".")
            classes.setdefault(outer, {})[group] = class_of(path)
            path = outer
    lines = []
    for path, body in classes.items():
        lines += ["", f"class {class_of(path)}:", *(f"    {name}: {kind}" for name, kind in body.items())]
    return lines


def class_of(path):
    return "".join(part.capitalize() for part in path.split(".")) + "Stats" if path else "LiveStats"


def main():
    scan = _core.Scan.create(16, 1, 1, "u16", [])
    lines = ["from collections.abc import Sequence", "from typing import Literal, TypedDict", "",
             "from .scan import Calibration as _Calibration", "from .settings import Section"]
    section = ""
    for setting in scan.settings().all():
        now, _, name = setting.key.partition(".")
        if now != section:
            section = now
            lines += ["", f"class {section.capitalize()}({'_Calibration' if section == 'calibration' else 'Section'}):"]
        lines += [f"    {name}: {type_of(setting)}", f'    """{described(setting)}"""'.replace("\\", "\\\\")]
    lines += keywords(_core.Tissue([]).settings().all())
    lines += statistics()
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


main()
