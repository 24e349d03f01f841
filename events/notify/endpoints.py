"""Webhook endpoints of people, their secrets (needed to sign, shown once, in no archive), and their last attempts."""

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from events.notify.notice import NoticeKind, from_json, to_json
from events.notify.player_store import PlayerStore
from events.runtime.connections import StorePipeline
from events.runtime.errors import LimitReachedError
from events.runtime.transactions import transact
from events.store.converter import write_value

MAX_ENDPOINTS_PER_PERSON = 5
MAX_QUICK_MS = 2000
"""A receiver that takes longer is slow, and waits with others of its kind."""

MAX_ATTEMPTS_LOGGED = 50
"""Of one endpoint."""

MAX_KEPT_ANSWER_BYTES = 2_048
LOG_KEPT_S = 30 * 86_400
OLD_KEYS_VALID_MS = 24 * 3_600_000
DISABLED_AFTER_MS = 5 * 86_400_000
"""Of failures only; then nothing more is sent until the owner says so."""

DISABLED_BY_OWNER = "You have switched it off."
MIN_FAILURES_TO_DISABLE = 5
"""In a row: one failure, and none tried for five days after it, is no reason."""


class PayloadForm(StrEnum):
    """How much an endpoint is told."""

    FULL = "full"
    """With the position and the legal moves."""

    THIN = "thin"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class EndpointKeys:
    """The keys of webhooks: ``secret`` (whsec_...) and ``private_key`` (whsk_...), old ones ``until`` an instant."""

    secret: str
    private_key: str
    until: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a person has webhooks of ``kinds`` sent; ``disabled`` is the reason, as a sentence, why nothing is sent.

    ``keys``: the present ones, then old ones that still sign. ``failing_since`` is the first of the ``failures`` in a
    row. Nothing is sent before ``held_until``.
    """

    id: str
    url: str
    kinds: tuple[NoticeKind, ...]
    payload: PayloadForm
    created_at: int
    keys: tuple[EndpointKeys, ...]
    disabled: str | None = None
    failures: int = 0
    failing_since: int | None = None
    succeeded_at: int | None = None
    held_until: int | None = None
    pace_ms: int | None = None

    @property
    def is_quick(self) -> bool:
        """Whether its receiver is known to answer quickly."""
        return self.pace_ms is not None and self.pace_ms <= MAX_QUICK_MS

    @property
    def is_off_by_owner(self) -> bool:
        """Whether the owner has switched it off, and no failure."""
        return self.disabled == DISABLED_BY_OWNER

    def wants(self, kind: NoticeKind) -> bool:
        """Tell whether the endpoint is to be told of facts of ``kind``."""
        return self.disabled is None and kind in self.kinds

    def keys_at(self, now: int) -> list[EndpointKeys]:
        """Return the keys that sign at ``now``."""
        return [keys for keys in self.keys if keys.until is None or keys.until > now]

    def with_fresh_keys(self, fresh: EndpointKeys, now: int) -> "Endpoint":
        """Return the endpoint with ``fresh`` keys; those before sign beside them for OLD_KEYS_VALID_MS."""
        until = now + OLD_KEYS_VALID_MS
        old = (replace(keys, until=until if keys.until is None else keys.until) for keys in self.keys_at(now))
        return replace(self, keys=(fresh, *old)[:2])

    def after_call(self, took_ms: int) -> "Endpoint":
        """Return the endpoint after a call of ``took_ms``: a slow one is quick again after several quick ones."""
        return replace(self, pace_ms=max(took_ms, 7 * (self.pace_ms or 0) // 10))

    def after_success(self, now: int) -> "Endpoint":
        """Return the endpoint after the receiver has taken a webhook."""
        return replace(self, failures=0, failing_since=None, succeeded_at=now, held_until=None)

    def after_failure(self, now: int, held_until: int | None = None) -> "Endpoint":
        """Return the endpoint after a failed attempt, disabled when it has failed for too long."""
        since = now if self.failing_since is None else self.failing_since
        failed = replace(self, failures=self.failures + 1, failing_since=since, held_until=held_until)
        if failed.failures < MIN_FAILURES_TO_DISABLE or now - since < DISABLED_AFTER_MS or self.disabled is not None:
            return failed
        return replace(failed, disabled=f"Every attempt has failed for {DISABLED_AFTER_MS // 86_400_000} days.")

    def enabled(self) -> "Endpoint":
        """Return the endpoint enabled, its failures forgotten."""
        return replace(self, disabled=None, failures=0, failing_since=None, held_until=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SentWebhook:
    """A webhook that was sent: the HTTP ``status`` (None: no answer), beginning of the ``answer``, ``outcome``."""

    webhook_id: str
    type: str
    match: str | None
    at: int
    took_ms: int
    url: str
    headers: Mapping[str, str]
    body: str
    status: int | None
    answer: str
    delivered: bool
    outcome: str


class Endpoints(PlayerStore):
    """The webhook endpoints of all people."""

    def of(self, player: str) -> list[Endpoint]:
        """Return the endpoints of ``player``, oldest first."""
        stored = self._client.hgetall(self._keys(player).endpoints(player))
        return sorted(
            (from_json(Endpoint, packed) for packed in stored.values()),
            key=lambda endpoint: (endpoint.created_at, endpoint.id),
        )

    def find(self, player: str, id: str) -> Endpoint | None:
        """Return the endpoint of ``player`` with this id, None when there is none."""
        packed = self._client.hget(self._keys(player).endpoints(player), id)
        return None if packed is None else from_json(Endpoint, packed)

    def add(self, player: str, endpoint: Endpoint) -> None:
        """Store a new endpoint; raises LimitReachedError."""
        key = self._keys(player).endpoints(player)

        def put(pipeline: StorePipeline) -> None:
            ids = pipeline.hkeys(key)
            if len(ids) >= MAX_ENDPOINTS_PER_PERSON and endpoint.id.encode() not in ids:
                raise LimitReachedError
            pipeline.multi()
            pipeline.hset(key, endpoint.id, to_json(endpoint))

        transact(self._client, [key], put)

    def change(self, player: str, id: str, change: Callable[[Endpoint], Endpoint]) -> Endpoint | None:
        """Replace an endpoint by the result of ``change``, and return that; None when there is none."""
        key = self._keys(player).endpoints(player)

        def put(pipeline: StorePipeline) -> Endpoint | None:
            packed = pipeline.hget(key, id)
            if packed is None:
                return None
            changed = change(from_json(Endpoint, packed))
            pipeline.multi()
            pipeline.hset(key, id, to_json(changed))
            return changed

        return transact(self._client, [key], put)

    def remove(self, player: str, id: str) -> bool:
        """Delete an endpoint with its log; return False when there is none."""
        keys = self._keys(player)
        with self._client.pipeline(transaction=True) as pipeline:
            pipeline.hdel(keys.endpoints(player), id)
            pipeline.delete(keys.webhook_log(player, id))
            removed, _ = pipeline.execute()
        return bool(removed)

    def log(self, player: str, id: str, attempt: SentWebhook) -> None:
        """Add an attempt to the log of an endpoint, if it is still there; the oldest ones make room."""
        keys = self._keys(player)
        endpoints, key = keys.endpoints(player), keys.webhook_log(player, id)

        def put(pipeline: StorePipeline) -> None:
            if not pipeline.hexists(endpoints, id):
                return
            pipeline.multi()
            pipeline.lpush(key, zlib.compress(to_json(attempt).encode()))
            pipeline.ltrim(key, 0, MAX_ATTEMPTS_LOGGED - 1)
            pipeline.expire(key, LOG_KEPT_S)

        transact(self._client, [endpoints], put)

    def attempts(self, player: str, id: str, limit: int = MAX_ATTEMPTS_LOGGED) -> list[SentWebhook]:
        """Return up to ``limit`` attempts of the log of an endpoint, the last one first."""
        stored = self._client.lrange(self._keys(player).webhook_log(player, id), 0, limit - 1)
        return [from_json(SentWebhook, zlib.decompress(packed)) for packed in stored]

    def count_attempts(self, player: str) -> int:
        """Return how many attempts are in the logs of all endpoints of ``player``."""
        keys = self._keys(player)
        ids = self._client.hkeys(keys.endpoints(player))
        with self._client.pipeline(transaction=False) as pipeline:
            for id in ids:
                pipeline.llen(keys.webhook_log(player, id.decode()))
            return sum(pipeline.execute())

    def exported(self, player: str) -> Sequence[Mapping[str, Any]]:
        """Return everything that is stored about the endpoints of ``player``, except the keys that sign webhooks."""
        return [
            {
                **{name: value for name, value in write_value(endpoint).items() if name != "keys"},
                "attempts": [write_value(attempt) for attempt in self.attempts(player, endpoint.id)],
            }
            for endpoint in self.of(player)
        ]

    def erase(self, player: str) -> None:
        """Delete all endpoints of ``player`` with their logs."""
        keys = self._keys(player)
        key = keys.endpoints(player)
        # Crash-safe: the logs go first; as long as the endpoints are there, a repetition finds the rest.
        for id in self._client.hkeys(key):
            self._client.delete(keys.webhook_log(player, id.decode()))
        self._client.delete(key)
