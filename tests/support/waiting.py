"""The wait of the Python tests: polls a condition, for as long as a loaded machine may need."""
import time


def wait_until(is_so, what="", timeout_s=120, every_s=0.005):
    """Returns the value of `is_so()` as soon as it is true. Raises TimeoutError with `what`, a text or a function that
    returns one. `every_s`: poll interval; choose a long one for an expensive condition."""
    end = time.monotonic() + timeout_s
    while not (found := is_so()):
        if time.monotonic() > end:
            raise TimeoutError(f"waited {timeout_s} s for {what() if callable(what) else what}")
        time.sleep(every_s)
    return found
