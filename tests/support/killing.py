"""What is done with matches in other processes that are killed meanwhile."""

import os
import signal
from collections.abc import Sequence

from events.store.contract import EventStore

ONCE = "test:killed"


def names_after_a_kill(store: EventStore, names: Sequence[str]) -> list[str]:
    """Return ``names``; whoever is the first to be asked, by all processes, is killed."""
    if store.client.set(ONCE, "1", nx=True):  # type: ignore[attr-defined]
        os.kill(os.getpid(), signal.SIGKILL)
    return list(names)


def killed(store: EventStore, names: Sequence[str]) -> None:
    """Be killed."""
    os.kill(os.getpid(), signal.SIGKILL)
