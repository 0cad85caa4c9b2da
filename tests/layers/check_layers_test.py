#!/usr/bin/env python3
"""Tests of the layer check: each rule is broken on purpose in a small temporary tree."""
import tempfile
import unittest
from pathlib import Path

import check_layers

GOOD = {
    "compute/tables.h": '// Tables.\n#include <vector>\n#include "compute/types.h"\n',
    "engine/live/session.cpp": '// Session.\n#include "compute/tables.h"\n#include "engine/live/session.h"\n',
    "render/raycaster.cpp": '// Caster.\n#include <vulkan/vulkan.h>\n#include "compute/types.h"\n',
    "library/live.cpp": '// Live.\n#include "app/live/system.h"\n#include "echolux/echolux.h"\n',
    "include/echolux/echolux.h": "/* Interface. */\n#include <stddef.h>\n#include <stdint.h>\n",
    "app/live/system.cpp": '// System.\n#include "engine/live/session.h"\n#include "render/raycaster.h"\n',
    "ui/cli/main.cpp": '// Program.\n#include <unistd.h>\n#include <csignal>\n#include "app/live/system.h"\n',
    "compute/cuda/runner.cu": "// Runner.\n#include <cuda_runtime.h>\n#include <cufft.h>\n",
    "tests/unit/session_test.cpp": '// Tests.\n#include "engine/live/session.h"\n',
}


