"""How late flags fall, from the deadline to the event of the server; kept in the store over all processes.

Claimed flags, and those older than REMEMBERED_MS when a relay sees them, are not counted.
"""

from collections.abc import Mapping
from itertools import accumulate

from events.runtime.connections import StoreClient
from events.runtime.figure import Figure, Kind, Labels
from events.runtime.keys import TimeKeys
from events.store.envelope import Envelope

FLAG_FELL = "flag-fell"
BOUNDS_MS = (100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000, 300_000, 3_600_000)
REMEMBERED_MS = 3_600_000
"""What a relay sees later than that it sees again, after a store has lost the end of a feed, or for the first time."""

_LATER, _SUM = "later", "sum"


class FlagLateness:
    """The lateness of the flags of an installation."""

    def __init__(self, client: StoreClient, prefix: str) -> None:
        self._client = client
        self._key = TimeKeys(prefix).flag_lateness

    def record(self, event: Envelope, now: int) -> None:
        """Count ``event`` if it is a flag that has fallen by itself; twice, at worst, after a kill."""
        if event.type != FLAG_FELL or event.data.get("claimed_by") is not None or now - event.at > REMEMBERED_MS:
            return
        late_ms = max(0, event.at - int(event.data["deadline"]))
        bound = next((str(bound) for bound in BOUNDS_MS if late_ms <= bound), _LATER)
        with self._client.pipeline(transaction=True) as pipeline:
            pipeline.hincrby(self._key, bound, 1)
            pipeline.hincrby(self._key, _SUM, late_ms)
            pipeline.execute()

    def figure(self) -> Figure:
        """Return the histogram, in seconds."""
        return _histogram({name.decode(): int(count) for name, count in self._client.hgetall(self._key).items()})


def _histogram(counts: Mapping[str, int]) -> Figure:
    below = accumulate(counts.get(str(bound), 0) for bound in BOUNDS_MS)
    values: dict[Labels, float] = {
        (f"{bound / 1000:g}",): float(count) for bound, count in zip(BOUNDS_MS, below, strict=True)
    }
    values["+Inf",] = float(sum(count for name, count in counts.items() if name != _SUM))
    values["",] = counts.get(_SUM, 0) / 1000
    description = "By how much flags fell after the time was up"
    return Figure("rookery_flag_lateness_seconds", description, values, ("le",), Kind.HISTOGRAM)
