"""Which lines of work of the relays make progress: recorded in the store, for metrics."""

from events.runtime.connections import StoreClient
from events.runtime.keys import InstallationKeys
from events.runtime.scripts import load_script


class RedisLiveness:
    """When each line of work was last known to make progress, by the clock of the Redis of ``client``."""

    def __init__(self, client: StoreClient, prefix: str) -> None:
        self._client = client
        self._key = InstallationKeys(prefix).liveness
        self._report = load_script(client, __package__, "report_liveness")

    def report(self, lines: list[str]) -> None:
        """Record that ``lines`` make progress now, whichever relay they belong to. Raises StoreError."""
        if lines:
            self._report(keys=[self._key], args=lines)

    def ages_s(self) -> dict[str, float]:
        """Return how many seconds ago each line last made progress, in any relay. Raises StoreError."""
        with self._client.pipeline(transaction=False) as pipeline:
            pipeline.time()
            pipeline.hgetall(self._key)
            (seconds, microseconds), recorded = pipeline.execute()
        now_ms = seconds * 1000 + microseconds // 1000
        return {line.decode(): max(0, now_ms - int(at)) / 1000 for line, at in sorted(recorded.items())}
