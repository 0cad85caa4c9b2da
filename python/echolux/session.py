"""Live sessions: a source, reconstructed while it acquires."""
from __future__ import annotations

import os
import sys
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, Union

from . import _core
from .arrays import host_copy, known_array
from .errors import BadArgument
from .feeder import PATIENCE_S, Feeder, all_feeders
from .scan import Scan, scan_of
from .settings import assignments, sections
from .stages import Stages, StagesLike, stages_from
from .volume import Volume

if TYPE_CHECKING:
    from . import _sections

_LOOK_MS = 50  # between two looks for signals

Source = Union[str, Callable[[], Any], Iterable[Any]]


@dataclass(frozen=True)
class LiveStats:
    """How a session is doing. Rates and load are of the last seconds; load is the share of time that reconstruction takes.

    running: it was started and not stopped; ended: the source has no more; seconds: since the start
    acquired_blocks, acquired_volumes, acquired_a_scans: that came from the source; lost_blocks: that the source lost
    finished_volumes: reconstructed whole; left_out_volumes: for newer ones, incomplete or failed
    overwritten_volumes: finished, but not taken in time
    acquired_a_scans_per_s, processed_a_scans_per_s, load: lately
    recording, recorded_blocks: of the recording under way; not_recorded_blocks: lost, or left out by a disk too slow
    """

    running: bool
    ended: bool
    seconds: float
    acquired_blocks: int
    acquired_volumes: int
    acquired_a_scans: int
    lost_blocks: int
    finished_volumes: int
    left_out_volumes: int
    overwritten_volumes: int
    acquired_a_scans_per_s: float
    processed_a_scans_per_s: float
    load: float
    recording: bool
    recorded_blocks: int
    not_recorded_blocks: int


@dataclass(frozen=True)
class Recorded:
    """What a recording holds, and what it lacks.

    blocks, bytes: that are in it; missing_blocks: that came while the disk was too slow or full
    lost_blocks: by the source; refused_blocks: out of order or of another size
    """

    blocks: int
    bytes: int
    missing_blocks: int
    lost_blocks: int
    refused_blocks: int


_cores: weakref.WeakValueDictionary[int, _core.Live] = weakref.WeakValueDictionary()


def close_all() -> None:
    """Threads of sessions call stages and sources: they end while Python is whole."""
    feeders = all_feeders()
    for feeder in feeders:
        feeder.abandon()
    for core in [core for ref in _cores.valuerefs() if (core := ref()) is not None]:
        core.close()
    until = time.monotonic() + PATIENCE_S
    for feeder in feeders:
        feeder.stop(max(0.0, until - time.monotonic()))


class _LiveSettings:
    """Settings of a session as those of a scan: read from what it does now, changed while it runs."""

    def __init__(self, core: _core.Live) -> None:
        self._core = core

    def all(self) -> list[_core.Setting]:
        return self._core.scan().settings().all()

    def text(self, key: str) -> str:
        return self._core.scan().settings().text(key)

    def number(self, key: str) -> float:
        return self._core.scan().settings().number(key)

    def set_text(self, key: str, value: str) -> None:
        self._core.set(key, value)


