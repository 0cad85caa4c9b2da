"""python3 -m echolux.cluster SCAN... -o OUT, which `echolux batch` starts; and the commands of cli.py."""
from __future__ import annotations

import argparse
import importlib
import json
import logging
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from ..errors import BadArgument, Error, OutputFailed, Unsupported
from . import cli
from .scheduling import worker
from .scheduling.report import Report

_EXAMPLES = """examples:
  all scans of an archive, on this machine:
    echolux batch '/archive/*/scan.toml' -o /results --recipe octa
  each row of a table with its own settings (columns scan, recipe.window ...), on a running Dask cluster:
    echolux batch scans.csv -o /results --dask tcp://head:8786
  as a Slurm array of 32 tasks with a GPU each:
    echolux batch scans.csv -o /results --slurm 32 --slurm-option=--gres=gpu:1 --require cuda

A job that is started again does only what is missing. docs/scale.md"""


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="echolux batch", allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, epilog=_EXAMPLES,
        description="Reconstruct many scans into one OME-Zarr each: on this machine, on a Dask cluster, or with Slurm")
    made.add_argument("scans", nargs="+", metavar="SCAN", help="scans, patterns, or tables (.csv, .parquet)")
    made.add_argument("-o", "--output", required=True, metavar="FOLDER", help="folder or address (s3://...) of the results")
    made.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override a setting of every scan")
    made.add_argument("--require", choices=["cuda", "cpu"], help="cuda: a GPU must reconstruct; cpu: none is used")
    cli.add_common(made)
    made.add_argument("--part-seconds", type=float, default=10.0, metavar="S", help="how long a part may take [10]")
    made.add_argument("--part-memory", type=int, default=1024, metavar="MIB", help="voxels of a part [1024]")
    made.add_argument("--part-b-scans", type=int, metavar="N", help="B-scans of a part instead, whole shards")
    where = made.add_mutually_exclusive_group()
    where.add_argument("--dask", metavar="ADDRESS", help="of a running scheduler: tcp://host:8786")
    where.add_argument("--slurm", type=int, metavar="TASKS", help="submit an array job of so many tasks")
    where.add_argument("--share", metavar="I/N", help="only every N-th part, from the I-th (counted from 0)")
    made.add_argument("--slurm-option", action="append", default=[], metavar="OPTION", help="for sbatch: --partition=gpu")
    return made


def _sections(pairs: Sequence[str]) -> dict[str, dict[str, str]]:
    """["recipe.window=hann"] as {"recipe": {"window": "hann"}}."""
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


def _client(address: str | None) -> Any:
    if address is None:
        return None
    distributed: Any = importlib.import_module("distributed")
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what matters is told by the job
    try:
        return distributed.Client(address, timeout=20)
    except OSError as error:
        raise Error("no scheduler answers: " + str(error), address, "start one: dask scheduler") from None


def _submit(given: argparse.Namespace, arguments: Sequence[str]) -> None:
    from .scheduling import slurm

    kept, skip = [], False
    for one in arguments:  # all but the words about Slurm, which hold for this call
        if skip:
            skip = False
        elif one in ("--slurm", "--slurm-option"):
            skip = True
        elif not one.startswith(("--slurm=", "--slurm-option=")):
            kept.append(one)
    text = slurm.script(kept, given.output, given.slurm, given.slurm_option)
    path, said = slurm.submit(text, given.output)
    print(f"{path}: {said}")


def _parsed(arguments: Sequence[str]) -> tuple[argparse.Namespace, Callable[[], Report | None]]:
    """What was given, and what is to be done."""
    if arguments and arguments[0] in cli.NAMES:
        given, work = cli.parsed(arguments[0], arguments[1:])
        return given, lambda: work(_client(given.dask))
    given = parser().parse_args(arguments)
    return given, lambda: _reconstructed(given, arguments)


def _reconstructed(given: argparse.Namespace, arguments: Sequence[str]) -> Report | None:
    """None: Slurm will do it."""
    from . import reconstruct

    sections: dict[str, Any] = _sections(given.set)
    if given.slurm is not None:
        if given.slurm < 1:
            raise BadArgument(f"cannot be {given.slurm}", "--slurm", "give the number of tasks")
        _submit(given, arguments)
        return None
    return reconstruct(
        given.scans, given.output, _client(given.dask), require=given.require, workers=given.workers,
        threads=given.threads, part_seconds=given.part_seconds, part_memory=given.part_memory << 20,
        part_b_scans=given.part_b_scans, retries=given.retries, overwrite=given.overwrite, verify=given.verify,
        share=_share(given.share), progress=not (given.quiet or given.json), **sections)


def main(arguments: Sequence[str]) -> int:
    """Exit codes: 0 all is there, 1 something failed, 130 interrupted."""
    worker.claim_process()
    given, work = _parsed(arguments)
    try:
        report = work()
    except KeyboardInterrupt:
        _tell(Error("was interrupted", "", "what is done stays; the same command goes on with the rest"), given.json)
        return 130
    except ModuleNotFoundError as error:
        _tell(Unsupported("is missing", f"the Python package {error.name}", "pip install 'echolux[cluster]'"), given.json)
        return 1
    except Error as error:
        _tell(error, given.json)
        return 1
    except OSError as error:  # a full disk, say
        _tell(OutputFailed(f"cannot be written: {error.strerror or error}", str(error.filename or given.output)), given.json)
        return 1
    if report is None:
        return 0
    if given.json:
        print(json.dumps({**asdict(report), "warnings": []}))
    elif not report.ok:
        print(report, file=sys.stderr)
    elif not given.quiet:
        print(report)
    return 0 if report.ok else 1


def _tell(error: Error, as_json: bool) -> None:
    if as_json:
        facts = {"code": error.code, "what": error.what, "where": error.where, "remedy": error.remedy}
        print(json.dumps({"error": facts}), file=sys.stderr)
    else:
        print(f"echolux: {error}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
