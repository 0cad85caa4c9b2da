"""Archives on a cluster: many workers reconstruct scans into one OME-Zarr each, convert, draw and measure volumes, and
make movies. Every part is done exactly once, even if workers are killed. Needs more packages: pip install
'echolux[cluster]'.
"""
from .api import calibrate, convert, figures, map, movie, reconstruct
from .jobs import JobOptions
from .report import Failure, Incomplete, Report

__all__ = ["Failure", "Incomplete", "JobOptions", "Report", "calibrate", "convert", "figures", "map", "movie", "reconstruct"]
