"""Parts of a scan: how it is cut, and how one part is made."""
