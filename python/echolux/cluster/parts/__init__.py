"""Parts of a scan: dividing it, and making one part."""
