"""Runs `python3 -m echolux.cluster`: the command `echolux batch` without the program."""
import sys

from .command import main

if __name__ == "__main__":
    sys.exit(main())
