#!/usr/bin/env python3
"""Runs the notebooks of docs/notebooks in a temporary folder and stores their output.

usage: notebooks.py [--check] [NAME...]     with the package `echolux` on PYTHONPATH; needs nbclient, ipykernel, matplotlib
    --check: writes nothing; reports notebooks that fail or have no output
"""
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent / "notebooks"
PATIENCE_S = 300


def executed(path):
    notebook = nbformat.read(path, 4)
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(notebook, timeout=PATIENCE_S, resources={"metadata": {"path": folder}}).execute()
    for cell in notebook.cells:
        cell.metadata = {}  # times of execution
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                         "language_info": {"name": "python"}}
    return notebook


def pictures(notebook):
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return sum("image/png" in output.get("data", {}) for output in outputs)


def main():
    names = [name for name in sys.argv[1:] if name != "--check"]
    failed = False
    for path in sorted(FOLDER.glob("*.ipynb")):
        if names and path.stem not in names:
            continue
        try:
            notebook = executed(path)
        except Exception as error:  # whatever a cell raises
            print(f"{path.name}: {error}")
            failed = True
            continue
        print(f"{path.name}: {pictures(notebook)} pictures")
        failed = failed or not pictures(notebook)
        if "--check" not in sys.argv:
            nbformat.write(notebook, path)
    return failed


if __name__ == "__main__":
    sys.exit(main())
