"""The command `echolux batch`, also echolux-batch and python3 -m echolux.cluster: [VERB] FILE... -o OUT. Options have the
names of the arguments of the functions in api.py, which also set their defaults.
"""
from __future__ import annotations

import argparse
import difflib
import importlib
import json
import logging
import os
import runpy
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NoReturn

from ..errors import BadArgument, Error, OutputFailed, Unsupported
from . import api, slurm, worker
from .inputs import list_scans
from .report import Incomplete, Report

Values = dict[str, Any]
Option = tuple[tuple[str, ...], Values]  # arguments of add_argument()

_DEFAULT = "reconstruct"
_EXAMPLES = """examples:
  all scans of an archive, on this machine:
    echolux batch '/archive/*/scan.toml' -o /results
  each row of a table with its own settings (columns scan, recipe.window ...), on a running Dask cluster:
    echolux batch scans.csv -o /results --dask tcp://head:8786
  as a Slurm array of 32 tasks with a GPU each:
    echolux batch scans.csv -o /results --slurm 32 --slurm-option=--gres=gpu:1 --require cuda
  volumes in another format:
    echolux batch convert '/results/*/*.ome.zarr' -o /nifti --ending .nii.gz

A job that is started again does only what is missing. docs/scale.md"""


def _option(*names: str, **more: Any) -> Option:
    if "choices" in more:
        more.setdefault("metavar", "|".join(more["choices"]))
    return names, more


_COMMON = [
    _option("--workers", type=int, metavar="N", help="processes on this machine [one, or one for each GPU]; 0: this process alone"),
    _option("--threads", type=int, metavar="N", help="threads of each worker, on cores of its own [all]"),
    _option("--retries", type=int, metavar="N", help="times that a failed part is tried again [2]"),
    _option("--overwrite", action="store_true", help="replace results of other settings"),
    _option("--verify", action="store_true", help="compare the checksums of existing results first"),
    _option("--quiet", action="store_true", help="print only errors"),
    _option("--json", action="store_true", help="one JSON object instead of words")]
_OUT = _option("-o", "--output", dest="out", required=True, metavar="FOLDER", help="folder or address (s3://...) of the results")
_SCANS = _option("scans", nargs="+", metavar="SCAN", help="scans, patterns in quotes, or tables (.csv, .parquet) with settings in each row")
_VOLUMES = _option("volumes", nargs="+", metavar="VOLUME", help="files or patterns")
_SETTINGS = [
    _option("--set", action="append", metavar="KEY=VALUE", help="override a setting of every scan"),
    _option("--require", choices=["cuda", "cpu"], help="cuda: only workers with a GPU take part; cpu: no GPU is used")]
_RECONSTRUCT = [
    _SCANS, _OUT, *_SETTINGS,
    _option("--part-seconds", type=float, metavar="S", help="seconds that a part may take [10]"),
    _option("--part-memory", type=int, metavar="MIB", help="MiB of voxels that a part may have [1024]"),
    _option("--part-b-scans", type=int, metavar="N", help="B-scans of a part instead of these two: whole shards")]
_DASK = _option("--dask", metavar="ADDRESS", help="scheduler of a running Dask cluster: tcp://host:8786")
_SHARED = [
    _option("--slurm", type=int, metavar="TASKS", help="submit an array job of this many tasks"),
    _option("--share", metavar="I/N", help="only every N-th part, from the I-th (counted from 0)")]
_SLURM_OPTION = _option("--slurm-option", action="append", metavar="OPTION", help="option handed to sbatch: "
                        "--slurm-option=--partition=gpu; may be repeated")


# ---- values of options that are not arguments of the function

def _sections(pairs: Sequence[str]) -> Values:
    """Converts ["recipe.window=hann"] to {"recipe": {"window": "hann"}}."""
    sections: Values = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        section, dot, name = key.partition(".")
        if not (equals and dot and name):
            raise BadArgument(f'cannot be "{pair}"', "--set", "write section.key=value")
        sections.setdefault(section, {})[name] = value
    return sections


def _reconstruct(values: Values) -> Report:
    if "share" in values:
        index, _, of = values["share"].partition("/")
        if not (index.isdigit() and of.isdigit()):
            raise BadArgument(f'cannot be "{values["share"]}"', "--share", "write 0/4 for the first of four")
        values["share"] = int(index), int(of)
    if "part_memory" in values:
        values["part_memory"] <<= 20
    _require_folder(values["out"])
    return api.reconstruct(**_sections(values.pop("set", [])), **values)


