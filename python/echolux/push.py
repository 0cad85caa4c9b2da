"""Pushes raw spectra from an acquisition program into Echolux, on this machine or over the network.

This module requires only Python 3.9 or newer, on Linux or Windows. NumPy arrays and anything else with a buffer
can be pushed. It may be copied into the program that controls the instrument::

    from echolux.push import Producer

    with Producer("shm:oct", samples=2048, a_scans=512, b_scans=400, sample_format="u16", line_rate_hz=210e3) as out:
        while acquiring:
            out.push(spectra)            # (b_scans of the block, a_scans, samples)

``echolux view --source shm:oct`` shows the spectra, and may start and stop at any time. With ``"tcp://HOST:PORT"`` the
blocks are sent to a viewer that listens on another machine (``echolux view --source tcp://0.0.0.0:5210``). The producer
never waits for a viewer. Shared memory needs Linux. docs/push.md describes both protocols byte by byte; the C header is plugins/echolux_push.h.
"""
from __future__ import annotations

import mmap
import os
import re
import socket
import struct
import threading
import time
from collections import deque
from typing import Any

try:
    import fcntl
except ImportError:  # Windows has no locks of this kind, and no shared memory that Echolux reads
    fcntl = None  # type: ignore[assignment]

__all__ = ["Producer", "PushError"]

VERSION = 1
PREFIX = "/dev/shm/echolux-push-"
PAGE = 4096

_FORMATS = {"u8": (0, 8), "u16": (1, 16), "u32": (2, 32), "i16": (3, 16), "f32": (4, 32), "packed12": (5, 12)}
_LAYOUTS = {"interleaved": 0, "planar": 1}
_STREAM = struct.Struct("<I6iI9qdqq64s")  # echolux_push_stream
_BLOCK = struct.Struct("<QqqqQdIIQ")  # echolux_push_block
_MAKING, _RUNNING, _ENDED = 0, 1, 2
_PUBLISHED_AT, _STATE_AT = 512, 576
_F_OFD_SETLK = 37
_FLOCK = struct.Struct("hhqqi4x")

assert _STREAM.size == 192 and _BLOCK.size == 64


class PushError(Exception):
    """Data that cannot be pushed, or a destination that cannot be used."""


