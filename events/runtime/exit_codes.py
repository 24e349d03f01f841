"""How a process ends."""

import atexit
import gc


def exit_quickly() -> None:
    """Let this process and its forks end without a last garbage collection, a quarter of a second in the API."""
    atexit.register(gc.freeze)
