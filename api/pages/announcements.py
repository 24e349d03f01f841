"""The events of a match in sentences for its players, which the live region of the match page announces."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any, NamedTuple

from api.pages.case_page import GROUND_WORDS, RULING_WORDS
from api.pages.clocks import PAUSED
from api.pages.played_moves import MAX_MOVES_IN_RUN
from api.pages.wording import instant, result_words
from domain.games import find_ruleset
from domain.match import events as e
from domain.match.enums import Channel, Limit, Status
from domain.match.positions import to_move
from domain.match.state import MatchState
from domain.match.terms import duration
from domain.presentation import GameFact
from domain.scene import Scene


class Counts(NamedTuple):
    """Facts as a table: ``rows`` have a value for each seat, ``common`` facts are about the whole game."""

    rows: Mapping[str, list[str]]
    common: Mapping[str, str]


def tabulate_facts(facts: Iterable[GameFact], seats: int) -> Counts:
    """Return ``facts`` as a table of ``seats`` columns."""
    rows: dict[str, list[str]] = {}
    common: dict[str, str] = {}
    for fact in facts:
        if fact.seat is None:
            common[fact.title] = fact.value
        else:
            rows.setdefault(fact.title, [""] * seats)[fact.seat] = fact.value
    return Counts(rows, common)


def describe_checks(scene: Scene, seat_names: Sequence[str], viewer: int | None) -> list[str]:
    """Return a sentence for each king in check; ``viewer`` is the seat of the reader."""
    sentences = []
    for square in scene.checked:
        king = scene.columns[square][-1]
        owner = "Your" if king.seat == viewer else f"{seat_names[king.seat]}'s"
        sentences.append(f"{owner} king on {square} is in check.")
    return sentences


def describe_position(state: MatchState, seat_names: Sequence[str], viewer: int | None) -> list[str]:
    """Return sentences about checks and about demands of the rules on ``viewer``; none unless the match is in play."""
    if state.status != Status.PLAYING or state.cases.frozen or state.play.broken is not None:
        return []
    game = find_ruleset(state.game, state.ruleset)
    demand = game.demand(state.play.position) if viewer == game.to_move(state.play.position) else ""
    return [*describe_checks(game.scene(state.play.position), seat_names, viewer), *filter(None, [demand])]


YOUR_TURN = "It is your turn."
WITHDRAWN = "{who} withdrew the request to take back a move."
CHECKS = "+#"
"""The marks of check and mate in the list of moves."""

FROZEN = " The match is frozen until an arbiter has ruled."


class Audience(NamedTuple):
    """The listener's ``seat`` (None: a spectator), names in seat order, and moves as the list of moves shows them."""

    state: MatchState
    seat: int | None
    names: tuple[str, ...]
    seat_names: tuple[str, ...]
    spelled: tuple[str, ...]

    def who(self, seat: int) -> str:
        """Return the subject of a sentence about ``seat``."""
        return "You" if seat == self.seat else self.name(seat)

    def name(self, seat: int) -> str:
        """Return the name of the player at ``seat``, with the name of the seat if another player has the same name."""
        name = self.names[seat]
        return name if self.names.count(name) == 1 else f"{name} ({self.seat_names[seat]})"

    def clock(self, seat: int | None) -> str:
        """Return the subject of a sentence about the clock of ``seat`` (None: about all clocks)."""
        return (
            "The clocks" if seat is None else "Your clock" if seat == self.seat else f"The clock of {self.name(seat)}"
        )

    def move(self, event: e.MoveSubmitted) -> str:
        """Return the move as the list of moves shows it, without the mark of check; as recorded if taken back."""
        return self._listed(event).rstrip(CHECKS)

    def check(self, event: e.MoveSubmitted) -> str:
        """Return a space and a sentence about the check that a move gives, empty if it gives none."""
        return " Check." if self._listed(event).endswith("+") else ""

    def _listed(self, event: e.MoveSubmitted) -> str:
        place = event.ply - 1
        return self.spelled[place] if self.state.play.moves[place : event.ply] == (event.move,) else event.move

    def player(self, player: str) -> str:
        """Return the subject of a sentence about the player with this id, empty for one without a seat."""
        seat = self.state.seat_of(player)
        return "" if seat is None else self.who(seat)


def describe_events(earlier: Iterable[e.Event], news: Iterable[e.Event], audience: Audience) -> list[str]:
    """Return sentences about ``news``, followed by some about the position; none without news."""
    asker = None
    for event in earlier:
        asker = _asker_after(event, asker)
    described = []
    for mover, events in groupby(news, _mover_by_hand):
        if mover is None:
            for event in events:
                withdrawn = isinstance(event, e.TakebackDeclined) and event.seat == asker
                described.append(_sentence(WITHDRAWN if withdrawn else WORDS[type(event)], event, audience))
                asker = _asker_after(event, asker)
        else:
            described.append(_moves([event for event in events if isinstance(event, e.MoveSubmitted)], audience))
            asker = None
    sentences = list(filter(None, described))
    if not sentences:
        return []
    turn = [YOUR_TURN] if is_turn_of(audience.state, audience.seat) else []
    return [*sentences, *turn, *describe_position(audience.state, audience.seat_names, audience.seat)]


