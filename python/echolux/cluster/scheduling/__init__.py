"""Who does what when: jobs over many files, executors, workers, Slurm."""
