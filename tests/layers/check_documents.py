#!/usr/bin/env python3
"""Reports broken references in the documents: links, pictures and headings that do not exist, pages that docs/index.md
does not list, pictures that no page shows, and names of source files that no longer exist.

usage: check_documents.py ROOT      prints one line per finding; exit status 1 if there is one
"""
import re
import sys
from pathlib import Path

INDEX = "docs/index.md"
HISTORY = {"CHANGELOG.md"}  # contains old file names

LINK = re.compile(r"\]\(([^()\s]+)\)|<(?:img|source|a)\s[^>]*?(?:src|href)=\"([^\"]+)\"")
ELSEWHERE = re.compile(r"^[a-z]+:")
HEADING = re.compile(r"^#+ +(.*?) *#*$", re.MULTILINE)
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
SOURCE = re.compile(
    r"`((?:compute|engine|render|shaders|app|bench|ui|library|include|examples|assets|plugins|tests|cmake|docs)/"
    r"(?!(?:\d+|N)`)[\w./*{},-]*)`"  # library/2048 is a value of the bench
)
PICTURES = {".png", ".gif", ".webp", ".svg", ".jpg"}


def documents(root):
    return sorted([*root.glob("*.md"), *(root / "docs").rglob("*.md")])


def anchors(text):
    """Returns the anchors of a page's headings, in GitHub's form."""
    headings = HEADING.findall(FENCED.sub("", text))
    return {re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", heading).lower()).replace(" ", "-") for heading in headings}


def links(text):
    for match in LINK.finditer(CODE.sub("", FENCED.sub("", text))):
        target = match.group(1) or match.group(2)
        if not ELSEWHERE.match(target):
            yield target


def target_of(page, link):
    """Returns the file and the heading that a link leads to."""
    name, _, heading = link.partition("#")
    return (page.parent / name).resolve() if name else page, heading


def broken(page, link):
    """Returns the reason why a link is broken, or None."""
    target, heading = target_of(page, link)
    if not target.exists():
        return "there is no such file"
    if heading and target.suffix == ".md" and heading not in anchors(target.read_text(encoding="utf-8")):
        return "there is no such heading"
    return None


def alternatives(name):
    """Expands ui/{a,b}/x to ui/a/x and ui/b/x."""
    match = re.search(r"\{([^{}]*)\}", name)
    if not match:
        return [name]
    return [one for part in match.group(1).split(",")
            for one in alternatives(name[: match.start()] + part + name[match.end() :])]


def missing_sources(root, text):
    for name in SOURCE.findall(FENCED.sub("", text)):
        for one in alternatives(name):
            if not any(root.glob(one.rstrip("/"))):
                yield one


def findings(root):
    shown, listed = set(), set()
    for page in documents(root):
        text, name = page.read_text(encoding="utf-8"), page.relative_to(root).as_posix()
        for link in links(text):
            reason = broken(page, link)
            if reason:
                yield f"{name}: {link}: {reason}"
            shown.add(target_of(page, link)[0])
            if name == INDEX:
                listed.add(target_of(page, link)[0])
        if name not in HISTORY:
            for source in missing_sources(root, text):
                yield f"{name}: names {source}, which does not exist"
    for page in documents(root):
        if page not in listed and page != root / INDEX:
            yield f"{page.relative_to(root)}: {INDEX} does not list it"
    for picture in sorted((root / "docs").rglob("*")):
        if picture.suffix in PICTURES and picture not in shown:
            yield f"{picture.relative_to(root)}: no page shows it"


def main():
    root = Path(sys.argv[1]).resolve()
    found = list(findings(root))
    print("\n".join(found) if found else f"{len(documents(root))} documents lead somewhere")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
