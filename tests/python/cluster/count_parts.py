"""Loaded by workers of Dask: each part that is begun appends a line to the file that ECHOLUX_COUNT names; one that
ECHOLUX_FATAL names ends its worker."""
import os
import signal

from echolux.cluster.parts import part


def _counted(made):
    def counted(plan, one, *rest):
        line = f"{plan.name} {one.time} {one.begin}"
        if os.environ.get("ECHOLUX_FATAL") == line:
            os.kill(os.getpid(), signal.SIGKILL)
        file = os.open(os.environ["ECHOLUX_COUNT"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(file, line.encode() + b"\n")
        os.close(file)
        return made(plan, one, *rest)

    counted.counts = True
    return counted


if not hasattr(part.make, "counts"):  # Dask loads it twice
    part.make = _counted(part.make)
