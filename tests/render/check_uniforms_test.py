#!/usr/bin/env python3
"""Tests of the uniform check: each fault is added on purpose to a small shader. check_uniforms_test.py GLSLC"""
import sys
import tempfile
import unittest
from pathlib import Path

import check_uniforms

HEADER = """
ECHOLUX_CONST lamps = 2;
ECHOLUX_CONST words = 4 * lamps;

struct Lamp {
    vec3 towards;  // unit vector
    float power;
};

struct Frame {
    vec2 size;
    float near, far;
    Lamp lamp[lamps];
    vec4 table[words / 4];
};

#ifdef __cplusplus
static_assert(sizeof(Frame) == 80);
#endif
"""
SHADER = """#version 460
#extension GL_GOOGLE_include_directive : require
#define ECHOLUX_CONST const int
#include "shaders/shared/small.h"
layout(set = 0, binding = 0) uniform Block { Frame frame; };
layout(set = 0, binding = 1) buffer Sum { float sum; };
void main() { sum = frame.near + frame.lamp[1].power; }
"""
GLSLC = "glslc"


class EachFault(unittest.TestCase):
    def expect(self, old, new, *findings):
        self.assertIn(old, HEADER)
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "shaders" / "shared").mkdir(parents=True)
            (root / "shaders" / "shared" / "small.h").write_text(HEADER.replace(old, new))
            (root / "shaders" / "small.comp").write_text(SHADER)
            self.assertEqual(list(check_uniforms.findings(GLSLC, root, ["small"])), list(findings))

    def test_accepts_equal_layouts(self):
        self.expect("", "")

    def test_finds_member_that_std140_aligns(self):
        self.expect("vec2 size;\n    float near, far;", "float near;\n    vec2 size;\n    float far;",
                    "small.comp: Frame.far: at byte 16 in the shader, 12 in C++",
                    "small.comp: Frame.lamp: at byte 32 in the shader, 16 in C++",
                    "small.comp: Frame.size: at byte 8 in the shader, 4 in C++",
                    "small.comp: Frame.table: at byte 64 in the shader, 48 in C++")

    def test_finds_array_elements_that_std140_pads(self):
        self.expect("    float power;\n", "    float power, width;\n",
                    "small.comp: Frame.table: at byte 80 in the shader, 56 in C++",
                    "small.comp: Lamp: array stride of 32 bytes in the shader, 20 in C++")

    def test_finds_struct_that_no_shader_uses(self):
        self.expect("struct Lamp {", "struct Unused {\n    float x;\n};\n\nstruct Lamp {",
                    "Unused: not in a block of small", "Unused: no static_assert on its size")

    def test_finds_missing_assertion(self):
        self.expect("static_assert(sizeof(Frame) == 80);", "",
                    "Frame: no static_assert on its size", "Lamp: no static_assert on its size")


if __name__ == "__main__":
    GLSLC = sys.argv.pop(1)
    unittest.main()
