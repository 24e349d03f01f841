"""The outbox: a work list of dispatches to people. Their outcome is in the ledger in the same step."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from events.notify.notice import DeliveryState, NoticeChannel, NoticeDelivery, from_json, to_json
from events.notify.player_store import PlayerStore
from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.transactions import transact
from events.runtime.work_list import Claim, WorkList, work_script

FINISHED_KNOWN_MS = 30 * 24 * 3600 * 1000
"""How long a dispatch that was sent or given up is recognised, so that it is not added again."""

SLOW_WEBHOOKS = "slow-webhook"
"""The lane of webhooks whose receivers are slow, or not known yet; each other lane is a channel."""


class Purpose(StrEnum):
    """Why something is sent. A DIGEST is a notice whose time the player has chosen."""

    NOTICE = "notice"
    DIGEST = "digest"
    LETTER = "letter"
    TEST = "test"


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """A mail whose content is stored: a confirmation, a password reset, an answer, word about a paused channel.

    ``in_reply_to`` is the Message-ID that it answers; ``automatic`` marks an automatic answer, which has no return
    path. ``seat`` is that of the player in ``match``, ``tag`` the version tag of ``match`` that the text shows: answers
    to the letter are about that board, whatever has been played until it is sent. ``receipt`` is attached, if any.
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
    receipt: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatch:
    """A dispatch to ``player`` through one channel to one ``target``.

    ``notices`` are the ids of the notices that it is about: one until others are gathered. One ``requested`` by the
    player is sent at any hour. ``attempts``, ``lane`` and ``token`` are those of the claim of one that was taken.
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
    progress: str = ""
    lane: str = ""
    token: str = ""


def delivery_field(channel: NoticeChannel, target: str) -> str:
    """Return the field of a stored notice that has the delivery through ``channel`` to ``target``."""
    return f"{channel}:{target}"


class Outbox(PlayerStore):
    """The outbox of an installation; entries are owned by players, in lanes by channel. ``now`` is as in WorkList."""

    def __init__(self, client: StoreClient, prefix: str, shards: int, now: Callable[[], int] | None = None) -> None:
        super().__init__(client, prefix, shards)
        self.work = WorkList(client, [keys.outbox for keys in self._all_keys()], now)
        self._add = work_script(client, __package__, "add_dispatch")
        self._settle = work_script(client, __package__, "settle_dispatch")
        self._gather = work_script(client, __package__, "gather_dispatches")

    def add(self, dispatch: Dispatch) -> bool:
        """Add ``dispatch``; return False when one with its id is there, or was finished in the last 30 days."""
        keys, player = self._keys(dispatch.player), dispatch.player
        return bool(
            self._add(
                keys=[keys.outbox.base, keys.finished(player)],
                args=[player, dispatch.id, to_json(dispatch), dispatch.due, dispatch.channel],
            )
        )

    def take(self, lanes: Collection[str] | None = None) -> Dispatch | None:
        """Claim a dispatch that is due in one of ``lanes`` (None: in any); None when none is."""
        claim = self.work.claim(lanes)
        if claim is None:
            return None
        dispatch = from_json(Dispatch, claim.content)
        id, due, attempts = claim.id.partition(" ")[2], claim.due, claim.attempts
        return replace(dispatch, id=id, due=due, attempts=attempts, lane=claim.lane, token=claim.token)

    def renew(self, dispatch: Dispatch) -> bool:
        """Let the lease of a dispatch that was taken begin again; return False when it is lost."""
        return self.work.renew(self._claim_of(dispatch))

    def record_progress(self, dispatch: Dispatch, progress: str) -> None:
        """Record how far sending ``dispatch`` has come, for a worker that takes over; its lease begins again."""
        self.work.renew(self._claim_of(dispatch), to_json(replace(dispatch, progress=progress)))

    def finish(self, dispatch: Dispatch, state: DeliveryState, reason: str, now: int) -> None:
        """Record that ``dispatch`` was sent, not sent or given up, for a ``reason``; nothing when the claim is lost."""
        self._record(dispatch, _delivery(dispatch, state, reason, None, now))

    def postpone(
        self, dispatch: Dispatch, due: int, reason: str, now: int, *, tried: bool = True, lane: str = ""
    ) -> None:
        """Let ``dispatch`` be due again, in ``lane`` if one is named; nothing happens when the claim is lost."""
        counted = dispatch if tried else replace(dispatch, attempts=dispatch.attempts - 1)
        moved = replace(counted, lane=lane or dispatch.lane)
        self._record(moved, _delivery(moved, DeliveryState.WAITING, reason, due, now))

    def gather(self, dispatch: Dispatch, others: Iterable[Dispatch], now: int) -> Dispatch | None:
        """Return ``dispatch``, which was taken, with the notices of those of ``others`` that can go with it.

        None when it goes with another one, or something is being sent to the player at this moment.
        """
        player = dispatch.player
        ids = [f"{player} {one.id}" for one in (dispatch, *others)]
        gathered = self._gather(keys=[self._keys(player).outbox.base], args=[ids[0], dispatch.token, now, *ids[1:]])
        return None if gathered is None else replace(dispatch, notices=tuple(id.decode() for id in gathered))

    def drop(self, dispatch: Dispatch, notice: str, reason: str, now: int) -> None:
        """Record that ``notice``, which was gathered, need not be told any more."""
        key = self._keys(dispatch.player).notice(dispatch.player, notice)
        dropped = to_json(_delivery(dispatch, DeliveryState.NOT_SENT, reason, None, now))

        def change(pipeline: StorePipeline) -> None:
            is_there = pipeline.exists(key)
            pipeline.multi()
            if is_there:
                pipeline.hset(key, delivery_field(dispatch.channel, dispatch.target), dropped)

        transact(self._client, [key], change)

    def next_due(self) -> int | None:
        """Return the instant at which something can be taken next, perhaps one that has passed; None for nothing."""
        return min(self.work.next_due().values(), default=None)

    def outcomes(self) -> Counter[tuple[str, str]]:
        """Return how many dispatches were ever sent, not sent or given up, by channel and state."""
        with self._client.pipeline(transaction=False) as pipeline:
            for keys in self._all_keys():
                pipeline.hgetall(keys.outcomes)
            replies = pipeline.execute()
        counts: Counter[tuple[str, str]] = Counter()
        for of_shard in replies:
            for name, count in of_shard.items():
                channel, state = name.decode().split(" ")
                counts[channel, state] += int(count)
        return counts

    def waiting(self) -> Counter[str]:
        """Return how many dispatches are not finished, by channel."""
        counts: Counter[str] = Counter()
        for lane, count in self.work.count().items():
            counts[NoticeChannel.WEBHOOK if lane == SLOW_WEBHOOKS else lane] += count
        return counts

    def of(self, player: str) -> list[Dispatch]:
        """Return the dispatches that wait for ``player``, in no order."""
        return [from_json(Dispatch, content) for content in self.work.contents(player).values()]

    def erase(self, player: str) -> None:
        """Erase the dispatches to ``player``, sent or not."""
        keys = self._keys(player)
        self.work.discard(player)
        self._client.delete(keys.finished(player))

    def _record(self, dispatch: Dispatch, delivery: NoticeDelivery) -> None:
        keys, player = self._keys(dispatch.player), dispatch.player
        self._settle(
            keys=[keys.outbox.base, keys.finished(player), keys.outcomes],
            args=[
                player,
                dispatch.id,
                dispatch.token,
                "" if delivery.due is None else delivery.due,
                dispatch.attempts,
                dispatch.lane,
                delivery.at,
                FINISHED_KNOWN_MS,
                keys.notice(player, ""),
                delivery_field(dispatch.channel, dispatch.target),
                to_json(delivery),
                *dispatch.notices,
            ],
        )

    def _claim_of(self, dispatch: Dispatch) -> Claim:
        id, player = f"{dispatch.player} {dispatch.id}", dispatch.player
        keys = self._keys(player).outbox
        return Claim(keys, dispatch.lane, dispatch.token, id, player, "", dispatch.due, dispatch.attempts)


def _delivery(dispatch: Dispatch, state: DeliveryState, reason: str, due: int | None, now: int) -> NoticeDelivery:
    return NoticeDelivery(
        channel=dispatch.channel,
        target=dispatch.target,
        state=state,
        reason=reason,
        due=due,
        attempts=dispatch.attempts,
        at=now,
    )
