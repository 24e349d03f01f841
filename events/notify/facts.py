"""The facts that people are told of, as a function of a match and its latest events.

A fact has the same name however often it is found: an act that awaits a player is read off the state, an event is
named by its version.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from domain.games import find_ruleset
from domain.match import events as e
from domain.match.clock import forecast
from domain.match.enums import Channel, EndReason, Status
from domain.match.guards import seats_playing
from domain.match.positions import to_move
from domain.match.state import MatchState, is_person
from events.notify.notice import NoticeKind
from events.notify.wording import about, summarise_fact

_TURN = "turn"
_DEADLINE = "deadline"
VACATION = "vacation"
_BEGINNINGS = (
    e.MatchStarted,
    e.MoveSubmitted,
    e.MovesTakenBack,
    e.PlayerResigned,
    e.FlagFell,
    e.FlagForgiven,
    e.RulingMade,
    e.MatchUnfrozen,
    e.MatchRestored,
    e.RulesetChanged,
)
"""The events with which a turn may begin, or go on when a match has stood still."""

_OVERTAKEN = (e.DrawOffered, e.TakebackRequested, e.RulesetProposed, e.MatchFinished, e.MatchAborted)
"""Of these only the last one of a match can still matter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """Something that ``players`` are told of, in a sentence; ``version`` is that of the stream in which it is found.

    ``match`` is None for a fact about no match.
    """

    name: str
    kind: NoticeKind
    match: str | None
    version: int
    at: int
    players: tuple[str, ...]
    summary: str
    deadline: int | None = None


class Happened(NamedTuple):
    """An event of a match and its actor."""

    version: int
    actor: str
    event: e.Event


def facts_of(state: MatchState, events: Sequence[Happened], since: int) -> list[Fact]:
    """Return the facts of a match: acts that await its players, and those of its events from version ``since`` on."""
    latest = {type(happened.event): happened.version for happened in events}
    facts = [
        _fact_of_event(state, happened)
        for happened in events
        if happened.version >= since
        and (latest[type(happened.event)] == happened.version or not isinstance(happened.event, _OVERTAKEN))
    ]
    return [fact for fact in (*facts, turn_of(state, events)) if fact is not None and fact.players]


def turn_of(state: MatchState, events: Sequence[Happened] = ()) -> Fact | None:
    """Return that it is a person's turn; None when it is nobody's or an opponent's, or when the player has begun it.

    A turn begun by the answer of a webhook is told of: its receiver does not learn the consequences.
    """
    seat = to_move(state)
    if seat is None or state.cases.frozen:
        return None
    player = state.seats[seat].player
    beginning = next((happened for happened in reversed(events) if isinstance(happened.event, _BEGINNINGS)), None)
    name = f"{_TURN}:{_turn_name(state, seat)}"
    if player is None or not is_person(player) or (beginning is not None and _knows_what_follows(player, beginning)):
        return None
    # Without an event the turn counts as begun when its clock began, which may be recent.
    begun_at = state.updated_at if state.clock is None else state.clock.since
    fact = _fact(name, NoticeKind.TURN, state, begun_at if beginning is None else beginning.event.at, (player,))
    first = fact.summary if state.play.plies else summarise_fact("first-turn", game_title(state))
    return replace(fact, summary=first, deadline=deadline_of_turn(state))


def reminder_of(state: MatchState, now: int) -> Fact | None:
    """Return that the time of the person to move is running out; None when there is nothing that person must do."""
    turn = turn_of(state)
    if turn is None or turn.deadline is None or turn.deadline <= now:
        return None
    name = f"{_DEADLINE}{turn.name.removeprefix(_TURN)}"
    return replace(_fact(name, NoticeKind.DEADLINE, state, now, turn.players), deadline=turn.deadline)


def chat_fact(state: MatchState, first: int, player: str, at: int) -> Fact:
    """Return that there are messages for ``player`` from number ``first`` on; ``at`` is when the last one was sent."""
    return _fact(f"chat:{state.match_id}:{first}", NoticeKind.CHAT, state, at, (player,))


def vacation_fact(state: MatchState, happened: Happened, days_left: int) -> Fact | None:
    """Return that a day of vacation stopped a flag, under one name for all matches; None for any other event."""
    event = happened.event
    if not isinstance(event, e.ClockPaused) or not event.automatic or event.seat is None:
        return None
    player = state.seats[event.seat].player or ""
    name = f"{VACATION}:{player}:{event.since}"
    days = "1 day is" if days_left == 1 else f"{days_left} days are"
    return Fact(
        name=name,
        kind=NoticeKind.DEADLINE,
        match=state.match_id,
        version=happened.version,
        at=event.since,
        players=(player,),
        summary=f"A day of vacation was taken for you, {days} left.",
        deadline=deadline_of_turn(state),
    )


def deadline_of_turn(state: MatchState) -> int | None:
    """Return the instant at which the time of the seat to move is up; None when no clock runs."""
    expected = None if state.status != Status.PLAYING else forecast(state.clock)
    return None if expected is None else expected.at


def may_be_outdated(fact: str) -> bool:
    """Tell whether ``fact`` may be no longer so: it is then to be compared with the match."""
    return about(fact) in _CHECKS


def why_outdated(fact: str, player: str, state: MatchState) -> str | None:
    """Return why ``player`` need not be told of ``fact`` any more, a sentence; None while it is still so."""
    check = _CHECKS.get(about(fact))
    return None if check is None else check(fact, player, state)


def game_title(state: MatchState) -> str:
    """Return the title of the game of a match, its id where the ruleset is not installed."""
    try:
        return find_ruleset(state.game, state.ruleset).title
    except LookupError:
        return state.game


