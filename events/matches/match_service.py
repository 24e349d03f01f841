"""The one way in which anything happens to a match: every command of every caller is executed here, in time."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from domain.match.commands import CallTime, Command, SignedAct
from domain.match.due import Availability
from domain.match.guards import TIME_UP
from domain.match.lines import ConditionalMoves
from domain.match.refusals import CommandError
from domain.match.state import MatchState
from events.matches.matches import Executed, Loaded, Matches
from events.matches.timekeeper import Timekeeper
from events.runtime import tracing
from events.store.contract import Request, VersionTag


class MatchService:
    """Executes commands after what time has done to the match before."""

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
        """Decide ``command`` on the match as it stands and append what follows; return the events and the state.

        A repeated request returns what it wrote. Who expects the version before time was recorded need not know of
        that; a signed act is refused as stale then. A refusal because time is up counts only when the match has been
        settled. ``availability`` was read shortly before.

        Raises UnknownMatchError, also if the caller may not see it, before anything else; CommandError,
        StaleVersionError (``expected`` None: any version), RequestMismatchError, with nothing done; DamagedStreamError,
        UndecodableEventError, what ``evolve`` raises.
        """
        now = self._now()

        def attempt(expected: VersionTag | None) -> Executed:
            return self._matches.append_decision(
                match_id,
                command,
                actor,
                request,
                expected,
                may_see=may_see,
                prepare=lambda loaded: self._prepare(loaded, command, now, availability),
                # A claim may cost the other player a day of vacation: never on a state that may be outdated.
                use_cache=not _is_claim(command),
            )

        with tracing.span("execute", match=match_id, command=type(command).__name__):
            try:
                return attempt(expected)
            except CommandError as refusal:
                if refusal.code != TIME_UP:
                    raise
            settled = self._settle(match_id, now, expected)
            # A signed act counts on the match that its player has seen, or not at all.
            return attempt(expected if isinstance(command, SignedAct) and command.signed is not None else settled)

    def lay_down(
        self,
        match_id: str,
        player: str,
        orders: Callable[[MatchState, ConditionalMoves], ConditionalMoves],
        expected: VersionTag | None = None,
    ) -> Loaded:
        """Store conditional moves as ``Matches.lay_down`` does, after what time has done to the match before."""
        try:
            return self._matches.lay_down(match_id, player, orders, expected)
        except CommandError as refusal:
            if refusal.code != TIME_UP:
                raise
        expected = self._settle(match_id, self._now(), expected)
        return self._matches.lay_down(match_id, player, orders, expected)

    def _prepare(self, loaded: Loaded, command: Command, now: int, availability: Mapping[str, Availability]) -> Loaded:
        """Record what time has done to the match before the command counts; return the match after it."""
        if isinstance(command, CallTime) and command.player is not None:
            return self._timekeeper.record_before_claim(loaded, command.player, now)
        return self._timekeeper.record_turn(loaded, now, availability)

    def _settle(self, match_id: str, now: int, expected: VersionTag | None) -> VersionTag | None:
        """Settle the match; return the version to expect now by a caller who expected ``expected`` before."""
        before, after = self._timekeeper.settle(match_id, now)
        return after if expected == before else expected


def _is_claim(command: Command) -> bool:
    return isinstance(command, CallTime) and command.player is not None
