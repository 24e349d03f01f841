"""How a process ends."""

import atexit
import gc


def exit_quickly() -> None:
    """Let this process, and those that it forks, end without a last search for garbage.

    The system takes all memory back anyway; the search costs a process of the API a quarter of a second.
    """
    atexit.register(gc.freeze)
