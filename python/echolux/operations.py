"""Operations of the program (`echolux filter`, `segment` ...) as functions, made from the descriptions of the library.

    made = ox.operations.filter(volume, method="median")
    made.output, made.seconds                                  # a Volume, a number
    ox.operations.segment("eye.nrrd", output="surfaces.nrrd", picture="b-scan.png")

dir(ox.operations) lists them, help(ox.operations.filter) describes the arguments and the result. Arguments have the
names of the program's options. Inputs are volumes in memory, which are not copied, arrays, or names of files.
"""
from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import Parameter, Signature
from typing import Any, Literal, Optional, Union

from .errors import BadArgument
from .operation import (RESULT_TYPES, Description, Result, descriptions, kept_outputs, leaves, meaning, members, parameters,
                        run, suggestion)
from .progress import Progress

_TYPES = {"bool": bool, "integer": int, "number": float, "text": str, "numbers": Sequence[float]}


def __getattr__(name: str) -> Any:
    """Functions are made on first use."""
    if name.startswith("_") or name not in descriptions():
        near = "" if name.startswith("_") else suggestion(name, descriptions())
        raise AttributeError(f"module {__name__!r} has no operation {name!r}" + (f"; {near}" if near else ""))
    made = globals()[name] = _function(name)
    return made


def __dir__() -> list[str]:
    return sorted({"Result", *descriptions(), *(name for name in globals() if name.startswith("__"))})


def _function(name: str) -> Callable[..., Result]:
    signature = Signature(list(_signature(name)), return_annotation=Result)
    positional = [one.name for one in signature.parameters.values() if one.kind is Parameter.POSITIONAL_OR_KEYWORD]

    def operation(*given: Any, **values: Any) -> Result:
        if len(given) > len(positional):
            raise BadArgument(f"takes {len(positional)} argument(s) without a name, not {len(given)}", f"{name}()")
        for key, value in zip(positional, given):
            if key in values:
                raise BadArgument("is given twice", key)
            values[key] = value
        return run(name, **values)

    operation.__name__ = operation.__qualname__ = name
    operation.__doc__ = _documentation(name)
    operation.__signature__ = signature  # type: ignore[attr-defined]
    return operation


def _signature(name: str) -> Iterator[Parameter]:
    """Required arguments and the first input may be given without their names."""
    about = descriptions()[name]
    for key, (role, one) in parameters(name).items():
        kind: Any = {"input": Any, "output": Union[bool, str, os.PathLike]}.get(role) or _type_of(one)
        default: Any = None if one.get("scan") else one.get("default")
        if role == "output" and (key in kept_outputs(name) or not one["required"]):
            default = key in kept_outputs(name)
        elif one["required"]:
            default = Parameter.empty
        is_free = one in about["inputs"][:1] or one.get("positional") or (role == "argument" and one["required"])
        yield Parameter(key, Parameter.POSITIONAL_OR_KEYWORD if is_free else Parameter.KEYWORD_ONLY, default=default,
                        annotation=kind)
    yield Parameter("settings", Parameter.KEYWORD_ONLY, default=None,
                    annotation=Optional[Mapping[str, Mapping[str, object]]])
    if about["backend"] and "device" not in parameters(name):
        yield Parameter("device", Parameter.KEYWORD_ONLY, default="auto", annotation=str)
    yield Parameter("progress", Parameter.KEYWORD_ONLY, default=None, annotation=Progress)
    yield Parameter("overwrite", Parameter.KEYWORD_ONLY, default=False, annotation=bool)


def _type_of(argument: Description) -> Any:
    return Literal[tuple(argument["choices"])] if "choices" in argument else _TYPES[argument["type"]]


# ---- documentation

def _documentation(name: str) -> str:
    about = descriptions()[name]
    lines = [about["summary"] + ".", ""]
    if about["details"]:
        lines += [*_wrapped(about["details"], ""), ""]
    for key, (role, one) in parameters(name).items():
        lines += _wrapped(f"{key}: {_MEANINGS[role](one)}")
    lines += _wrapped("settings: of further sections, and of the reconstruction if an input is a scan, such as "
                      'settings={"recipe": {"window": "hann"}}')
    if about["backend"] and "device" not in parameters(name):
        lines += _wrapped(f'device: device that {about["backend"]}: "auto", "cpu", "cuda" or "cuda:1"')
    lines += ["progress: as in Scan.reconstruct(); overwrite: replaces existing files", "", "Attributes of the result:", ""]
    for key, (kind, one) in leaves(members(name)):
        unit = f", in {one['unit']}" if one.get("unit") else ""
        lines += _wrapped(f"{key}: {RESULT_TYPES[kind]}, {one['help']}{unit}")
    return "\n".join([*lines, "files, warnings: lists of str", "", "Raises BadSetting, BadArgument and errors of the work."])


def _of_input(about: Description) -> str:
    kinds = "the name of a file" if about["file"] else "a Volume, an array [b, a, depth] or the name of a file"
    return f"{about['help']}: {kinds}" + ("; or several, in a list" if about["many"] else "")


def _of_output(about: Description) -> str:
    return f"{about['help']}: " + ("a file name" if about.get("file") else "True keeps it in memory, a file name writes it")


_MEANINGS: dict[str, Callable[[Description], str]] = {"input": _of_input, "argument": meaning, "output": _of_output}


def _wrapped(text: str, indent: str = "    ") -> list[str]:
    from textwrap import wrap

    return wrap(text, 116, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
