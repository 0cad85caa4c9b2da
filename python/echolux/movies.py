"""Movies of volumes."""
from __future__ import annotations

import os
from typing import Any, Union

from . import _core
from .progress import Progress, watching
from .series import LazyVolume, Series
from .volume import Volume

Shown = Union[Volume, LazyVolume, Series, str, "os.PathLike[str]"]


def movie(path: str | os.PathLike[str], shown: Shown, *, motion: str | None = None, frames: int = 0, seconds: float = 0,
          fps: str | float = "", overwrite: bool = False, progress: Progress = None, **view: object) -> None:
    """Writes a movie to path; the extension selects the format (.mp4, .webm, .gif, "frame_%04d.png" ...).

        ox.movie("turn.mp4", volume, seconds=8, mode="mip", width=640, height=640)

    shown: a Volume, a Series, or the name of a file, folder, pattern or scan
    motion: "turntable", "time", "sweep", a file of key frames, or several joined by + (docs/movies.md); None: time for
        a Series, otherwise turntable
    frames, seconds, fps: two of them determine the third; the rest is derived from the motion
    overwrite: replace any existing file; progress: as in Scan.reconstruct()
    view: settings of the picture, as in Volume.render()

    After Ctrl-C, the movie is complete up to that point. MP4 and WebM require FFmpeg's libraries; GIF and PNG do not.
    Raises BadSetting, OutputFailed, DeviceFailed.
    """
    from .pictures import view_of

    volume: Volume | None = None
    name = ""
    if isinstance(shown, Series):
        name = shown.path
        motion = motion or "time"
    elif isinstance(shown, LazyVolume):
        volume = shown.read()
    elif isinstance(shown, Volume):
        volume = shown
    else:
        name = os.fsdecode(shown)
    with watching(progress) as told:
        _core.write_movie(volume, name, view_of(view), os.fsdecode(path), motion or "turntable", frames, seconds, str(fps),
                          overwrite, 0, 0, "", told)
