"""Tasks of a scan, a file or a movie: each has plan(), run_part() and finish()."""
