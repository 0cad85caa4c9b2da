"""Lock of an output. Two jobs on one output would do everything twice, so the second one reports it and ends.

In a folder, the lock is the file that its owner keeps locked (flock), containing host, process and time of the last
update. Where flock is ineffective, as on some network file systems and between hosts, the time decides. Other addresses
have only the time, so two jobs that start within a second may both run; parts of different plans are kept apart
(results.py).
"""
from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import Error, OutputFailed
from .results import FOLDER
from .storage import Folder, Store

BEAT_S = 10.0
STALE_S = 60.0

Facts = dict[str, Any]


class Busy(Error):
    """Another job is writing to this output."""

    code = "output"


def _who(facts: Facts) -> str:
    age = max(0, time.time() - float(facts.get("alive", 0)))
    return f"process {facts.get('pid')} on {facts.get('host')}, which was seen {age:.0f} s ago"


def _open_locked(path: Path, flags: int) -> int | None:
    """Returns a file that this process has locked, or None if it is locked already."""
    while True:
        file, is_locked = os.open(path, flags, 0o666), False
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_locked = path.exists() and os.path.samestat(os.fstat(file), os.stat(path))
            if is_locked:
                return file
        except BlockingIOError:
            return None
        finally:
            if not is_locked:
                os.close(file)  # it is another's, or was removed at the same time


class Lock:
    """Held from creation until close(). share: "3-of-8" for a job in several processes; it excludes whole jobs and jobs
    with the same share.
    """

    def __init__(self, store: Store, share: str = "all", tell: Callable[[str], object] = print) -> None:
        self._store, self._key = store, f"{FOLDER}/{share}.lock"
        self._folder = store if isinstance(store, Folder) else None
        self._file: int | None = None
        self._ended = threading.Event()
        self._is_lost = False
        self._facts = {"host": socket.gethostname(), "pid": os.getpid(), "token": os.urandom(8).hex()}
        self._thread = threading.Thread(target=self._keep_beating, daemon=True)
        try:
            self._take(tell)
            self._refuse_others(share)
        except (Error, KeyboardInterrupt):
            self.close()
            raise
        except Exception as error:  # clients of object stores have their own exceptions
            self.close()
            raise OutputFailed(f"cannot be written: {error}", store.address, "choose another output") from error
        self._thread.start()

    def _take(self, tell: Callable[[str], object]) -> None:
        if self._folder is not None:
            path = self._folder.root / self._key
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = _open_locked(path, os.O_RDWR | os.O_CREAT)
            if self._file is None:
                raise self._busy(self._read(self._key))
        before = self._read(self._key)
        if self._is_alive(self._key, before):
            raise self._busy(before)
        if before:
            tell(f"took over from {_who(before)}")
        self._write()

    def _refuse_others(self, share: str) -> None:
        for name in self._store.names(FOLDER):
            key = f"{FOLDER}/{name}"
            if key == self._key or not name.endswith(".lock") or (share != "all" and name != "all.lock"):
                continue
            facts = self._read(key)
            if self._is_alive(key, facts):
                raise self._busy(facts)

    def _busy(self, facts: Facts) -> Busy:
        return Busy(f"is written by another job: {_who(facts)}", self._store.address, "wait for it, or choose another output")

    def _read(self, key: str) -> Facts:
        try:
            facts = json.loads(self._store.get(key) or b"")
            return facts if isinstance(facts, dict) else {}
        except ValueError:
            return {}

    def _is_alive(self, key: str, facts: Facts) -> bool:
        """An owner on this host keeps its file locked. The lock of this job is its own."""
        if time.time() - float(facts.get("alive", 0)) >= STALE_S:
            return False
        if self._folder is None or facts.get("host") != self._facts["host"]:
            return True
        if key == self._key:
            return False
        try:
            file = _open_locked(self._folder.root / key, os.O_RDWR)
        except FileNotFoundError:
            return False
        if file is not None:
            os.close(file)
        return file is None

    def _is_mine(self) -> bool:
        """False if another job assumed that this one was dead: it was paused for a minute, or had no access to storage.
        """
        return bool(self._read(self._key).get("token", self._facts["token"]) == self._facts["token"])

    def require_held(self) -> None:
        """Raises Busy if another job has taken the lock."""
        if self._is_lost:
            raise self._busy(self._read(self._key))

    def _beat(self) -> None:
        if self._is_mine():
            self._write()
        else:
            self._is_lost = True

    def _write(self) -> None:
        text = json.dumps({**self._facts, "alive": time.time()}).encode()
        if self._folder is None:
            self._store.put(self._key, text)
        elif self._file is not None:
            os.pwrite(self._file, text.ljust(256), 0)

    def _keep_beating(self) -> None:
        while not self._ended.wait(BEAT_S):
            with contextlib.suppress(Exception):  # a full disk or an unreachable store; the next update may succeed
                self._beat()

    def close(self) -> None:
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()
        with contextlib.suppress(Exception):
            if self._read(self._key).get("token") == self._facts["token"]:
                self._store.remove(self._key)
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