def _require_folder(out: str) -> None:
    """Does not create parents: an unmounted disk would fill the one below it."""
    above = os.path.dirname(os.path.abspath(out))
    if "://" in out or "::" in out:
        return
    if os.path.exists(out) and not os.path.isdir(out):
        raise OutputFailed("is not a folder", out, "name a folder for the results")
    if not os.path.exists(above):
        raise OutputFailed(f"there is no folder {above}", out, "create it, or mount the disk")


def _flow(values: Values) -> Report:
    method = values.pop("method", "doppler")
    values["set"] = [f"flow.method={method}", *values.get("set", [])]
    return _reconstruct(values)


def _calibrate(values: Values) -> Report:
    sections = _sections(values.pop("set", []))
    for section in sections:
        if section != "recipe":
            raise BadArgument(f"cannot set {section}", "--set", "give recipe.key=value")
    return api.calibrate(**sections, **values)


def _movie(values: Values) -> Report:
    return api.movie(**dict(one.partition("=")[::2] for one in values.pop("view", [])), **values)


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


def _map(values: Values) -> Report:
    """Reports the path of each volume with the function's return value."""
    sys.path.insert(0, os.getcwd())
    files = list_scans(values["volumes"], must_differ="out" in values)
    values.setdefault("retries", 2)
    report = Report("volume", len(files))
    try:
        results = api.map(**{**values, "function": _function(values["function"]), "volumes": [one.path for one in files]})
    except Incomplete as error:
        results, report.failures = error.results, error.failures
    failed = {one.scan for one in report.failures}
    report.finished = len(files) - len(failed)
    plain = json.loads(json.dumps(results, default=lambda value: value.tolist() if hasattr(value, "tolist") else repr(value)))
    report.results = {file.path: result for file, result in zip(files, plain) if file.path not in failed}
    return report


@dataclass(frozen=True)
class Verb:
    """description: one line for the help; run: calls the function with the given options; is_shared: Slurm can divide it
    into tasks.
    """

    description: str
    run: Callable[[Values], Report]
    options: list[Option]
    is_shared: bool = False


VERBS = {
    "reconstruct": Verb("Reconstruct many scans into one OME-Zarr each; the default", _reconstruct, _RECONSTRUCT, True),
    "flow": Verb("Reconstruct many scans with their flow, a second OME-Zarr each", _flow, [
        *_RECONSTRUCT, _option("--method", help="flow.method: doppler, omag, decorrelation ... [doppler]")], True),
    "calibrate": Verb("Find the calibration of many scans, as a table that reconstructs them", _calibrate, [
        _SCANS, _OUT, *_SETTINGS,
        _option("--what", choices=["dispersion", "noise_floor"], help="the calibration [dispersion]"),
        _option("--b-scans", type=int, nargs=2, metavar=("A", "B"), help="positions that are used, B not included [0 8]")]),
    "convert": Verb("Convert many volumes", lambda values: api.convert(**values), [
        _VOLUMES, _OUT,
        _option("--ending", required=True, help="decides the format: .nrrd, .nii.gz, .ome.zarr ..."),
        _option("--voxel", help="type of the voxels: u8, u16, f32 ... [unchanged]"),
        _option("--low", type=float, help="value of the lowest code of an integer type [the minimum]"),
        _option("--high", type=float, help="value of the highest code [the maximum]")]),
    "figures": Verb("Draw a figure of each of many volumes", lambda values: api.figures(**values), [
        _VOLUMES, _OUT,
        _option("--plane", choices=["b-scan", "side", "en-face", "volume"], help="the section; volume: a picture in space [b-scan]"),
        _option("--index", type=int, metavar="N", help="index of the section [the middle one]"),
        _option("--ending", choices=[".png", ".pdf", ".svg"], help="decides the format [.png]"),
        _option("--dpi", type=float, help="pixels per inch [150]")]),
    "movie": Verb("Make a movie whose pictures are shared among workers", _movie, [
        _option("shown", metavar="FILE", help="a volume, a series, a scan"),
        _option("-o", "--output", dest="path", required=True, metavar="MOVIE", help="file or address (s3://...): .mp4, .webm, .gif ..."),
        _option("--motion", help="turntable, time, sweep, a file of key frames, several joined by +"),
        _option("--frames", type=int, metavar="N", help="number of pictures"),
        _option("--seconds", type=float, metavar="S", help="length"),
        _option("--fps", metavar="N", help="pictures per second [30]"),
        _option("--part-frames", type=int, metavar="N", help="pictures that a worker draws at a time [30]"),
        _option("--view", action="append", metavar="KEY=VALUE", help="setting of the pictures: mode=mip")]),
    "map": Verb("Apply a function of yours to many volumes", _map, [
        _option("function", metavar="FUNCTION", help="file.py:name or module:name; takes a volume and returns a number, a text, a list, "
                "a dictionary or an array"),
        _VOLUMES, _option("-o", "--output", dest="out", metavar="FOLDER", help="folder or address in which results are kept")])}