def describe_each(events: Iterable[e.Event], audience: Audience) -> list[str]:
    """Return a sentence about each of ``events``, which follow each other; empty for events that players do not see."""
    described, asker = [], None
    for event in events:
        withdrawn = isinstance(event, e.TakebackDeclined) and event.seat == asker
        described.append(_sentence(WITHDRAWN if withdrawn else WORDS[type(event)], event, audience))
        asker = _asker_after(event, asker)
    return described


def is_turn_of(state: MatchState, seat: int | None) -> bool:
    """Tell whether ``seat`` is to move in a match that is neither frozen nor broken."""
    return seat is not None and not state.cases.frozen and to_move(state) == seat


def describe_rematch(news: Iterable[e.Event], audience: Audience) -> list[str]:
    """Return sentences about ``news`` of the rematch, for the page of the match before it."""
    return [_sentence(_REMATCH_WORDS[type(event)], event, audience) for event in news if type(event) in _REMATCH_WORDS]


def last_move(audience: Audience) -> str:
    """Return the last move in a sentence."""
    state = audience.state
    ply = len(state.play.moves)
    if not ply:
        return "No move has been played."
    mover = state.play.history.movers()[-1]
    return _moved(
        e.MoveSubmitted(at=0, seat=mover, ply=ply, move=state.play.moves[-1], channel=state.play.channels[ply - 1]),
        audience,
    )


def _sentence(words: str | Callable[[Any, Audience], str], event: e.Event, audience: Audience) -> str:
    if callable(words):
        return words(event, audience)
    fields = asdict(event)
    if fields.get("seat") is not None:
        fields["who"] = audience.who(fields["seat"])
    return words.format_map({"frozen": FROZEN if fields.get("freezes") else "", **fields})


def _asker_after(event: e.Event, asker: int | None) -> int | None:
    """Return the seat whose takeback request is pending after ``event``, given the one pending before it."""
    if isinstance(event, e.TakebackRequested):
        return event.seat
    return None if isinstance(event, e.MoveSubmitted | e.MovesTakenBack | e.TakebackDeclined) else asker


def _created(event: e.MatchCreated, audience: Audience) -> str:
    subject = audience.player(event.creator)
    if event.rematch_of is not None:
        return _proposed_rematch(event, audience)
    return f"{subject} created the match." if subject else "The match was created."


def _joined(event: e.PlayerJoined, audience: Audience) -> str:
    return f"{audience.who(event.seat)} joined as {audience.seat_names[event.seat]}."


def _moved(event: e.MoveSubmitted, audience: Audience) -> str:
    words = (_OWN_BY_ITSELF if event.seat == audience.seat else _OTHERS_BY_ITSELF).get(event.channel or Channel.WEB)
    if words is None:
        return _moves([event], audience)
    return words.format(who=audience.who(event.seat), move=audience.move(event)) + audience.check(event)


_OWN_BY_ITSELF = {
    Channel.CONDITIONAL: "Your conditional move {move} was played for you.",
    Channel.FORCED: "Your only legal move {move} was played for you.",
}
_OTHERS_BY_ITSELF = {
    Channel.CONDITIONAL: "{who} played {move} by a conditional move.",
    Channel.FORCED: "{who} played {move}, the only legal move.",
}


def _mover_by_hand(event: e.Event) -> int | None:
    """Return the seat of a move made by hand; None for other events."""
    return event.seat if isinstance(event, e.MoveSubmitted) and event.channel not in _OWN_BY_ITSELF else None


def _moves(moves: Sequence[e.MoveSubmitted], audience: Audience) -> str:
    """Return one sentence about the moves that a seat made in a row, such as placing an army."""
    who, last = audience.who(moves[-1].seat), audience.move(moves[-1])
    check = audience.check(moves[-1])
    if len(moves) > MAX_MOVES_IN_RUN:
        return f"{who} played {len(moves)} moves, the last one {last}.{check}"
    before = ", ".join(audience.move(move) for move in moves[:-1])
    return f"{who} played {f'{before} and {last}' if before else last}.{check}"


def _by_line(event: e.DrawAccepted | e.PlayerResigned, verb: str, audience: Audience) -> str:
    return (
        f"{audience.who(event.seat)} {verb}{' by a conditional move' if event.channel == Channel.CONDITIONAL else ''}."
    )


def _aborted(event: e.MatchAborted, audience: Audience) -> str:
    seat = audience.state.seat_of(event.player)
    if seat is not None and not audience.state.seats[seat].joined:
        return f"{audience.who(seat)} declined the invitation."
    subject = audience.player(event.player)
    return f"{subject} cancelled the match." if subject else "The match was cancelled."


