"""After an erasure the append-only files, which still hold the text, are rewritten on all primaries, once for many."""

from collections.abc import Callable
from typing import Any, NamedTuple

import structlog

from events.runtime.connections import StoreClient
from events.runtime.errors import StoreCommandError, StorePermissionError
from events.runtime.keys import PeopleKeys
from events.runtime.work_list import Repeats, WorkList

SETTLED_AFTER_MS = 60_000
"""A request that was running while its person was erased writes nothing after this time."""

MIN_BETWEEN_REWRITES_MS = 600_000
TO_BE_REWRITTEN = "to-be-rewritten"
NOT_PERMITTED = "not-permitted"
NONE = "none"
FILES = (TO_BE_REWRITTEN, NOT_PERMITTED, NONE)
"""The fates of the files of the store: NONE means that the server has no append-only file."""

log = structlog.get_logger("rewriting")


class _Rewrite(NamedTuple):
    """The last rewrite; ``server`` has the ids of the runs of all servers, ``confirmed`` tells that it has ended.

    Another one is ``wanted`` since an instant, 0 for none.
    """

    server: str
    permitted: bool
    begun: int
    confirmed: bool
    wanted: int


class Rewriting:
    """The people erased since the files of the store were rewritten; ``erasures`` are to be done once more."""

    def __init__(self, client: StoreClient, prefix: str, now: Callable[[], int]) -> None:
        self._client = client
        keys = PeopleKeys(prefix)
        self.erasures, self._rewrite = WorkList(client, [keys.erasures], now), keys.rewrite
        self._now = now

    def note(self, person: str) -> str:
        """Record that ``person`` was erased now; return one of FILES, the fate of the store's files."""
        self.erasures.add(person, "", self._now() + SETTLED_AFTER_MS, repeats=Repeats.MOVED)
        return self._expected_outcome()

    def is_complete(self) -> bool:
        """Tell whether nobody who was erased can still be found in the files."""
        return not self.erasures.next_due() and not self._last().wanted

    def follow_up(self, forget: Callable[[str], None]) -> None:
        """Take the next step until the files are rewritten; ``forget`` erases again the remains of a request."""
        while (claim := self.erasures.claim()) is not None:
            try:
                forget(claim.id)
            except StoreCommandError as error:  # a damaged key must not keep other people in the files
                log.error("a person cannot be erased; trying again", person=claim.id, error=str(error))
                self.erasures.postpone(claim, self._now() + SETTLED_AFTER_MS)
                continue
            # Crash-safe: a rewrite that begins after the erasure is wanted before the entry is gone.
            self._remember(wanted=self._now())
            self.erasures.finish(claim)
        last = self._last()
        if last.wanted and not last.confirmed:
            ended = self._ended(last)
            if ended is None:
                return
            last = last._replace(wanted=0 if ended and last.wanted <= last.begun else last.wanted)
            self._remember(confirmed=1, wanted=last.wanted)
            if not last.wanted:
                log.info("erasures are complete")
        if last.wanted and self._now() >= last.begun + MIN_BETWEEN_REWRITES_MS:
            self._begin()

    def _begin(self) -> None:
        if not self._has_file():
            self._remember(wanted=0)
            return
        if any(_ended(server) is None for server in self._client.servers()):
            return  # Asked one by one as they end, several servers would never begin in the same step.
        now, asked = self._now(), self._ask()
        if asked is None:
            return
        self._remember(server=self._server(), permitted=int(asked), begun=now, confirmed=int(not asked))
        if not asked:
            log.error("the store does not permit rewriting its file: erased text stays in it")
            self._remember(wanted=0)

    def _expected_outcome(self) -> str:
        if not self._has_file():
            return NONE
        last, server = self._last(), self._server()
        if last.server != server:
            # Only an attempt shows whether this server permits it.
            permitted = self._ask() is not False
            last = last._replace(permitted=permitted)
            self._remember(server=server, permitted=int(permitted), confirmed=1)
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

    def _last(self) -> _Rewrite:
        stored = {name.decode(): value.decode() for name, value in self._client.hgetall(self._rewrite).items()}
        return _Rewrite(
            stored.get("server", ""),
            stored.get("permitted") != "0",
            int(stored.get("begun", 0)),
            stored.get("confirmed") != "0",
            int(stored.get("wanted", 0)),
        )

    def _remember(self, **facts: Any) -> None:
        self._client.hset(self._rewrite, mapping=dict[Any, Any](facts))


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