def _pages(size: int) -> int:
    return -(-size // PAGE) * PAGE


def _bytes_of(spectra: Any) -> memoryview:
    """The bytes of an array in C order, without a copy if they are contiguous."""
    try:
        view = memoryview(spectra)
    except TypeError:  # a list, or an array of another library
        import numpy as np

        view = memoryview(np.ascontiguousarray(spectra))
    if view.c_contiguous and view.nbytes > 0:
        try:
            return view.cast("B")
        except (TypeError, ValueError):  # of the other byte order
            pass
    return memoryview(view.tobytes())


class _Stream:
    """Description of the scan with all sizes."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.sample_format = values["sample_format"]
        if self.sample_format not in _FORMATS:
            raise PushError(f"sample_format: expected one of {', '.join(_FORMATS)}, got {self.sample_format!r}")
        if values["channel_layout"] not in _LAYOUTS:
            raise PushError("channel_layout: expected interleaved or planar")
        for key, low in (("samples", 1), ("a_scans", 1), ("b_scans", 1), ("a_repeats", 1), ("b_repeats", 1),
                         ("channels", 1), ("block_b_scans", 1), ("line_bytes", 0), ("frame_offset_bytes", 0),
                         ("flyback_lines", 0), ("flyback_frames", 0)):
            if int(values[key]) != values[key] or values[key] < low:
                raise PushError(f"{key}: expected a whole number of {low} or more, got {values[key]!r}")
        if values["block_b_scans"] > values["b_scans"]:
            raise PushError("block_b_scans: expected at most b_scans")
        bits = _FORMATS[self.sample_format][1]
        line = values["line_bytes"] or -(-values["samples"] * values["channels"] * bits // 8)
        lines = values["a_scans"] * values["a_repeats"] + values["flyback_lines"]
        self.b_scans: int = values["b_scans"]
        self.block_b_scans: int = values["block_b_scans"]
        self.position_bytes: int = values["b_repeats"] * (values["frame_offset_bytes"] + lines * line)
        self.block_bytes = self.block_b_scans * self.position_bytes
        self.slots: int = values["slots"] or min(max((64 << 20) // self.block_bytes, 4), 64)
        if not 2 <= self.slots <= 4096:
            raise PushError("slots: expected 2 to 4096")
        self.packed = _STREAM.pack(
            _STREAM.size, _FORMATS[self.sample_format][0], int(values["big_endian"]), values["shift"], values["bits"],
            values["channels"], _LAYOUTS[values["channel_layout"]], 0, values["samples"], values["line_bytes"],
            values["frame_offset_bytes"], values["a_scans"], self.b_scans, values["a_repeats"], values["b_repeats"],
            values["flyback_lines"], values["flyback_frames"], float(values["line_rate_hz"]), self.block_b_scans,
            self.slots, values["name"].encode()[:63])


class _Ring:
    """Blocks in shared memory. The layout is described in plugins/echolux_push.h."""

    def __init__(self, name: str, stream: _Stream) -> None:
        if not re.fullmatch(r"(?!\.)[A-Za-z0-9._-]{1,64}", name):
            raise PushError(f"shm:{name}: expected 1 to 64 letters, digits, '.', '_' or '-'")
        if fcntl is None:
            raise PushError(f"shm:{name}: shared memory needs Linux: push to tcp://HOST:PORT")
        self._path = PREFIX + name
        self._slots = stream.slots
        self._slot_bytes = _pages(stream.block_bytes)
        self._data_at = PAGE + _pages(stream.slots * 128)
        total = self._data_at + stream.slots * self._slot_bytes
        self._lock = threading.Lock()
        self._descriptor = self._claimed()
        try:
            os.posix_fallocate(self._descriptor, 0, total)
            self._memory = mmap.mmap(self._descriptor, total)
        except OSError as error:
            os.unlink(self._path)
            os.close(self._descriptor)
            raise PushError(f"no {total >> 20} MiB of shared memory for {stream.slots} blocks: {error.strerror}") from error
        self._words = memoryview(self._memory)[:self._data_at].cast("Q")  # each stored by one instruction
        struct.pack_into("<8sIIQQQQQq", self._memory, 0, b"ECHORING", VERSION, PAGE, total, PAGE, self._data_at,
                         self._slot_bytes, time.time_ns(), os.getpid())
        self._memory[64:64 + _STREAM.size] = stream.packed
        self._set_state(_RUNNING)

    def _claimed(self) -> int:
        """Opens memory of that name and locks it as its producer. Memory of a producer that has ended is replaced."""
        for _ in range(16):
            try:
                fresh = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            except FileExistsError:
                self._remove_leftover()
                continue
            if self._locked(fresh) and self._is_current(fresh):
                return fresh
            os.close(fresh)  # another producer replaced it at the same time
        raise PushError("other producers keep taking the name")

    def _remove_leftover(self) -> None:
        try:
            old = os.open(self._path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            return
        try:
            if not self._locked(old):
                raise PushError(f"{self._path} belongs to another producer that is running")
            if self._is_current(old):
                os.unlink(self._path)
        finally:
            os.close(old)

    @staticmethod
    def _locked(descriptor: int) -> bool:
        try:
            fcntl.fcntl(descriptor, _F_OFD_SETLK, _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
        except OSError:
            return False
        return True

    def _is_current(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.stat(self._path), os.fstat(descriptor))
        except FileNotFoundError:
            return False

    def _fence(self) -> None:
        """Memory barrier: everything stored before becomes visible before anything stored after. Releasing a lock
        orders the former, acquiring it again the latter.
        """
        for _ in range(2):
            with self._lock:
                pass

    def _set_state(self, state: int) -> None:
        self._fence()
        self._words[_STATE_AT // 8] = state
        self._fence()

    def write(self, sequence: int, block: bytes, spectra: memoryview) -> None:
        slot = sequence % self._slots
        turn = (PAGE + slot * 128) // 8
        at = self._data_at + slot * self._slot_bytes
        self._words[turn] = 2 * sequence + 1
        self._fence()
        self._memory[at:at + spectra.nbytes] = spectra
        self._memory[turn * 8 + 8:turn * 8 + 8 + len(block)] = block
        self._fence()
        self._words[turn] = 2 * sequence + 2
        self._fence()
        self._words[_PUBLISHED_AT // 8] = sequence + 1

    def end(self) -> None:
        self._set_state(_ENDED)

    def close(self) -> None:
        if self._is_current(self._descriptor):
            os.unlink(self._path)
        self._words.release()
        self._memory.close()
        os.close(self._descriptor)


class _Sender:
    """Blocks over the network, sent by a thread that reconnects after the viewer was gone."""

    def __init__(self, address: str, stream: _Stream) -> None:
        match = re.fullmatch(r"(?:\[([^\]]+)\]|([^:]*)):(\d+)", address)
        if not match or not 1 <= int(match[3]) <= 65535:
            raise PushError(f"tcp://{address}: expected tcp://HOST:PORT")
        self._address = (match[1] or match[2] or "127.0.0.1", int(match[3]))
        self._greeting = struct.pack("<8sII", b"ECHOPUSH", VERSION, _STREAM.size) + stream.packed
        self._max = stream.slots
        self._waiting: deque[tuple[bytes, bytes]] = deque()
        self._changed = threading.Condition()
        self._is_connected = False
        self._ends = self._stops = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def write(self, sequence: int, block: bytes, spectra: memoryview) -> None:
        with self._changed:
            if not self._is_connected:
                return
            if len(self._waiting) == self._max:
                self._waiting.popleft()  # the viewer counts missing blocks
            self._waiting.append((struct.pack("<4sI", b"BLCK", _BLOCK.size) + block, spectra.tobytes()))
            self._changed.notify()

    def end(self) -> None:
        with self._changed:
            self._ends = True
            self._changed.notify()

    def close(self) -> None:
        with self._changed:
            self._stops = True
            self._changed.notify()
        self._thread.join(timeout=5)

    def _run(self) -> None:
        while not self._stops:
            try:
                with socket.create_connection(self._address, timeout=1) as connection:
                    connection.settimeout(20)
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    connection.sendall(self._greeting)
                    self._send(connection)
            except OSError:
                pass
            with self._changed:
                self._is_connected = False
                self._waiting.clear()
                if not self._stops:
                    self._changed.wait(0.2)

    def _send(self, connection: socket.socket) -> None:
        with self._changed:
            self._is_connected = True
            self._changed.notify_all()
        while True:
            with self._changed:
                while not self._waiting and not self._ends and not self._stops:
                    self._changed.wait()
                head, spectra = self._waiting.popleft() if self._waiting else (b"", b"")
            if head:
                connection.sendall(head)
                connection.sendall(spectra)
            elif self._ends:
                connection.sendall(struct.pack("<4sI64s", b"ENDS", 0, b""))
                self._stops = True
                return
            else:
                return

    def wait(self, seconds: float) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: self._is_connected, seconds)


class Producer:
    """Destination for spectra: ``"shm:NAME"`` on this machine, or ``"tcp://HOST:PORT"`` where a viewer listens.

    The other arguments describe the scan as in section [scan] of a scan file. A block has ``block_b_scans`` positions
    of the slow axis, each with ``b_repeats`` acquired B-scans. Each B-scan has ``frame_offset_bytes`` of header, then
    ``a_scans * a_repeats`` lines and ``flyback_lines`` more lines. ``slots`` is the number of blocks kept; 0: as many
    as fit into 64 MiB.
    """

    def __init__(self, target: str, *, samples: int, a_scans: int, b_scans: int, sample_format: str = "u16",
                 line_rate_hz: float = 0, block_b_scans: int = 1, a_repeats: int = 1, b_repeats: int = 1,
                 channels: int = 1, channel_layout: str = "interleaved", big_endian: bool = False, shift: int = 0,
                 bits: int = 0, line_bytes: int = 0, frame_offset_bytes: int = 0, flyback_lines: int = 0,
                 flyback_frames: int = 0, slots: int = 0, name: str = "") -> None:
        values = {key: value for key, value in locals().items() if key not in {"self", "target"}}
        self._stream = _Stream(values)
        self._sequence = self._next = self._lost = 0
        self._since = time.monotonic()
        self._way: _Ring | _Sender
        kind, _, rest = target.partition(":")
        if kind == "shm":
            self._way = _Ring(rest, self._stream)
        elif kind == "tcp":
            self._way = _Sender(rest.removeprefix("//"), self._stream)
        else:
            raise PushError(f"expected shm:NAME or tcp://HOST:PORT, got {target!r}")
        self._is_open = True

    @property
    def blocks(self) -> int:
        """Number of blocks pushed."""
        return self._sequence

    def push(self, spectra: Any, *, volume: int | None = None, first_b_scan: int | None = None,
             time_s: float | None = None, lost: int = 0, volume_starts: bool = False) -> None:
        """Pushes one block: an array of any shape with the bytes of the block. Never waits.

        volume, first_b_scan: its position; by default it follows the previous block. lost: number of blocks lost by the
            device since the previous one. volume_starts: the block is the first of a volume, regardless of counting. time_s:
            time of its first line on the device's clock.
        """
        if not self._is_open:
            raise PushError("the producer is closed")
        data = _bytes_of(spectra)
        stream = self._stream
        b_scans, rest = divmod(data.nbytes, stream.position_bytes)
        if rest or not 1 <= b_scans <= stream.block_b_scans:
            raise PushError(f"a block has 1 to {stream.block_b_scans} x {stream.position_bytes} bytes, "
                            f"got {data.nbytes}")
        if volume is None or first_b_scan is None:
            volume, first_b_scan = self._place(lost, volume_starts)
        if volume < 0 or not 0 <= first_b_scan <= stream.b_scans - b_scans:
            raise PushError(f"{b_scans} B-scans from {first_b_scan} of volume {volume} on lie outside of the volume")
        self._lost += lost
        at = time.monotonic() - self._since if time_s is None else float(time_s)
        block = _BLOCK.pack(self._sequence, volume, first_b_scan, b_scans, self._lost, at, int(volume_starts), 0,
                            data.nbytes)
        self._way.write(self._sequence, block, data)
        self._sequence += 1
        self._next = volume * stream.b_scans + first_b_scan + b_scans

    def _place(self, lost: int, volume_starts: bool) -> tuple[int, int]:
        stream = self._stream
        in_volume = -(-stream.b_scans // stream.block_b_scans)
        volume, b_scan = divmod(self._next, stream.b_scans)
        at = volume * in_volume + -(-b_scan // stream.block_b_scans) + lost
        if volume_starts:
            at = -(-at // in_volume) * in_volume
        return at // in_volume, at % in_volume * stream.block_b_scans

    def wait_for_viewer(self, seconds: float) -> bool:
        """Returns whether a viewer receives the data sent over the network. Always True for shared memory, where this
        is unknown.
        """
        return self._way.wait(seconds) if isinstance(self._way, _Sender) else True

    def end(self) -> None:
        """Announces the end: viewers stop as at the end of a file. Without it, they wait for the next producer."""
        self._way.end()

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            self._way.close()

    def __enter__(self) -> "Producer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
