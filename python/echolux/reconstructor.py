"""The reconstructor: arrays of spectra in, arrays of voxels out, in the library and on the device that they come from."""
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
    """Spectra [b, a, samples] to voxels [b, a, depth].

        make = ox.Reconstructor(samples=1024, a_scans=512, b_scans=64, recipe={"window": "hann"})
        voxels = make(spectra)

    scan: how spectra are arranged and what to do with them, as it is now; or, without a scan,
    samples, a_scans, b_scans: of a spectrum, a B-scan and a volume
    sample_format: "u8", "u16", "u32", "i16", "f32" or "packed12"; arrays of samples have the type that this says, packed
        ones are bytes (uint8)
    device: "auto" (the CPU where no GPU can be used), "cpu", "cuda", or one of several GPUs: "cuda:1"
    settings: by section, as recipe={"window": "hann"}; those of [calibration] may be arrays, as
        calibration={"k_positions": array}

    A recipe whose levels count from the noise floor needs that; where recipe.noise_floor_db leaves it open and the scan has
    no file, it is measured from the spectra of the first call, and stays.

    One object works for one thread at a time; others wait. Leaving a `with` statement, or close(), waits for the block in
    hand and gives the device's memory back. Raises BadSetting, DeviceFailed, OutOfMemory.
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
            self._scan = copy.copy(scan)  # as it is now, and the noise floor is not set in the caller's

    @property
    def device(self) -> str:
        """Where it works, and why not on a GPU: "cpu (2 threads, AVX2)". Empty before a noise floor that is open is known."""
        return "" if self._core is None else self._core.device

    @property
    def noise_floor_db(self) -> float:
        """What counts as 0 dB; 0 where it is not known yet, or not needed."""
        return float(self._scan.recipe.noise_floor_db)

    def __call__(self, spectra: Any, *, out: Any = None, stream: Any = None, volume: int = 0, first_b_scan: int = 0) -> Any:
        """The voxels of a block of whole B-scans, as an array of the library and on the device that the spectra are of.

        spectra: [b, a, samples] with at most b_scans B-scans, or one B-scan [a, samples]; with repeats as Scan.shape says.
            NumPy, or any library that speaks DLPack (PyTorch, CuPy, JAX). Samples of a line, and lines of a B-scan, lie
            without gaps in memory.
        out: array [b, a, depth] that receives the voxels, and is returned; its A-scans lie without gaps
        stream: for arrays on a GPU, the CUDA stream to work on: a stream of PyTorch or CuPy, an object with
            __cuda_stream__, or a number as in DLPack (1: the legacy default stream, 2: the per-thread one, more: a handle;
            -1: none, everything is ready now, and done when the call returns). None: the current stream of the library
            that the spectra are of; where that is not known (JAX), as -1. On a stream the call does not wait for the GPU.
        volume, first_b_scan: where the block belongs, for recipes that look at several B-scans

        The voxels are codes: value = code * scale + offset with the scale and offset of grid(). They are the same bits for
        any size of blocks. Raises BadArgument, DeviceFailed.
        """
        return self._made(spectra, out, None, False, stream, volume, first_b_scan)[0]

    def with_flow(self, spectra: Any, *, out: Any = None, flow_out: Any = None, stream: Any = None, volume: int = 0,
                  first_b_scan: int = 0) -> tuple[Any, Any]:
        """Voxels and flow, which flow.method says: spectra and all else as of a call. Flow that is stored as phasors is
        [b, a, depth, 2].

        out, flow_out: arrays that receive voxels and flow
        stream, volume, first_b_scan: as of a call

        Raises BadArgument, BadSetting where flow.method is none, DeviceFailed.
        """
        structure, flow = self._made(spectra, out, flow_out, True, stream, volume, first_b_scan)
        return structure, flow

    def volume(self, spectra: Any, *, number: int = 0) -> Volume:
        """A whole volume of spectra [b, a, samples] in host memory as a Volume that knows how it was made, with its flow where
        flow.method says so. number: which volume of several this is."""
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
        """Of a whole volume: shape, dtype, spacing_um, scale, offset, unit. BadSetting before the noise floor is known."""
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
                     order.stream, order.waits, self._scan._stages is None)  # a stage sees the block that was given
        return out, flow_out

    def _in_native_order(self, spectra: Any) -> Any:
        return in_native_order(spectra, self._scan.scan.byte_order)

    def close(self) -> None:
        """Waits for the block in hand and gives the memory of the device back, as leaving `with` does. It takes no more."""
        core, self._core, self._is_closed = self._core, None, True
        if core is not None:
            core.wait()

    def __enter__(self) -> Reconstructor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Reconstructor of {self._scan!r}, {self.device or self._device}>"
