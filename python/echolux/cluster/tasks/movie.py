"""Tasks of a movie: its pictures are drawn in parts, and encoded when all of them exist."""
from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from typing import Any

from ... import _core
from ...pictures import view_of
from ..fingerprint import file_inputs, hash_of
from ..storage import markers
from ..storage.ownership import FINISHED, FOLDER, claim, claim_json, parse_claim, plan_key
from ..storage.store import Store


def _write(task: dict[str, Any], output: str, begin: int = 0, end: int = 0, drawn: str = "") -> None:
    _core.write_movie(None, task["shown"], view_of(task["view"]), output, task["motion"], task["frames"], task["seconds"],
                      task["fps"], True, begin, end, drawn, None)


def _inputs(task: dict[str, Any]) -> list[str]:
    """Input files and folders; for a pattern, the matching files."""
    named = (task["shown"], task["motion"])
    return [file for one in named for file in ([one] if os.path.exists(one) else sorted(glob.glob(one)))]


def _identity(task: dict[str, Any]) -> str:
    about = [task[key] for key in ("view", "motion", "frames", "seconds", "fps", "step")]
    return hash_of("movie", about, [file_inputs(one) for one in _inputs(task)])


def _ranges(task: dict[str, Any]) -> Iterator[tuple[int, int]]:
    for begin in range(0, task["frames"], task["step"]):
        yield begin, min(begin + task["step"], task["frames"])


def _key(begin: int) -> str:
    """Name of the part that starts with this picture."""
    return f"0-{begin}"


def _pictures(name: str) -> str:
    return f"{FOLDER}/{name}/pictures"


def _markers(store: Store, task: dict[str, Any], identity: str, *, verify: bool = False) -> dict[str, markers.Marker]:
    parts = (_key(begin) for begin, _ in _ranges(task))
    return markers.read_all(store, task["name"], parts, identity, [_pictures(task["name"])], verify=verify)


def plan(store: Store, task: dict[str, Any]) -> dict[str, Any]:
    name, identity, count = task["name"], _identity(task), len(list(_ranges(task)))
    outcome = {"name": name, "id": identity, "count": count}
    if markers.read(store, name, FINISHED, identity, verify=task["verify"]) is not None:
        store.remove(_pictures(name))  # left by a job that was killed at its very end
        return {**outcome, "missing": [], "is_finished": True}
    before = store.get(plan_key(name))
    if before is None or parse_claim(before, name).identity != identity:
        claim(store, name, before, claim_json("movie", identity, [name]), overwrite=task["overwrite"], inputs=_inputs(task))
    there = _markers(store, task, identity, verify=task["verify"])
    missing = [(0, begin, end) for begin, end in _ranges(task) if _key(begin) not in there]
    return {**outcome, "missing": missing, "is_finished": False}


def run_part(store: Store, task: dict[str, Any]) -> dict[str, Any]:
    name, begin, end = task["name"], task["begin"], task["end"]
    if markers.read(store, name, _key(begin), task["id"], verify=task["verify"]) is not None:
        return {"was_there": True}
    with markers.part_files(store) as files, store.scratch() as folder:
        _write(task, str(folder / "%06d.png"), begin, end)
        for number in range(end - begin):
            files.adopt(f"{_pictures(name)}/{begin + number:06d}.png", folder / f"{number:06d}.png")
        files.commit(name, _key(begin), task["id"], {})
    return {"a_scans": 0, "seconds": {}}


def finish(store: Store, task: dict[str, Any]) -> dict[str, Any]:
    name, identity = task["name"], task["id"]
    if markers.read(store, name, FINISHED, identity) is not None:
        return {"is_finished": True}
    if len(_markers(store, task, identity)) < len(list(_ranges(task))):
        return {"is_finished": False}
    with markers.part_files(store) as files, store.scratch() as folder:
        for number in range(task["frames"]):
            (folder / f"{number:06d}.png").write_bytes(store.get(f"{_pictures(name)}/{number:06d}.png") or b"")
        whole = folder / f"whole{os.path.splitext(name)[1]}"
        _write(task, str(whole), drawn=str(folder / "%06d.png"))
        files.adopt(name, whole)
        files.commit(name, FINISHED, identity, {})
    store.remove(_pictures(name))
    return {"is_finished": True}
