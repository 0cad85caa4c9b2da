"""Number of pictures of a movie. It must be known before drawing, because workers share the pictures."""
from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ...errors import BadArgument
from ...pictures import view_of
from ...series import Series, load
from ...settings import spelled

_EVEN = (".mp4", ".mkv", ".webm")  # codecs with half-resolution colour
_TURN_FRAMES, _FPS = 300, 30


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


def movie_task(shown: str, name: str, motion: str | None, frames: int, seconds: float, fps: str,
           view: Mapping[str, object]) -> dict[str, Any]:
    """Fields common to all tasks of a movie."""
    if frames > 0 and seconds > 0 and fps:
        raise BadArgument("length, rate and number of pictures cannot all be given", "frames", "leave one out")
    if "%" in name or not os.path.splitext(name)[1] or name.endswith(".png"):
        raise BadArgument(f'cannot be "{name}"', "path", "name a movie: .mp4, .webm, .gif ...")
    points = 1
    if not shown.endswith(".toml"):
        loaded = load(shown)
        points = len(loaded) if isinstance(loaded, Series) else 1
    motion = motion or ("time" if points > 1 else "turntable")
    size = view_of(view).settings()
    odd = {key: int(size.number(f"view.{key}")) for key in ("width", "height")}
    even = {key: n + n % 2 for key, n in odd.items()} if name.lower().endswith(_EVEN) else {}
    return {"shown": shown, "motion": motion, "frames": _count(motion, frames, seconds, fps, points), "fps": fps,
            "seconds": seconds if frames > 0 else 0.0,
            "view": {**{key: spelled(value) for key, value in view.items()}, **{key: str(n) for key, n in even.items()}}}
