"""The chats of matches: one Redis stream each, not replayed, exported or proved. The channel names matches only."""

import hashlib
from collections.abc import Callable
from typing import NamedTuple

from limits import parse
from redis.client import PubSub

from domain.match.state import MatchState
from events.runtime.connections import StoreClient, translating
from events.runtime.counters import fixed_windows
from events.runtime.keys import ChatKeys
from events.runtime.scripts import load_script
from events.store.contract import Request, RequestMismatchError

MAX_MESSAGES_PER_CHAT = 5000
MAX_BYTES_OF_PERSON = "1000000/30 day"
"""In the notation of the limits package; counted as "chat_bytes"."""

REQUEST_KNOWN_S = 24 * 3600


class ChatMessage(NamedTuple):
    """The ``number``-th message of a chat, from 1 without gaps; ``at`` is in milliseconds since 1970 UTC."""

    number: int
    at: int
    author: str
    text: str


class ChatFullError(Exception):
    """A chat has MAX_MESSAGES_PER_CHAT messages."""


def chat_players(state: MatchState) -> set[str]:
    """Return the ids of the people who play the match."""
    return {seat.player for seat in state.seats if seat.player is not None and seat.level is None and seat.joined}


class Chats:
    """The chats of an installation."""

    def __init__(self, client: StoreClient, prefix: str, now: Callable[[], int]) -> None:
        self._client = client
        self._keys = ChatKeys(prefix)
        self._now = now
        self._limiter = fixed_windows(client, prefix)
        self._post = load_script(client, __package__, "post_message")
        self._erase = load_script(client, __package__, "erase_messages")

    def post(self, match_id: str, author: str, text: str, request: Request) -> ChatMessage:
        """Add a message; return it, or that of the same request. Raises ChatFullError and RequestMismatchError."""
        # Crash-safe: the index comes before the message; a kill in between leaves an entry without a message.
        self._client.sadd(self._keys.matches_of(author), match_id)
        digest = hashlib.sha256(request.key.encode()).hexdigest()
        posted: bytes | None = self._post(
            keys=[self._keys.messages(match_id), self._keys.request(match_id, digest)],
            args=[
                self._now(),
                author,
                text,
                request.fingerprint,
                MAX_MESSAGES_PER_CHAT,
                REQUEST_KNOWN_S,
                self._keys.channel,
                match_id,
            ],
        )
        if posted is None:
            raise ChatFullError(f"{match_id} has {MAX_MESSAGES_PER_CHAT} messages")
        number, _, fingerprint = posted.decode().partition(":")
        if fingerprint != request.fingerprint:
            raise RequestMismatchError(match_id, request.key)
        return self.read(match_id, int(number) - 1, 1)[0]

    @translating
    def spend_bytes(self, author: str, size: int) -> bool:
        """Count ``size`` bytes that ``author`` is about to write; return False when the limit is used up."""
        hashed = hashlib.sha256(author.encode()).hexdigest()[:32]
        return self._limiter.hit(parse(MAX_BYTES_OF_PERSON), "chat_bytes", hashed, cost=size)

    def read(self, match_id: str, after: int, limit: int) -> list[ChatMessage]:
        """Return up to ``limit`` messages with numbers above ``after``, in order."""
        entries = self._client.xrange(self._keys.messages(match_id), f"{after + 1}-0", "+", limit)
        return [
            ChatMessage(
                int(id.partition(b"-")[0]), int(fields[b"at"]), fields[b"by"].decode(), fields[b"text"].decode()
            )
            for id, fields in entries
        ]

    def length(self, match_id: str) -> int:
        """Return how many messages the chat of a match has."""
        return int(self._client.xlen(self._keys.messages(match_id)))

    def open_to_others(self, match_id: str, player: str, wanted: bool) -> None:
        """Store whether ``player`` lets others join the chat when the match is over."""
        if wanted:
            self._client.sadd(self._keys.matches_of(player), match_id)  # so that an erasure finds it
            self._client.sadd(self._keys.open_to_others(match_id), player)
        else:
            self._client.srem(self._keys.open_to_others(match_id), player)

    def players_open_to_others(self, match_id: str) -> set[str]:
        """Return the players who let others join the chat when the match is over."""
        return {player.decode() for player in self._client.smembers(self._keys.open_to_others(match_id))}

    def matches_of(self, author: str) -> list[str]:
        """Return the ids of the matches in whose chats ``author`` has written, finished matches of others included."""
        return sorted(match_id.decode() for match_id in self._client.smembers(self._keys.matches_of(author)))

    def erase(self, author: str) -> None:
        """Erase the words of ``author`` from all chats; that there was a message stays."""
        # Crash-safe: the index of the author is deleted last, so that erasing again completes it.
        for match_id in self.matches_of(author):
            self.open_to_others(match_id, author, False)
            self._erase(keys=[self._keys.messages(match_id)], args=[author])
        self._client.delete(self._keys.matches_of(author))


def subscribe(client: StoreClient, prefix: str) -> PubSub:
    """Return a subscription to new messages, each naming a match; it confirms each beginning, also after a break."""
    subscription: PubSub = client.pubsub()
    subscription.subscribe(ChatKeys(prefix).channel)
    return subscription
