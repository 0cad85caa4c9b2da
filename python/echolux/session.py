"""Live sessions: a source that is reconstructed while it acquires."""
from __future__ import annotations

import os
import sys
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from types import SimpleNamespace
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

_LOOK_MS = 50  # interval of checks for signals

Source = Union[str, Callable[[], Any], Iterable[Any]]


class LiveStats(SimpleNamespace):
    """Statistics of a session at one moment, in groups: `stats.arrived.lost_blocks`. The keys are those of
    `echolux live --json`. `stats.recorder` is of the current recording, otherwise of the last one.
    """


def _grouped(values: Mapping[str, Any]) -> Any:
    stats = LiveStats()
    for key, value in values.items():
        *groups, name = key.split(".")
        at = stats
        for group in groups:
            at = at.__dict__.setdefault(group, LiveStats())
        setattr(at, name, value)
    return stats


_cores: weakref.WeakValueDictionary[int, _core.Live] = weakref.WeakValueDictionary()


def close_all() -> None:
    """Ends the threads of sessions, which call stages and sources, before the interpreter shuts down."""
    feeders = all_feeders()
    for feeder in feeders:
        feeder.abandon()
    for core in [core for ref in _cores.valuerefs() if (core := ref()) is not None]:
        core.close()
    until = time.monotonic() + PATIENCE_S
    for feeder in feeders:
        feeder.stop(max(0.0, until - time.monotonic()))


class _LiveSettings:
    """Settings of a session, used like those of a scan: reading returns the current values, and changes apply while it
    runs.
    """

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
    """A live session: an iterator of volumes.

        with ox.live("sim:vessel") as session:
            for volume in session:
                session.recipe.window = "hann"        # takes effect with a later volume

    The sections recipe, flow, nufft, defr and compressive are attributes as in a Scan, and can be changed while it
    runs. `scan` is section [scan] of the source, which is read-only. Processing between reconstruction and delivery
    (stabilising and speckle filters) is set with set().
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
            weakref.finalize(self, feeder.abandon)  # for sessions that are not stopped and not used in `with`
        settings: Any = _LiveSettings(core)
        for name, kind in sections(settings).items():
            self.__dict__[name] = kind(settings)

    def start(self) -> None:
        """Starts acquisition. `with` and iterating call it automatically."""
        if self._is_running:
            return
        self._core.start(self._volumes)
        self._is_running = True
        if self._feeder is not None:
            self._feeder.start()

    def set(self, key: str, value: bool | float | str) -> None:
        """Sets the setting `key` to `value` (in its unit, or its name), effective from a later volume: of the sections
        above, or of `filter` and `registration`, which are enabled by their `shown`. Recordings are not affected by
        those two.

            session.set("filter.method", "median")
            session.set("filter.shown", True)
        """
        self._core.set(key, str(value).lower() if isinstance(value, bool) else str(value))

    def stop(self) -> None:
        """Stops acquisition. Acquired data is still reconstructed and can be taken; leaving `with` waits for it."""
        if self._feeder is not None:
            self._feeder.stop()
        if self._is_running:
            self._core.stop()

    def __enter__(self) -> Live:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Stops, and waits for the current block except after Ctrl-C. Then no stage is called any longer."""
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
        """Returns the next volume. None if none was finished within timeout_s (None: wait indefinitely), or if there
        are no more. Raises exceptions of stages and Python sources.
        """
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
        """Returns the volume; None: nothing yet; False: no more."""
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
        """Number of recent volumes in memory: as many as fit into `source.keep_gb`, which is set when the session is
        opened.

            session = ox.live("genicam", source={"keep_gb": 8})
        """
        return self._core.kept()

    def go_to(self, time_point: int) -> Volume:
        """Returns the kept volume `time_point`; 0: the oldest, -1: the newest. The set of kept volumes is then frozen
        until play().
        """
        return _volume_of(self._core.go_to(time_point + self.kept if time_point < 0 else time_point))

    def play(self) -> None:
        """Resumes replacing the oldest volumes by new ones."""
        self._core.play()

    def save_kept(self, path: str | os.PathLike[str], seconds: float = 0) -> int:
        """Writes kept volumes as one series with their times, and returns their number. The session continues.

        path: output file; its extension selects the format
        seconds: only the volumes of the last seconds; 0: all that are kept

        Raises OutputFailed, BadSetting.
        """
        return self._core.save_kept(os.fsdecode(path), seconds)

    def _raise_of_stages(self) -> None:
        raised = self._stages.take_raised() if self._stages is not None else None
        if raised is not None:
            raise raised

    def _raise_of_source(self) -> None:
        """Raises an exception of the source once all volumes reconstructed from its arrays have been taken."""
        if self._feeder is None:
            return
        raised, self._feeder.raised = self._feeder.raised, None
        if raised is not None:
            raise raised

    @property
    def stats(self) -> _sections.LiveStats:
        """Statistics of the session."""
        stats: _sections.LiveStats = _grouped(self._core.stats())
        return stats

    @property
    def settings(self) -> Scan:
        """Returns a new Scan that describes the source and its current processing: a copy, whose changes do not affect the
        session.
        """
        return Scan(self._core.scan())

    def events(self) -> list[str]:
        """Returns events since the last call: lost blocks, a failed device ..."""
        return self._core.events().splitlines()

    def record(self, path: str | os.PathLike[str], *, overwrite: bool = False,
               stripe_folders: Sequence[str | os.PathLike[str]] = ()) -> None:
        """Records all blocks from the next volume on to path = NAME.toml, with NAME.raw and NAME.index.csv beside it.
        The recording can be opened like other scans.

        overwrite: replace an existing recording
        stripe_folders: folders on further disks; spectra are striped over the disk of `path` and these

        Only one recording can be active. It ends with stop_recording() or with the session. Raises OutputFailed,
        BadSetting.
        """
        self._core.record(os.fsdecode(path), overwrite, [os.fsdecode(folder) for folder in stripe_folders])

    def stop_recording(self) -> _sections.RecorderStats:
        """Ends the recording, waits for the disk, and returns `stats.recorder`. If no block was recorded, no file remains.
        Raises OutputFailed.
        """
        self._core.stop_recording()
        return self.stats.recorder

    def __repr__(self) -> str:
        now = self.stats
        return f"<Live {'running' if now.running else 'stopped'}, {now.reconstructed.volumes} volumes finished>"


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
    """Returns the scan that describes the arrays, and the arrays."""
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
    """Checks settings of section source for a session with a Python source."""
    others = [name for name in settings if name != "keep_gb"]
    if others:
        raise BadArgument(f"has {others[0]}, but a source in Python has keep_gb alone", "source", "leave it out")
    return float(settings.get("keep_gb", 0))


