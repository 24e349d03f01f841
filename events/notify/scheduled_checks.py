"""Checks scheduled for an instant: turns whose deadline comes near, chats with new messages. A work list."""

from collections.abc import Callable, Collection
from typing import NamedTuple

from events.runtime.connections import StoreClient
from events.runtime.notice_keys import NoticeKeys
from events.runtime.work_list import Claim, Repeats, WorkList

GATHER_MS = 60_000
"""Messages of this time are told of together."""

_REMINDER, _CHAT = "reminder", "chat"


class Check(NamedTuple):
    """A claimed check: whether ``player`` is to be reminded of ``match``; None: who is to be told of its chat."""

    claim: Claim
    match: str
    player: str | None


class ScheduledChecks:
    """The checks of an installation, by player or, of a chat, by match. ``now`` replaces the store's clock."""

    def __init__(self, client: StoreClient, prefix: str, shards: int, now: Callable[[], int] | None = None) -> None:
        self.work = WorkList(client, [NoticeKeys(prefix, shard).checks for shard in range(shards)], now)

    def remind(self, match: str, player: str, at: int) -> None:
        """Let it be checked at ``at`` whether ``player`` is to be reminded of ``match``; replaces an earlier wish."""
        self.work.add(f"{_REMINDER} {match} {player}", player, at, repeats=Repeats.MOVED)

    def mark_chat(self, match: str, messages: int, now: int) -> None:
        """Let the chat of ``match``, which has ``messages`` at ``now`` and is about to have one more, be checked."""
        self.work.add(f"{_CHAT} {match}", match, now + GATHER_MS, str(messages), repeats=Repeats.AGAIN)

    def take(self, shards: Collection[int] | None = None) -> Check | None:
        """Claim a check that is due in one of ``shards`` (None: in any); None when none is."""
        claim = self.work.claim(shards=shards)
        if claim is None:
            return None
        kind, match, *player = claim.id.split(" ")
        return Check(claim, match, player[0] if kind == _REMINDER else None)

    def unread_messages(self, check: Check, messages: int) -> range:
        """Return which ``messages`` of a chat (from number 0) people are to be told of, alike in every attempt."""
        after, *until = map(int, check.claim.content.split(" "))
        if not until:
            until = [max(after, messages)]
            self.work.renew(check.claim, f"{after} {until[0]}")
        return range(after, until[0])

    def finish(self, check: Check, read: range | None = None) -> None:
        """Record that a check is done; that of a chat was about the messages ``read``."""
        self.work.finish(check.claim, None if read is None else str(read.stop))

    def erase(self, player: str) -> None:
        """Remove the reminders of ``player``."""
        self.work.discard(player)
