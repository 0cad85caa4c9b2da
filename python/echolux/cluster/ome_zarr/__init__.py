"""OME-Zarr 0.5 in shards: layout of a volume in files, and writing them."""
