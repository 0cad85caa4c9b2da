"""Verbs of the command: each adds its options to a parser and calls the function of the same name in api.py."""
from __future__ import annotations

import argparse
import importlib
import json
import os
import runpy
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import BadArgument
from . import api
from .scheduling.report import Incomplete, Report

Parser = argparse.ArgumentParser
Given = argparse.Namespace


@dataclass(frozen=True)
class Verb:
    """description: one line for the help; add: adds its options; run: runs it on a Dask client (or None); is_shared:
    Slurm can divide it into tasks.
    """

    description: str
    add: Callable[[Parser], None]
    run: Callable[[Given, Any], Report]
    is_shared: bool = False


def add_common(parser: Parser) -> None:
    parser.add_argument("--workers", type=int, metavar="N", help="processes on this machine [one, or one for each GPU]; "
                        "0: this process alone")
    parser.add_argument("--threads", type=int, metavar="N", help="threads of each worker, on cores of its own [all]")
    parser.add_argument("--retries", type=int, default=2, metavar="N", help="more tries of what failed [2]")
    parser.add_argument("--overwrite", action="store_true", help="replace results of other settings")
    parser.add_argument("--verify", action="store_true", help="compare the checksums of all that is there first")
    parser.add_argument("--quiet", action="store_true", help="say nothing but errors")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of words")


