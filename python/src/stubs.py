"""Writes the stubs that follow from the library's descriptions:

_sections.pyi: settings of a scan and statistics of a session as typed attributes with documentation. Settings of
    operations are keyword arguments: one TypedDict per section.
operations.pyi: the functions of echolux.operations with their results

usage: stubs.py SECTIONS OPERATIONS      with the package `echolux` on PYTHONPATH
"""
import inspect
import sys

from echolux import _core, operations
from echolux.operation import RESULT_TYPES, descriptions, meaning, members, parameters
from echolux.settings import described

TYPES = ("bool", "int", "float", "str", "Sequence[float]")
TYPES_BY_NAME = {"input": "Any", "output": "bool | str | os.PathLike[str]", "device": "str", "progress": "Progress",
                 "overwrite": "bool", "settings": "Mapping[str, Mapping[str, object]] | None"}
ARGUMENTS = {"bool": "bool", "integer": "int", "number": "float", "text": "str", "numbers": "Sequence[float]"}


def literal(choices):
    return f"Literal[{', '.join(repr(choice) for choice in choices)}]"


def type_of(setting):
    return literal(setting.choices) if setting.choices else TYPES[setting.kind]


def type_of_argument(about):
    return literal(about["choices"]) if "choices" in about else ARGUMENTS[about["type"]]


def docstring(text, indent):
    return f'{indent}"""{text}"""'.replace("\\", "\\\\").replace("\n", f"\n{indent}").replace(f"\n{indent}\n", "\n\n")


def keywords():
    lines, done = [], set()
    for about in (one for operation in descriptions().values() for one in operation["arguments"] if one["section"]):
        if about["key"] in done:
            continue
        if not any(key.startswith(about["section"] + ".") for key in done):
            name = "".join(map(str.capitalize, about["section"].split("_")))
            lines += ["", f"class {name}Settings(TypedDict, total=False):"]
        done.add(about["key"])
        lines += [f"    {about['name']}: {type_of_argument(about)}", docstring(meaning(about) + ".", "    ")]
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


def attributes(name, group):
    """Returns the class of a result, or of a group of results, and those of its groups before it."""
    before, body = [], []
    for key, one in group.items():
        if isinstance(one, dict):
            before += attributes(f"{name}{key.capitalize()}", one)
            body.append(f"    {key}: {name}{key.capitalize()}")
        else:
            body += [f"    {key}: {RESULT_TYPES[one[0]]}", docstring(one[1]["help"], "    ")]
    return [*before, "", f"class {name}{'(Result)' if name.endswith('Result') else ''}:", *body]


def function(name, result):
    known, listed = parameters(name), []
    for one in inspect.signature(getattr(operations, name)).parameters.values():
        if one.kind is one.KEYWORD_ONLY and "*" not in listed:
            listed.append("*")
        role, about = known.get(one.name, ("", {}))
        kind = TYPES_BY_NAME[role or one.name] if role != "argument" else type_of_argument(about)
        default = "..." if one.default == "" and "choices" in about else repr(one.default)  # unset
        listed.append(f"{one.name}: {kind}" + ("" if one.default is one.empty else f" = {default}"))
    return ["", f"def {name}({', '.join(listed)}) -> {result}:", docstring(getattr(operations, name).__doc__, "    ")]


def operations_stub():
    """Names that begin with _ exist for type checkers only."""
    lines = ["import os", "from collections.abc import Mapping, Sequence", "from typing import Any, Literal", "",
             "import numpy as np", "", "from .progress import Progress", "from .volume import Volume", "",
             "class Result:", "    files: list[str]", "    warnings: list[str]",
             "    def words(self, array: str) -> tuple[str, ...]: ..."]
    for name in descriptions():
        result = f"_{''.join(map(str.capitalize, name.split('_')))}Result"
        lines += [*attributes(result, members(name)), *function(name, result)]
    return lines


def write(path, lines):
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


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
        lines += [f"    {name}: {type_of(setting)}", docstring(described(setting), "    ")]
    write(sys.argv[1], lines + keywords() + statistics())
    write(sys.argv[2], operations_stub())


main()
