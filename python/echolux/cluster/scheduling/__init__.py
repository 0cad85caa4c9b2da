"""Scheduling: jobs over many files, executors, workers, Slurm."""
