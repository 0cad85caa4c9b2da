"""Every public name is documented: its arguments and results, field by field. `./dev docs` generates the reference from
it."""
import dataclasses
import inspect
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

import echolux as ox
from support import FolderCase

MADE_BY_USERS = {"Reconstructor", "Batch"}  # others are returned by functions that document them
ELSEWHERE = re.compile(r"\b[A-Z]\w+\.\w+\(\)|\b\w+\(\w*\)|as of a call")  # "as of Scan.reconstruct()"


def is_ours(thing):
    module = getattr(thing, "__module__", None) or getattr(getattr(thing, "fget", None), "__module__", None) or ""
    return module.partition(".")[0] == "echolux" or type(thing).__name__ in ("nb_method", "nb_func") or isinstance(thing, property)


def undocumented_arguments(name, thing, doc):
    for argument in inspect.signature(thing).parameters.values():
        is_given = argument.kind is not argument.VAR_POSITIONAL and not argument.name.startswith("_")
        if is_given and argument.name != "self" and not re.search(rf"\b{argument.name}\b", doc) and not ELSEWHERE.search(doc):
            yield f"{name}: says nothing of {argument.name}"


def undocumented_members(name, kind):
    fields = [one.name for one in dataclasses.fields(kind)] if dataclasses.is_dataclass(kind) else getattr(kind, "_fields", ())
    for field in fields:
        if not re.search(rf"\b{field}\b", kind.__doc__ or ""):
            yield f"{name}: says nothing of {field}"
    for member in dir(kind):
        thing = inspect.getattr_static(kind, member)
        thing = getattr(thing, "__func__", thing)
        if not member.startswith("_") and member not in fields and is_ours(thing) and (callable(thing) or isinstance(thing, property)):
            yield from undocumented(f"{name}.{member}", thing)


def undocumented(name, thing):
    doc = inspect.getdoc(thing) or ""
    if not doc.strip():
        yield f"{name}: has no docstring"
    elif inspect.ismodule(thing):
        for member, inner in vars(thing).items():
            if not member.startswith("_") and getattr(inner, "__module__", "") == thing.__name__:
                yield from undocumented(f"{name}.{member}", inner)
    elif inspect.isclass(thing):
        yield from undocumented_members(name, thing)
        if name in MADE_BY_USERS:
            yield from undocumented_arguments(name, thing, doc)
    elif inspect.isfunction(thing):
        yield from undocumented_arguments(name, thing, doc)


class Docstrings(unittest.TestCase):
    def test_documents_every_public_name(self):
        names = {*ox.__all__, "open"} - {"cluster"}  # docs/scale.md documents its functions
        found = [line for name in sorted(names) for line in undocumented(name, getattr(ox, name))]
        self.assertEqual(found, [])
        self.assertGreater(len(names), 30)


class Reference(FolderCase):
    def test_slow_reference_is_generated_from_docstrings(self):
        if subprocess.run([sys.executable, "-c", "import sphinx"], capture_output=True).returncode:
            self.skipTest("Sphinx is not installed")
        source = Path(__file__).resolve().parents[2] / "docs/reference"
        made = subprocess.run([sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-d", self.folder / "trees",
                               source, self.folder / "html"], capture_output=True, text=True, env={**os.environ, "LC_ALL": "C.UTF-8"})
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        page = (self.folder / "html/index.html").read_text()
        for name in {*ox.__all__, "open"} - {"calibrate", "cluster", "operations", "Stages"}:
            self.assertRegex(page, rf'id="echolux\.(errors\.)?{name}"', name)
