#!/usr/bin/env python3
"""Checks that C++ and the shaders agree on the layout of the structs in shaders/shared.

check_uniforms.py GLSLC ROOT

C++ has no padding between the members: all of them are made of 4-byte scalars, and each struct is covered by a
static_assert on a size. The offset of a member is hence the sum of the sizes before it. This script compiles the shaders
below, reads offsets and array strides from the SPIR-V (Khronos, "SPIR-V Specification", section 2.3), and compares them.
"""
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

# Shaders that use each shared struct in a uniform block, storage buffer or push constant.
SHADERS = ["raycast", "resolve", "denoise", "histogram", "plane_histogram", "annotate"]
HOST_ONLY = {"DenoiseResult"}  # atomics need single words instead

SCALARS = {"float": 4, "int": 4, "uint": 4}
SIZES = SCALARS | {f"{kind}vec{n}": 4 * n for kind in ("", "i", "u") for n in (2, 3, 4)}

OP_NAME, OP_MEMBER_NAME, OP_TYPE_ARRAY, OP_TYPE_RUNTIME_ARRAY, OP_DECORATE, OP_MEMBER_DECORATE = 5, 6, 28, 29, 71, 72
ARRAY_STRIDE, OFFSET = 6, 35


class Layouts:
    """Offsets of the members of all structs in shaders/shared, and the sizes of the structs, as in C++."""

    def __init__(self, folder):
        text = "\n".join(re.sub(r"//.*", "", path.read_text()) for path in sorted(folder.glob("*.h")))
        self.constants = self._constants(text)
        self.bodies = dict(re.findall(r"^struct (\w+) \{(.*?)^\};", text, re.S | re.M))
        self.asserted = set(re.findall(r"^ECHOLUX_LAYOUT\((\w+)", text, re.M))
        self.offsets, self.sizes = {}, dict(SIZES)
        for name in self.bodies:
            self._lay_out(name)

    @staticmethod
    def _constants(text):
        open_ones = dict(re.findall(r"^ECHOLUX_CONST (\w+) = (.*?);", text, re.M))
        known = {}
        while open_ones:
            resolved = {}
            for name, expression in open_ones.items():
                if all(word in known for word in re.findall(r"[A-Za-z_]\w*", expression)):
                    resolved[name] = eval(expression.replace("/", "//"), {}, dict(known))
            if not resolved:
                raise ValueError(f"constants that depend on unknown ones: {', '.join(sorted(open_ones))}")
            known.update(resolved)
            open_ones = {name: expression for name, expression in open_ones.items() if name not in resolved}
        return known

    def members(self, name):
        """Type, name and number of elements of each member."""
        for kind, names in re.findall(r"(\w+) ([^;]+);", self.bodies[name]):
            for declared in names.split(","):
                member, count = re.fullmatch(r"\s*(\w+)(?:\[(.+)\])?\s*", declared).groups()
                yield kind, member, eval(count.replace("/", "//"), {}, dict(self.constants)) if count else 1

    def _lay_out(self, name):
        if name in self.sizes:
            return self.sizes[name]
        at, offsets = 0, {}
        for kind, member, count in self.members(name):
            offsets[member] = at
            at += count * (self._lay_out(kind) if kind in self.bodies else self.sizes[kind])
        self.offsets[name] = offsets
        self.sizes[name] = at
        return at

    def without_assertion(self):
        """Structs without a static_assert on their size or on that of a struct that contains them."""
        covered, todo = set(), [name for name in self.bodies if name in self.asserted]
        while todo:
            name = todo.pop()
            if name not in covered:
                covered.add(name)
                todo += [kind for kind, _, _ in self.members(name) if kind in self.bodies]
        return sorted(set(self.bodies) - covered - HOST_ONLY)


class Module:
    """Structs with offsets in a SPIR-V module, and the strides of its arrays of structs."""

    def __init__(self, code):
        words = struct.unpack(f"<{len(code) // 4}I", code)
        names, members, offsets, strides, elements = {}, {}, {}, {}, {}
        at = 5  # after the header
        while at < len(words):
            length, op = words[at] >> 16, words[at] & 0xFFFF
            operands = words[at + 1 : at + length]
            if op == OP_NAME:
                names[operands[0]] = self._text(operands[1:])
            elif op == OP_MEMBER_NAME:
                members[operands[:2]] = self._text(operands[2:])
            elif op == OP_MEMBER_DECORATE and operands[2] == OFFSET:
                offsets[operands[:2]] = operands[3]
            elif op == OP_DECORATE and operands[1] == ARRAY_STRIDE:
                strides[operands[0]] = operands[2]
            elif op in (OP_TYPE_ARRAY, OP_TYPE_RUNTIME_ARRAY):
                elements[operands[0]] = operands[1]
            at += length
        self.structs = {}  # id: (name, {member: offset})
        for (identifier, index), offset in offsets.items():
            self.structs.setdefault(identifier, (names[identifier], {}))[1][members[identifier, index]] = offset
        self.strides = [(names[element], strides[array]) for array, element in elements.items()
                        if array in strides and element in self.structs]

    @staticmethod
    def _text(words):
        return struct.pack(f"<{len(words)}I", *words).split(b"\0", 1)[0].decode()


def compiled(glslc, root, shader):
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "shader.spv"
        subprocess.run([glslc, "--target-env=vulkan1.3", "-O0", "-I", root, "-o", output, root / "shaders" / shader],
                       check=True)
        return output.read_bytes()


def differences(layouts, module):
    for name, offsets in module.structs.values():
        if name not in layouts.offsets:
            continue
        expected = layouts.offsets[name]
        if list(offsets) != list(expected):
            yield f"{name}: the shader has other members"
        for member in offsets.keys() & expected.keys():
            if offsets[member] != expected[member]:
                yield f"{name}.{member}: at byte {offsets[member]} in the shader, {expected[member]} in C++"
    for name, stride in module.strides:
        if layouts.sizes.get(name, stride) != stride:
            yield f"{name}: array stride of {stride} bytes in the shader, {layouts.sizes[name]} in C++"


def findings(glslc, root, shaders):
    layouts = Layouts(root / "shaders" / "shared")
    seen = set()
    for shader in shaders:
        module = Module(compiled(glslc, root, f"{shader}.comp"))
        seen.update(name for name, _ in module.structs.values())
        for difference in sorted(set(differences(layouts, module))):
            yield f"{shader}.comp: {difference}"
    for name in sorted(set(layouts.bodies) - seen - HOST_ONLY):
        yield f"{name}: not in a block of {', '.join(shaders)}"
    for name in layouts.without_assertion():
        yield f"{name}: no ECHOLUX_LAYOUT"


if __name__ == "__main__":
    found = list(findings(sys.argv[1], Path(sys.argv[2]), SHADERS))
    print("\n".join(found) or "C++ and shaders agree")
    sys.exit(bool(found))