def live(source: Source, /, *, lossless: bool = False, queue: int = 0, volumes: int = 0, device: str = "auto",
         scan: Scan | Mapping[str, Any] | str | os.PathLike[str] | None = None, stages: StagesLike = None,
         **settings: Mapping[str, Any]) -> Live:
    """Opens a live session.

    source: "sim:vessel", "replay:scan.toml", "genicam", "gentl:FILE.cti", "plugin:FILE.so", "shm:NAME", "tcp://ADDRESS:PORT",
        "join:A+B", "interleave:A+B"; or a Python generator, iterable or callable that produces arrays of spectra [b, a, samples],
        whole volumes or parts of them, one after another (a callable ends with None). Its exceptions are raised again
        where volumes are taken, after the last one.
    lossless: deliver every volume, and let the source wait if it can; otherwise only the newest are delivered
    queue: number of volumes that may wait if lossless; 0: 2
    volumes: number after which the session ends; 0: when the source ends
    scan: describes the data of a camera or plugin (a TOML file) or the arrays (a Scan); or settings of that section,
        such as {"b_scans": 64}. For arrays without a Scan, the first array determines the sizes, and is a whole volume
        unless b_scans is set
    stages: {"spectra": function, ...}, see Scan.set_stages
    device: as in Scan.reconstruct()
    settings: by section, such as recipe={"window": "hann"}, simulation={"a_scans": 128}, source={...}; a Python source
        only has "keep_gb" in source

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
