"""The command `echolux batch`, also python3 -m echolux.cluster: [VERB] FILE... -o OUT."""
from __future__ import annotations

import argparse
import importlib
import json
import logging
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ..errors import BadArgument, Error, OutputFailed, Unsupported
from .scheduling import slurm, worker
from .scheduling.report import Report
from .verbs import VERBS, Verb, add_common, add_places

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


def _parser(name: str, verb: Verb) -> argparse.ArgumentParser:
    words = {"description": verb.description, "prog": f"echolux batch {name}"}
    if name == _DEFAULT:
        verbs = "\n".join(f"  {one:12} {other.description}" for one, other in VERBS.items())
        words = {"description": f"{verb.description}.\n\nverbs (echolux batch VERB --help):\n{verbs}",
                 "prog": "echolux batch", "usage": "echolux batch [VERB] FILE... -o OUT [options]", "epilog": _EXAMPLES}
    parser = argparse.ArgumentParser(allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **words)  # type: ignore[arg-type]
    verb.add(parser)
    add_common(parser)
    add_places(parser, is_shared=verb.is_shared)
    return parser


def _client(address: str | None) -> Any:
    if address is None:
        return None
    distributed: Any = importlib.import_module("distributed")
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # the job reports what matters
    try:
        return distributed.Client(address, timeout=20)
    except OSError as error:
        raise Error("no scheduler answers: " + str(error), address, "start one: dask scheduler") from None


def _submit(name: str, given: argparse.Namespace, arguments: Sequence[str]) -> None:
    """Submits a Slurm array job whose tasks receive all arguments except those about Slurm."""
    if given.slurm < 1:
        raise BadArgument(f"cannot be {given.slurm}", "--slurm", "give the number of tasks")
    kept, skip = [], False
    for one in arguments:
        if skip:
            skip = False
        elif one in ("--slurm", "--slurm-option"):
            skip = True
        elif not one.startswith(("--slurm=", "--slurm-option=")):
            kept.append(one)
    text = slurm.script([name, *kept], given.output, given.slurm, given.slurm_option)
    path, said = slurm.submit(text, given.output)
    print(f"{path}: {said}")


def _run(name: str, given: argparse.Namespace, arguments: Sequence[str]) -> Report | None:
    """Returns None if Slurm will run the job."""
    if getattr(given, "slurm", None) is not None:
        _submit(name, given, arguments)
        return None
    return VERBS[name].run(given, _client(given.dask))


def main(arguments: Sequence[str]) -> int:
    """Exit codes: 0 everything is complete, 1 something failed, 130 interrupted."""
    worker.claim_process()
    name, *rest = arguments if arguments and arguments[0] in VERBS else (_DEFAULT, *arguments)
    given = _parser(name, VERBS[name]).parse_args(rest)
    try:
        report = _run(name, given, rest)
    except KeyboardInterrupt:
        return _fail(Error("was interrupted", "", "what is done stays; the same command goes on with the rest"), given, 130)
    except ModuleNotFoundError as error:
        return _fail(Unsupported("is missing", f"the Python package {error.name}", "pip install 'echolux[cluster]'"), given)
    except Error as error:
        return _fail(error, given)
    except OSError as error:  # such as a full disk
        return _fail(OutputFailed(f"cannot be written: {error.strerror or error}", str(error.filename or given.output)), given)
    if report is None:
        return 0
    _tell(report, given)
    return 0 if report.ok else 1


def _tell(report: Report, given: argparse.Namespace) -> None:
    if given.json:
        print(json.dumps({**asdict(report), "warnings": []}))
        return
    for path, result in report.results.items():
        print(f"{path}\t{json.dumps(result)}")
    if not report.ok:
        print(report, file=sys.stderr)
    elif not given.quiet and not report.results:
        print(report)


def _fail(error: Error, given: argparse.Namespace, code: int = 1) -> int:
    if given.json:
        facts = {"code": error.code, "what": error.what, "where": error.where, "remedy": error.remedy}
        print(json.dumps({"error": facts}), file=sys.stderr)
    else:
        print(f"echolux: {error}", file=sys.stderr)
    return code
