"""The timekeeper: what time does to a match, and what players' diaries and the server's outages mean for it.

What is due is computed from the events each time, never remembered, and appended to the very version that it was
computed for. So it does not matter who settles a match, how often, or how many do so at once; and of a late move and a
flag only the one counts that is appended first, by the instants in the events.

Anybody may be killed between any two steps: a diary and the record of outages say what is to be, a match is brought up
to them whenever it is settled, and what it has already is not appended again.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeVar

import structlog

from domain.match.clock import Pause, counts_from, forecast
from domain.match.commands import CallTime, Command, CorrectTime, CreateMatch, PauseClock, ResumeClock, SetCalendar
from domain.match.enums import Limit, PauseReason, Status
from domain.match.guards import TIME_UP, seats_playing
from domain.match.lines import Orders
from domain.match.refusals import Refused
from domain.match.state import CLOCK, MatchState
from domain.match.timekeeping import deadline_of
from events.people.administration import CONSOLE
from events.private.availability import Change, Diaries, Diary, Mark, outlived, renewed, saved
from events.runtime import beats
from events.runtime.errors import StoreUnavailable
from events.service.matches import Executed, Loaded, Matches
from events.service.outages import LONGEST_GAP, Heartbeat
from events.service.pauses import Held, covered, foreseen, outdated, unrecorded
from events.store.contract import Request, StaleVersion, VersionTag
from events.store.time import MAX_CLOCK_DIFFERENCE_MS

MOST_STEPS = 500
"""In one go; a match that needs more of them goes on being settled the next time."""

T = TypeVar("T")

log = structlog.get_logger("timekeeper")


class Settled(NamedTuple):
    """A match was at ``before`` when it was taken up, and is at ``after`` with what was due."""

    before: VersionTag
    after: VersionTag


class Step(NamedTuple):
    """A command that time or a diary makes due, and who acts in it."""

    command: Command
    actor: str


class Timekeeper:
    """Keeps the time of the matches of one store. Safe to share between threads.

    ``matches_of`` returns the matches that a player is playing; one that it does not name yet follows its player's
    diary when it is settled next.
    """

    def __init__(
        self,
        matches: Matches,
        diaries: Diaries,
        heartbeat: Heartbeat,
        matches_of: Callable[[str], Iterable[str]],
    ) -> None:
        self._matches = matches
        self._diaries = diaries
        self._heartbeat = heartbeat
        self._matches_of = matches_of

    def settle(self, match: str, now: int) -> Settled:
        """Let happen in ``match`` what is due at ``now`` (milliseconds since 1970 UTC); return what that changed.

        In this order: outages are credited, and where a flag would fall free days and vacations, then it is kept up by
        a day of automatic vacation if its player has one, and if not, it falls. Raises NoSuchMatch, StoreUnavailable,
        redis errors, and what ``Matches.load`` raises.
        """
        return self._steps(match, lambda state: self._due(state, now))

    def update(self, match: str, now: int) -> Settled:
        """Let ``match`` lay down what the diaries of its players do not say any more; return what that changed.

        What they do say is recorded when it counts. Raises what ``settle`` raises.
        """
        return self._steps(match, lambda state: self._towards_diaries(state, now))

    def execute(
        self,
        match: str,
        command: Command,
        actor: str,
        request: Request,
        now: int,
        expected: VersionTag | None = None,
        guard: Callable[[MatchState], None] = lambda _: None,
    ) -> Executed:
        """Carry ``command`` out as ``Matches.execute`` does, after what time has done to the match before.

        ``guard`` is called with the match before anything else happens, and raises to keep the caller out of it.

        A refusal because time is up counts only when the match has been settled: an outage or a vacation may have kept
        the flag up, and if it fell, the caller hears of that. Who expected the version at which the match was settled
        need not know of it.
        """

        def attempt(expected: VersionTag | None) -> Executed:
            return self._matches.execute(match, command, actor, request, expected)

        claimant = command.player if isinstance(command, CallTime) else None

        def next_step(state: MatchState) -> Step | None:
            guard(state)
            return self._unrecorded(state, now) if claimant is None else self._before_claim(state, claimant, now)

        if not isinstance(command, CreateMatch):
            settled = self._steps(match, next_step)
            expected = settled.after if expected == settled.before else expected
        return self._in_time(match, now, expected, attempt)

    def lay_down(
        self,
        match: str,
        player: str,
        orders: Callable[[MatchState, Orders], Orders],
        now: int,
        expected: VersionTag | None = None,
    ) -> Loaded:
        """Keep ``orders`` as ``Matches.lay_down`` does, after what time has done to the match before."""

        def attempt(expected: VersionTag | None) -> Loaded:
            return self._matches.lay_down(match, player, orders, expected)

        return self._in_time(match, now, expected, attempt)

    def change(self, player: str, change: Change, now: int) -> Diary:
        """Change the diary of ``player`` and let all matches follow; return it.

        Raises what ``change`` raises, with nothing changed, StoreUnavailable and redis errors. Once the diary is
        changed, matches that could not follow do so later.
        """
        diary, mark = self._diaries.change(player, change)
        if mark is not None:
            self.follow(mark, now)
        return diary

    def follow(self, mark: Mark, now: int) -> None:
        """Let all matches of a player follow a change of the diary, and take the mark away.

        Killed before, the mark is still there and everything is done again; what was done already is not done twice.
        Raises StoreUnavailable and redis errors.
        """
        for match in self._matches_of(mark.player):
            beats.beat()
            try:
                self.update(match, now)
                if mark.forced:
                    self.prefer(match, mark.player)
            except Exception as error:
                if is_transient(error):
                    raise
                # A match that cannot be replayed must not keep the others from following.
                log.error("a match cannot follow", match=match, error=str(error))
        self._diaries.followed(mark)

    def correct(self, match: str, now: int) -> Settled:
        """Bring ``match`` back to the present where a wrong clock has left instants of the future in it.

        Its events are dated from now on again, and outages that are recorded no more, or as shorter, end now. Where
        nothing is wrong nothing changes. Raises what ``settle`` raises.
        """
        return self._steps(match, lambda state: self._towards_present(state, now))

    def prefer(self, match: str, player: str) -> None:
        """Let forced moves be played for ``player`` in ``match``, or no longer, as the player's diary says.

        Raises what ``Matches.lay_down`` raises, but nothing where it is not being played or its terms do not allow it.
        """
        wanted = self._diaries.read([player])[player].plays_forced
        loaded = self._matches.load(match)
        seat, terms = loaded.state.seat_of(player), loaded.state.terms
        if seat is None or not _runs(loaded.state) or (terms is not None and not terms.lines):
            return
        if loaded.orders.get(seat, Orders()).forced != wanted:
            self._matches.lay_down(match, player, lambda _, orders: orders._replace(forced=wanted))

    def begin(self, match: str, now: int) -> None:
        """Let a match that has just started follow the diaries and preferences of its players. Raises as above."""
        self.update(match, now)
        state = self._matches.load(match).state
        for player in _people(state) if _runs(state) else ():
            self.prefer(match, player)

    def _in_time(
        self, match: str, now: int, expected: VersionTag | None, attempt: Callable[[VersionTag | None], T]
    ) -> T:
        """Return what ``attempt`` returns at the expected version, once more if it is refused because time is up."""
        try:
            return attempt(expected)
        except Refused as refusal:
            if refusal.code != TIME_UP:
                raise
        settled = self.settle(match, now)
        return attempt(settled.after if expected == settled.before else expected)

    def _steps(self, match: str, next_step: Callable[[MatchState], Step | None]) -> Settled:
        """Carry out one step after the other until there is none; each is decided on the match as it stands."""
        state, head, *_ = self._matches.load(match)
        before = head.tag
        for _ in range(MOST_STEPS):
            step = next_step(state)
            if step is None:
                break
            # Two who settle the same version use the same key: the second one finds what the first one has appended.
            request = Request(f"time:{head.tag}", "")
            try:
                executed = self._matches.execute(match, step.command, step.actor, request, head.tag)
            except StaleVersion:
                # Somebody else has acted, and whoever expected the version before has to hear of that.
                state, head, *_ = self._matches.load(match)
                before = head.tag
                continue
            except Refused as refusal:
                log.error("refused", match=match, version=head.version, reason=str(refusal))
                break
            state, head, *_ = self._matches.load(match)
            if not executed.events:
                break
        return Settled(before, head.tag)

    def _due(self, state: MatchState, now: int) -> Step | None:
        """Return the next step of all that is due."""
        deadline = deadline_of(state)
        if state.status == Status.OPEN and deadline is not None and deadline <= now and self._is_in_doubt(state):
            return None
        step = self._before_flag(state, deadline, now)
        if step is not None:
            return step
        return None if deadline is None or deadline > max(now, state.updated_at) else Step(CallTime(), CLOCK)

    def _is_in_doubt(self, state: MatchState) -> bool:
        """Tell whether the match has waited for players through an outage that the operator has not confirmed yet.

        No clock runs in it that could be credited; a clock that was wrong for a moment must not call it off.
        """
        return any(outage.until > state.created_at for outage in self._heartbeat.provisional())

    def _before_claim(self, state: MatchState, claimant: str, now: int) -> Step | None:
        """Return the next step of what comes before ``claimant`` may claim a flag; nothing for who cannot claim one."""
        expected = forecast(state.clock) if state.clock is not None else None
        if expected is None or state.seat_of(claimant) in (None, expected.seat):
            return None
        return self._before_flag(state, expected.at, now)

    def _before_flag(self, state: MatchState, flag: int | None, now: int) -> Step | None:
        """Return the next step of what comes before a flag falls at the instant ``flag`` (None: it does not)."""
        if state.clock is None or not _runs(state):
            return None
        for outage in self._heartbeat.beat(now, counts_from(state.clock)):
            if outage.until <= now + LONGEST_GAP and not covered(state.clock, Pause(PauseReason.OUTAGE, None, *outage)):
                return Step(
                    PauseClock(reason=PauseReason.OUTAGE, player=None, since=outage.since, until=outage.until), CLOCK
                )
        step = self._towards_diaries(state, now)
        expected = forecast(state.clock)
        if step is not None or expected is None or expected.at is None:
            return step
        if flag is None or flag > max(now, state.updated_at):
            return None
        if (step := self._unrecorded(state, now)) is not None:
            return step
        player, at = state.seats[expected.seat].player, expected.at
        if player not in _people(state) or not state.clock.terms.vacations or expected.limit == Limit.FIRST_MOVE:
            return None
        # The diary first: killed right after it, whoever settles the match next finds the vacation there.
        diary, mark = self._diaries.change(player, lambda diary: saved(diary, at))
        if mark is not None:
            log.info("automatic vacation", match=state.match, player=player, since=at)
        held = unrecorded(state.clock, expected.seat, diary, max(now, state.updated_at))
        return None if held is None else _recording(held, player)

    def _unrecorded(self, state: MatchState, now: int) -> Step | None:
        """Return the next step that records what the diary of the one to move has done to the clock by ``now``."""
        if state.clock is None or state.clock.seat is None or not _runs(state):
            return None
        seat = state.clock.seat
        player = state.seats[seat].player
        if player not in _people(state):
            return None
        held = unrecorded(state.clock, seat, self._diaries.read([player])[player], max(now, state.updated_at))
        return None if held is None else _recording(held, player)

    def foreseen(self, state: MatchState) -> MatchState:
        """Return ``state`` with what diaries say of its clock in the time to come, to be shown and never stored.

        Raises redis errors.
        """
        if state.clock is None or not _runs(state):
            return state
        people = _people(state)
        diaries = self._diaries.read(people)
        return state._replace(clock=foreseen(state.clock, {seat: diaries[player] for player, seat in people.items()}))

    def foreseen_deadlines(self, players: Mapping[str, str]) -> dict[str, int | None]:
        """Return the deadlines of matches as ``foreseen`` has them, of those for which a diary makes a difference.

        ``players`` are those to move, by match. Raises redis errors, StoreUnavailable.
        """
        diaries = self._diaries.read(players.values())
        concerned = [match for match, player in players.items() if diaries[player].calendar or diaries[player].book]
        return {match: deadline_of(self.foreseen(self._matches.load(match).state)) for match in concerned}

    def _towards_present(self, state: MatchState, now: int) -> Step | None:
        """Return the next step of what brings a match back from the future."""
        if state.updated_at > now + MAX_CLOCK_DIFFERENCE_MS:
            return Step(CorrectTime(), CONSOLE)
        if state.clock is None or state.ended:
            return None
        known = self._heartbeat.outages()
        for pause in state.clock.pauses:
            lasts = pause.reason == PauseReason.OUTAGE and (pause.until is None or pause.until > now + LONGEST_GAP)
            if lasts and not any((outage.since, outage.until) == (pause.since, pause.until) for outage in known):
                return Step(ResumeClock(reason=PauseReason.OUTAGE, player=None), CONSOLE)
        return None

    def _towards_diaries(self, state: MatchState, now: int) -> Step | None:
        """Return the next step that lays down what the diaries of the players do not say any more; None: there is none.

        So the free days of a match whose events have them from before become those of the diary.
        """
        if state.clock is None or not _runs(state):
            return None
        people = _people(state)
        diaries = self._diaries.read(people)
        for player, seat in people.items():
            diary = diaries[player]
            if outlived(diary, now):
                self._heartbeat.beat(now, now)  # a diary must not be changed by a wrong clock
                diary, _ = self._diaries.change(player, lambda diary: renewed(diary, now))
            if state.clock.calendars[seat] is not None:
                return Step(SetCalendar(player=player, calendar=None), player)
            if (reason := outdated(state.clock, seat, diary, max(now, state.updated_at))) is not None:
                return Step(ResumeClock(reason=reason, player=player), player)
        return None


def is_transient(error: Exception) -> bool:
    """Tell whether waiting helps against ``error``, which then concerns no single match."""
    return isinstance(error, StoreUnavailable)


def _runs(state: MatchState) -> bool:
    """Tell whether the match is being played, by rules that are known here."""
    return state.status == Status.PLAYING and state.broken is None


def _people(state: MatchState) -> dict[str, int]:
    """Return the people who play, with their seats: no opponents, and nobody who has left the game."""
    seats = ((number, state.seats[number]) for number in seats_playing(state))
    return {seat.player: number for number, seat in seats if seat.player is not None and seat.level is None}


def _recording(held: Held, player: str) -> Step:
    """Return the step that records ``held``, which stops the clock of ``player``."""
    reason, _, since, until = held.pause
    return Step(
        PauseClock(reason=reason, player=player, since=since, until=until, automatic=held.automatic),
        CLOCK if held.automatic else player,
    )
