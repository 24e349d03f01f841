"""The one way in which anything happens to a match: every command of every caller is executed here, in time."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from domain.match.commands import Command, CreateMatch, SignedAct
from domain.match.due import Availability
from domain.match.guards import TIME_UP
from domain.match.lines import ConditionalMoves
from domain.match.refusals import CommandError
from domain.match.state import MatchState
from events.matches.matches import MAX_ATTEMPTS, Executed, Loaded, Matches, UnknownMatchError
from events.matches.timekeeper import Timekeeper, is_claim
from events.runtime import tracing
from events.store.contract import Request, StaleConditionalMovesError, StaleVersionError, VersionTag

REFUSALS = (UnknownMatchError, CommandError, StaleVersionError, StaleConditionalMovesError)
"""Refusals after which another attempt at a command may succeed."""


class CommandAttempt(NamedTuple):
    """An attempt at a command: the version it counts on, whether on the cached match, its number, once settled."""

    expected: VersionTag | None
    cached: bool
    number: int = 1
    settled: bool = False


class MatchService:
    """Executes commands, after the steps that time has made due in the match."""

    def __init__(self, matches: Matches, timekeeper: Timekeeper, now: Callable[[], int]) -> None:
        self._matches = matches
        self._timekeeper = timekeeper
        self._now = now

    def execute(
        self,
        match_id: str,
        command: Command,
        actor: str,
        request: Request,
        expected: VersionTag | None = None,
        *,
        may_see: Callable[[MatchState], bool] = lambda _: True,
        availability: Mapping[str, Availability] = MappingProxyType({}),
    ) -> Executed:
        """Decide ``command`` on the match as it stands and append its events; return the events and the state.

        A repeated request returns the events it wrote. A caller may expect the version before time was recorded; a
        signed act is refused as stale then. A refusal because time is up counts only when the match has been settled.
        ``availability`` was read shortly before.

        Raises UnknownMatchError, also if the caller may not see it, before anything else; CommandError,
        StaleVersionError (``expected`` None: any version), RequestMismatchError, with nothing done; DamagedStreamError,
        UndecodableEventError, the errors of ``evolve``.
        """
        now = self._now()
        # A claim may cost the other player a day of vacation: never on a state that may be outdated.
        attempt = CommandAttempt(expected, cached=not is_claim(command) and self._matches.cached(match_id) is not None)
        with tracing.span("execute", match=match_id, command=type(command).__name__):
            while True:
                try:
                    loaded = self._matches.open(match_id, request, cached=attempt.cached)
                    guard(match_id, loaded, command, attempt.expected, may_see)
                    if loaded is not None and loaded.recorded is not None:
                        return self._matches.read_recorded(match_id, loaded, loaded.recorded)
                    loaded = self._timekeeper.record_time(loaded, command, now, availability)
                    decided = self._matches.decide(loaded, command)
                    return self._matches.append(match_id, loaded, decided, actor, request)
                except REFUSALS as refusal:
                    attempt = self._after_refusal(refusal, attempt, match_id, command, now)

    def lay_down(
        self,
        match_id: str,
        player: str,
        orders: Callable[[MatchState, ConditionalMoves], ConditionalMoves],
        expected: VersionTag | None = None,
    ) -> Loaded:
        """Store conditional moves as ``Matches.lay_down`` does, after the steps that time has made due."""
        try:
            return self._matches.lay_down(match_id, player, orders, expected)
        except CommandError as refusal:
            if refusal.code != TIME_UP:
                raise
        expected = self._settle(match_id, self._now(), expected)
        return self._matches.lay_down(match_id, player, orders, expected)

    def _after_refusal(
        self, refusal: Exception, attempt: CommandAttempt, match_id: str, command: Command, now: int
    ) -> CommandAttempt:
        """Return the next attempt at ``command``; raises ``refusal`` where another one would change nothing."""
        if attempt.cached:
            # Perhaps only because the match has moved on since, or the request has been executed before: an append
            # succeeds on the present state alone, and a refusal counts on the present state alone.
            return attempt._replace(cached=False)
        if isinstance(refusal, CommandError) and refusal.code == TIME_UP and not attempt.settled:
            settled = self._settle(match_id, now, attempt.expected)
            # A signed act counts on the match that its player has seen, or not at all.
            signed = isinstance(command, SignedAct) and command.signed is not None
            return CommandAttempt(attempt.expected if signed else settled, cached=not is_claim(command), settled=True)
        stale = isinstance(refusal, StaleVersionError) and attempt.expected is None
        if attempt.number < MAX_ATTEMPTS and (stale or isinstance(refusal, StaleConditionalMovesError)):
            return attempt._replace(number=attempt.number + 1)
        raise refusal

    def _settle(self, match_id: str, now: int, expected: VersionTag | None) -> VersionTag | None:
        """Settle the match; return the version to expect now by a caller who expected ``expected`` before."""
        before, after = self._timekeeper.settle(match_id, now)
        return after if expected == before else expected


def guard(
    match_id: str,
    loaded: Loaded | None,
    command: Command,
    expected: VersionTag | None,
    may_see: Callable[[MatchState], bool],
) -> None:
    """Refuse a match that is not there for the caller, and another version than ``expected``.

    Raises UnknownMatchError and, unless the request was executed before, StaleVersionError.
    """
    if loaded is None and isinstance(command, CreateMatch):
        return
    if loaded is None or not may_see(loaded.state):
        raise UnknownMatchError(match_id)
    if expected is not None and loaded.recorded is None and loaded.head.tag != expected:
        raise StaleVersionError(match_id, expected, loaded.head.tag)
