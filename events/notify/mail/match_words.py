"""A match in the words of mail: its moves, its events, its end, instants."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from domain.errors import MalformedNotation, RulesError
from domain.game import AnyGame
from domain.games import GAMES, find_ruleset
from domain.match import events as e
from domain.match.endings import reason_words
from domain.match.enums import Channel, LineAction, Status
from domain.match.lines import ANY, ConditionalMoves, Line
from domain.match.state import MatchState
from domain.match.terms import DAY, HOUR, MINUTE
from events.notify.mail.language import Moves
from events.people.availability import zone_of

MAX_EXAMPLE_PLIES = 20


def game_of(state: MatchState) -> AnyGame:
    """Return the rules of a match."""
    return find_ruleset(state.game, state.ruleset)


def has_rules(state: MatchState) -> bool:
    """Tell whether the rules of a match are installed: a match of a later version can be named, but not shown."""
    return any(game.ruleset == state.ruleset for game in GAMES.rulesets.get(state.game, ()))


def moves_of(state: MatchState) -> Moves:
    """Return how the moves of a match are written; the same whatever has been played."""
    game = game_of(state)
    start = game.initial(state.setup)
    position = start if state.ended or state.play.position is None else state.play.position

    def is_move(text: str) -> bool:
        try:
            game.read_move(position, text, state.setup)
        except MalformedNotation:
            return False
        except RulesError:
            return True
        return True

    return Moves(is_move, several=game.draft(start) is not None)


def example_move(state: MatchState) -> str:
    """Return a move of the game that is none in the position of ``state``, so quoting it plays nothing; "" for none."""
    game = game_of(state)
    position = game.initial(state.setup)
    for _ in range(MAX_EXAMPLE_PLIES):
        move = next(iter(game.legal_moves(position)), None)
        if move is None:
            move = game.any_unlisted_move(position)
        if move is None:
            break
        text: str = game.display_move(position, move).rstrip("+#")
        try:
            game.read_move(state.play.position, text, state.setup)
        except RulesError:
            return text
        position = game.play(position, move)
    return ""


def event_words(event: e.Event, seat: int, names: Sequence[str], game_id: str) -> str:
    """Return an event as a sentence for the player of ``seat``; empty for one that is not of interest."""
    match event:
        case e.MoveSubmitted(seat=mover, move=move, channel=channel):
            if channel in (Channel.CONDITIONAL, Channel.FORCED):
                whose = "Your" if mover == seat else f"{names[mover]}'s"
                kind = "conditional move" if channel == Channel.CONDITIONAL else "only legal move"
                return f'{whose} {kind} was played at once: "{move}".'
            return f'"{move}" was played.'
        case e.DrawOffered(seat=other):
            return "You have offered a draw." if other == seat else f"{names[other]} has offered a draw."
        case e.DrawAccepted(seat=other):
            return "You have agreed to the draw." if other == seat else f"{names[other]} has agreed to the draw."
        case e.DrawDeclined():
            return "You have declined the draw."
        case e.PlayerResigned(seat=other):
            return "You have resigned." if other == seat else f"{names[other]} has resigned."
        case e.TakebackRequested():
            return "You have asked to take your last move back."
        case e.TakebackAccepted():
            return "You have agreed to the takeback."
        case e.TakebackDeclined():
            return "You have declined the takeback, or withdrawn your own request."
        case e.MovesTakenBack(ply=ply):
            return f"The match goes on from the position after move {ply}."
        case e.PlayerJoined():
            return "You have taken your seat."
        case e.MatchStarted():
            return "The match has started."
        case e.MatchAborted():
            return "The match was cancelled."
        case e.MatchFinished(scores=scores, reason=reason):
            shown = ", ".join(f"{name} {score:g}" for name, score in zip(names, scores, strict=True))
            return f"The match is over: {shown} ({reason_words(reason, game_id)})."
    return ""


def result_words(state: MatchState, seat: int) -> str:
    """Return how a match ended for ``seat``, to be followed by the match: "You have won"; empty without a result."""
    scores = state.result.scores
    if state.status != Status.FINISHED or scores is None:
        return ""
    if len(set(scores)) == 1:
        return "Draw"
    if scores[seat] < max(scores):
        return "You have lost"
    return "You have won" if scores.count(scores[seat]) == 1 else "You share the first place of"


def outcome_words(state: MatchState) -> str:
    """Return how a match ended, as a sentence; empty while it goes on."""
    game = game_of(state)
    if state.status == Status.ABORTED:
        return "The match was cancelled."
    if not state.ended:
        return ""
    if state.result.scores is None:
        return "The match is over, without a result."
    names = game.setups[state.setup].seat_names
    scores = ", ".join(f"{name} {score:g}" for name, score in zip(names, state.result.scores, strict=True))
    return f"The match is over: {scores} ({reason_words(state.result.reason, state.game)})."


def soon_words(at: int, now: int, zone: str) -> str:
    """Return how much time is left until ``at``, and when that is in ``zone``: "24 hours left, until Wed 07:00"."""
    local = datetime.fromtimestamp(at // 1000, zone_of(zone))
    unit = HOUR if at - now > 2 * HOUR else MINUTE
    count = max(1, round((at - now) / unit))
    left = f"{count} {'hour' if unit == HOUR else 'minute'}{'s' * (count > 1)}"
    day = "%a" if at - now < 6 * DAY else "%a %-d %b,"
    return f"{left} left, until {local:{day} %H:%M}"


def instant_words(at: int, zone: str) -> str:
    """Return ``at`` in the time zone and in UTC, as people read it."""
    utc = datetime.fromtimestamp(at // 1000, UTC)
    in_utc = f"{utc:%a %-d %b %Y, %H:%M} UTC"
    if zone == "UTC":
        return in_utc
    return f"{utc.astimezone(zone_of(zone)):%a %-d %b %Y, %H:%M} in {zone} ({in_utc})"


def queue_text(orders: ConditionalMoves) -> str:
    """Return the conditional moves of a seat as sentences; empty when it has none."""
    sentences = []
    if orders.lines is not None and orders.lines.first:
        shown = "; ".join(_queued(orders.lines.first, ""))
        sentences.append(f"Conditional moves after move {orders.lines.ply}: {shown}.")
    if orders.forced:
        sentences.append("Your only legal move is played for you.")
    return " ".join(sentences)


def _queued(following: Sequence[Line], before: str) -> Iterable[str]:
    for line in following:
        move = "any" if line.move == ANY else f'"{line.move}"'
        here = f"{before} {move}".strip()
        if line.then in (LineAction.RESIGN, LineAction.ACCEPT_DRAW):
            here = f"{here} ({line.then.replace('-', ' ')})"
        if line.next:
            yield from _queued(line.next, here)
        else:
            yield here
