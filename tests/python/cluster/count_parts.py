"""Loaded by workers of Dask: each part that is begun appends a line to the file that ECHOLUX_COUNT names."""
import os

from echolux.cluster import part

_made = part.shards_of


def _counted(plan, one, *rest):
    file = os.open(os.environ["ECHOLUX_COUNT"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(file, f"{one.name} {one.time} {one.begin}\n".encode())
    os.close(file)
    return _made(plan, one, *rest)


part.shards_of = _counted
