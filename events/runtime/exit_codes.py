"""How a process ends."""

import atexit
import gc


def exit_quickly() -> None:
    """Let this process, and those that it forks, end without a last garbage collection.

    The system reclaims all memory anyway; the collection costs a process of the API a quarter of a second.
    """
    atexit.register(gc.freeze)