class Live:
    """A session: an iterator of volumes.

        with ox.live("sim:vessel") as session:
            for volume in session:
                session.recipe.window = "hann"        # takes effect with a later volume

    The sections recipe, flow, nufft, defr and compressive are attributes as of a Scan, and can be changed while it runs.
    `scan` is the section [scan] of what the source sends, to be read. What is done to volumes between reconstruction and
    delivery, stabilising and speckle filters, is set with set().
    """

    if TYPE_CHECKING:
        recipe: _sections.Recipe
        flow: _sections.Flow
        nufft: _sections.Nufft
        defr: _sections.Defr
        compressive: _sections.Compressive

    def __init__(self, core: _core.Live, stages: Stages | None, volumes: int, feeder: Feeder | None = None) -> None:
        self._core, self._stages, self._volumes, self._feeder = core, stages, volumes, feeder
        self._is_running = False
        _cores[id(core)] = core
        if feeder is not None:
            weakref.finalize(self, feeder.abandon)  # of a session that was neither stopped nor used in `with`
        settings: Any = _LiveSettings(core)
        for name, kind in sections(settings).items():
            self.__dict__[name] = kind(settings)

    def start(self) -> None:
        """Begins to acquire; `with` and iterating do so by themselves."""
        if self._is_running:
            return
        self._core.start(self._volumes)
        self._is_running = True
        if self._feeder is not None:
            self._feeder.start()

    def set(self, key: str, value: bool | float | str) -> None:
        """Gives the setting `key` the `value` (in its unit, or its name), from a later volume on: of the sections above, or
        of `filter` and `registration`, whose `shown` turns them on. Recordings never see these.

            session.set("filter.method", "median")
            session.set("filter.shown", True)
        """
        self._core.set(key, str(value).lower() if isinstance(value, bool) else str(value))

    def stop(self) -> None:
        """Acquires no more. What was acquired is still reconstructed and can be taken; leaving `with` waits for it."""
        if self._feeder is not None:
            self._feeder.stop()
        if self._is_running:
            self._core.stop()

    def __enter__(self) -> Live:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Stops, and waits for the block that is worked on, unless it was Ctrl-C: no stage is called any more then."""
        self.stop()
        if kind is None or not issubclass(kind, KeyboardInterrupt):
            while not self._core.wait(_LOOK_MS):
                pass
        if self.stats.recording:
            self.stop_recording()

    def __iter__(self) -> Live:
        return self

    def __next__(self) -> Volume:
        self.start()
        while True:
            made = self._taken()
            if made is False:
                raise StopIteration
            if made is not None:
                return made

    def next(self, timeout_s: float | None = None) -> Volume | None:
        """The next volume; None where none came within timeout_s (None: any time), or there are no more. Raises what a stage
        or a source in Python raised."""
        self.start()
        patience = 10**9 if timeout_s is None else max(0, round(1000 * timeout_s))
        while True:
            made = self._taken(min(patience, _LOOK_MS))
            if made is False:
                return None
            patience -= _LOOK_MS
            if made is not None or patience <= 0:
                return made

    def _taken(self, timeout_ms: int = _LOOK_MS) -> Volume | Literal[False] | None:
        """A volume; None: nothing yet; False: nothing more."""
        self._raise_of_stages()
        made: Any = self._core.next(timeout_ms)
        if made is None or made is False:
            self._raise_of_stages()
            if made is False:
                self._raise_of_source()
            return made
        return _volume_of(made)

    @property
    def kept(self) -> int:
        """How many of the last volumes are in memory: as many as fit into `source.keep_gb`, which is given at the start.

            session = ox.live("genicam", source={"keep_gb": 8})
        """
        return self._core.kept()

    def go_to(self, time_point: int) -> Volume:
        """The volume `time_point` of those that are kept, 0: the oldest, -1: the newest. The same ones are kept from then on
        while newer ones pass by, until play()."""
        return _volume_of(self._core.go_to(time_point + self.kept if time_point < 0 else time_point))

    def play(self) -> None:
        """The newest volumes take the places of the oldest again."""
        self._core.play()

    def save_kept(self, path: str | os.PathLike[str], seconds: float = 0) -> int:
        """Writes kept volumes as one series with their times, and says how many; the session goes on meanwhile.

        path: of the series; its ending decides the format
        seconds: only the volumes of the last seconds; 0: all that are kept

        Raises OutputFailed, BadSetting.
        """
        return self._core.save_kept(os.fsdecode(path), seconds)

    def _raise_of_stages(self) -> None:
        raised = self._stages.take_raised() if self._stages is not None else None
        if raised is not None:
            raise raised

    def _raise_of_source(self) -> None:
        """Once all volumes that were made of what it gave are taken."""
        if self._feeder is None:
            return
        raised, self._feeder.raised = self._feeder.raised, None
        if raised is not None:
            raise raised

    @property
    def stats(self) -> LiveStats:
        """How it is doing."""
        return LiveStats(**self._core.stats())

    @property
    def settings(self) -> Scan:
        """What the source sends and how it is processed now: a copy, whose changes do not reach the session."""
        return Scan(self._core.scan())

    def events(self) -> list[str]:
        """What happened since the last call: blocks that were lost, a device that failed ..."""
        return self._core.events().splitlines()

    def record(self, path: str | os.PathLike[str], *, overwrite: bool = False,
               stripe_folders: Sequence[str | os.PathLike[str]] = ()) -> None:
        """Writes every block from the next volume on to path = NAME.toml, and NAME.raw and NAME.index.csv beside it, which
        open as a scan.

        overwrite: also over a recording that is there
        stripe_folders: on further disks; spectra go in stripes to the disk of `path` and to these, all at once

        One recording at a time; it ends with stop_recording() or with the session. Raises OutputFailed, BadSetting.
        """
        self._core.record(os.fsdecode(path), overwrite, [os.fsdecode(folder) for folder in stripe_folders])

    def stop_recording(self) -> Recorded:
        """Waits for the disk. Where no block was recorded, no file is left. Raises OutputFailed."""
        return Recorded(**self._core.stop_recording())

    def __repr__(self) -> str:
        now = self.stats
        return f"<Live {'running' if now.running else 'stopped'}, {now.finished_volumes} volumes finished>"


def _volume_of(made: Any) -> Volume:
    structure, flow = made
    volume = Volume(structure)
    if flow is not None:
        volume.flow = Volume(flow)
    return volume


def _called(source: Callable[[], Any]) -> Iterator[Any]:
    while (spectra := source()) is not None:
        yield spectra


def _from_arrays(source: Callable[[], Any] | Iterable[Any], scan: Scan | None,
                 settings: Mapping[str, Mapping[str, Any]]) -> tuple[Scan, Iterator[Any]]:
    """The scan that the arrays are of, and the arrays."""
    arrays: Iterator[Any] = _called(source) if callable(source) else iter(source)
    if scan is not None:
        if settings:
            raise BadArgument("a scan is given, and settings beside it", "scan", "set them in the scan")
        return scan, arrays

    try:
        first = next(arrays)
    except StopIteration:
        raise BadArgument("yields no array", "source", "yield arrays [b, a, samples]") from None
    array = host_copy(known_array(first))
    formats = {"uint8": "u8", "uint16": "u16", "uint32": "u32", "int16": "i16", "float32": "f32"}
    if array.dtype.name not in formats or array.ndim not in (2, 3):
        raise BadArgument(f"yields {array.dtype} with {array.ndim} dimensions", "source",
                          "yield [b, a, samples] of uint8, uint16, uint32, int16 or float32, or pass scan=")
    b_scans = int(settings.get("scan", {}).get("b_scans", array.shape[0] if array.ndim == 3 else 1))
    made = scan_of(array.shape[-1], array.shape[-2], b_scans, formats[array.dtype.name], settings)
    if not array.dtype.isnative:
        made.scan.byte_order = "big" if sys.byteorder == "little" else "little"
    return made, chain([array], arrays)


def _kept_of(settings: Mapping[str, Any]) -> float:
    """What of section source is meant for a session whose spectra come from Python."""
    others = [name for name in settings if name != "keep_gb"]
    if others:
        raise BadArgument(f"has {others[0]}, but a source in Python has keep_gb alone", "source", "leave it out")
    return float(settings.get("keep_gb", 0))


def live(source: Source, /, *, lossless: bool = False, queue: int = 0, volumes: int = 0, device: str = "auto",
         scan: Scan | Mapping[str, Any] | str | os.PathLike[str] | None = None, stages: StagesLike = None,
         **settings: Mapping[str, Any]) -> Live:
    """Opens a live session.

    source: "sim:vessel", "replay:scan.toml", "genicam", "plugin:FILE.so", "shm:NAME", "tcp://ADDRESS:PORT", "join:A+B",
        "interleave:A+B";
        or Python: a generator, an iterable, or a callable that gives arrays of spectra [b, a, samples] one after the other, whole volumes or parts of them (the
        callable ends with None). What it raises is raised again where volumes are taken, once there are no more.
    lossless: every volume, the source waits where it can; otherwise the newest, older ones make room
    queue: of volumes that may wait where lossless; 0: 2
    volumes: after which it ends; 0: when the source does
    scan: what a camera or plugin sends (a TOML file), or what the arrays are (a Scan); or settings of that section, as
        {"b_scans": 64}. Of arrays without a Scan the first one says the sizes, and is a whole volume unless b_scans is set
    stages: {"spectra": function, ...}, see Scan.set_stages
    device: as of Scan.reconstruct()
    settings: by section, as recipe={"window": "hann"}, simulation={"a_scans": 128}, source={...}, of which a source in
        Python has "keep_gb" alone

    Raises BadSetting, BadFile, DeviceFailed.
    """
    given = stages_from(stages)
    if isinstance(scan, Mapping):
        settings["scan"] = scan
        scan = None
    if isinstance(source, str):
        if isinstance(scan, Scan):
            raise BadArgument("is a Scan, but a source by name is described by a file", "scan", "give its path")
        core = _core.Live.open(source, "" if scan is None else os.fsdecode(scan), assignments(settings), device, lossless,
                               queue, given)
        return Live(core, given, volumes)
    if not (callable(source) or hasattr(source, "__iter__")):
        raise BadArgument("is neither a name, a callable, nor something to iterate over", "source")
    if scan is not None and not isinstance(scan, Scan):
        from .scan import open as open_scan

        scan = open_scan(scan)
    keep_gb = _kept_of(settings.pop("source", {}))
    described, arrays = _from_arrays(source, scan, settings)
    core = _core.Live.create(described._core, device, lossless, queue, keep_gb, given)
    return Live(core, given or described._stages, volumes, Feeder(core, described, arrays))
