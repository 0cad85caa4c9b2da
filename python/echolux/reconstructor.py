"""Reconstructor for arrays: spectra to voxels, in the array library and on the device of the spectra."""
from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from . import _core
from .arrays import empty, host_copy, in_native_order, known_array, order_of, result_array
from .errors import BadArgument, BadSetting, require_text, require_whole
from .scan import Scan, scan_of
from .stages import raising
from .volume import Volume


class Reconstructor:
    """Reconstructs spectra [b, a, samples] to voxels [b, a, depth].

        make = ox.Reconstructor(samples=1024, a_scans=512, b_scans=64, recipe={"window": "hann"})
        voxels = make(spectra)

    scan: layout of the spectra and how to process them, in its current state; or, without a scan,
    samples, a_scans, b_scans: sizes of a spectrum, a B-scan and a volume
    sample_format: "u8", "u16", "u32", "i16", "f32" or "packed12"; arrays must have this type, or uint8 if packed
    device: "auto" (a GPU if usable, otherwise the CPU), "cpu", "cuda", or one of several GPUs: "cuda:1"
    settings: by section, such as recipe={"window": "hann"}; those of [calibration] may be arrays, such as
        calibration={"k_positions": array}

    If the levels of the recipe are relative to the noise floor, recipe.noise_floor_db leaves it open, and the scan has
    no file, the noise floor is measured from the spectra of the first call and then kept.

    An object is used by one thread at a time; others wait. Leaving a `with` statement, or close(), waits for the
    current block and releases the device memory. Raises BadSetting, DeviceFailed, OutOfMemory.
    """

    def __init__(self, scan: Scan | None = None, /, *, samples: int | None = None, a_scans: int | None = None,
                 b_scans: int | None = None, sample_format: str | None = None, device: str = "auto",
                 **settings: Mapping[str, Any]) -> None:
        require_text(device=device)
        if scan is None:
            scan = scan_of(samples or 0, a_scans or 0, 1 if b_scans is None else b_scans, sample_format or "u16", settings)
        elif not isinstance(scan, Scan):
            raise BadArgument(f"is not a Scan but of type {type(scan).__name__}", "scan", "open one: echolux.open(path)")
        elif settings or any(one is not None for one in (samples, a_scans, b_scans, sample_format)):
            raise BadArgument("a scan is given, and settings beside it", "scan", "set them in the scan")
        self._scan = scan
        self._device = device
        self._core: _core.Reconstructor | None = None
        self._is_closed = False
        try:
            self._core = _core.Reconstructor(scan._core, device)
        except BadSetting as error:
            if error.where != "recipe.noise_floor_db":
                raise
            self._scan = copy.copy(scan)  # a copy, so that the noise floor of the caller's scan stays unset

    @property
    def device(self) -> str:
        """The device, and why no GPU is used: "cpu (2 threads, AVX2)". Empty until an open noise floor is known."""
        return "" if self._core is None else self._core.device

    @property
    def noise_floor_db(self) -> float:
        """The level of 0 dB; 0 if it is not yet known or not needed."""
        return float(self._scan.recipe.noise_floor_db)

    def __call__(self, spectra: Any, *, out: Any = None, stream: Any = None, volume: int = 0, first_b_scan: int = 0) -> Any:
        """Reconstructs one block of whole B-scans to an array of the same library and on the same device as the spectra.

        spectra: [b, a, samples] with at most b_scans B-scans, or one B-scan [a, samples]; repeats as in Scan.shape.
            NumPy or any library with DLPack (PyTorch, CuPy, JAX). Samples of a line and lines of a B-scan must be
            contiguous.
        out: array [b, a, depth] that receives the voxels and is returned; its A-scans must be contiguous
        stream: for arrays on a GPU, the CUDA stream to use: a stream of PyTorch or CuPy, an object with
            __cuda_stream__, or a number as in DLPack (1: legacy default stream, 2: per-thread default stream, larger:
            a handle, -1: none; the spectra are ready, and the call waits for the result). None: the current stream of
            the library of the spectra, or -1 if it is unknown (JAX). With a stream, the call does not wait for the
            GPU.
        volume, first_b_scan: position of the block, for recipes that depend on several B-scans

        Voxels are codes: value = code * scale + offset with scale and offset from grid(). The bits do not depend on the
        block size. Raises BadArgument, DeviceFailed.
        """
        return self._made(spectra, out, None, False, stream, volume, first_b_scan)[0]

    def with_flow(self, spectra: Any, *, out: Any = None, flow_out: Any = None, stream: Any = None, volume: int = 0,
                  first_b_scan: int = 0) -> tuple[Any, Any]:
        """Returns voxels and the flow selected by flow.method; spectra and other arguments as in a call. Flow stored as
        phasors is [b, a, depth, 2].

        out, flow_out: arrays that receive voxels and flow
        stream, volume, first_b_scan: as in a call of __call__()

        Raises BadArgument, DeviceFailed, and BadSetting if flow.method is none.
        """
        structure, flow = self._made(spectra, out, flow_out, True, stream, volume, first_b_scan)
        return structure, flow

    def volume(self, spectra: Any, *, number: int = 0) -> Volume:
        """Reconstructs a whole volume of spectra [b, a, samples] in host memory to a Volume with provenance and, with
        flow.method, its flow. number: number of the volume in a series.
        """
        require_whole(number=number)
        work = self._ready(self._in_native_order(known_array(spectra)))
        provenance = f"{work.provenance()}volume = {int(number)}\n"

        def held(grid: _core.Grid, voxels: Any) -> Volume:
            return Volume(_core.Volume.create(grid, voxels, number=int(number), provenance=provenance))

        if work.flow_grid is None:
            return held(work.grid, self(spectra, volume=number))
        structure, flow = self.with_flow(spectra, volume=number)
        made = held(work.grid, structure)
        made.flow = held(work.flow_grid, flow)
        return made

    def grid(self) -> _core.Grid:
        """Properties of a whole volume: shape, dtype, spacing_um, scale, offset, unit. Raises BadSetting before the
        noise floor is known.
        """
        return self._ready(None).grid

    def _ready(self, spectra: Any) -> _core.Reconstructor:
        if self._is_closed:
            raise BadArgument("is closed", "Reconstructor", "make another")
        if self._core is None:
            if spectra is not None:
                self._scan.recipe.noise_floor_db = _core.measure_noise_floor(self._scan._core, host_copy(spectra))
            self._core = _core.Reconstructor(self._scan._core, self._device)
        return self._core

    def _made(self, spectra: Any, out: Any, flow_out: Any, with_flow: bool, stream: Any, volume: int,
              first_b_scan: int) -> tuple[Any, Any]:
        require_whole(volume=volume, first_b_scan=first_b_scan)
        spectra = self._in_native_order(known_array(spectra))
        out, flow_out = result_array(out, "out"), result_array(flow_out, "flow_out")
        work = self._ready(spectra)
        order = order_of(spectra, stream, work.device)
        if with_flow and work.flow_grid is None:
            raise BadSetting("no flow is computed", "flow.method", 'set it: flow={"method": "doppler"}')
        with order.current():
            if out is None:
                out = empty(spectra, *work.result_of(spectra.shape, False))
            if with_flow and flow_out is None:
                flow_out = empty(spectra, *work.result_of(spectra.shape, True))
        with raising(self._scan._stages):
            work.run(order.lent(spectra, "spectra"), order.lent(out, "out"),
                     order.lent(flow_out, "flow_out") if with_flow else None, volume, first_b_scan, order.sync,
                     order.stream, order.waits, self._scan._stages is None)  # stages see the block as passed
        return out, flow_out

    def _in_native_order(self, spectra: Any) -> Any:
        return in_native_order(spectra, self._scan.scan.byte_order)

    def close(self) -> None:
        """Waits for the current block and releases the device memory, like leaving `with`. It cannot be used
        afterwards.
        """
        core, self._core, self._is_closed = self._core, None, True
        if core is not None:
            core.wait()

    def __enter__(self) -> Reconstructor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Reconstructor of {self._scan!r}, {self.device or self._device}>"
