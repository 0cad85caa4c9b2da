"""Archives on a cluster: scans reconstructed by many workers into one OME-Zarr each, volumes converted, drawn and measured,
movies; every part exactly once, whoever is killed meanwhile. Needs more packages: pip install 'echolux[cluster]'."""
from .api import calibrate, convert, figures, map, movie, reconstruct
from .options import JobOptions
from .scheduling.report import Failure, Incomplete, Report

__all__ = ["Failure", "Incomplete", "JobOptions", "Report", "calibrate", "convert", "figures", "map", "movie", "reconstruct"]
