#!/usr/bin/env python3
"""Checks subjects of commits: an area and an imperative (`cuda: compute the NUFFT band once`), 72 characters, no semicolon,
and none of the phrases of english.py.

usage: check_commits.py ROOT             prints one line per fault of the last 20 commits after OLD_HISTORY; exit status 1 if
                                         there is one, 77 without a git checkout that contains OLD_HISTORY
       check_commits.py --message FILE   checks the message that git is about to commit (hooks/commit-msg)
"""
import re
import subprocess
import sys
from pathlib import Path

import english

OLD_HISTORY = "6489e8839007c7bf4105d4af25d37cf77c393ad6"
CHECKED = 20
MAX_LENGTH = 72

# Git writes these itself, or replaces them when it squashes.
EXEMPT = re.compile(r'Merge |Revert "|(?:fixup|squash|amend)! ')
SUBJECT = re.compile(r"(?P<area>[a-z][\w.+/-]*(?:,? (?:and )?[a-z][\w.+/-]*){0,3}): (?P<verb>[A-Za-z][\w-]*)(?P<rest>.*)")
NO_VERB = {"a", "an", "all", "another", "both", "each", "every", "for", "how", "if", "in", "it", "its", "more", "new", "no", "nothing",
           "now", "of", "on", "one", "only", "our", "some", "such", "that", "the", "there", "these", "they", "this", "those", "two",
           "we", "what", "when", "where", "which", "who", "with", "without"}
# Imperatives that end like other forms of a verb.
IMPERATIVES = {"alias", "bias", "bring", "bypass", "embed", "exceed", "feed", "focus", "need", "proceed", "seed", "speed", "string",
               "succeed"}
OTHER_FORM = re.compile(r".+(?:ed|ing|[^su]s)$")


def faults(subject):
    """Yields the faults of a subject."""
    if EXEMPT.match(subject):
        return
    if len(subject) > MAX_LENGTH:
        yield f"has {len(subject)} characters: {MAX_LENGTH} are the limit"
    if ";" in subject:
        yield "has a semicolon: make a commit of each change"
    if subject.endswith("."):
        yield "ends with a full stop"
    parts = SUBJECT.match(subject)
    if not parts:
        yield "begin with an area: `cuda: compute the NUFFT band once`"
    else:
        verb = parts["verb"].lower()
        if verb in NO_VERB or (OTHER_FORM.match(verb) and verb not in IMPERATIVES):
            yield f"`{parts['verb']}` is not an imperative: `add`, `fix`, `remove` ..."
    for _, phrase, advice in english.IN_TEXTS.hits(subject):
        yield f'"{phrase}": {advice}'


def subject_of(message):
    """Returns the first line of a message as git keeps it: without comments and empty lines."""
    lines = [line.strip() for line in message.split("\n") if not line.startswith("#")]
    return next((line for line in lines if line), "")


def git(root, *arguments):
    """Returns the output of a git command, or None if it fails or if git is not installed."""
    try:
        done = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


def is_checkout(root):
    """Returns whether `root` is the top of a git checkout, not a folder within one."""
    top = git(root, "rev-parse", "--show-toplevel")
    return top is not None and Path(top.strip()) == Path(root).resolve()


def has_history(root):
    """Returns whether `root` is a git checkout whose history contains OLD_HISTORY."""
    return is_checkout(root) and git(root, "merge-base", "--is-ancestor", OLD_HISTORY, "HEAD") is not None


def check_message(path):
    subject = subject_of(Path(path).read_text(encoding="utf-8"))
    found = list(faults(subject)) if subject else []  # git itself refuses an empty message
    if found:
        print(f'"{subject}"', *found, "CONTRIBUTING.md has the rules.", sep="\n  ", file=sys.stderr)
    return 1 if found else 0


def check_history(root):
    if not has_history(root):
        print(f"SKIP: not a git checkout with the history since {OLD_HISTORY[:8]}")
        return 77
    log = git(root, "log", "--no-merges", f"--max-count={CHECKED}", "--format=%h %s", f"{OLD_HISTORY}..HEAD")
    found = [f'{commit} "{subject}": {fault}' for commit, _, subject in (line.partition(" ") for line in log.splitlines())
             for fault in faults(subject)]
    print("\n".join(found) if found else f"{len(log.splitlines())} subjects are in order")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(check_message(sys.argv[2]) if sys.argv[1] == "--message" else check_history(sys.argv[1]))
