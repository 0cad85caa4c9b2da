#!/usr/bin/env python3
"""Groups sources to be compiled as one: unity_groups.py ROOT SIZE SOURCE... prints SOURCE!GROUP lines for CMake.

Sources of one folder share a group of up to SIZE unless a name of one's anonymous namespace would clash with the other:
both declare it, one calls as a function what only the other declares, or one declares a type with the name
of a type in a header (below ROOT) of the other. A source without a neighbour is not printed."""
import os
import re
import sys

COMMENTS_AND_TEXTS = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
WORDS_OF_C = set("const constexpr static inline return if for while switch case default auto int double float bool char void "
                 "unsigned signed long short struct class enum using template typename namespace std operator sizeof new "
                 "delete explicit noexcept override public private protected true false nullptr this else do friend "
                 "static_assert int64_t int32_t uint8_t size_t string vector "
                 "GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST".split())


def declared(text):
    """(functions, types, other names, names by using) that the anonymous namespaces of a source declare, by a look at their
    top level."""
    functions, types, others, used = set(), set(), set(), set()
    for start in re.finditer(r"\bnamespace\s*\{", text):
        depth, parens, top = 1, 0, []
        for c in text[start.end():]:
            if c == "(":
                parens += 1
                top.append("(" if parens == 1 and depth == 1 else "")
                continue
            if c == ")":
                parens -= 1
                continue
            if parens == 0:
                if c == "{":
                    depth += 1
                    top.append("{" if depth == 2 else "")
                    continue
                if c == "}":
                    depth -= 1
                    if depth == 0:
                        break
                    if depth == 1:
                        top.append("\n")
                    continue
            if depth == 1 and parens == 0:
                top.append(c)
        scope = "".join(top)
        used |= set(re.findall(r"\busing\s+((?:\w*::)*\w+)\s*;", scope))
        scope = re.sub(r"\busing\s+(?:namespace\s+)?(?:\w*::)*\w+\s*;", " ", scope)
        scope = re.sub(r"\b((?:struct|class)\s+\w+(?:\s+final)?)\s*:[^{;]*", r"\1 ", scope)  # base classes
        functions |= set(re.findall(r"\b([A-Za-z_]\w*)\s*\(", scope))
        types |= set(re.findall(r"^\s*(?:struct|class|enum class|using)\s+(\w+)", scope, re.M))
        others |= set(re.findall(r"\b([A-Za-z_]\w*)\s*(?:=|\[|\{|;|,)", scope))
    return functions - WORDS_OF_C, types, (others | types) - functions - WORDS_OF_C, used


class Header:
    """A header of the tree with the types that it declares and the headers that it includes."""
    known = {}

    def __init__(self, path):
        Header.known[path] = self
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.types = set(re.findall(r"^(?:struct|class|enum class|using)\s+(\w+)(?!\w|::)", text, re.M)) - {"namespace"}
        self.includes = re.findall(r'^#include "([^"]+)"', text, re.M)


class Source:
    def __init__(self, path, root):
        self.path = path
        with open(path, encoding="utf-8") as file:
            raw = file.read()
        text = COMMENTS_AND_TEXTS.sub(" ", raw)
        self.functions, self.types, self.others, used = declared(text)
        self.used = {one.split("::")[-1]: one for one in used}
        # Tests name their cases and fixtures with macros, outside of anonymous namespaces too.
        self.functions -= set(re.findall(r"\bTEST(?:_[FP])?\b|\bINSTANTIATE_TEST_SUITE_P\b", text))
        self.names = self.functions | self.others
        self.calls = set(re.findall(r"(?<![.>:\w])([A-Za-z_]\w*)\s*\(", text))
        self.macros = set(re.findall(r"^\s*#\s*define\s+(\w+)", raw, re.M))
        self.header_types = set()
        self.read_headers(re.findall(r'^#include "([^"]+)"', raw, re.M), os.path.dirname(path), root, set())

    def read_headers(self, names, folder, root, seen):
        for name in names:
            path = next((p for p in (os.path.join(folder, name), os.path.join(root, name)) if os.path.exists(p)), None)
            if path is not None and path not in seen:
                seen.add(path)
                header = Header.known.get(path) or Header(path)
                self.header_types |= header.types
                self.read_headers(header.includes, os.path.dirname(path), root, seen)

    def clashes(self, other):
        both = self.used.keys() & other.used.keys()
        return bool(any(self.used[name] != other.used[name] for name in both)
                    or self.names & other.used.keys() or other.names & self.used.keys()
                    or self.names & other.names or self.names & (other.calls - other.functions)
                    or other.names & (self.calls - self.functions)
                    or self.types & other.header_types or other.types & self.header_types
                    or self.macros & other.macros)


def main():
    root, size = sys.argv[1], int(sys.argv[2])
    folders = {}
    for path in sys.argv[3:]:
        folders.setdefault(os.path.dirname(path), []).append(Source(path, root))
    for folder, sources in folders.items():
        groups = []
        for source in sources:
            fitting = (group for group in groups if len(group) < size and not any(source.clashes(one) for one in group))
            group = next(fitting, None)
            if group is None:
                groups.append(group := [])
            group.append(source)
        for number, group in enumerate(groups):
            for source in group if len(group) > 1 else []:
                print(f"{source.path}!{re.sub(r'[^A-Za-z0-9]', '_', folder)}_{number}")


main()
