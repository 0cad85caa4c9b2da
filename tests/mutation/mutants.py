"""Finds possible mutations in C++ sources and writes all mutants of a file into one copy of it. Each mutant is behind a
number that ECHOLUX_MUTANT selects at run time, so that thousands of mutants are compiled once.

Mutations: comparisons (shifted bound or inverted sense), integers (plus one), `and` and `or` (swapped), and statements
that call or assign (removed).
"""
import subprocess
from dataclasses import dataclass

from clang import cindex

# Uses system calls only, so that tests that count file calls or make allocations fail do not see the list being
# written.
HEADER = """#pragma once
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
inline bool echolux_mutant(int number) {
    static const int chosen = std::getenv("ECHOLUX_MUTANT") ? std::atoi(std::getenv("ECHOLUX_MUTANT")) : -1;
    static const char* list = std::getenv("ECHOLUX_MUTANTS_REACHED");
    static std::atomic<bool> reported[30000];
    if (list && !reported[number].load(std::memory_order_relaxed) && !reported[number].exchange(true)) {
        char line[16];
        const int bytes = std::snprintf(line, sizeof line, "%d\\n", number);
        const long file = syscall(SYS_openat, AT_FDCWD, list, O_WRONLY | O_APPEND);
        if (file >= 0 && syscall(SYS_write, file, line, bytes) == bytes) syscall(SYS_close, file);
    }
    return number == chosen;
}
"""

TURNED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&"}
STRANGE = (b"parentheses", b"int-in-bool-context", b"sign-compare", b"bool-compare", b"unused-but-set-variable", b"unused-variable",
           b"unused-value", b"maybe-uninitialized", b"shadow", b"dangling-else", b"empty-body", b"narrowing")  # only in mutants
Kind = cindex.CursorKind


@dataclass
class Mutant:
    number: int
    path: str
    line: int
    begin: int  # range of the file to replace, in bytes
    end: int
    text: bytes  # the replacement, with {} for the number
    what: str
    inner: int = 0  # position of the original within the replacement, so that mutants can nest


def kind_of(cursor):
    try:
        return cursor.kind
    except ValueError:  # newer than the bindings
        return None


class Finder:
    """Collects the mutants of one file."""

    def __init__(self, path, flags):
        self.path, self.source = str(path), path.read_bytes()
        unit = cindex.Index.create().parse(self.path, args=flags)
        broken = [d.spelling for d in unit.diagnostics
                  if d.severity >= cindex.Diagnostic.Error and "multiversioned" not in d.spelling]  # stricter than GCC
        if broken:
            raise SystemExit(f"{path} cannot be parsed: {broken[0]}")
        self.found = []
        for cursor in unit.cursor.get_children():
            if str(cursor.location.file) == self.path:
                self.functions(cursor)

    def text(self, cursor):
        return self.source[cursor.extent.start.offset:cursor.extent.end.offset]

    def functions(self, cursor):
        for child in cursor.get_children():
            if kind_of(child) == Kind.COMPOUND_STMT:
                self.statements(child)
            else:
                self.functions(child)

    def statements(self, cursor):
        children = list(cursor.get_children())
        if kind_of(cursor) == Kind.VAR_DECL and b"constexpr" in self.text(cursor):
            return
        if kind_of(cursor) in (Kind.CASE_STMT, Kind.STATIC_ASSERT):
            children = children[1:]
        for child in children:
            if kind_of(cursor) == Kind.COMPOUND_STMT:
                self.statement(child)
            self.expression(child)
            self.statements(child)
        if kind_of(cursor) == Kind.IF_STMT:
            for child in children[1:]:
                self.statement(child)

    def statement(self, cursor):
        is_assignment = kind_of(cursor) in (Kind.COMPOUND_ASSIGNMENT_OPERATOR, Kind.UNARY_OPERATOR) or (
            kind_of(cursor) == Kind.BINARY_OPERATOR and self.operator(cursor) == "=")
        if kind_of(cursor) != Kind.CALL_EXPR and not is_assignment:
            return
        self.add(cursor, b"if (::echolux_mutant({})) ; else ", b"", "left out: " + self.shown(cursor))

    def expression(self, cursor):
        if kind_of(cursor) == Kind.INTEGER_LITERAL:
            literal = self.text(cursor)
            self.add(cursor, b"(::echolux_mutant({}) ? (" + literal + b") + 1 : ", b")", f"{literal.decode()} + 1")
            return
        operator = self.operator(cursor)
        if operator not in TURNED:
            return
        left, right = self.operands(cursor)
        turned = self.text(left) + b" " + TURNED[operator].encode() + b" " + self.text(right)
        self.add(cursor, b"(::echolux_mutant({}) ? (" + turned + b") : (", b"))", f"{TURNED[operator]} for {self.shown(cursor)}")

    def operands(self, cursor):
        children = list(cursor.get_children())
        if kind_of(cursor) == Kind.BINARY_OPERATOR and len(children) == 2:
            return children
        if kind_of(cursor) == Kind.CALL_EXPR and cursor.spelling.startswith("operator") and len(list(cursor.get_arguments())) == 2:
            return list(cursor.get_arguments())
        return None

    def operator(self, cursor):
        pair = self.operands(cursor)
        if not pair:
            return ""
        return self.source[pair[0].extent.end.offset:pair[1].extent.start.offset].decode(errors="replace").strip()

    def shown(self, cursor):
        return " ".join(self.text(cursor).decode(errors="replace").split())[:100]

    def add(self, cursor, before, after, what):
        begin, end = cursor.extent.start.offset, cursor.extent.end.offset
        if str(cursor.extent.start.file) != self.path or begin >= end:
            return
        if any((m.begin, m.end, m.what) == (begin, end, what) for m in self.found):
            return
        self.found.append(Mutant(-1, self.path, cursor.extent.start.line, begin, end, before + b"\0" + after, what))


def written(source, mutants):
    """Returns the file with all mutants in it; inner mutants are within the original of the outer one."""
    opened, closed = {}, {}
    for m in sorted(mutants, key=lambda m: (m.begin, -m.end)):
        before, after = m.text.replace(b"{}", str(m.number).encode()).split(b"\0")
        opened.setdefault(m.begin, []).append(before)
        closed.setdefault(m.end, []).insert(0, after)
    out = bytearray(b'#include "mutant.h"\n' + b"".join(b'#pragma GCC diagnostic ignored "-W%s"\n' % one for one in STRANGE) + b"#line 1\n")
    for place in range(len(source) + 1):
        out += b"".join(closed.get(place, [])) + b"".join(opened.get(place, []))
        out += source[place:place + 1]
    return bytes(out)


def compiling(source, path, mutants, flags):
    """Returns the mutants that compile; drops those on lines that the compiler rejects."""
    while mutants:
        path.write_bytes(written(source, mutants))
        run = subprocess.run(["g++", "-fsyntax-only", "-w", "-fno-diagnostics-show-caret", *flags, str(path)],
                             capture_output=True, text=True)
        if run.returncode == 0:
            return mutants
        lines = {int(line.split(":")[1]) for line in run.stderr.splitlines() if ": error: " in line and line.startswith(str(path))}
        left = [m for m in mutants if m.line not in lines]
        if len(left) == len(mutants):
            raise SystemExit(run.stderr)
        mutants = left
    return mutants
