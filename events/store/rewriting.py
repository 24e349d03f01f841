"""After an erasure the append-only files, which still hold the text, are rewritten on all primaries, once for many."""

from collections.abc import Callable
from typing import NamedTuple

import structlog

from events.runtime.connections import StoreClient
from events.runtime.errors import StoreCommandError, StorePermissionError
from events.runtime.keys import PeopleKeys

SETTLED_AFTER_MS = 60_000
"""A request that was running while its person was erased writes nothing after this time."""

MIN_BETWEEN_REWRITES_MS = 600_000

TO_BE_REWRITTEN = "to-be-rewritten"
NOT_PERMITTED = "not-permitted"
NONE = "none"
FILES = (TO_BE_REWRITTEN, NOT_PERMITTED, NONE)
"""What happens to the files of the store: NONE means that the server has no append-only file."""

log = structlog.get_logger("rewriting")


class _Rewrite(NamedTuple):
    """The last rewrite; ``server`` has the ids of the runs of all servers, ``confirmed`` tells that it has ended."""

    server: str = ""
    permitted: bool = True
    begun: int = 0
    confirmed: bool = True


class Rewriting:
    """Who has been erased since the files of the store were rewritten."""

    def __init__(self, client: StoreClient, prefix: str, now: Callable[[], int]) -> None:
        self._client = client
        keys = PeopleKeys(prefix)
        self._erased, self._rewrite = keys.erased, keys.rewrite
        self._now = now

    def note(self, person: str) -> str:
        """Record that ``person`` was erased now; return one of FILES, what happens to the store's files."""
        self._client.hset(self._erased, person, self._now())
        return self._expected_outcome()

    def pending(self) -> dict[str, int]:
        """Return who may still be found in the files: when they were erased, by id."""
        return {person.decode(): int(at) for person, at in self._client.hgetall(self._erased).items()}

    def follow_up(self, forget: Callable[[str], None]) -> None:
        """Take the next step until the files are rewritten; ``forget`` erases again what a request may have left.

        Crash-safe: a person is pending until a rewrite that began after their erasure has succeeded.
        """
        pending, now = self.pending(), self._now()
        if not pending:
            return
        last = self._last()
        if not last.confirmed:
            ended = self._ended(last)
            if ended is None:
                return
            if ended:
                self._done(last.begun)
                pending = self.pending()
            last = last._replace(confirmed=True)
            self._remember(last)
        settled = {person for person, at in pending.items() if at + SETTLED_AFTER_MS <= now}
        if settled and now >= last.begun + MIN_BETWEEN_REWRITES_MS:
            self._begin(settled, forget, now)

    def _begin(self, persons: set[str], forget: Callable[[str], None], now: int) -> None:
        for person in persons:
            try:
                forget(person)
            except StoreCommandError as error:  # a damaged key must not keep other people in the files
                log.error("a person cannot be erased; trying again", person=person, error=str(error))
                self._client.hset(self._erased, person, now)
        if not self._has_file():
            self._done(now)
            return
        asked = self._ask()
        if asked is None:
            return  # One that began earlier may be running: the next step asks again.
        self._remember(_Rewrite(self._server(), asked, now, not asked))
        if not asked:
            log.error("the store does not permit rewriting its file: erased text stays in it", persons=len(persons))
            self._done(now)

    def _expected_outcome(self) -> str:
        if not self._has_file():
            return NONE
        last, server = self._last(), self._server()
        if last.server != server:
            # Only an attempt shows whether this server permits it.
            permitted = self._ask() is not False
            last = last._replace(server=server, permitted=permitted, confirmed=True)
            self._remember(last)
            if not permitted:
                log.error("the store does not permit rewriting its file: erased text stays in it")
        return TO_BE_REWRITTEN if last.permitted else NOT_PERMITTED

    def _ask(self) -> bool | None:
        asked = [_ask(server) for server in self._client.servers()]
        return False if False in asked else None if None in asked else True

    def _ended(self, last: _Rewrite) -> bool | None:
        if last.server != self._server():
            return False  # A server was restarted, perhaps before its rewrite was complete, or has joined.
        ended = [_ended(server) for server in self._client.servers()]
        if None in ended:
            return None
        if False in ended:
            log.error("the store's file could not be rewritten; trying again")
        return all(ended)

    def _has_file(self) -> bool:
        return any(map(_has_file, self._client.servers()))

    def _server(self) -> str:
        return " ".join(sorted(map(_run_id, self._client.servers())))

    def _done(self, begun: int) -> None:
        persons = {person for person, at in self.pending().items() if at + SETTLED_AFTER_MS <= begun}
        if persons:
            self._client.hdel(self._erased, *persons)
            log.info("erasures are complete", persons=len(persons))

    def _last(self) -> _Rewrite:
        stored = self._client.hgetall(self._rewrite)
        if not stored:
            return _Rewrite()
        return _Rewrite(
            stored[b"server"].decode(),
            stored[b"permitted"] == b"1",
            int(stored[b"begun"]),
            stored[b"confirmed"] == b"1",
        )

    def _remember(self, last: _Rewrite) -> None:
        self._client.hset(
            self._rewrite,
            mapping={
                "server": last.server,
                "permitted": int(last.permitted),
                "begun": last.begun,
                "confirmed": int(last.confirmed),
            },
        )


def _ask(server: StoreClient) -> bool | None:
    try:
        server.bgrewriteaof()
    except StorePermissionError:
        return False
    except StoreCommandError as error:
        if "unknown command" in str(error).lower():
            return False
        if "in progress" not in str(error):
            log.warning("the store's file cannot be rewritten now", error=str(error))
        return None
    return True


def _ended(server: StoreClient) -> bool | None:
    try:
        progress = server.info("persistence")
    except StoreCommandError:
        return True  # It has accepted the request, and reports nothing more.
    if progress["aof_rewrite_in_progress"] or progress["aof_rewrite_scheduled"]:
        return None
    return bool(progress["aof_last_bgrewrite_status"] == "ok")


def _has_file(server: StoreClient) -> bool:
    try:
        return bool(server.info("persistence").get("aof_enabled"))
    except StoreCommandError:
        return True  # A server that does not report it: requesting a rewrite will show.


def _run_id(server: StoreClient) -> str:
    try:
        return str(server.info("server").get("run_id", ""))
    except StoreCommandError:
        return "unknown"
