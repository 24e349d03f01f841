"""The ledger of notices: the notices to each player, sent or not, when, how and why. Derived, bounded, erasable."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from events.matches.readmodels.paging import Place, page_of, parse_cursor
from events.notify.notice import DeliveryState, Notice, NoticeChannel, NoticeDelivery, from_json, to_json
from events.notify.outbox import Dispatch, Purpose, delivery_field
from events.notify.player_store import PlayerStore
from events.runtime.connections import StoreClient
from events.runtime.scripts import load_script
from events.runtime.work_list import work_script

MAX_NOTICES = 500
"""Of one player; the oldest are dropped."""

KEPT_MS = 90 * 24 * 3600 * 1000
DECIDED_KNOWN_MS = 3 * 24 * 3600 * 1000
"""How long a notice is recognised that is not in the ledger any more. Older facts are not told of at all."""

_NOTICE = "notice"
_WAITING = f'"state":"{DeliveryState.WAITING}"'


class LedgerPage(NamedTuple):
    """Notices, the latest first. ``dropped`` counts those of the last 90 days beyond MAX_NOTICES."""

    notices: list[Notice]
    cursor: str | None
    dropped: int


def dispatches_of(notice: Notice, *, digest: bool = False) -> list[Dispatch | None]:
    """Return the dispatch for each delivery, None for one that does not wait; mail may go into the ``digest``."""
    return [
        _dispatch_of(notice, delivery, digest) if delivery.due is not None else None for delivery in notice.deliveries
    ]


class Ledger(PlayerStore):
    """The ledgers of an installation."""

    def __init__(self, client: StoreClient, prefix: str, shards: int) -> None:
        super().__init__(client, prefix, shards)
        self._decide = work_script(client, __package__, "decide_notice")
        self._send_again = work_script(client, __package__, "send_again")
        self._clear = load_script(client, __package__, "clear_ledger")

    def decide(self, notice: Notice, *, digest: bool = False) -> bool:
        """Write ``notice`` with all that is to be sent, in one step; return False when it was decided before."""
        keys, player = self._keys(notice.player), notice.player
        deliveries: list[str | int] = []
        for delivery, dispatch in zip(notice.deliveries, dispatches_of(notice, digest=digest), strict=True):
            deliveries += [delivery_field(delivery.channel, delivery.target), to_json(delivery)]
            if dispatch is None:
                deliveries.append("")
            else:
                deliveries += [dispatch.id, to_json(dispatch), dispatch.due, dispatch.channel]
        return bool(
            self._decide(
                keys=[keys.outbox.base, keys.decided(player), keys.ledger(player), keys.dropped(player)],
                args=[
                    player,
                    notice.id,
                    to_json(replace(notice, deliveries=())),
                    f"{notice.id}:{notice.match or ''}",
                    notice.decided_at,
                    keys.notice(player, ""),
                    KEPT_MS,
                    MAX_NOTICES,
                    DECIDED_KNOWN_MS,
                    len(notice.deliveries),
                    *deliveries,
                ],
            )
        )

    def is_decided(self, player: str, id: str) -> bool:
        """Tell whether the notice with this id is in the ledger, or was decided lately."""
        keys = self._keys(player)
        with self._client.pipeline(transaction=False) as pipeline:
            pipeline.zscore(keys.decided(player), id)
            pipeline.exists(keys.notice(player, id))
            decided_at, in_ledger = pipeline.execute()
        return decided_at is not None or bool(in_ledger)

    def page(self, player: str, cursor: str | None = None, limit: int = 50, match: str | None = None) -> LedgerPage:
        """Return up to ``limit`` notices after ``cursor``, those of ``match`` alone unless it is None.

        Raises ValueError for an invalid cursor.
        """
        keys, after = self._keys(player), parse_cursor(cursor)
        with self._client.pipeline(transaction=False) as pipeline:
            pipeline.zrange(keys.ledger(player), 0, -1, desc=True, withscores=True)
            pipeline.get(keys.dropped(player))
            listed, dropped = pipeline.execute()
        places = [Place(score, member.decode()) for member, score in listed]
        ids = [
            (place, place.member.partition(":")[0])
            for place in places
            if (after is None or place < after) and (match is None or place.member.partition(":")[2] == match)
        ]
        page = page_of(ids, limit)
        return LedgerPage(self.find_all(player, page.items), page.next, int(dropped or 0))

    def find(self, player: str, id: str) -> Notice | None:
        """Return a notice of ``player``, None when there is none with this id (any more)."""
        return next(iter(self.find_all(player, [id])), None)

    def find_all(self, player: str, ids: Sequence[str]) -> list[Notice]:
        """Return those of the notices with ``ids`` that are in the ledger of ``player``, in their order."""
        keys = self._keys(player)
        with self._client.pipeline(transaction=False) as pipeline:
            for id in ids:
                pipeline.hgetall(keys.notice(player, id))
            packed = pipeline.execute()
        return [_notice(stored) for stored in packed if stored]

    def send_again(self, player: str, id: str, channel: NoticeChannel, target: str, now: int) -> bool:
        """Let a notice be sent once more, or now where it waits, under the same id; False when there is none."""
        keys = self._keys(player)
        reason = "You asked for it to be sent again."
        delivery = NoticeDelivery(
            channel=channel, target=target, state=DeliveryState.WAITING, reason=reason, due=now, at=now
        )
        dispatch = Dispatch(
            id=_dispatch_id(id, channel, target),
            player=player,
            channel=channel,
            target=target,
            purpose=Purpose.NOTICE,
            notices=(id,),
            due=now,
            first_at=now,
            requested=True,
        )
        answer = self._send_again(
            keys=[keys.outbox.base, keys.notice(player, id)],
            args=[
                player,
                dispatch.id,
                to_json(dispatch),
                now,
                delivery_field(channel, target),
                to_json(delivery),
                channel,
            ],
        )
        return bool(answer != b"none")

    def clear(self, player: str) -> int:
        """Erase the notices of ``player`` that do not wait to be sent; return how many."""
        return self._erase(player, even_waiting=False)

    def erase(self, player: str) -> None:
        """Erase the ledger of ``player``."""
        self._erase(player, even_waiting=True)

    def _erase(self, player: str, even_waiting: bool) -> int:
        keys = self._keys(player)
        return int(
            self._clear(
                keys=[keys.ledger(player), keys.dropped(player), keys.decided(player)],
                args=[keys.notice(player, ""), int(even_waiting), _WAITING],
            )
        )


def _notice(stored: dict[bytes, bytes]) -> Notice:
    deliveries = [
        from_json(NoticeDelivery, text) for field, text in sorted(stored.items()) if field != _NOTICE.encode()
    ]
    return replace(from_json(Notice, stored[_NOTICE.encode()]), deliveries=tuple(deliveries))


def _dispatch_of(notice: Notice, delivery: NoticeDelivery, digest: bool) -> Dispatch | None:
    if delivery.due is None:
        return None
    in_digest = digest and delivery.channel == NoticeChannel.MAIL
    return Dispatch(
        id=_dispatch_id(notice.id, delivery.channel, delivery.target),
        player=notice.player,
        channel=delivery.channel,
        target=delivery.target,
        purpose=Purpose.DIGEST if in_digest else Purpose.NOTICE,
        notices=(notice.id,),
        due=delivery.due,
        first_at=notice.decided_at,
    )


def _dispatch_id(notice: str, channel: NoticeChannel, target: str) -> str:
    return f"{notice}:{channel}:{target}"
