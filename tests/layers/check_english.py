#!/usr/bin/env python3
"""Checks the wording of comments, pages of documentation and names of tests against the phrases of english.py.

usage: check_english.py ROOT    prints FILE:LINE: "PHRASE": ADVICE for each finding, and the share of texts with a finding
                                for each folder; exit status 1 if a share exceeds 1 %, or if a finding is new

A text is a comment, a sentence of a page, or a name of a test. Findings in lines added since check_commits.OLD_HISTORY
are new. Without git, only shares count.
"""
import re
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import check_commits
import english
from check_messages import TOKEN as C_TOKEN

MAX_SHARE = 0.01

C_LIKE = {".h", ".hpp", ".c", ".cpp", ".cu", ".cuh", ".glsl", ".comp", ".frag", ".vert", ".js"}
SCRIPTS = {".cmake", ".toml", ".sh", ".yml", ""}
LEFT_OUT = ("build/", "out/", "tests/fuzz/corpus/", "assets/fonts/")

# Files that contain phrases on purpose.
QUOTES = {"tests/layers/english.py", "tests/layers/check_english_test.py", "tests/layers/check_commits_test.py",
          "tests/layers/check_messages_test.py"}

PYTHON_TOKEN = re.compile(r'""".*?"""|\'\'\'.*?\'\'\'|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|#[^\n]*', re.S)
SCRIPT_TOKEN = re.compile(r"(?:^|(?<=\s))#[^\n]*", re.M)
MARKER = re.compile(r'^[ \t]*(?://+|#+!?|/?\*+/?|""")?[ \t]*|[ \t]*(?:\*/|""")$', re.M)

CODE_BLOCK = re.compile(r"^```.*?^```", re.M | re.S)
SENTENCE_END = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*#>|]|\d+\.)\s)|\||(?<=[.!?])\s")
LIST_MARKER = re.compile(r"[\s#>*-]*(?:\d+\. )?")

CASE = re.compile(r"^(?:TYPED_)?TEST(?:_[FP])?\(\s*\w+,\s*(\w+)\)|^\s+(?:async )?def test_(\w+)\(", re.M)
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z](?![a-z])|\d+")


class Text(NamedTuple):
    line: int
    body: str  # with its line breaks, from which a finding's line is counted


class Finding(NamedTuple):
    path: str
    line: int
    phrase: str
    advice: str

    def __str__(self):
        return f'{self.path}:{self.line}: "{self.phrase}": {self.advice}'


def line_at(content, offset):
    return content.count("\n", 0, offset) + 1


def stands_alone(content, offset):
    """Returns whether only white space precedes the offset in its line."""
    return not content[content.rfind("\n", 0, offset) + 1:offset].strip()


def comments(content, tokens):
    """Yields the comments among the tokens of a source. Comments in consecutive lines are one text."""
    spans = []
    for token in tokens:
        begin, end = token.span()
        alone = stands_alone(content, begin)
        if not token[0].startswith(("//", "/*", "#", '"""') if alone else ("//", "/*", "#")):
            continue
        if spans and alone and spans[-1][2] and re.fullmatch(r"\n[ \t]*", content[spans[-1][1]:begin]):
            spans[-1][1] = end
        else:
            spans.append([begin, end, alone])
    for begin, end, _ in spans:
        body = MARKER.sub("", content[begin:end])
        if re.search("[A-Za-z]{3}", body):
            yield Text(line_at(content, begin), body)


def sentences(content):
    """Yields the sentences and table cells of a page."""
    content = CODE_BLOCK.sub(lambda block: "\n" * block[0].count("\n"), content)
    begin = 0
    for end in [*SENTENCE_END.finditer(content), None]:
        sentence = content[begin:end.start() if end else len(content)]
        start = LIST_MARKER.match(sentence).end()
        if len(sentence.split()) > 3:
            yield Text(line_at(content, begin + start), sentence[start:].rstrip())
        begin = end.end() if end else begin


def names(content):
    """Yields the names of test cases as words: RejectsEmptyFile and test_rejects_empty_file are "Rejects empty file"."""
    for case in CASE.finditer(content):
        words = WORD.findall(case[1].removeprefix("DISABLED_")) if case[1] else case[2].split("_")
        yield Text(line_at(content, case.end()), " ".join(words).lower().capitalize())


def texts(path, content):
    """Returns the comments or sentences of a file, and the names of its test cases."""
    if path.suffix == ".md":
        return list(sentences(content)), []
    if path.suffix in C_LIKE:
        tokens = C_TOKEN.finditer(content)
    else:
        tokens = (PYTHON_TOKEN if path.suffix == ".py" else SCRIPT_TOKEN).finditer(content)
    return list(comments(content, tokens)), list(names(content)) if path.parts[0] == "tests" else []


def is_checked(path):
    if path.as_posix() in QUOTES or path.as_posix().startswith(LEFT_OUT):
        return False
    return path.suffix in C_LIKE | SCRIPTS | {".py", ".md"} or path.name == "CMakeLists.txt"


def files(root):
    """Returns the paths of the checked files, relative to the root."""
    listed = check_commits.git(root, "ls-files", "-z") if check_commits.is_checkout(root) else None
    if listed is None:
        every = [path.relative_to(root) for path in root.rglob("*")]
    else:
        every = [Path(name) for name in listed.split("\0") if name]
    return sorted(path for path in every if is_checked(path) and (root / path).is_file())


def findings_in(path, content):
    """Returns the number of texts of a file, the number of those with findings, and the findings."""
    number, faulty, found = 0, 0, []
    for phrases, kind in zip((english.IN_TEXTS, english.IN_NAMES), texts(path, content)):
        for text in kind:
            hits = phrases.hits(text.body.replace("\n", " "))
            number += 1
            faulty += bool(hits)
            found += [Finding(path.as_posix(), text.line + text.body.count("\n", 0, offset), phrase, advice)
                      for offset, phrase, advice in hits]
    return number, faulty, found


def added_lines(root, paths):
    """Returns the (path, line) pairs that are new since OLD_HISTORY, or none without that history."""
    if not paths or not check_commits.has_history(root):
        return set()
    added, path = set(), ""
    for line in check_commits.git(root, "diff", "--unified=0", "--no-color", "--no-ext-diff", check_commits.OLD_HISTORY, "--", *sorted(paths)).splitlines():
        if line.startswith("+++ "):
            path = line[6:]
        hunk = re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line)
        if hunk:
            first, number = int(hunk[1]), int(hunk[2] or 1)
            added |= {(path, first + i) for i in range(number)}
    return added


def report(root):
    """Returns the lines of the report, and whether the texts pass."""
    number, faulty, found = Counter(), Counter(), []
    for path in files(root):
        in_file = findings_in(path, (root / path).read_text(encoding="utf-8", errors="replace"))
        folder = path.parts[0] if len(path.parts) > 1 else "."
        number[folder] += in_file[0]
        faulty[folder] += in_file[1]
        found += in_file[2]
    added = added_lines(root, {finding.path for finding in found})
    new = [finding for finding in found if (finding.path, finding.line) in added]
    above = [folder for folder in number if faulty[folder] > MAX_SHARE * number[folder]]
    lines = [f"{finding}{' (new)' if finding in new else ''}" for finding in found]
    lines += [f"{folder}: {faulty[folder]} of {number[folder]} texts have findings{': too many' if folder in above else ''}"
              for folder in sorted(number)]
    return lines, not new and not above


def main():
    lines, passes = report(Path(sys.argv[1]).resolve())
    print("\n".join(lines))
    return 0 if passes else 1


if __name__ == "__main__":
    sys.exit(main())