def add_places(parser: Parser, *, is_shared: bool) -> None:
    """Options for where the work is done."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--dask", metavar="ADDRESS", help="scheduler of a running Dask cluster: tcp://host:8786")
    if is_shared:
        where.add_argument("--slurm", type=int, metavar="TASKS", help="submit an array job of so many tasks")
        where.add_argument("--share", metavar="I/N", help="only every N-th part, from the I-th (counted from 0)")
        parser.add_argument("--slurm-option", action="append", default=[], metavar="OPTION", help="option handed to sbatch: "
                            "--slurm-option=--partition=gpu; may be repeated")


def _common(given: Given) -> dict[str, Any]:
    return {**{key: getattr(given, key) for key in ("workers", "threads", "retries", "overwrite", "verify")},
            "progress": not (given.quiet or given.json)}


def _add_files(parser: Parser, what: str, words: str) -> None:
    parser.add_argument("files", nargs="+", metavar=what, help=words)
    parser.add_argument("-o", "--output", required=True, metavar="FOLDER", help="folder or address (s3://...) of the results")


def _add_settings(parser: Parser) -> None:
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override a setting of every scan")
    parser.add_argument("--require", choices=["cuda", "cpu"], help="cuda: only workers with a GPU take part; cpu: no GPU is used")


def _sections(pairs: Sequence[str]) -> dict[str, dict[str, str]]:
    """Converts ["recipe.window=hann"] to {"recipe": {"window": "hann"}}."""
    sections: dict[str, dict[str, str]] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        section, dot, name = key.partition(".")
        if not (equals and dot and name):
            raise BadArgument(f'cannot be "{pair}"', "--set", "write section.key=value")
        sections.setdefault(section, {})[name] = value
    return sections


def _share(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    index, _, of = text.partition("/")
    if not (index.isdigit() and of.isdigit()):
        raise BadArgument(f'cannot be "{text}"', "--share", "write 0/4 for the first of four")
    return int(index), int(of)


# ---- scans

def _add_reconstruct(parser: Parser) -> None:
    _add_files(parser, "SCAN", "scans, patterns in quotes, or tables (.csv, .parquet) with settings in each row")
    _add_settings(parser)
    parser.add_argument("--part-seconds", type=float, default=10.0, metavar="S", help="seconds that a part may take [10]")
    parser.add_argument("--part-memory", type=int, default=1024, metavar="MIB", help="MiB of voxels that a part may have [1024]")
    parser.add_argument("--part-b-scans", type=int, metavar="N", help="B-scans of a part instead of these two: whole shards")


def _reconstruct(given: Given, client: Any, **settings: dict[str, str]) -> Report:
    sections: dict[str, Any] = _sections(given.set)
    for section, values in settings.items():
        sections[section] = {**values, **sections.get(section, {})}
    return api.reconstruct(given.files, given.output, client, require=given.require, part_seconds=given.part_seconds,
                           part_memory=given.part_memory << 20, part_b_scans=given.part_b_scans, share=_share(given.share),
                           **_common(given), **sections)


def _add_flow(parser: Parser) -> None:
    _add_reconstruct(parser)
    parser.add_argument("--method", default="doppler", help="flow.method: doppler, omag, decorrelation ... [doppler]")


def _flow(given: Given, client: Any) -> Report:
    return _reconstruct(given, client, flow={"method": given.method})


def _add_calibrate(parser: Parser) -> None:
    _add_files(parser, "SCAN", "scans, patterns in quotes, or tables")
    _add_settings(parser)
    parser.add_argument("--what", default="dispersion", choices=["dispersion", "noise_floor"], help="what is found: dispersion or noise_floor [dispersion]")
    parser.add_argument("--b-scans", type=int, nargs=2, default=(0, 8), metavar=("A", "B"), help="positions that are looked at, B not included [0 8]")


def _calibrate(given: Given, client: Any) -> Report:
    sections = _sections(given.set)
    for section in sections:
        if section != "recipe":
            raise BadArgument(f"cannot set {section}", "--set", "give recipe.key=value")
    return api.calibrate(given.files, given.output, given.what, client, b_scans=tuple(given.b_scans), require=given.require,
                         recipe=sections.get("recipe"), **_common(given))


# ---- volumes

def _add_convert(parser: Parser) -> None:
    _add_files(parser, "VOLUME", "files or patterns")
    parser.add_argument("--ending", required=True, help="decides the format: .nrrd, .nii.gz, .ome.zarr ...")
    parser.add_argument("--voxel", help="type of the voxels: u8, u16, f32 ... [as they are]")
    parser.add_argument("--low", type=float, help="value of the lowest code of an integer type [the minimum]")
    parser.add_argument("--high", type=float, help="value of the highest code [the maximum]")


def _convert(given: Given, client: Any) -> Report:
    return api.convert(given.files, given.output, given.ending, client, voxel=given.voxel, low=given.low, high=given.high,
                       **_common(given))


def _add_figures(parser: Parser) -> None:
    _add_files(parser, "VOLUME", "files or patterns")
    parser.add_argument("--plane", default="b-scan", choices=["b-scan", "side", "en-face", "volume"],
                        help="which section; volume: a picture in space [b-scan]")
    parser.add_argument("--index", type=int, metavar="N", help="which section [the middle one]")
    parser.add_argument("--ending", default=".png", choices=[".png", ".pdf", ".svg"], help="decides the format [.png]")
    parser.add_argument("--dpi", type=float, default=150, help="pixels an inch [150]")


def _figures(given: Given, client: Any) -> Report:
    return api.figures(given.files, given.output, client, plane=given.plane, index=given.index, ending=given.ending, dpi=given.dpi,
                       **_common(given))


def _add_movie(parser: Parser) -> None:
    parser.add_argument("files", metavar="FILE", help="a volume, a series, a scan")
    parser.add_argument("-o", "--output", required=True, metavar="MOVIE", help="file or address (s3://...): .mp4, .webm, .gif ...")
    parser.add_argument("--motion", help="turntable, time, sweep, a file of key frames, several joined by +")
    parser.add_argument("--frames", type=int, default=0, metavar="N", help="number of pictures")
    parser.add_argument("--seconds", type=float, default=0, metavar="S", help="length")
    parser.add_argument("--fps", default="", metavar="N", help="pictures a second [30]")
    parser.add_argument("--part-frames", type=int, default=30, metavar="N", help="pictures that a worker draws at a time [30]")
    parser.add_argument("--view", action="append", default=[], metavar="KEY=VALUE", help="setting of the pictures: mode=mip")


def _movie(given: Given, client: Any) -> Report:
    view = dict(one.partition("=")[::2] for one in given.view)
    return api.movie(given.output, given.files, client, motion=given.motion, frames=given.frames, seconds=given.seconds,
                     fps=given.fps, part_frames=given.part_frames, **_common(given), **view)


def _add_map(parser: Parser) -> None:
    parser.add_argument("function", metavar="FUNCTION", help="file.py:name or module:name; takes a volume and returns a number, "
                        "a text, a list, a dictionary or an array")
    parser.add_argument("files", nargs="+", metavar="VOLUME", help="files or patterns")
    parser.add_argument("-o", "--output", metavar="FOLDER", help="folder or address in which results are kept")


def _function(text: str) -> Callable[[Any], Any]:
    place, colon, name = text.rpartition(":")
    try:
        if not colon:
            raise AttributeError
        found = runpy.run_path(place)[name] if place.endswith(".py") else getattr(importlib.import_module(place), name)
    except (OSError, ImportError, AttributeError, KeyError):
        raise BadArgument("names no function", text, "write file.py:name or module:name") from None
    if not callable(found):
        raise BadArgument("is no function", text, "write file.py:name or module:name")
    function: Callable[[Any], Any] = found
    return function


def _map(given: Given, client: Any) -> Report:
    """Prints one line per volume: its path and the function's return value as JSON."""
    from .scan_list import list_scans

    sys.path.insert(0, os.getcwd())
    files = list_scans(given.files, must_differ=given.output is not None)
    report = Report("volume", len(files))
    try:
        results = api.map(_function(given.function), [one.path for one in files], client, out=given.output, **_common(given))
    except Incomplete as error:
        results, report.failures = error.results, error.failures
    failed = {one.scan for one in report.failures}
    report.finished = len(files) - len(failed)
    report.results = {file.path: _as_json(result) for file, result in zip(files, results) if file.path not in failed}
    return report


def _as_json(result: Any) -> Any:
    return json.loads(json.dumps(result, default=lambda value: value.tolist() if hasattr(value, "tolist") else repr(value)))


VERBS = {
    "reconstruct": Verb("Reconstruct many scans into one OME-Zarr each; the default", _add_reconstruct, _reconstruct, True),
    "flow": Verb("Reconstruct many scans with their flow, a second OME-Zarr each", _add_flow, _flow, True),
    "calibrate": Verb("Find the calibration of many scans, as a table that reconstructs them", _add_calibrate, _calibrate),
    "convert": Verb("Convert many volumes", _add_convert, _convert),
    "figures": Verb("Draw a figure of each of many volumes", _add_figures, _figures),
    "movie": Verb("Make a movie whose pictures are shared among workers", _add_movie, _movie),
    "map": Verb("Apply a function of yours to many volumes", _add_map, _map)}
