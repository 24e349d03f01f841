"""Why did it do that? A move of an opponent in sentences, for newcomers: facts of the board and of the recorded choice.

They tell the effect of the move, the captures possible for the moved piece by the rules, and the oversights of the
opponent, which follow from the seed of the ply. Nothing is searched, and nothing is said about the reader's moves.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from flask import Response, abort

from api.access.auth import current_person
from api.access.matches import visible_match
from api.pages.layout import blueprint
from api.pages.newcomers import is_new, read_of_finished
from api.pages.pictures import trace_of_move
from api.services import services
from domain.errors import RulesError
from domain.game import AnyGame
from domain.match import events as e
from domain.match.enums import Status
from domain.match.guards import rules_of
from domain.match.state import MatchState
from domain.scene import Piece, Scene
from domain.search import ENGINE_VERSION, moves_seen
from events.matches.readmodels import pool_of
from events.runtime.reads import ReadBatch
from events.store.codec import event_of

MAX_LEVEL: Final = 4
"""Moves of opponents up to this level are explained: the others overlook less."""
MAX_NAMED: Final = 2
"""Pieces that one sentence names."""
MAX_MOVES_EXPLAINED: Final = 3
MAX_EVENTS_READ: Final = 12


def is_explained(state: MatchState, seat: int | None) -> bool:
    """Tell whether the last move of a match is explained to ``seat``, if its player is new to the game."""
    if seat is None or state.rated or state.status != Status.PLAYING or state.play.broken is not None:
        return False
    movers = state.play.history.movers()
    level = state.seats[movers[-1]].level if movers else None
    return level is not None and level <= MAX_LEVEL


class Capture(NamedTuple):
    """A piece that a move has taken, a column that it has taken over, or one that it has set free."""

    square: str
    piece: Piece
    verb: str


def changes(before: Scene, after: Scene, mover: int) -> list[Capture]:
    """Return the captures of a move of ``mover``, with columns taken over and pieces set free, by square."""
    listed = []
    for cell in before.cells:
        old, new = before.columns.get(cell.square, ()), after.columns.get(cell.square, ())
        owner, owner_after = (column[-1].seat if column else -1 for column in (old, new))
        if not old or owner == owner_after or (owner == mover and owner_after < 0):
            continue
        if owner == mover:
            listed.append(Capture(cell.square, new[-1], "gives up"))
        elif len(new) > len(old):
            listed.append(Capture(cell.square, old[-1], "takes over"))
        elif old[-1].kind != "castle":
            listed.append(Capture(cell.square, old[-1], "takes"))
            if new and len(new) < len(old) and owner_after == mover:
                listed.append(Capture(cell.square, new[-1], "sets free"))
    # A column of which only the top was taken belongs to its owner still.
    for cell in before.cells:
        old, new = before.columns.get(cell.square, ()), after.columns.get(cell.square, ())
        if old and new and mover != old[-1].seat == new[-1].seat and len(new) < len(old):
            listed.append(Capture(cell.square, old[-1], "takes"))
    return listed


def explain(
    game: AnyGame, positions: Sequence[Any], seat_names: Sequence[str], viewer: int, event: e.MoveSubmitted
) -> list[str]:
    """Return sentences about the move of ``event``, which leads from the last but one of ``positions`` to the last.

    Those before are the earlier positions of the game.
    """
    before, after = positions[-2], positions[-1]
    mover, scenes = event.seat, (game.scene(before), game.scene(after))
    legal = list(game.legal_moves(before))
    done = changes(*scenes, mover)

    def words(taken: Iterable[Capture]) -> str:
        return _listed([f"{_named(capture, seat_names, viewer, mover)} on {capture.square}" for capture in taken])

    sentences = []
    if len(legal) == 1:
        sentences.append("It had no other move.")
    elif game.is_forced(before):
        demand = "It was in check." if scenes[0].checked else "A capture was compulsory."
        sentences.append(demand)
    for verb in ("takes", "takes over", "sets free", "gives up"):
        of_verb = [capture for capture in done if capture.verb == verb]
        if of_verb:
            in_return = verb == "takes" and _takes_back(game, positions, of_verb)
            sentences.append(f"It {verb} {words(of_verb)}{' in return' if in_return else ''}.")
    sentences += _growth(game, before, after, mover)
    checked_before, checked = ({scene.columns[square][-1].seat for square in scene.checked} for scene in scenes)
    if viewer in checked - checked_before:
        sentences.append("It gives check.")
    threatened = _threats(game, before, after, mover)
    if threatened:
        nearest = [capture for capture in threatened if capture.piece.seat in (viewer, -1)] or threatened
        verb = nearest[0].verb.replace("takes", "take")
        sentences.append(f"If nothing changes, what has moved can {verb} {words(nearest)} next.")
    if not sentences:
        sentences.append("It takes nothing, and what has moved attacks nothing.")
    return [*sentences, *_overlooked(game, positions, legal, event)]


def _named(taken: Capture, seat_names: Sequence[str], viewer: int, mover: int) -> str:
    piece, is_column = taken.piece, taken.verb in ("takes over", "gives up")
    if piece.kind == "castle":
        return "the castle"
    if piece.frozen or piece.seat < 0:
        return f"the {piece.title}"
    owner = "your" if piece.seat == viewer else "its own" if piece.seat == mover else f"{seat_names[piece.seat]}'s"
    return f"{owner} {'tower' if is_column else _kind(piece)}"


def _kind(piece: Piece) -> str:
    """Return the name of a piece without its colour."""
    return piece.title.split(" ", 1)[-1]


def _listed(names: Sequence[str]) -> str:
    shown = list(names[:MAX_NAMED])
    more = len(names) - len(shown)
    if more:
        return f"{', '.join(shown)} and {more} more"
    return " and ".join(shown)


def _takes_back(game: AnyGame, positions: Sequence[Any], taken: Sequence[Capture]) -> bool:
    """Tell whether the move before has taken something on one of the same squares."""
    if len(positions) < 3:
        return False
    earlier, before = positions[-3], positions[-2]
    trace = trace_of_move(game, earlier, before)
    mover = game.to_move(earlier)
    has_taken = any(capture.verb == "takes" for capture in changes(game.scene(earlier), game.scene(before), mover))
    return has_taken and any(capture.square in trace.entered and capture.piece.seat == mover for capture in taken)


def _growth(game: AnyGame, before: Any, after: Any, mover: int) -> list[str]:
    """Return a sentence about a tower that was built on, or about the kinds of which ``mover`` has more than before."""

    def count(scene: Scene) -> Counter[str]:
        pieces = (piece for column in scene.columns.values() for piece in column)
        return Counter(_kind(piece) for piece in pieces if piece.seat == mover and not piece.frozen)

    scene, trace = game.scene(after), trace_of_move(game, before, after)
    gained = list(count(scene) - count(game.scene(before)))
    if gained and len(trace.entered) == 1 and not trace.left:
        (square,) = trace.entered
        if len(scene.columns[square]) > 1:
            return [f"It builds: the tower on {square} has {len(scene.columns[square])} pieces now."]
    named = [f"{'an' if name[0].casefold() in 'aeio' else 'a'} {name}" for name in gained]
    return [f"It has gained {_listed(named)}."] if named else []


def _threats(game: AnyGame, before: Any, after: Any, mover: int) -> list[Capture]:
    """Return the captures of the moved piece if it were the turn of ``mover`` again; none if that cannot be told."""
    fields, texts = (game.format_position(position).split(" ") for position in (after, before))
    side = next((place for place in range(1, len(fields)) if fields[place] != texts[place]), None)
    if side is None or not (fields[side].isalpha() and len(fields[side]) == 1):
        return []
    fields[side] = texts[side]
    try:
        again = game.parse_position(" ".join(fields))
    except RulesError:
        return []
    entered = set(trace_of_move(game, before, after).entered)
    scene, threatened = game.scene(again), dict[str, Capture]()
    hints = (hint for square, hints in game.hints(again).items() if square in entered for hint in hints)
    for hint in hints:
        if not (_captures(hint.move) or hint.label == "push"):
            continue
        later = game.scene(game.play(again, game.parse_move(again, hint.move)))
        for taken in changes(scene, later, mover):
            if taken.verb in ("takes", "takes over"):
                threatened.setdefault(taken.square, taken)
    return list(threatened.values())


def _captures(text: str) -> bool:
    """Tell whether a move in canonical notation captures, by moving or by a shot."""
    return "x" in text or "*" in text


def _overlooked(game: AnyGame, positions: Sequence[Any], legal: Sequence[Any], event: e.MoveSubmitted) -> list[str]:
    """Return a sentence about the moves that the opponent has not seen, with a capture among them."""
    if event.level is None or event.seed is None or event.engine != str(ENGINE_VERSION) or len(legal) < 2:
        return []
    before = positions[-2]
    seen = set(moves_seen(game, before, event.ply - 1, event.level, event.seed))
    missed = (move for move in legal if move not in seen)
    capture = next((move for move in missed if _captures(game.format_move(before, move))), None)
    looked = sum(move in seen for move in legal)
    but = "" if capture is None else f", and did not see the capture {game.display_move(before, capture)}"
    return [f"At level {event.level} it looked at {looked} of its {len(legal)} moves, drawn by lot{but}."]


@blueprint.get("/matches/<match_id>/why")
def why(match_id: str) -> Response:
    """Return the reasons of the opponents' moves since the caller's last one, as lines; 404 where they are not told."""
    loaded, person = visible_match(match_id), current_person()
    state = loaded.state
    seat = state.seat_of(person.id) if person else None
    if person is None or seat is None or not is_explained(state, seat) or not _is_new(state, person.id):
        abort(404, "Moves of this match are not explained.")
    stored = services().store.read(match_id, max(0, loaded.head.version - MAX_EVENTS_READ), MAX_EVENTS_READ)
    moves = [event for event in map(event_of, stored) if isinstance(event, e.MoveSubmitted)]
    lines = _explanations(state, seat, moves)
    return Response("\n\n".join(lines), content_type="text/plain; charset=utf-8", headers={"Cache-Control": "no-store"})


def _is_new(state: MatchState, person: str) -> bool:
    batch = ReadBatch(services().client)
    finished = batch.add(read_of_finished(person))
    ratings = batch.add(services().readmodels.read_of_ratings([(person, pool_of(state.game, len(state.seats)))]))
    return is_new(state, next(iter(ratings())), finished())


def _explanations(state: MatchState, seat: int, moves: Sequence[e.MoveSubmitted]) -> list[str]:
    """Return a line about each of the last moves of opponents after the last one of ``seat``."""
    game, movers = rules_of(state), state.play.history.movers()
    names = game.setups[state.setup].seat_names
    since = [event for event in moves if seat not in movers[event.ply - 1 :] and event.level is not None]
    lines = []
    for event in since[-MAX_MOVES_EXPLAINED:]:
        positions = [state.play.position_after(ply) for ply in range(max(0, event.ply - 2), event.ply + 1)]
        move = game.display_move(positions[-2], game.parse_move(positions[-2], event.move))
        who = f"{names[event.seat]}, " if len(names) > 2 else ""
        lines.append(f"{who}{move}: {' '.join(explain(game, positions, names, seat, event))}")
    return ["The armies are being set up."] if game.draft(state.play.position_after(len(movers) - 1)) else lines
