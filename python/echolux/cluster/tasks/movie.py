"""The tasks of a movie: its pictures are drawn in parts, and encoded once, when all of them are there."""
from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from typing import Any

from ... import _core
from ...pictures import view_of
from .. import fingerprint
from ..storage import markers
from ..fingerprint import hash_of
from ..storage.ownership import FOLDER, WHOLE, claim, claim_text, key_of, parsed
from ..storage.store import Store


def _write(task: dict[str, Any], output: str, begin: int = 0, end: int = 0, drawn: str = "") -> None:
    _core.write_movie(None, task["shown"], view_of(task["view"]), output, task["motion"], task["frames"], task["seconds"],
                      task["fps"], True, begin, end, drawn, None)


def _shown(task: dict[str, Any]) -> list[str]:
    """Files and folders that go in: those that fit, of a pattern."""
    named = (task["shown"], task["motion"])
    return [file for one in named for file in ([one] if os.path.exists(one) else sorted(glob.glob(one)))]


def _job(task: dict[str, Any]) -> str:
    about = [task[key] for key in ("view", "motion", "frames", "seconds", "fps", "step")]
    return hash_of("movie", about, [fingerprint.of_file(one) for one in _shown(task)])


def _parts(task: dict[str, Any]) -> Iterator[tuple[int, int]]:
    for begin in range(0, task["frames"], task["step"]):
        yield begin, min(begin + task["step"], task["frames"])


def _pictures(name: str) -> str:
    return f"{FOLDER}/{name}/pictures"


def planned(store: Store, task: dict[str, Any]) -> dict[str, Any]:
    name, job, count = task["name"], _job(task), len(list(_parts(task)))
    there = {"name": name, "id": job, "count": count}
    if markers.read(store, name, WHOLE, job, verify=task["verify"]) is not None:
        store.remove(_pictures(name))  # a job that was killed at its very end has left them
        return {**there, "missing": [], "is_finished": True}
    before = store.get(key_of(name))
    if before is None or parsed(before, name).identity != job:
        claim(store, name, before, claim_text("movie", job, [name]), overwrite=task["overwrite"], inputs=_shown(task))
    missing = [(0, begin, end) for begin, end in _parts(task)
               if markers.read(store, name, f"0-{begin}", job, verify=task["verify"]) is None]
    return {**there, "missing": missing, "is_finished": False}


def made(store: Store, task: dict[str, Any]) -> dict[str, Any]:
    name, part, begin, end = task["name"], f"0-{task['begin']}", task["begin"], task["end"]
    if markers.read(store, name, part, task["id"], verify=task["verify"]) is not None:
        return {"was_there": True}
    with markers.files(store) as files, store.scratch() as folder:
        _write(task, str(folder / "%06d.png"), begin, end)
        for number in range(end - begin):
            files.take(f"{_pictures(name)}/{begin + number:06d}.png", folder / f"{number:06d}.png")
        files.commit(name, part, task["id"], {})
    return {"a_scans": 0, "seconds": {}}


def finished(store: Store, task: dict[str, Any]) -> dict[str, Any]:
    name, job = task["name"], task["id"]
    if markers.read(store, name, WHOLE, job) is not None:
        return {"is_finished": True}
    for begin, _ in _parts(task):
        if markers.read(store, name, f"0-{begin}", job) is None:
            return {"is_finished": False}
    with markers.files(store) as files, store.scratch() as folder:
        for number in range(task["frames"]):
            (folder / f"{number:06d}.png").write_bytes(store.get(f"{_pictures(name)}/{number:06d}.png") or b"")
        whole = folder / f"whole{os.path.splitext(name)[1]}"
        _write(task, str(whole), drawn=str(folder / "%06d.png"))
        files.take(name, whole)
        files.commit(name, WHOLE, job, {})
    store.remove(_pictures(name))
    return {"is_finished": True}
