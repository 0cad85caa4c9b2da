"""Commands beside the reconstruction of scans: python3 -m echolux.cluster convert|figures|calibrate|movie ..."""
from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

from .scheduling.report import Report

Parser = argparse.ArgumentParser


def add_common(parser: Parser) -> None:
    parser.add_argument("--workers", type=int, metavar="N", help="processes on this machine [one, or one for each GPU]; "
                        "0: this process alone")
    parser.add_argument("--threads", type=int, metavar="N", help="threads of each worker, on cores of its own [all]")
    parser.add_argument("--retries", type=int, default=2, metavar="N", help="of what failed [2]")
    parser.add_argument("--overwrite", action="store_true", help="replace results of other settings")
    parser.add_argument("--verify", action="store_true", help="compare the check sums of all that is there first")
    parser.add_argument("--quiet", action="store_true", help="say nothing but errors")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of words")


def _common(given: argparse.Namespace) -> dict[str, Any]:
    return {**{key: getattr(given, key) for key in ("workers", "threads", "retries", "overwrite", "verify")},
            "progress": not (given.quiet or given.json)}


def _add_files(parser: Parser, what: str) -> None:
    parser.add_argument("files", nargs="+", metavar=what, help="files or patterns")
    parser.add_argument("-o", "--output", required=True, metavar="FOLDER", help="folder or address (s3://...) of the results")


def _add_convert(parser: Parser) -> None:
    _add_files(parser, "VOLUME")
    parser.add_argument("--ending", required=True, help="decides the format: .nrrd, .nii.gz, .ome.zarr ...")
    parser.add_argument("--voxel", help="type of the voxels: u8, u16, f32 ... [as they are]")
    parser.add_argument("--low", type=float, help="value of the lowest code of an integer type [the least there is]")
    parser.add_argument("--high", type=float, help="value of the highest code [the greatest there is]")


def _convert(given: argparse.Namespace, client: Any) -> Report:
    from .api import convert

    return convert(given.files, given.output, given.ending, client, voxel=given.voxel, low=given.low, high=given.high,
                   **_common(given))


def _add_figures(parser: Parser) -> None:
    _add_files(parser, "VOLUME")
    parser.add_argument("--plane", default="b-scan", choices=["b-scan", "side", "en-face", "volume"], help="[b-scan]")
    parser.add_argument("--index", type=int, metavar="N", help="which of them [the middle one]")
    parser.add_argument("--ending", default=".png", choices=[".png", ".pdf", ".svg"], help="[.png]")
    parser.add_argument("--dpi", type=float, default=150, help="[150]")


def _figures(given: argparse.Namespace, client: Any) -> Report:
    from .api import figures

    return figures(given.files, given.output, client, plane=given.plane, index=given.index, ending=given.ending, dpi=given.dpi,
                   **_common(given))


def _add_calibrate(parser: Parser) -> None:
    _add_files(parser, "SCAN")
    parser.add_argument("--what", default="dispersion", choices=["dispersion", "noise_floor"], help="[dispersion]")
    parser.add_argument("--b-scans", type=int, nargs=2, default=(0, 8), metavar=("A", "B"), help="that are looked at [0 8]")


def _calibrate(given: argparse.Namespace, client: Any) -> Report:
    from .api import calibrate

    return calibrate(given.files, given.output, given.what, client, b_scans=tuple(given.b_scans), **_common(given))


def _add_movie(parser: Parser) -> None:
    parser.add_argument("files", metavar="FILE", help="a volume, a series, a scan")
    parser.add_argument("-o", "--output", required=True, metavar="MOVIE", help="file or address (s3://...): .mp4, .webm, .gif ...")
    parser.add_argument("--motion", help="turntable, time, sweep, a file of key frames, several joined by +")
    parser.add_argument("--frames", type=int, default=0, metavar="N")
    parser.add_argument("--seconds", type=float, default=0, metavar="S")
    parser.add_argument("--fps", default="", metavar="N", help="[30]")
    parser.add_argument("--part-frames", type=int, default=30, metavar="N", help="pictures that a worker draws at a time [30]")
    parser.add_argument("--view", action="append", default=[], metavar="KEY=VALUE", help="setting of the pictures: mode=mip")


def _movie(given: argparse.Namespace, client: Any) -> Report:
    from .api import movie

    view = dict(one.partition("=")[::2] for one in given.view)
    return movie(given.output, given.files, client, motion=given.motion, frames=given.frames, seconds=given.seconds,
                 fps=given.fps, part_frames=given.part_frames, **_common(given), **view)


_VERBS: dict[str, tuple[str, Callable[[Parser], None], Callable[[argparse.Namespace, Any], Report]]] = {
    "convert": ("Convert many volumes", _add_convert, _convert),
    "figures": ("Draw a figure of each of many volumes", _add_figures, _figures),
    "calibrate": ("Find the calibration of many scans, as a table that reconstructs them", _add_calibrate, _calibrate),
    "movie": ("Make a movie whose pictures are shared among workers", _add_movie, _movie)}
NAMES = tuple(_VERBS)


def parsed(name: str, arguments: Sequence[str]) -> tuple[argparse.Namespace, Callable[[Any], Report]]:
    """What was given, and what is done with it on a client."""
    description, add, work = _VERBS[name]
    parser = Parser(prog=f"python3 -m echolux.cluster {name}", allow_abbrev=False, description=description)
    add(parser)
    add_common(parser)
    parser.add_argument("--dask", metavar="ADDRESS", help="of a running scheduler: tcp://host:8786")
    given = parser.parse_args(arguments)
    return given, lambda client: work(given, client)
