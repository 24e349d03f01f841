"""The outbox: what is to be sent to people, until it is sent or given up.

A worker leases what is due. It comes back when the lease ends before the worker has said what became of it, so nothing
is lost with a killed worker. What became of a dispatch is recorded here and in the ledger in one step. Instants are
milliseconds since 1970 UTC.
"""

import secrets
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from events.notices.json_text import from_json, to_json
from events.notices.kinds import DeliveryState, NoticeChannel
from events.notices.notice import Delivery
from events.runtime.connections import StoreClient
from events.runtime.notice_keys import LedgerKeys
from events.runtime.scripts import load_script

FINISHED_KNOWN_MS = 30 * 24 * 3600 * 1000
"""How long a dispatch that was sent or given up is recognised, so that it is not added again."""

DIGEST_ID = "digest:"
"""Begins the ids of digests."""


class Purpose(StrEnum):
    """Why something is sent."""

    NOTICE = "notice"
    DIGEST = "digest"
    LETTER = "letter"
    TEST = "test"


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """A mail whose content is stored: a confirmation, a password reset, an answer, word about a paused channel.

    ``in_reply_to`` is the Message-ID that it answers; ``automatic`` marks an automatic answer, which has no return
    path; with ``png`` the board of ``match`` is shown as ``seat`` sees it. ``tag`` is the version tag of ``match`` that
    the text shows: answers to the letter are about that board, whatever has been played until it is sent.
    """

    to: str
    subject: str
    text: str
    match: str | None = None
    seat: int | None = None
    in_reply_to: str | None = None
    automatic: bool = False
    kind: str = "letter"
    tag: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatch:
    """What is to be sent to ``player`` through one channel to one ``target``.

    ``notices`` are the ids of the notices that it is about; of a digest, all that wait for it when it is taken.
    ``due`` is when it was due, ``attempts`` how often it was taken, ``first_at`` when it was added. ``requested`` tells
    that the player has asked for it: it is sent whatever the hour.
    """

    id: str
    player: str
    channel: NoticeChannel
    target: str = ""
    purpose: Purpose
    notices: tuple[str, ...] = ()
    letter: Letter | None = None
    due: int
    attempts: int = 0
    first_at: int
    requested: bool = False


def delivery_field(channel: NoticeChannel, target: str) -> str:
    """Return the field of a stored notice that has the delivery through ``channel`` to ``target``."""
    return f"{channel}:{target}"


