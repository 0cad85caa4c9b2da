"""Runs operations of the program ("filter", "segment" ...) by name: for echolux.operations and the functions that call
one.
"""
from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from . import _core
from .errors import BadArgument, require_text
from .progress import Progress, watching
from .series import LazyVolume
from .settings import assignments, explained, scan_kinds, text_of
from .volume import Volume

_FLAG = 0  # kind of a setting

Description = dict[str, Any]
"""Object of an operation, input, argument, output or result in echolux_operations_json() of include/echolux/operations.h.
"""


@lru_cache(maxsize=None)
def descriptions() -> dict[str, Description]:
    """The descriptions of all operations, by name."""
    return {one["name"]: one for one in json.loads(_core.operations_json())}


@lru_cache(maxsize=None)
def parameters(operation: str) -> dict[str, tuple[str, Description]]:
    """Returns what an operation accepts, by name, as (role, description): its required arguments, inputs, other
    arguments and outputs. Settings of further sections are not part of it.
    """
    about = descriptions()[operation]
    sections = [one["section"] for one in about["arguments"] if one["section"]]
    arguments = sorted((one for one in about["arguments"] if one["section"] in ("", *sections[:1])),
                       key=lambda one: (not one["required"], one["section"] != ""))
    required = [one for one in arguments if one["required"]]
    found: dict[str, tuple[str, Description]] = {}
    for role, group in (("argument", required), ("input", about["inputs"]), ("argument", arguments),
                        ("output", about["outputs"])):
        for one in group:
            found.setdefault(one["name"], (role, one))
    return found


@lru_cache(maxsize=None)
def _kinds(operation: str) -> dict[str, int]:
    """Kinds of settings as far as their spelling depends on it: flags may be 0 and 1."""
    return {**scan_kinds(), **{one["key"]: _FLAG for one in descriptions()[operation]["arguments"] if one["type"] == "bool"}}


@lru_cache(maxsize=None)
def kept_outputs(operation: str) -> frozenset[str]:
    """The outputs that are kept in memory unless the caller decides: required ones and the first, unless they are always
    files.
    """
    outputs = descriptions()[operation]["outputs"]
    return frozenset(one["name"] for i, one in enumerate(outputs) if (i == 0 or one["required"]) and not one.get("file"))


def suggestion(name: str, known: Iterable[str]) -> str:
    """Returns a hint at the most similar name; empty: there is none."""
    from difflib import get_close_matches

    near = get_close_matches(name, list(known), 1)
    return f"did you mean {near[0]}?" if near else ""


def meaning(argument: Description) -> str:
    """Returns the meaning of an argument with its unit, range and choices."""
    bounds = (argument["min"], argument["max"]) if argument["type"] in ("integer", "number") else None
    default = None if argument["required"] else "as in the scan" if argument.get("scan") else str(argument["default"])
    special = argument.get("special")
    text = argument["help"] + (f"; {special['value']:g}: {special['meaning']}" if special else "")
    return explained(text, argument["unit"], argument.get("choices", ()), bounds, default)


# ---- inputs

def volume_of(given: Any, name: str) -> Volume:
    """Returns volumes as they are, or an array [b, a, depth] as a new volume without spacing and unit."""
    if isinstance(given, LazyVolume):
        given = given.read()
    if isinstance(given, Volume):
        return given
    if isinstance(given, _core.Volume):
        return Volume(given)
    if isinstance(given, (str, bytes)) or not (hasattr(given, "__array__") or hasattr(given, "__dlpack__")):
        raise BadArgument(f"is not a volume but of type {type(given).__name__}", name,
                          "give an echolux.Volume (echolux.load(path)), or an array [b, a, depth]")
    return Volume.from_array(given)


def volumes_of(given: Any, name: str) -> list[Volume]:
    """Returns one volume or several as a list: from a list, a Series, an array [volume, b, a, depth]."""
    if isinstance(given, (_core.Volume, LazyVolume)) or getattr(given, "ndim", None) == 3:
        return [volume_of(given, name)]
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise BadArgument(f"is not a list of volumes but of type {type(given).__name__}", name)
    all_of_them = [volume_of(one, f"{name}[{i}]") for i, one in enumerate(given)]
    if not all_of_them:
        raise BadArgument("are none", name, "give at least one volume")
    return all_of_them


def _set_input(core: _core.Operation, about: Description, given: Any) -> None:
    """Volumes in memory are not copied; files are read by the operation."""
    name = about["name"]
    several = given if about["many"] and isinstance(given, (list, tuple)) else [given]
    if several and all(isinstance(one, (str, os.PathLike)) for one in several):
        for one in several:
            core.set(name, os.fsdecode(one))
    elif about["file"]:
        raise BadArgument(f"is not the name of a file but of type {type(given).__name__}", name)
    else:
        for volume in volumes_of(given, name) if about["many"] else [volume_of(given, name)]:
            core.add_input(name, volume)


# ---- results

RESULT_TYPES = {"volume": "Volume", "table": "str", "bytes": "bytes", "bool": "bool", "integer": "int", "number": "float",
                "text": "str", "numbers": "list[float]", "texts": "list[str]", "counts": "dict[str, int]",
                "array": "np.ndarray[Any, Any]", "value": "Any"}


