"""What is said beside a match: one Redis stream for each, apart from the stream of its events.

A chat is no part of a match: it is not replayed, exported or proved, and can be erased. Its keys share a hash tag of
the match. Whoever listens hears on a channel that something was said, and where, but not what.
"""

import hashlib
from collections.abc import Callable
from typing import NamedTuple

from redis.client import PubSub

from events.runtime.connections import StoreClient
from events.runtime.keys import ChatKeys
from events.runtime.scripts import load_script
from events.store.contract import Request, RequestMismatchError

MOST_MESSAGES = 5000
REMEMBERED_SECONDS = 24 * 3600
"""How long a repeated request is recognised."""


class Message(NamedTuple):
    """The ``number``-th message of a chat (from 1, without gaps), said at an instant (milliseconds since 1970 UTC)."""

    number: int
    at: int
    author: str
    text: str


class ChatFullError(Exception):
    """A chat has as many messages as it can have."""


class Chats:
    """The chats of an installation. Safe to share between threads; every method raises redis-py's errors."""

    def __init__(self, client: StoreClient, prefix: str, now: Callable[[], int]) -> None:
        self._client = client
        self._keys = ChatKeys(prefix)
        self._now = now
        self._say = load_script(client, __package__, "post_message")
        self._erase = load_script(client, __package__, "erase_messages")

    def say(self, match: str, author: str, text: str, request: Request) -> Message:
        """Add ``text`` to the chat of ``match`` and return it; a repeated request returns what it said the first time.

        Raises ChatFullError, and RequestMismatchError when the request's key is known with another fingerprint.
        """
        # Before the message: killed in between, a chat is searched for words of an author who has none there.
        self._client.sadd(self._keys.matches_of(author), match)
        key = self._keys.messages(match)
        once = self._keys.request(match, hashlib.sha256(request.key.encode()).hexdigest())
        said: bytes | None = self._say(
            keys=[key, once],
            args=[
                self._now(),
                author,
                text,
                request.fingerprint,
                MOST_MESSAGES,
                REMEMBERED_SECONDS,
                self._keys.channel,
                match,
            ],
        )
        if said is None:
            raise ChatFullError(f"{match} has {MOST_MESSAGES} messages")
        number, _, fingerprint = said.decode().partition(":")
        if fingerprint != request.fingerprint:
            raise RequestMismatchError(match, request.key)
        return self.read(match, int(number) - 1, 1)[0]

    def read(self, match: str, after: int, limit: int) -> list[Message]:
        """Return up to ``limit`` messages with numbers above ``after``, in order."""
        found = self._client.xrange(self._keys.messages(match), f"{after + 1}-0", "+", limit)
        return [
            Message(int(id.partition(b"-")[0]), int(said[b"at"]), said[b"by"].decode(), said[b"text"].decode())
            for id, said in found
        ]

    def length(self, match: str) -> int:
        """Return how many messages the chat of ``match`` has."""
        return int(self._client.xlen(self._keys.messages(match)))

    def want_others(self, match: str, player: str, wanted: bool) -> None:
        """Keep whether ``player`` wants others to join in when ``match`` is over."""
        if wanted:
            self._client.sadd(self._keys.matches_of(player), match)  # so that an erasure finds it
            self._client.sadd(self._keys.open_to_others(match), player)
        else:
            self._client.srem(self._keys.open_to_others(match), player)

    def wanting_others(self, match: str) -> set[str]:
        """Return the players who want others to join in when ``match`` is over."""
        return {player.decode() for player in self._client.smembers(self._keys.open_to_others(match))}

    def joined(self, author: str) -> list[str]:
        """Return the matches in whose chats ``author`` has said something: also those of others, after their end."""
        return sorted(match.decode() for match in self._client.smembers(self._keys.matches_of(author)))

    def erase(self, author: str) -> None:
        """Take the words of ``author`` out of all chats; that something was said there stays.

        Killed midway, doing it again does the rest: which chats they are is forgotten last.
        """
        for match in self.joined(author):
            self.want_others(match, author, False)
            self._erase(keys=[self._keys.messages(match)], args=[author])
        self._client.delete(self._keys.matches_of(author))


def channel_of(prefix: str) -> str:
    """Return the channel that tells of every message, by the id of its match."""
    return ChatKeys(prefix).channel


def listening(client: StoreClient, prefix: str) -> PubSub:
    """Return a subscription to the news of all chats, which says also when it begins, again after a break too.

    Raises redis-py's errors.
    """
    heard: PubSub = client.pubsub()
    heard.subscribe(channel_of(prefix))
    return heard
