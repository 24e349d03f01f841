"""What is to be looked at again at an instant: turns whose deadline comes near, chats with new messages.

It says only that something is to be looked at; what is found then decides. Instants are milliseconds since 1970 UTC.
"""

from collections.abc import Iterable
from typing import NamedTuple

from events.runtime.connections import StoreClient
from events.runtime.notice_keys import LedgerKeys
from events.runtime.scripts import load_script

GATHER_MS = 60_000
"""The messages of so long a time are told of together."""


class Reminder(NamedTuple):
    """At ``at`` it is to be seen whether ``player`` must be reminded of ``match``."""

    match: str
    player: str
    at: int


class MarkedChat(NamedTuple):
    """The messages of a chat after number ``after``, up to ``until``, are to be told of."""

    match: str
    after: int
    until: int
    marks: int


class Looks:
    """The looks of an installation with ``shards`` shards. Safe to share between threads.

    Methods raise StoreUnavailableError when the store is unreachable.
    """

    def __init__(self, client: StoreClient, prefix: str, shards: int) -> None:
        self._client = client
        self._prefix = prefix
        self._shards = [LedgerKeys(prefix, shard) for shard in range(shards)]
        self._end_reminder = load_script(client, __package__, "end_reminder")
        self._mark = load_script(client, __package__, "mark_chat")
        self._begin = load_script(client, __package__, "begin_chat")
        self._end = load_script(client, __package__, "end_chat")

    def remind(self, match: str, player: str, at: int) -> None:
        """Let it be seen at ``at`` whether ``player`` must be reminded of ``match``; an earlier wish is replaced."""
        self._client.zadd(self._of(player).reminders, {f"{match} {player}": at})

    def reminders_due(self, now: int, limit: int = 100, shards: Iterable[int] | None = None) -> list[Reminder]:
        """Return up to ``limit`` reminders of each of ``shards`` (None: of all) that are due at ``now``."""
        with self._client.pipeline(transaction=False) as pipeline:
            for keys in self._of_shards(shards):
                pipeline.zrange(keys.reminders, "-inf", now, byscore=True, offset=0, num=limit, withscores=True)
            found = pipeline.execute()
        places = [(*member.decode().split(" "), int(at)) for due in found for member, at in due]
        return [Reminder(match, player, at) for match, player, at in places]

    def end_reminder(self, reminder: Reminder) -> None:
        """Remove ``reminder`` unless it was replaced meanwhile."""
        keys = self._of(reminder.player)
        self._end_reminder(keys=[keys.reminders], args=[f"{reminder.match} {reminder.player}", reminder.at])

    def erase(self, player: str, matches: Iterable[str]) -> None:
        """Remove the reminders of ``player`` in ``matches``."""
        if members := [f"{match} {player}" for match in matches]:
            self._client.zrem(self._of(player).reminders, *members)

    def mark_chat(self, match: str, messages: int, now: int) -> None:
        """Mark the chat of ``match``, which has ``messages`` at ``now`` and is about to have one more."""
        keys = self._of(match)
        self._mark(keys=[keys.chats, keys.chat_marks], args=[match, messages, now + GATHER_MS])

    def chats_due(self, now: int, limit: int = 100, shards: Iterable[int] | None = None) -> list[str]:
        """Return the matches whose chats are to be looked at, up to ``limit`` of each of ``shards`` (None: of all)."""
        with self._client.pipeline(transaction=False) as pipeline:
            for keys in self._of_shards(shards):
                pipeline.zrange(keys.chats, "-inf", now, byscore=True, offset=0, num=limit)
            return [match.decode() for due in pipeline.execute() for match in due]

    def begin_chat(self, match: str, messages: int) -> MarkedChat | None:
        """Return of which of the ``messages`` in the chat of ``match`` people are to be told; None when of none.

        It is the same answer until ``end_chat``.
        """
        found = self._begin(keys=[self._of(match).chat_marks], args=[match, messages])
        return None if found is None else MarkedChat(match, *map(int, found))

    def end_chat(self, chat: MarkedChat, now: int) -> None:
        """Record that people were told of the messages of ``chat``."""
        keys = self._of(chat.match)
        self._end(
            keys=[keys.chats, keys.chat_marks],
            args=[chat.match, chat.after, chat.until, chat.marks, now + GATHER_MS],
        )

    def forget_chat(self, match: str, now: int) -> None:
        """Record that nobody needs to be told of the chat of ``match``, which does not exist any more."""
        marked = self.begin_chat(match, 0)
        if marked is not None:
            self.end_chat(marked, now)

    def _of_shards(self, shards: Iterable[int] | None) -> list[LedgerKeys]:
        return self._shards if shards is None else [self._shards[shard] for shard in shards]

    def _of(self, subject: str) -> LedgerKeys:
        return LedgerKeys.of(self._prefix, subject, len(self._shards))