# ---- the command line

class _Parser(argparse.ArgumentParser):
    is_json = False

    def error(self, message: str) -> NoReturn:
        """Prints one line and exits with 2."""
        _print_error("usage", message, "", f"see {self.prog} --help", self.is_json)
        self.exit(2)

    def values(self, arguments: Sequence[str]) -> Values:
        given, unknown = self.parse_known_args(arguments)
        if unknown:
            name = unknown[0].partition("=")[0]
            near = difflib.get_close_matches(name, self._option_string_actions, 1)
            self.error(f"unexpected: {name}" + (f", did you mean {near[0]}?" if near else ""))
        return vars(given)


def _parser(name: str, verb: Verb) -> _Parser:
    words: Values = {"description": verb.description, "prog": f"echolux batch {name}"}
    if name == _DEFAULT:
        verbs = "\n".join(f"  {one:12} {other.description}" for one, other in VERBS.items())
        words = {"description": f"{verb.description}.\n\nverbs (echolux batch VERB --help):\n{verbs}",
                 "prog": "echolux batch", "usage": "echolux batch [VERB] FILE... -o OUT [options]", "epilog": _EXAMPLES}
    parser = _Parser(allow_abbrev=False, argument_default=argparse.SUPPRESS, formatter_class=argparse.RawDescriptionHelpFormatter, **words)
    for names, more in [*verb.options, *_COMMON, *([_SLURM_OPTION] if verb.is_shared else [])]:
        parser.add_argument(*names, **more)
    where = parser.add_mutually_exclusive_group()
    for names, more in [_DASK, *(_SHARED if verb.is_shared else [])]:
        where.add_argument(*names, **more)
    return parser


def _client(address: str) -> Any:
    distributed: Any = importlib.import_module("distributed")
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # the job reports what matters
    try:
        return distributed.Client(address, timeout=20)
    except OSError as error:
        raise Error("no scheduler answers: " + str(error), address, "start one: dask scheduler") from None


def _run(name: str, arguments: Sequence[str], values: Values) -> int:
    is_json, is_quiet = values.pop("json", False), values.pop("quiet", False)
    slurm_options = values.pop("slurm_option", [])
    if "slurm" in values:
        print(slurm.submit([name, *arguments], values["out"], values["slurm"], slurm_options))
        return 0
    values["client"] = _client(values.pop("dask")) if "dask" in values else None
    report = VERBS[name].run({**values, "progress": not (is_quiet or is_json)})
    if is_json:
        print(json.dumps({**asdict(report), "warnings": []}))
        return 0 if report.ok else 1
    for path, result in report.results.items():
        print(f"{path}\t{json.dumps(result)}")
    if not report.ok:
        print(report, file=sys.stderr)
    elif not is_quiet and not report.results:
        print(report)
    return 0 if report.ok else 1


def _print_error(code: str, what: str, where: str, remedy: str, is_json: bool) -> None:
    if is_json:
        print(json.dumps({"error": {"code": code, "what": what, "where": where, "remedy": remedy}}), file=sys.stderr)
    else:
        print(f"echolux: {Error(what, where, remedy)}", file=sys.stderr)


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit codes: 0 everything is complete, 1 something failed, 2 the command line is invalid, 130 interrupted."""
    worker.claim_process()
    given = sys.argv[1:] if arguments is None else list(arguments)
    name, *rest = given if given and given[0] in VERBS else (_DEFAULT, *given)
    parser = _parser(name, VERBS[name])
    parser.is_json = "--json" in rest
    values = parser.values(rest)
    code = 1
    try:
        return _run(name, rest, dict(values))
    except KeyboardInterrupt:
        error, code = Error("was interrupted", "", "finished parts are kept; run the same command again to continue"), 130
    except ModuleNotFoundError as missing:
        error = Unsupported("is missing", f"the Python package {missing.name}", "pip install 'echolux[cluster]'")
    except Error as problem:
        error = problem
    except OSError as problem:  # such as a full disk
        error = OutputFailed(f"cannot be written: {problem.strerror or problem}", str(problem.filename or values.get("out", values.get("path"))))
    _print_error(error.code, error.what, error.where, error.remedy, parser.is_json)
    return code
