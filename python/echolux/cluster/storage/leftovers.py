"""Unfinished files and folders, which workers write under temporary names. The names identify the writer, so that
leftovers of killed workers can be found and removed.
"""
from __future__ import annotations

import os
import re
import shutil
import socket
import time
import uuid
from collections.abc import Iterable
from pathlib import Path

PREFIX = ".unfinished-"
OLD_S = 3600.0  # age without changes after which files of another host count as abandoned


def prefix() -> str:
    """Prefix of this process."""
    return f"{PREFIX}{socket.gethostname()}-{os.getpid()}-"


def name() -> str:
    return prefix() + uuid.uuid4().hex[:8]


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # a process of another user
        pass
    return True


def _is_left(path: Path) -> bool:
    found = re.fullmatch(re.escape(PREFIX) + r"(.*)-(\d+)-[^-]*", path.name)
    if found is None:
        return True
    if found[1] == socket.gethostname():
        return not _is_alive(int(found[2]))
    try:
        return time.time() - path.stat().st_mtime > OLD_S
    except FileNotFoundError:
        return True


def remove(paths: Iterable[Path], *, in_use_too: bool = False) -> None:
    """Removes those of killed or silent writers, or all."""
    for path in paths:
        if not in_use_too and not _is_left(path):
            continue
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