def _paused(event: e.ClockPaused, audience: Audience) -> str:
    clock, many = audience.clock(event.seat), event.seat is None
    if event.until is not None and event.until <= event.at:
        verb = f"{'were' if many else 'was'} stopped"
    elif event.since > event.at:
        verb = f"{'are' if many else 'is'} stopped from {instant(event.since)}"
    else:
        verb = f"{'are' if many else 'is'} stopped"
    return f"{clock} {verb}: {PAUSED[event.reason]}."


def _given(event: e.TimeGiven, audience: Audience) -> str:
    receiver = "you" if event.to == audience.seat else audience.name(event.to)
    return f"{audience.who(event.seat)} gave {receiver} {duration(event.time)}."


def _flag(event: e.FlagFell, audience: Audience) -> str:
    if event.limit == Limit.FIRST_MOVE:
        return f"{audience.who(event.seat)} did not make the first move in time."
    whose = "Your time" if event.seat == audience.seat else f"The time of {audience.name(event.seat)}"
    claimed = "" if event.claimed_by is None else f" {audience.who(event.claimed_by)} claimed it."
    return f"{whose} is up.{claimed}"


def _back(event: e.MovesTakenBack, _: Audience) -> str:
    place = f"the position after move {event.ply}" if event.ply else "the start"
    return f"The match is back at {place}."


def _disputed(event: e.DisputeRaised, audience: Audience) -> str:
    subject = "An arbiter opened a case" if event.seat is None else f"{audience.who(event.seat)} raised a dispute"
    return f"{subject}: {GROUND_WORDS[event.ground]}.{FROZEN if event.freezes else ''}"


def _ruled(event: e.RulingMade, _: Audience) -> str:
    words = RULING_WORDS[event.ruling]
    return f"An arbiter has ruled: {words[0].lower()}{words[1:]}."


def _adjusted(event: e.ClocksAdjusted, audience: Audience) -> str:
    clocks = zip(audience.seat_names, event.remaining, strict=True)
    return f"An arbiter set the clocks: {', '.join(f'{name} {duration(time)}' for name, time in clocks)}."


WORDS: Mapping[type[e.Event], str | Callable[[Any, Audience], str]] = {
    e.MatchCreated: _created,
    e.PlayerJoined: _joined,
    e.MatchStarted: "The match has begun.",
    e.MoveSubmitted: _moved,
    e.DrawOffered: "{who} offered a draw.",
    e.DrawAccepted: lambda event, to: _by_line(event, "accepted the draw", to),
    e.DrawDeclined: "{who} declined the draw.",
    e.PlayerResigned: lambda event, to: _by_line(event, "resigned", to),
    e.MatchAborted: _aborted,
    e.MatchFinished: lambda event, to: result_words(event.scores, to.seat_names, event.reason, to.state.game),
    e.ClockPaused: _paused,
    e.ClockResumed: lambda event, to: f"{to.clock(event.seat)} {'run' if event.seat is None else 'runs'} again.",
    e.TimeCorrected: "The clocks were corrected: the clock of the server was wrong.",
    e.TimeGiven: _given,
    e.FlagFell: _flag,
    e.FlagForgiven: "{who} let the match continue.",
    e.TakebackRequested: "{who} asked to take back a move.",
    e.TakebackAccepted: "{who} agreed to take back a move.",
    e.TakebackDeclined: "{who} refused to take back a move.",
    e.MovesTakenBack: _back,
    e.SeedDrawn: "",  # has no effect that players see
    e.DisputeRaised: _disputed,
    e.StatementFiled: "{who} made a statement in the case.",
    e.MatchFrozen: "An arbiter has frozen the match.",
    e.MatchUnfrozen: "An arbiter has unfrozen the match.",
    e.RulingMade: _ruled,
    e.RulingAppealed: "{who} appealed against the ruling.{frozen}",
    e.CaseReopened: "The case was reopened.{frozen}",
    e.ClocksAdjusted: _adjusted,
    e.MatchAnnulled: "The match is annulled.",
    e.MatchRestored: "The match is no longer annulled.",
    e.RulesetProposed: "An arbiter proposes to continue under ruleset {ruleset}.",
    e.RulesetAccepted: "{who} agreed to the proposed ruleset.",
    e.RulesetDeclined: "{who} declined the proposed ruleset.",
    e.RulesetChanged: "The match continues under ruleset {ruleset}.",
}
"""The sentence of each type of event, with the fields of the event and ``who`` caused it, or a function for it."""


def _proposed_rematch(event: e.MatchCreated, audience: Audience) -> str:
    own = audience.state.seat_of(event.creator) == audience.seat
    return f"{audience.player(event.creator)} {'proposed' if own else 'proposes'} a rematch."


def _declined_rematch(event: e.MatchAborted, audience: Audience) -> str:
    subject = audience.player(event.player)
    return f"{subject} declined the rematch." if subject else "The rematch was cancelled."


_REMATCH_WORDS: Mapping[type[e.Event], str | Callable[[Any, Audience], str]] = {
    e.MatchCreated: _proposed_rematch,
    e.PlayerJoined: "{who} accepted the rematch.",
    e.MatchStarted: "The rematch has begun.",
    e.MatchAborted: _declined_rematch,
}