def _knows_what_follows(player: str, happened: Happened) -> bool:
    event = happened.event
    by_webhook = isinstance(event, e.MoveSubmitted) and event.channel == Channel.WEBHOOK
    return happened.actor == player and not by_webhook


def _turn_name(state: MatchState, seat: int) -> str:
    # A ply may be played again after moves were taken back, and a turn pass to another seat when one leaves.
    return f"{state.match_id}:{state.play.plies}:{state.play.taken_back}:{seat}"


def _fact_of_event(state: MatchState, happened: Happened) -> Fact | None:
    """Return the fact of an event, None without one or when it does not matter in ``state`` any more."""

    def tell(subject: str, kind: NoticeKind, players: Iterable[str]) -> Fact:
        told = dict.fromkeys(player for player in players if player and is_person(player) and player != happened.actor)
        fact = _fact(f"{subject}:{state.match_id}:{happened.version}", kind, state, happened.event.at, tuple(told))
        return replace(fact, version=happened.version)

    match happened.event:
        case e.MatchCreated() as created if state.status == Status.OPEN:
            invited = tuple(seat.player for seat in state.seats if seat.player and not seat.joined)
            subject = "rematch" if created.rematch_of else "invitation"
            return tell(subject, NoticeKind.INVITATION, invited)
        case e.MatchStarted():
            first = None
            if state.play.broken is None:
                game = find_ruleset(state.game, state.ruleset)
                first = state.seats[game.to_move(state.play.position_after(0))].player
            return tell("started", NoticeKind.STARTED, [player for player in _people(state) if player != first])
        case e.DrawOffered() if state.offers.draw_agreed:
            return tell("draw", NoticeKind.OFFER, _owing(state, state.offers.draw_agreed))
        case e.TakebackRequested() if state.offers.takeback is not None:
            return tell("takeback", NoticeKind.OFFER, _owing(state, state.offers.takeback.agreed))
        case e.RulesetProposed() if state.cases.proposal is not None:
            return tell("ruleset", NoticeKind.OFFER, _owing(state, state.cases.proposal.agreed))
        case e.MatchFinished(reason=reason) if reason != EndReason.RULING and state.ended:
            return tell("ended", NoticeKind.ENDED, _people(state))
        case e.MatchAborted() if state.ended:
            return tell("aborted", NoticeKind.ENDED, _people(state))
        case e.FlagFell(seat=seat) if not state.ended:
            return tell("flag", NoticeKind.ENDED, (state.seats[seat].player or "",))
        case e.DisputeRaised():
            return tell("case", NoticeKind.CASE, _people(state))
        case e.RulingAppealed():
            return tell("appeal", NoticeKind.CASE, _people(state))
        case e.CaseReopened():
            return tell("reopened", NoticeKind.CASE, _people(state))
        case e.RulingMade():
            return tell("ruling", NoticeKind.RULING, _people(state))
        case _:
            return None


def _fact(name: str, kind: NoticeKind, state: MatchState, at: int, players: tuple[str, ...]) -> Fact:
    return Fact(
        name=name,
        kind=kind,
        match=state.match_id,
        version=state.version,
        at=at,
        players=players,
        summary=summarise_fact(name, game_title(state)),
    )


def _people(state: MatchState) -> tuple[str, ...]:
    return tuple(seat.player for seat in state.seats if seat.player and seat.joined and is_person(seat.player))


def _owing(state: MatchState, agreed: Sequence[int]) -> tuple[str, ...]:
    if state.play.broken is not None:
        return ()
    return tuple(state.seats[seat].player or "" for seat in seats_playing(state) if seat not in agreed)


def _turn_outdated(fact: str, _: str, state: MatchState) -> str | None:
    _, plies, taken_back, seat = fact.rsplit(":", 3)
    if state.ended:
        return "The match is over."
    if state.cases.frozen:
        return "The match stands still until an arbiter has ruled."
    if fact.partition(":")[2] == _turn_name(state, int(seat)) and to_move(state) == int(seat):
        return None
    if state.play.taken_back != int(taken_back):
        return "Moves were taken back meanwhile."
    return "You have moved meanwhile." if state.play.plies > int(plies) else "It is no longer your turn."


def _offer_outdated(player: str, state: MatchState, agreed: Sequence[int] | None) -> str | None:
    if state.ended:
        return "The match is over."
    if agreed is None:
        return "It was answered or withdrawn meanwhile."
    return None if player in _owing(state, agreed) else "You have answered meanwhile."


def _draw_outdated(_: str, player: str, state: MatchState) -> str | None:
    return _offer_outdated(player, state, state.offers.draw_agreed or None)


def _takeback_outdated(_: str, player: str, state: MatchState) -> str | None:
    takeback = state.offers.takeback
    return _offer_outdated(player, state, None if takeback is None else takeback.agreed)


def _ruleset_outdated(_: str, player: str, state: MatchState) -> str | None:
    proposal = state.cases.proposal
    return _offer_outdated(player, state, None if proposal is None else proposal.agreed)


def _invitation_outdated(_: str, player: str, state: MatchState) -> str | None:
    seat = state.seat_of(player)
    if state.status == Status.OPEN and seat is not None and not state.seats[seat].joined:
        return None
    return "You have accepted meanwhile." if state.status == Status.PLAYING else "The invitation is over."


def _end_outdated(_: str, __: str, state: MatchState) -> str | None:
    return None if state.ended else "The match goes on again."


_CHECKS: dict[str, Callable[[str, str, MatchState], str | None]] = {
    _TURN: _turn_outdated,
    _DEADLINE: _turn_outdated,
    "draw": _draw_outdated,
    "takeback": _takeback_outdated,
    "ruleset": _ruleset_outdated,
    "invitation": _invitation_outdated,
    "rematch": _invitation_outdated,
    "ended": _end_outdated,
    "aborted": _end_outdated,
}