class EachRule(unittest.TestCase):
    def found(self, path="", text=""):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for name, content in {**GOOD, **({path: text} if path else {})}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(content)
            return list(check_layers.findings(root))

    def expect(self, path, text, words):
        found = self.found(path, text)
        self.assertEqual(len(found), 1, found)
        self.assertIn(path, found[0])
        self.assertIn(words, found[0])

    def test_good_tree_has_no_findings(self):
        self.assertEqual(self.found(), [])

    def test_finds_wrong_includes_between_rooms(self):
        wrong = [("assets", "compute"), ("compute", "assets"), ("compute", "engine"), ("compute", "render"), ("compute", "ui"), ("engine", "render"),
                 ("engine", "ui"), ("render", "engine"), ("render", "ui")]
        for room, target in wrong:
            with self.subTest(room=room, target=target):
                self.expect(f"{room}/x.cpp", f'// X.\n#include "{target}/y.h"\n', f"{room} may include")

    def test_parses_foreign_data_in_one_place(self):
        self.expect("engine/x.cpp", "// X.\nconst auto a = nlohmann::json::parse(text);\n", "parsed_json()")
        self.expect("app/x.cpp", "// X.\nconst auto a = toml::parse_file(path);\n", "toml_entries()")
        self.expect("engine/x.cpp", "// X.\nstd::ifstream file(path, std::ios::binary);\n", "regular_stream()")
        self.expect("engine/x.cpp", "// X.\nstd::ifstream(path).read(start, 4);\n", "regular_stream()")
        self.assertEqual(self.found("engine/x.cpp", "// X.\nstd::ifstream file = regular_stream(path);\nstd::ifstream stream_;\n"), [])

    def test_render_includes_no_reconstruction(self):
        self.expect("render/x.cpp", '// X.\n#include "compute/reconstructor.h"\n', "render sees of compute only")

    def test_engine_and_render_meet_in_app_only(self):
        self.expect("ui/cli/x.cpp", '// X.\n#include "engine/a.h"\n#include "render/b.h"\n', "they meet in app only")

    def test_finds_folders_that_include_each_other(self):
        found = self.found("engine/live/session.h", '// Session.\n#include "engine/acquire/source.h"\n')
        self.assertEqual(found, [])
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for name, target in [("live/session.h", "acquire/source.h"), ("acquire/source.h", "scan/scan.h"),
                                 ("scan/scan.h", "live/ring.h"), ("live/ring.h", "queue.h"), ("queue.h", "queue.h")]:
                (root / "engine" / name).parent.mkdir(parents=True, exist_ok=True)
                (root / "engine" / name).write_text(f'// X.\n#include "engine/{target}"\n')
            self.assertEqual(list(check_layers.findings(root)),
                             ["these include each other: engine/acquire, engine/live, engine/scan"])

    def test_finds_duplicate_types(self):
        text = "// X.\nnamespace echolux {\nclass Step final : public Base {\n};\n}  // namespace echolux\n"
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for name, content in [("app/a.h", text), ("render/b.h", text), ("ui/c.h", text.replace("echolux {", "echolux {\nnamespace {\n")),
                                  ("compute/d.h", text.replace("namespace echolux", "namespace echolux::cuda"))]:
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(content)
            found = list(check_layers.findings(root))
            self.assertEqual(len(found), 1, found)
            self.assertRegex(found[0], "^app/a.h:3: echolux::Step is defined in render/b.h:3 too")

    def test_cuda_outside_its_place(self):
        for header in ["cuda_runtime.h", "cuda.h", "cufft.h", "cub/cub.cuh", "thrust/sort.h"]:
            with self.subTest(header=header):
                self.expect("compute/cpu/x.cpp", f"// X.\n#include <{header}>\n", "CUDA headers stay")

    def test_vulkan_outside_render(self):
        self.expect("engine/x.cpp", "// X.\n#include <vulkan/vulkan.hpp>\n", "Vulkan stays in render")

    def test_posix_outside_handle_code(self):
        for header in ["unistd.h", "fcntl.h", "sys/mman.h", "sys/stat.h", "dlfcn.h"]:
            with self.subTest(header=header):
                self.expect("engine/x.cpp", f"// X.\n#include <{header}>\n", "POSIX headers stay")

    def test_public_headers_include_no_internals(self):
        c, cpp = "include/echolux/live.h", "include/echolux/live.hpp"
        for name in ("<stdio.h>", '"base.hpp"', "<echolux/base.h>"):
            self.expect(c, f"// X.\n#include {name}\n", "the C interface includes stddef.h, stdint.h and itself only")
        self.assertEqual(self.found(c, '// X.\n#include "echolux.h"\n'), [])
        self.assertEqual(self.found(cpp, '// X.\n#include <vector>\n#include "echolux.h"\n'), [])
        for path in (cpp, "examples/a.c"):
            self.expect(path, '// X.\n#include "compute/error.h"\n', "nothing of the inside is seen from outside")

    def test_relative_include(self):
        self.expect("engine/x.cpp", '// X.\n#include "x.h"\n', "path from the root")
        self.expect("engine/x.cpp", '// X.\n#include "../engine/x.h"\n', "path from the root")

    def test_opening_comment(self):
        self.expect("engine/x.h", "#pragma once\n#include <vector>\n", "no opening comment")
        self.expect("engine/x.cpp", "#include <vector>\n", "no opening comment")

    def test_header_describes_its_source(self):
        self.assertEqual(self.found("compute/tables.cpp", '#include "compute/tables.h"\n'), [])

    def test_long_file(self):
        self.expect("engine/x.cpp", "// X.\n" + "int x;\n" * 1200, "1201 lines")

    def test_reports_types_with_words_of_other_rooms(self):
        self.expect("app/x.h", "// X.\nclass LiveSession {\n};\n", "only engine has types named Session")
        self.expect("engine/x.h", "// X.\nstruct Outer {\n    struct Stages {\n    };\n};\n", "only compute has types named Stage")
        self.expect("ui/cli/x.h", "// X.\nenum class PlaceKind { host };\n", "no type is named Place")
        self.assertEqual(self.found("engine/x.h", "// X.\nclass Session final : public Base {\n};\n"), [])
        self.assertEqual(self.found("render/x.h", "// X.\nstruct Placeholders {\n};\n"), [])
        self.assertEqual(self.found("tests/x.h", "// X.\nclass SessionTest {\n};\n"), [])

    def test_reports_types_with_participles(self):
        self.expect("engine/x.h", "// X.\nstruct SlotsWanted {\n};\n", "participle: name it Request")
        self.assertEqual(self.found("engine/x.h", "// X.\nstruct Wanting {\n};\n"), [])


if __name__ == "__main__":
    unittest.main()
