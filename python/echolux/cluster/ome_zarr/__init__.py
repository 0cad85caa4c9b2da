"""OME-Zarr 0.5 in shards: how a volume lies in files, and how they are written."""
