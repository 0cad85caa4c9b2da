"""Storage of results, their completeness, and their ownership."""
