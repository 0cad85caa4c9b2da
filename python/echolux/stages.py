"""Stages: Python functions in the pipeline, on spectra, depth bins or voxels."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, Union

from .errors import BadArgument, Cancelled

Stage = Callable[..., Any]


class Place(NamedTuple):
    """Position of the array passed to a stage.

    volume: number within its scan or source; first_b_scan: position in the volume of the array's first B-scan
    scale, offset: value = element * scale + offset; values of bins are in counts
    """

    volume: int
    first_b_scan: int
    scale: float
    offset: float


class Stages:
    """Callables for the stages spectra, bins and voxels; see Scan.set_stages(). If the second parameter of a callable
    has no default or is named place, it also receives the Place of its array.
    """

    def __init__(self, spectra: Stage | None = None, bins: Stage | None = None, voxels: Stage | None = None) -> None:
        self.spectra, self.bins, self.voxels = spectra, bins, voxels
        self._wants_place = {name: _wants_place(name, getattr(self, name)) for name in ("spectra", "bins", "voxels")}
        self._raised: BaseException | None = None

    def __bool__(self) -> bool:
        return any((self.spectra, self.bins, self.voxels))

    def _call(self, name: str, array: Any, volume: int, first_b_scan: int, scale: float, offset: float) -> bool:
        """Called by the extension module; False ends the work."""
        stage = getattr(self, name)
        try:
            if self._wants_place[name]:
                result = stage(array, Place(volume, first_b_scan, scale, offset))
            else:
                result = stage(array)
            if result is not None and result is not array:
                array[...] = result
        except BaseException as error:
            self._raised = error
            return False
        return True

    def _kept(self, name: str) -> None:
        self._raised = BadArgument(f"the stage on {name} kept the array that it was lent, whose memory is reused", name,
                                   "keep a copy: array.copy()")

    def take_raised(self) -> BaseException | None:
        """Returns the exception raised by a stage since the last call."""
        raised, self._raised = self._raised, None
        return raised


def _wants_place(name: str, stage: Any) -> bool:
    if stage is None:
        return False
    if not callable(stage):
        raise BadArgument("is not callable", f"stages, {name}", "give a function of an array")
    import inspect

    try:
        parameters = list(inspect.signature(stage).parameters.values())
    except (TypeError, ValueError):  # its signature is unknown
        return False
    by_place = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    return len(by_place) > 1 and (by_place[1].name == "place" or by_place[1].default is inspect.Parameter.empty)


StagesLike = Union[Stages, Mapping[str, Stage], None]


def stages_from(given: StagesLike) -> Stages | None:
    """Converts {"spectra": function, "bins": ..., "voxels": ...} to Stages."""
    if given is None or isinstance(given, Stages):
        return given or None
    unknown = set(given) - {"spectra", "bins", "voxels"}
    if unknown:
        raise BadArgument(f"there is no stage on {sorted(unknown)[0]}", "stages", "spectra, bins or voxels")
    return Stages(**given) or None


@contextmanager
def raising(stages: Stages | None) -> Iterator[None]:
    """If a stage ended the work, raises the exception of the stage."""
    try:
        yield
    except Cancelled:
        raised = stages.take_raised() if stages else None
        if raised is not None:
            raise raised from None
        raise
