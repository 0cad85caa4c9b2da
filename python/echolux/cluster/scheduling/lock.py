"""Lock of an output. Two jobs on one output would do everything twice, so the second one reports it and ends.

In a folder, the lock is the file that its owner keeps locked (flock), containing host, process and time of the last
update. Where flock is ineffective, as on some network file systems and between hosts, the time decides. Other addresses
have only the time, so two jobs that start within a second may both run; parts of different plans are kept apart
(markers.py).
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
from typing import Any

from ...errors import Error, OutputFailed
from ..storage.folder import Folder
from ..storage.ownership import FOLDER
from ..storage.store import Store

BEAT_S = 10.0
STALE_S = 60.0


class Busy(Error):
    """Another job is writing to this output."""

    code = "output"


def _who(facts: dict[str, Any]) -> str:
    age = max(0, time.time() - float(facts.get("alive", 0)))
    return f"process {facts.get('pid')} on {facts.get('host')}, which was seen {age:.0f} s ago"


def _parse(text: bytes | None) -> dict[str, Any] | None:
    try:
        facts = json.loads(text or b"")
        return facts if isinstance(facts, dict) else None
    except ValueError:
        return None


class Lock:
    """Held from creation until close(). share: "3-of-8" for a job in several processes; it excludes whole jobs and jobs
    with the same share.
    """

    def __init__(self, store: Store, share: str = "all", tell: Callable[[str], object] = print) -> None:
        self._store, self._key, self._tell = store, f"{FOLDER}/{share}.lock", tell
        self._file: int | None = None
        self._is_folder = isinstance(store, Folder)
        self._ended = threading.Event()
        self._is_lost = False
        self._facts = {"host": socket.gethostname(), "pid": os.getpid(), "token": os.urandom(8).hex()}
        self._thread = threading.Thread(target=self._keep_beating, daemon=True)
        try:
            self._take(share)
        except (Error, KeyboardInterrupt):
            raise
        except Exception as error:  # clients of object stores have their own exceptions
            raise OutputFailed(f"cannot be written: {error}", store.address, "choose another output") from error
        self._thread.start()

    def _take(self, share: str) -> None:
        if isinstance(self._store, Folder):
            self._take_file(self._store)
        else:
            self._refuse_if_alive(_parse(self._store.get(self._key)))
        try:
            self._write()
            self._look_at_others(share)
        except BaseException:
            self.close()
            raise

    def _take_file(self, store: Folder) -> None:
        path = store.root / self._key
        path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.path.exists(path) and os.path.samestat(os.fstat(file), os.stat(path)):
                    before = _parse(os.pread(file, 1 << 16, 0))
                    # A process on this host would hold it.
                    if before is None or before.get("host") != self._facts["host"]:
                        self._refuse_if_alive(before)
                    elif before:
                        self._tell(f"took over from {_who(before)}")
                    self._file = file
                    return
                os.close(file)  # it was removed at the same time
            except BlockingIOError:
                facts = _parse(os.pread(file, 1 << 16, 0)) or {}
                os.close(file)
                raise self._busy(facts) from None
            except BaseException:
                os.close(file)
                raise

    def _busy(self, facts: dict[str, Any]) -> Busy:
        return Busy(f"is written by another job: {_who(facts)}", self._store.address,
                    "wait for it, or choose another output")

    def _refuse_if_alive(self, facts: dict[str, Any] | None) -> None:
        if not facts:
            return
        if time.time() - float(facts.get("alive", 0)) < STALE_S:
            raise self._busy(facts)
        self._tell(f"took over from {_who(facts)}")

    def _look_at_others(self, share: str) -> None:
        for name in self._store.names(FOLDER):
            key = f"{FOLDER}/{name}"
            if key == self._key or not name.endswith(".lock") or (share != "all" and name != "all.lock"):
                continue
            facts = _parse(self._store.get(key))
            if facts and time.time() - float(facts.get("alive", 0)) < STALE_S and not self._is_abandoned(key):
                raise self._busy(facts)

    def _is_abandoned(self, key: str) -> bool:
        """Returns true if the file was created on this host and no process on it holds the file."""
        facts = _parse(self._store.get(key)) or {}
        if not isinstance(self._store, Folder) or facts.get("host") != self._facts["host"]:
            return False
        try:
            file = os.open(self._store.root / key, os.O_RDWR)
        except FileNotFoundError:
            return True
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            return False
        finally:
            os.close(file)

    def _is_mine(self) -> bool:
        """False if another job assumed that this one was dead: it was paused for a minute, or had no access to storage.
        """
        facts = _parse(self._store.get(self._key))
        return facts is None or facts.get("token") == self._facts["token"]

    def require_held(self) -> None:
        """Raises Busy if another job has taken the lock."""
        if self._is_lost:
            raise self._busy(_parse(self._store.get(self._key)) or {})

    def _beat(self) -> None:
        if self._is_mine():
            self._write()
        else:
            self._is_lost = True

    def _write(self) -> None:
        text = json.dumps({**self._facts, "alive": time.time()}).encode()
        if not self._is_folder:
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
        is_held = self._file is not None or not self._is_folder
        if is_held and self._is_mine():
            self._store.remove(self._key)
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
