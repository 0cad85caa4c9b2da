"""Archives on a cluster: scans reconstructed by many workers into one OME-Zarr each, volumes converted, drawn and measured,
movies; every part exactly once, whoever is killed meanwhile. Needs more packages: pip install 'echolux[cluster]'."""
from .jobs import calibrate, convert, figures, map, movie, reconstruct
from .mapping import Incomplete
from .report import Failure, Report

__all__ = ["Failure", "Incomplete", "Report", "calibrate", "convert", "figures", "map", "movie", "reconstruct"]
