"""What an erasure leaves to be done: the store's append-only file is rewritten, for it holds erased text until then.

A rewrite of a large store takes minutes and anybody can have an account erased, so that many erasures share one.
"""

from collections.abc import Callable
from typing import NamedTuple

import structlog

from events.runtime.connections import StoreClient
from events.runtime.errors import StoreCommandError, StorePermissionError
from events.runtime.keys import PeopleKeys

SETTLED_AFTER_MS = 60_000
"""No request that was under way when its person was erased writes anything after this time."""

MIN_BETWEEN_REWRITES_MS = 600_000

TO_BE_REWRITTEN = "to-be-rewritten"
NOT_PERMITTED = "not-permitted"
NONE = "none"
FILES = (TO_BE_REWRITTEN, NOT_PERMITTED, NONE)
"""What becomes of the files of the store: NONE means that the server keeps no append-only file."""

log = structlog.get_logger("rewriting")


class _Rewrite(NamedTuple):
    """The last rewrite that ``server``, a run of one, was asked for: whether it let itself be told, and when it began.

    ``begun`` is in milliseconds since 1970 UTC; ``confirmed`` tells that it is known how it ended.
    """

    server: str = ""
    permitted: bool = True
    begun: int = 0
    confirmed: bool = True


class Rewriting:
    """Who has been erased since the files of the store were rewritten. Methods raise redis-py's errors.

    ``now`` returns milliseconds since 1970 UTC.
    """

    def __init__(self, client: StoreClient, prefix: str, now: Callable[[], int]) -> None:
        self._client = client
        keys = PeopleKeys(prefix)
        self._erased, self._rewrite = keys.erased, keys.rewrite
        self._now = now

    def note(self, person: str) -> str:
        """Remember that ``person`` was erased just now; return one of FILES, what becomes of the store's files."""
        self._client.hset(self._erased, person, self._now())
        return self._prospect()

    def pending(self) -> dict[str, int]:
        """Return who was erased, by id, and when, and may still be found in the files."""
        return {person.decode(): int(at) for person, at in self._client.hgetall(self._erased).items()}

    def follow_up(self, forget: Callable[[str], None]) -> None:
        """Take the next step until the files are rewritten: begin a rewrite, or see how the last one has ended.

        ``forget`` erases once more what is kept about a person: what a request that was under way has left.

        Crash-safe: a person is pending until a rewrite that began after their erasure is known to have succeeded;
        killed anywhere before, the step is taken again.
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
            except StoreCommandError as error:  # a damaged key of one person must not keep others in the files
                log.error("a person cannot be forgotten; it is tried again", person=person, error=str(error))
                self._client.hset(self._erased, person, now)
        if not self._keeps_file():
            self._done(now)
            return
        asked = self._ask()
        if asked is None:
            return  # One may be under way that began before: the next step asks again.
        self._remember(_Rewrite(self._server(), asked, now, not asked))
        if not asked:
            log.error("the store does not let its file be rewritten: erased text stays in it", persons=len(persons))
            self._done(now)

    def _prospect(self) -> str:
        if not self._keeps_file():
            return NONE
        last, server = self._last(), self._server()
        if last.server != server:
            # Only trying tells whether this server may be asked; any rewrite at all is as good an occasion.
            permitted = self._ask() is not False
            last = last._replace(server=server, permitted=permitted, confirmed=True)
            self._remember(last)
            if not permitted:
                log.error("the store does not let its file be rewritten: erased text stays in it")
        return TO_BE_REWRITTEN if last.permitted else NOT_PERMITTED

    def _ask(self) -> bool | None:
        """Ask for a rewrite; return whether that is permitted, None when it cannot begin now."""
        try:
            self._client.bgrewriteaof()
        except StorePermissionError:
            return False
        except StoreCommandError as error:
            if "unknown command" in str(error).lower():
                return False
            if "in progress" not in str(error):
                log.warning("the store's file cannot be rewritten now", error=str(error))
            return None
        return True

    def _ended(self, last: _Rewrite) -> bool | None:
        """Tell whether the rewrite has succeeded; None while it is under way."""
        if last.server != self._server():
            return False  # The server was started again, and perhaps before the rewrite was complete.
        try:
            progress = self._client.info("persistence")
        except StoreCommandError:
            return True  # It has accepted to do it, and does not say more.
        if progress["aof_rewrite_in_progress"] or progress["aof_rewrite_scheduled"]:
            return None
        succeeded = progress["aof_last_bgrewrite_status"] == "ok"
        if not succeeded:
            log.error("the store's file could not be rewritten; it is tried again")
        return bool(succeeded)

    def _keeps_file(self) -> bool:
        try:
            return bool(self._client.info("persistence").get("aof_enabled"))
        except StoreCommandError:
            return True  # A server that does not say: asking it for a rewrite will tell.

    def _server(self) -> str:
        try:
            return str(self._client.info("server").get("run_id", ""))
        except StoreCommandError:
            return "unknown"

    def _done(self, begun: int) -> None:
        """Forget who was erased long enough before ``begun``, when the last rewrite began."""
        persons = {person for person, at in self.pending().items() if at + SETTLED_AFTER_MS <= begun}
        if persons:
            self._client.hdel(self._erased, *persons)
            log.info("erasures are complete", persons=len(persons))

    def _last(self) -> _Rewrite:
        kept = self._client.hgetall(self._rewrite)
        if not kept:
            return _Rewrite()
        return _Rewrite(
            kept[b"server"].decode(), kept[b"permitted"] == b"1", int(kept[b"begun"]), kept[b"confirmed"] == b"1"
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
