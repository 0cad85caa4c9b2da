"""A thousand kills (ECHOLUX_KILLS) of workers, scheduler and client at random steps: killed_jobs.py. ECHOLUX_SEED
repeats a run."""

from test_kills import KilledCase


class OnDask(KilledCase):
    def test_remakes_at_most_one_part_per_kill(self):
        self.run_kills("dask", 4, 1000)