class Outbox:
    """The outbox of an installation with ``shards`` shards. Safe to share between threads.

    Methods raise StoreUnavailableError when the store is unreachable.
    """

    def __init__(self, client: StoreClient, prefix: str, shards: int) -> None:
        self._client = client
        self._prefix = prefix
        self._shards = shards
        self._add = load_script(client, __package__, "add_dispatch")
        self._take = load_script(client, __package__, "take_dispatch")
        self._settle = load_script(client, __package__, "settle_dispatch")
        self._drop = load_script(client, __package__, "drop_notice")
        self._erase = load_script(client, __package__, "erase_dispatches")

    def add(self, dispatch: Dispatch) -> bool:
        """Add ``dispatch``; return False when one with its id is there, or was finished in the last 30 days."""
        keys = self._keys(dispatch.player)
        return bool(
            self._add(
                keys=[keys.due, keys.dispatches(dispatch.player), keys.finished(dispatch.player)],
                args=[dispatch.player, dispatch.id, to_json(dispatch), dispatch.due],
            )
        )

    def take(self, now: int, lease_ms: int) -> Dispatch | None:
        """Lease a dispatch that is due at ``now`` until ``now`` + ``lease_ms``, and return it; None when none is due.

        It is not the longest due of all shards, so that no shard waits for the others.
        """
        # Crash-safe: the lease is its place in the order of what is due. A worker that is killed leaves it there, and
        # it is taken again when the lease ends.
        for shard in self._shards_due(now):
            keys = LedgerKeys(self._prefix, shard)
            taken = self._take(
                keys=[keys.due], args=[now, now + lease_ms, keys.dispatches(""), keys.digest(""), DIGEST_ID]
            )
            if taken is not None:
                id, stored, attempts, due, notices = taken
                dispatch = from_json(Dispatch, stored)
                return replace(
                    dispatch,
                    id=id.decode(),
                    due=int(due),
                    attempts=int(attempts),
                    notices=tuple(each.decode() for each in notices) if notices else dispatch.notices,
                )
        return None

    def finish(self, dispatch: Dispatch, state: DeliveryState, reason: str, now: int) -> None:
        """Record that ``dispatch`` was sent, not sent or given up, in the ledger too; ``reason`` is for the player."""
        self._record(dispatch, _delivery(dispatch, state, reason, None, now))

    def postpone(self, dispatch: Dispatch, due: int, reason: str, now: int, *, tried: bool = True) -> None:
        """Let ``dispatch`` be due again at ``due``; nothing happens when another worker has taken it meanwhile.

        ``tried`` tells whether this was an attempt to send it.
        """
        self._record(dispatch, _delivery(dispatch, DeliveryState.WAITING, reason, due, now), tried)

    def drop(self, dispatch: Dispatch, notice: str, reason: str, now: int) -> None:
        """Take ``notice`` out of a digest that was taken from here: it need not be told any more."""
        keys, player = self._keys(dispatch.player), dispatch.player
        dropped = _delivery(dispatch, DeliveryState.NOT_SENT, reason, None, now)
        self._drop(
            keys=[keys.digest(player), keys.notice(player, notice)],
            args=[notice, delivery_field(dispatch.channel, dispatch.target), to_json(dropped)],
        )

    def next_due(self, shards: Iterable[int] | None = None) -> int | None:
        """Return the instant at which something is due next, perhaps one that has passed; None when nothing is.

        Only what ``shards`` hold counts (None: all of them).
        """
        with self._client.pipeline(transaction=False) as pipeline:
            for shard in range(self._shards) if shards is None else shards:
                pipeline.zrange(LedgerKeys(self._prefix, shard).due, 0, 0, withscores=True)
            found = pipeline.execute()
        return min((int(due) for first in found for _, due in first), default=None)

    def count_due(self, now: int, shards: Iterable[int] | None = None) -> int:
        """Return how many dispatches are due at ``now`` in ``shards`` (None: in all)."""
        with self._client.pipeline(transaction=False) as pipeline:
            for shard in range(self._shards) if shards is None else shards:
                pipeline.zcount(LedgerKeys(self._prefix, shard).due, "-inf", now)
            return sum(pipeline.execute())

    def outcomes(self) -> Counter[tuple[str, str]]:
        """Return how many dispatches were ever sent, not sent or given up, by channel and state."""
        with self._client.pipeline(transaction=False) as pipeline:
            for shard in range(self._shards):
                pipeline.hgetall(LedgerKeys(self._prefix, shard).outcomes)
            found = pipeline.execute()
        counts: Counter[tuple[str, str]] = Counter()
        for of_shard in found:
            for name, count in of_shard.items():
                channel, state = name.decode().split(" ")
                counts[channel, state] += int(count)
        return counts

    def waiting(self, limit: int) -> Counter[str]:
        """Return how many dispatches are not finished, by channel; of each shard ``limit`` are counted at most."""
        with self._client.pipeline(transaction=False) as pipeline:
            for shard in range(self._shards):
                pipeline.zrange(LedgerKeys(self._prefix, shard).due, 0, limit - 1)
            found = pipeline.execute()
        return Counter(_channel_of(member.decode()) for of_shard in found for member in of_shard)

    def of(self, player: str) -> list[Dispatch]:
        """Return what is still to be sent to ``player``, in no order."""
        stored = self._client.hgetall(self._keys(player).dispatches(player))
        return [from_json(Dispatch, text) for text in stored.values() if text.startswith(b"{")]

    def erase(self, player: str) -> None:
        """Erase all that is to be sent to ``player``, and what is known of what was sent."""
        keys = self._keys(player)
        self._erase(keys=[keys.due, keys.dispatches(player), keys.finished(player), keys.digest(player)], args=[player])

    def _record(self, dispatch: Dispatch, delivery: Delivery, tried: bool = True) -> None:
        keys, player = self._keys(dispatch.player), dispatch.player
        self._settle(
            keys=[keys.due, keys.dispatches(player), keys.finished(player), keys.digest(player), keys.outcomes],
            args=[
                player,
                dispatch.id,
                dispatch.attempts,
                "" if delivery.due is None else delivery.due,
                delivery.at,
                FINISHED_KNOWN_MS,
                keys.notice(player, ""),
                delivery_field(dispatch.channel, dispatch.target),
                to_json(delivery if tried else replace(delivery, attempts=dispatch.attempts - 1)),
                int(dispatch.purpose == Purpose.DIGEST),
                int(not tried),
                *dispatch.notices,
            ],
        )

    def _shards_due(self, now: int) -> Iterable[int]:
        """Return the shards in which something is due at ``now``, beginning anywhere."""
        with self._client.pipeline(transaction=False) as pipeline:
            for shard in range(self._shards):
                pipeline.zcount(LedgerKeys(self._prefix, shard).due, "-inf", now)
            found = [shard for shard, count in enumerate(pipeline.execute()) if count]
        start = secrets.randbelow(len(found)) if found else 0
        return found[start:] + found[:start]

    def _keys(self, player: str) -> LedgerKeys:
        return LedgerKeys.of(self._prefix, player, self._shards)


def _channel_of(member: str) -> NoticeChannel:
    """Return the channel of a dispatch that is due: its id names it, except those of letters and digests."""
    _, *named = member.partition(" ")[2].split(":")
    return NoticeChannel(named[0]) if named and named[0] in list(NoticeChannel) else NoticeChannel.MAIL


def _delivery(dispatch: Dispatch, state: DeliveryState, reason: str, due: int | None, now: int) -> Delivery:
    return Delivery(
        channel=dispatch.channel,
        target=dispatch.target,
        state=state,
        reason=reason,
        due=due,
        attempts=dispatch.attempts,
        at=now,
    )
