"""Tasks of a movie: its pictures are drawn in parts, and encoded when all of them exist."""
from __future__ import annotations

import glob
import os
from collections.abc import Mapping
from typing import Any

from .. import _core
from ..errors import BadArgument
from ..pictures import view_of
from ..series import Series, load
from ..settings import spelled
from . import results
from .inputs import file_inputs, hash_of
from .results import FINISHED, FOLDER
from .storage import Store

Task = dict[str, Any]

_EVEN = (".mp4", ".mkv", ".webm")  # codecs with half-resolution colour
_TURN_FRAMES, _FPS = 300, 30


# ---- length: it must be known before drawing, because workers share the pictures

def _count(motion: str, frames: int, seconds: float, fps: str, points: int) -> int:
    if frames > 0:
        return frames
    if seconds > 0:
        pictures, _, per = (fps or str(_FPS)).partition("/")
        return max(1, int(seconds * float(pictures) / float(per or 1) + 0.5))
    if "time" in motion.split("+"):
        return points
    if motion == "turntable":
        return _TURN_FRAMES if not fps else _count(motion, 0, 10, fps, points)
    raise BadArgument("is not known before the movie is made", "frames", "give frames or seconds")


def movie_task(shown: str, name: str, motion: str | None, frames: int, seconds: float, fps: str, view: Mapping[str, object]) -> Task:
    """Fields common to all tasks of a movie."""
    if frames > 0 and seconds > 0 and fps:
        raise BadArgument("length, rate and number of pictures cannot all be given", "frames", "leave one out")
    if "%" in name or not os.path.splitext(name)[1] or name.endswith(".png"):
        raise BadArgument(f'cannot be "{name}"', "path", "name a movie: .mp4, .webm, .gif ...")
    loaded = None if shown.endswith(".toml") else load(shown)
    points = len(loaded) if isinstance(loaded, Series) else 1
    motion = motion or ("time" if points > 1 else "turntable")
    size = view_of(view).settings()
    odd = {key: int(size.number(f"view.{key}")) for key in ("width", "height")}
    even = {key: n + n % 2 for key, n in odd.items()} if name.lower().endswith(_EVEN) else {}
    return {"shown": shown, "motion": motion, "frames": _count(motion, frames, seconds, fps, points), "fps": fps,
            "seconds": seconds if frames > 0 else 0.0, "view": {key: spelled(value) for key, value in {**view, **even}.items()}}


# ---- tasks

def _write(task: Task, output: str, begin: int = 0, end: int = 0, drawn: str = "") -> None:
    _core.write_movie(None, task["shown"], view_of(task["view"]), output, task["motion"], task["frames"], task["seconds"],
                      task["fps"], True, begin, end, drawn, None)


def _inputs(task: Task) -> list[str]:
    """Input files and folders; for a pattern, the matching files."""
    named = (task["shown"], task["motion"])
    return [file for one in named for file in ([one] if os.path.exists(one) else sorted(glob.glob(one)))]


def _identity(task: Task) -> str:
    about = [task[key] for key in ("view", "motion", "frames", "seconds", "fps", "step")]
    return hash_of("movie", about, [file_inputs(one) for one in _inputs(task)])


def _parts(task: Task) -> dict[str, tuple[int, int]]:
    """Pictures [begin, end) of each part by its name."""
    return {f"0-{begin}": (begin, min(begin + task["step"], task["frames"])) for begin in range(0, task["frames"], task["step"])}


def _pictures(name: str) -> str:
    return f"{FOLDER}/{name}/pictures"


def _markers(store: Store, task: Task, identity: str, *, verify: bool = False) -> dict[str, results.Marker]:
    return results.read_all(store, task["name"], _parts(task), identity, [_pictures(task["name"])], verify=verify)


def plan(store: Store, task: Task) -> dict[str, Any]:
    name, identity, parts = task["name"], _identity(task), _parts(task)
    outcome = {"name": name, "id": identity, "count": len(parts)}
    if results.read(store, name, FINISHED, identity, verify=task["verify"]) is not None:
        store.remove(_pictures(name))  # left by a job that was killed at its very end
        return {**outcome, "missing": [], "is_finished": True}
    before = store.get(results.plan_key(name))
    if results.parse_claim(before, name)[0] != identity:
        results.claim(store, name, before, results.claim_json("movie", identity, [name]), overwrite=task["overwrite"], inputs=_inputs(task))
    there = _markers(store, task, identity, verify=task["verify"])
    return {**outcome, "missing": [(0, *pictures) for key, pictures in parts.items() if key not in there], "is_finished": False}


def run_part(store: Store, task: Task) -> dict[str, Any]:
    name, begin, end = task["name"], task["begin"], task["end"]
    if results.read(store, name, f"0-{begin}", task["id"], verify=task["verify"]) is not None:
        return {"was_there": True}
    with results.part_files(store) as files:
        folder = files.folder
        assert folder is not None
        _write(task, str(folder / "%06d.png"), begin, end)
        for number in range(end - begin):
            files.adopt(f"{_pictures(name)}/{begin + number:06d}.png", folder / f"{number:06d}.png")
        files.commit(store, name, f"0-{begin}", task["id"], {})
    return {"a_scans": 0, "seconds": {}}


def finish(store: Store, task: Task) -> dict[str, Any]:
    name, identity = task["name"], task["id"]
    if results.read(store, name, FINISHED, identity) is not None:
        return {"is_finished": True}
    if len(_markers(store, task, identity)) < len(_parts(task)):
        return {"is_finished": False}
    with results.part_files(store) as files:
        folder = files.folder
        assert folder is not None
        for number in range(task["frames"]):
            (folder / f"{number:06d}.png").write_bytes(store.get(f"{_pictures(name)}/{number:06d}.png") or b"")
        whole = folder / f"whole{os.path.splitext(name)[1]}"
        _write(task, str(whole), drawn=str(folder / "%06d.png"))
        files.adopt(name, whole)
        files.commit(store, name, FINISHED, identity, {})
    store.remove(_pictures(name))
    return {"is_finished": True}
