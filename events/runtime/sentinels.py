"""A primary that sentinels watch: which server it is, and connections whose replies count only while it is that."""

import math
import time
from collections.abc import Mapping
from typing import Any, cast

from redis.exceptions import ConnectionError as RedisConnectionError, ResponseError, TimeoutError as RedisTimeoutError
from redis.sentinel import (
    MasterNotFoundError,
    Sentinel,
    SentinelConnectionPool,
    SentinelManagedConnection,
    SentinelManagedSSLConnection,
)

from events.runtime.clients import StorePool, translating

PRIMARY_INTERVAL_S = 1.0
"""At most between two questions to the sentinels which server is the primary."""

UNREACHABLE_INTERVAL_S = 10.0
"""Between two such questions while no sentinel can be reached: each one then waits for time limits."""


class SentinelsUnreachableError(MasterNotFoundError):
    """No sentinel answers: only their earlier answers tell of the primary."""


class Sentinels(Sentinel):
    """Sentinels, and which server was the primary when one was last asked.

    A demoted primary serves stale reads and acknowledges lost writes until it is reconfigured. Sentinels wait before
    they replace one, so a reply counts if they named the server within half that time before; else they are asked
    again.
    """

    def __init__(self, addresses: tuple[tuple[str, int], ...], asking: Mapping[str, Any]) -> None:
        super().__init__(addresses, sentinel_kwargs=asking)  # type: ignore[no-untyped-call]
        self._named: tuple[str, int] | None = None
        self._replicas: int | None = None
        self._sure_until = -math.inf

    def discover_master(self, service: str) -> tuple[str, int]:
        """Return host and port of the primary; raises SentinelsUnreachableError and MasterNotFoundError."""
        asked_at = time.monotonic()
        answered = False
        for sentinel in self.sentinels:
            try:
                state: Any = sentinel.sentinel_master(service)
            except (RedisConnectionError, RedisTimeoutError):
                continue
            except ResponseError:
                answered = True
                continue
            answered = True
            if self.check_master_state(state, service):  # type: ignore[no-untyped-call]
                # This one is asked first from now on: others may cost a time limit each.
                self.sentinels = [sentinel, *(other for other in self.sentinels if other is not sentinel)]
                self._named, self._replicas = (state["ip"], state["port"]), state["num-slaves"]
                self._sure_until = asked_at + min(PRIMARY_INTERVAL_S, state["down-after-milliseconds"] / 2000)
                return self._named
        if answered:
            raise MasterNotFoundError(f"the sentinels hold the primary of {service!r} to be down")
        raise SentinelsUnreachableError(f"no sentinel of {service!r} answers")

    def count_replicas(self, service: str) -> int:
        """Return how many replicas of the primary the sentinels knew when they were asked last, reachable or not."""
        if self._replicas is None:
            self.discover_master(service)
        return self._replicas or 0

    def is_at(self, address: tuple[str, int], service: str) -> bool:
        """Return whether the primary is at ``address``; while no sentinel answers, the last named. Down is nowhere."""
        # Threads that get here at once all ask: none uses a reply before it knows.
        if time.monotonic() >= self._sure_until:
            try:
                self.discover_master(service)
            except SentinelsUnreachableError:
                self._sure_until = time.monotonic() + UNREACHABLE_INTERVAL_S
            except MasterNotFoundError:
                return False
        return self._named == address


class ToPrimary(SentinelManagedConnection):
    """A connection to the primary, whose replies count only while it is that.

    It is closed when a reply does not come in time: else the late reply would answer the next command.
    """

    def __init__(self, sentinels: Sentinels, **options: Any) -> None:
        super().__init__(**options)  # type: ignore[no-untyped-call]
        self._sentinels = sentinels

    def send_packed_command(self, command: Any, check_health: bool = True) -> None:
        """Send a command; one that was closed connects to the primary first, not to the server that it was to."""
        if not self.is_connected:
            self.connect()  # type: ignore[no-untyped-call]
        super().send_packed_command(command, check_health)  # type: ignore[no-untyped-call]

    def read_response(self, *arguments: Any, **options: Any) -> Any:
        """Return a reply; raises ConnectionError when another server is the primary now. Subscribers stay."""
        reply = super().read_response(*arguments, **{"disconnect_on_error": True, **options})
        try:
            counts = self._sentinels.is_at((self.host, self.port), self.connection_pool.service_name)
        except BaseException:
            self.disconnect()  # type: ignore[no-untyped-call]
            raise
        if not counts:
            self.disconnect()  # type: ignore[no-untyped-call]
            raise RedisConnectionError("another server is the primary now, or none is")
        return reply


class ToPrimaryByTLS(ToPrimary, SentinelManagedSSLConnection):
    """The same with TLS."""


class PrimaryPool(SentinelConnectionPool, StorePool):
    """Connections to the primary that sentinels name; a caller waits when all are in use."""

    @translating
    def count_replicas(self) -> int:
        """Return how many replicas the primary should have: those that the sentinels know, reachable or not."""
        return cast(Sentinels, self.sentinel_manager).count_replicas(self.service_name)