@lru_cache(maxsize=None)
def members(operation: str) -> dict[str, Any]:
    """The attributes of a Result, by name: (kind, description), or those of a group of results."""
    about = descriptions()[operation]
    found: dict[str, Any] = {}
    for output in about["outputs"]:
        name, kind = output["name"], output["kind"]
        if kind.startswith("volume"):
            found[name] = "volume", output
        if kind.endswith("table"):
            found[name + "_csv"] = "table", output
        if kind in ("figure", "file") and not output.get("file"):
            found[name] = "bytes", output
    for result in about["results"]:
        group, dot, name = result["name"].partition(".")
        (found.setdefault(group, {}) if dot else found)[name or group] = result["type"], result
    return found


def leaves(group: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, tuple[str, Description]]]:
    """The attributes of a result with their kinds and descriptions; "places.depth" is an attribute of a group."""
    for name, one in group.items():
        if isinstance(one, dict):
            yield from leaves(one, f"{prefix}{name}.")
        else:
            yield prefix + name, one


class _Reader:
    """Reads the outputs and results of an operation that has run."""

    def __init__(self, core: _core.Operation, kept: set[str]) -> None:
        self.core, self._kept = core, kept
        self._values: dict[str, Any] | None = None

    def json(self) -> dict[str, Any]:
        """Files, warnings and all results except arrays."""
        if self._values is None:
            self._values = json.loads(self.core.json())
        return self._values

    def read(self, kind: str, about: Description) -> Any:
        name: str = about["name"]
        if kind in ("volume", "table", "bytes"):
            return self._output(kind, name)
        if kind == "array":
            return self.core.array(name)[0]
        value: Any = self.json()
        for part in name.split(".", 1):
            value = (value or {}).get(part)
        if kind == "numbers" and value is not None:
            return [math.nan if one is None else one for one in value]
        return math.nan if kind == "number" and value is None else value  # JSON has no NaN

    def _output(self, kind: str, name: str) -> Volume | str | bytes:
        if name not in self._kept:
            raise AttributeError(f"{name} is not in memory: call the operation with {name}=True")
        if kind == "volume":
            return Volume(self.core.volume(name))
        return self.core.bytes(name).decode("utf-8", "surrogateescape") if kind == "table" else self.core.bytes(name)


class _Members:
    """Values as attributes, read from the operation on first use."""

    def __init__(self, members: Mapping[str, Any], reader: _Reader) -> None:
        self._members, self._reader = members, reader

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # asked by copy and pickle before there are members
            raise AttributeError(name)
        if name not in self._members:
            near = suggestion(name, self._members)
            raise AttributeError(f"there is no output or result {name!r}" + (f"; {near}" if near else ""))
        one = self._members[name]
        found = _Members(one, self._reader) if isinstance(one, dict) else self._reader.read(*one)
        setattr(self, name, found)
        return found

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._members})

    def __repr__(self) -> str:
        return f"<{type(self).__name__.lstrip('_')}: {', '.join(self._members)}>"


class Result(_Members):
    """Outputs in memory and results of an operation as attributes, whose names its documentation lists. Arrays are
    read-only and share the memory of the operation.
    """

    @property
    def files(self) -> list[str]:
        """Files that were written."""
        files: list[str] = self._reader.json()["files"]
        return files

    @property
    def warnings(self) -> list[str]:
        """One line each."""
        warnings: list[str] = self._reader.json()["warnings"]
        return warnings

    def words(self, array: str) -> tuple[str, ...]:
        """Returns the meanings of the codes in an array of results, such as result.words("places.reason")."""
        return tuple(self._reader.core.array(array)[1])


# ---- running

def run(operation: str, /, *, progress: Progress = None, overwrite: bool = False,
        settings: Mapping[str, Mapping[str, object]] | None = None, **values: Any) -> Result:
    """Runs an operation with inputs, arguments and outputs by name, and a device unless an argument has this name. None:
    not given. See echolux.operations.
    """
    known = parameters(operation)
    device = None if "device" in known else values.pop("device", None)
    if device is not None and not descriptions()[operation]["backend"]:
        raise BadArgument(f"is not an argument of {operation}(), which uses no GPU", "device", "leave it out")
    core = _core.Operation(operation)
    kept = set(kept_outputs(operation))
    for name, value in values.items():
        if name not in known:
            raise BadArgument(f"is not an argument of {operation}()", name, suggestion(name, known))
        if value is not None:
            _set(core, *known[name], value, kept)
    for assignment in assignments(settings, _kinds(operation)) if settings else ():
        key, _, text = assignment.partition("=")
        core.set(key, text)
    for name in kept:
        core.keep(name)
    require_text(device=device or "")
    with watching(progress) as told:
        core.run(device or "auto", bool(overwrite), told)
    return Result(members(operation), _Reader(core, kept))


def _set(core: _core.Operation, role: str, about: Description, value: Any, kept: set[str]) -> None:
    """`kept` receives the outputs to keep in memory."""
    name = about["name"]
    if role == "input":
        _set_input(core, about, value)
    elif role == "argument":
        core.set(about["key"], text_of(value, _FLAG if about["type"] == "bool" else None))
    elif value is True:
        kept.add(name)
    else:
        kept.discard(name)
        if value is not False:
            core.set(name, os.fsdecode(value))
