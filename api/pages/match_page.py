"""The page of one match: the board at any ply, its seats, its moves, and the actions of the viewer."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from flask import redirect, render_template, url_for
from markupsafe import Markup
from msgspec import Struct, json, to_builtins
from werkzeug.wrappers import Response

from api.access.auth import current_person
from api.access.matches import may_read_chat, may_write_chat, visible_match
from api.operations.lists import first_awaited
from api.operations.notice_targets import NoticeWays, targets_of, ways_for
from api.operations.publications import Publication, publications_for
from api.pages.announcements import Counts, describe_position, tabulate_facts
from api.pages.available_actions import available_actions, find_consequences
from api.pages.board_steps import steps_nearby
from api.pages.clocks import describe_deadline, upcoming_vacations
from api.pages.layout import blueprint, read_viewer_roles
from api.pages.match_news import describe_news
from api.pages.match_standing import SeatView, describe_standing, seat_views, summarise_standing
from api.pages.move_reasons import is_explained
from api.pages.newcomers import is_new, read_of_finished
from api.pages.pictures import TurnedView, board_at, colours_of, count_turns, requested_ply, requested_view, turn_number
from api.pages.played_moves import Played, played_moves, rounds, runs_since
from api.pages.shared_pictures import link_preview
from api.pages.wording import nodes_sentence
from api.representations.boards import Draft
from api.representations.clocks import SECOND_MS
from api.representations.matches import (
    MatchContext,
    MatchSummary,
    ShownPosition,
    ids_in,
    represent_match,
    represent_summary,
    show_position,
)
from api.services import services
from domain.errors import RulesError
from domain.game import AnyGame
from domain.games import find_ruleset
from domain.match.decisions.timekeeping import MAX_FORGIVING_MS
from domain.match.enums import Status
from domain.match.lines import ANY, ConditionalMoves, Line, Lines, standing
from domain.match.positions import to_move
from domain.match.state import MatchState, people_seated
from domain.match.terms import DAY, HOUR, duration
from domain.presentation import DraftPiece
from domain.search.budgets import thinks_long
from events.matches.matches import Loaded
from events.matches.readmodels import PlayerRating, Summary, pool_of, summarise
from events.matches.thoughts import read_thought
from events.people.person import Person
from events.pictures.board import FOOT, faces
from events.runtime.reads import ReadBatch
from events.runtime.remembered import Measured, Remembered
from events.store.incidents import Loss


class Node(Struct, frozen=True, kw_only=True):
    """A move of a tree: ``move`` in canonical form, and as players spell it.

    ``seat`` makes the move (None: unknown, after any other move). ``then`` is the action after it beside ``next``.
    """

    move: str
    spelled: str
    seat: int | None
    then: str | None
    played: bool
    next: list["Node"]


def describe_tree(state: MatchState, lines: Lines) -> list[Node]:
    """Return the tree of ``lines``, with the moves marked that have been played since."""
    game = find_ruleset(state.game, state.ruleset)
    begins = game.parse_position(lines.position)
    follows = (
        lines.ply <= len(state.play.moves)
        and game.format_position(state.play.position_after(lines.ply)) == lines.position
    )
    return _nodes(game, begins, lines.first, state.play.moves[lines.ply :] if follows else ())


def _nodes(game: AnyGame, position: Any, lines: Iterable[Line], played: Sequence[str]) -> list[Node]:
    """Return the nodes of ``lines`` from ``position`` (None: unknown), after which ``played`` has been played."""
    lines = list(lines)
    listed = {line.move for line in lines}
    return [_node(game, position, line, listed, played) for line in lines]


def _node(game: AnyGame, position: Any, line: Line, listed: set[str], played: Sequence[str]) -> Node:
    happened = bool(played) and (line.move == played[0] or (line.move == ANY and played[0] not in listed))
    after, spelled = None, line.move
    if position is not None:
        try:
            move = game.parse_move(position, line.move)
        except RulesError:
            pass  # any other move, or the answer to it: the position after it is unknown
        else:
            after, spelled = game.play(position, move), game.display_move(position, move)
    return Node(
        move=line.move,
        spelled=spelled,
        seat=None if position is None else game.to_move(position),
        then=line.then,
        played=happened,
        next=_nodes(game, after, line.next, played[1:] if happened else ()),
    )


class PieceButton(NamedTuple):
    """A piece to choose, with its drawing and the id of the drawing."""

    piece: DraftPiece
    face: str
    drawing: Markup


class DraftPanel(NamedTuple):
    """The panel: the limits of the army, the same as JSON for the script, and the pieces."""

    limits: Draft
    json: str
    pieces: list[PieceButton]


def draft_panel(state: MatchState, game: AnyGame, seat: int | None) -> DraftPanel | None:
    """Return the panel for ``seat``; None unless it has an army to set up now."""
    playing = state.status == Status.PLAYING and state.play.broken is None and not state.cases.frozen
    if not playing or seat != game.to_move(state.play.position):
        return None
    draft = game.draft(state.play.position)
    if draft is None:
        return None
    colours, limits = colours_of(state, game), Draft.of(draft)
    buttons = [
        PieceButton(draft_piece, face, Markup(drawing))  # noqa: S704 - drawings are escaped
        for draft_piece in draft.pieces
        for face, drawing in faces([draft_piece.piece], colours, "draft-").items()
    ]
    facts = json.encode({**to_builtins(limits), "foot": FOOT}).decode()
    return DraftPanel(limits, facts, buttons)


GIFTS = {
    time // SECOND_MS: duration(time) for time in (6 * HOUR, 12 * HOUR, *(days * DAY for days in (1, 2, 3, 7, 14, 30)))
}
"""The times that can be given to another seat: seconds, and the same in words."""

MIN_WIDE_RATIO = 1.4
"""A scene that is wider than high by this factor gets the whole width of the page."""


class BoardView(NamedTuple):
    """The board after ``ply`` of ``plies``, in one of ``turns`` orientations, with the steps to the plies around it.

    ``shown`` is the board as text; ``position`` and ``circumstances`` are those of the last ply.
    """

    ply: int
    plies: int
    turn: int
    turns: int
    drawing: Markup
    steps: Markup
    position: str
    shown: ShownPosition
    circumstances: Sequence[str]
    wide: bool
    has_levels: bool
    counts: Counts


class ConditionalMovesView(NamedTuple):
    """The conditional moves of the viewer: the tree as JSON, where it stands, and whether forced moves are played."""

    plays_forced: bool
    tree_json: str = "[]"
    status: str = ""
    words: str = ""


class TakebackRequest(NamedTuple):
    """A request to take back ``moves``, such as "the last move"."""

    seat: int
    moves: str


class NoticeOffer(NamedTuple):
    """The ways in which a player may be told of the answer, and the clock of the player who is waited for.

    Against the computer, which has answered, ``player`` is empty: the viewer may be reminded of the own clock. If
    ``mailed``, a mail address waits for its confirmation.
    """

    ways: NoticeWays
    player: str
    time: str
    mailed: bool


class Chat(NamedTuple):
    """The viewer's part in the chat; ``open_to_others``: the viewer's wish after the end, None if there is none yet."""

    readable: bool
    writable: bool
    open_to_others: bool | None


class NextMatch(NamedTuple):
    """The match that awaits the viewer next, as the read model and as the API represent it."""

    summary: Summary
    match: MatchSummary


@blueprint.get("/matches/<match_id>")
def match_page(match_id: str) -> str | Response:
    """Return the page of a match, at the ply that the query asks for (default: the last one)."""
    loaded = visible_match(match_id)
    if loaded.state.play.position is None:  # no board without the ruleset, but the case page works
        return redirect(url_for("web.case_page", match_id=match_id))
    return _render(loaded, current_person())


def _render(loaded: Loaded, person: Person | None) -> str:
    state = loaded.state
    viewer = person.id if person else None
    seat = state.seat_of(viewer) if viewer else None
    conditional = None if seat is None else loaded.orders.get(seat, ConditionalMoves())
    game = find_ruleset(state.game, state.ruleset)
    board = _board(loaded, game, requested_ply(state), requested_view(state, game, seat), seat)
    now, around = services().now(), _read_surroundings(state, viewer)
    foreseen = around.context.foreseen
    match = represent_match(state, loaded.head, board.ply, now, around.context._replace(shown=board.shown))
    seats = seat_views(foreseen, match, game, now, around.ratings, around.changes)
    played = played_moves(state)
    fallen = state.result.fallen
    players = [view.player_name for view in seats]
    return render_template(
        "match.html",
        match=match,
        game=game,
        setup=game.setups[state.setup],
        seats=seats,
        seat=seat,
        board=board,
        standing=describe_standing(state, seats, seat, board.circumstances, _thinks_until(state), now),
        notice_offer=_notice_offer(person, seat, seats, played),
        needs_goal=around.newcomer and _may_need_goal(state, seat),
        explained=around.newcomer and is_explained(state, seat),
        news=describe_news(loaded, match, person, [move.move for move in played]),
        rounds=rounds(state, game, played),
        unseen=runs_since(played, seat) if seat is not None and match.to_move == seat else (),
        may=available_actions(state, viewer, seat, now, person is not None and person.kind == "guest"),
        consequences=find_consequences(state, viewer, conditional, now),
        takeback=_takeback_request(state),
        fallen=fallen,
        forgivable_until=fallen.at + MAX_FORGIVING_MS if fallen else None,
        gifts=GIFTS,
        conditional_moves=None if conditional is None or seat is None else _conditional_moves(state, seat, conditional),
        draft=draft_panel(state, game, seat),
        chat=_chat(state, person, seat),
        publications=_publications(state, person),
        deadline=describe_deadline(foreseen, now),
        vacations=upcoming_vacations(foreseen, now),
        spending=_spending(state, seats),
        losses=around.losses,
        next_match=around.next_match,
        preview=link_preview(state, game, board.ply, players, summarise_standing(state, seats)),
        now=now,
    )


MAX_REMEMBERED_BYTES = 4_000_000
_boards = Remembered(MAX_REMEMBERED_BYTES)
"""The boards that were shown last: a player returns to one, and the other players see the same."""


def _board(loaded: Loaded, game: AnyGame, ply: int, view: TurnedView, seat: int | None) -> BoardView:
    def draw(_: object) -> list[Measured]:
        board = _draw_board(loaded.state, game, ply, view, seat)
        return [(board, len(board.drawing) + len(board.steps))]

    boards: list[BoardView] = _boards.get([(loaded.state.match_id, loaded.head, ply, view, seat)], draw)
    return boards[0]


def _draw_board(state: MatchState, game: AnyGame, ply: int, view: TurnedView, seat: int | None) -> BoardView:
    scene = game.scene(state.play.position)
    return BoardView(
        ply=ply,
        plies=len(state.play.moves),
        turn=turn_number(state, view),
        turns=count_turns(state),
        drawing=board_at(state, game, ply, view),
        steps=steps_nearby(state, game, view, ply),
        position=game.format_position(state.play.position),
        shown=show_position(state, ply),
        circumstances=describe_position(state, game.setups[state.setup].seat_names, seat),
        wide=scene.width > MIN_WIDE_RATIO * scene.height,
        has_levels=scene.has_levels,
        counts=tabulate_facts(game.facts(state.play.position, state.play.history), len(state.seats)),
    )


def _conditional_moves(state: MatchState, seat: int, conditional: ConditionalMoves) -> ConditionalMovesView:
    if conditional.lines is None:
        return ConditionalMovesView(conditional.forced)
    status, words = standing(state, seat, conditional.lines)
    return ConditionalMovesView(
        conditional.forced, json.encode(describe_tree(state, conditional.lines)).decode(), status, words
    )


def _chat(state: MatchState, person: Person | None, seat: int | None) -> Chat:
    wishes = services().chats.players_open_to_others(state.match_id) if state.ended and seat is not None else None
    return Chat(
        readable=may_read_chat(state, person),
        writable=may_write_chat(state, person),
        open_to_others=None if wishes is None or person is None else person.id in wishes,
    )


def _publications(state: MatchState, person: Person | None) -> list[tuple[Publication, str]]:
    """Return the explorations of a finished match that the viewer may read, with the names of their authors."""
    shown = publications_for(person, state)
    persons = services().people.persons(publication.author for publication in shown) if shown else {}
    return [(publication, persons[publication.author].name) for publication in shown if publication.author in persons]


def _notice_offer(
    person: Person | None, seat: int | None, seats: Sequence[SeatView], played: Sequence[Played]
) -> NoticeOffer | None:
    """Return the offer made after the first move of a player whom nothing reaches; None in all other cases."""
    waited = next((view for view in seats if view.to_move), None)
    if person is None or seat is None or sum(move.seat == seat for move in played) != 1:
        return None
    if waited is None or waited.clock is None or waited.player is None or waited.player.kind == "opponent":
        return None
    ways = ways_for(person.kind)
    is_own = waited.seat == seat
    others = [view.player for view in seats if view.seat != seat and view.player is not None]
    if is_own and not all(player.kind == "opponent" for player in others):
        return None
    if not any(ways) or targets_of(person.id):
        return None
    mailed = services().addresses.read(person.id).wanted is not None
    return NoticeOffer(ways, "" if is_own else waited.player_name, waited.clock.words, mailed)


MAX_PLIES_OF_NEWCOMERS = 10
"""The goal of a game stands beside the board for newcomers up to that ply."""


def _may_need_goal(state: MatchState, seat: int | None) -> bool:
    """Return whether the match is one in which the goal stands beside the board for newcomers."""
    return seat is not None and not state.ended and len(state.play.moves) < MAX_PLIES_OF_NEWCOMERS


class Surroundings(NamedTuple):
    """All that the page shows besides the events of the match."""

    context: MatchContext
    ratings: Mapping[str, PlayerRating]
    changes: Mapping[str, tuple[float, float]]
    losses: Sequence[Loss]
    next_match: NextMatch | None
    newcomer: bool


def _read_surroundings(state: MatchState, viewer: str | None) -> Surroundings:
    """Return the surroundings of a match, in one round trip besides that for the matches that await the viewer."""
    # Changes first: ratings that are read after them have changed already.
    rated = state.status == Status.FINISHED and state.rated
    changes = services().readmodels.rating_change(state.match_id) if rated else {}
    awaited = first_awaited(viewer).items if viewer else ()
    following = next((summary for summary in awaited if summary.match != state.match_id), None)
    shown = [summarise(state)] if following is None else [summarise(state), following]
    pool = pool_of(state.game, len(state.seats))
    batch = ReadBatch(services().client)
    read_viewer_roles(batch)
    persons = batch.add(services().people.read_of(ids_in(shown)))
    foreseen = batch.add(services().timekeeper.read_of_foreseen(state))
    ratings = batch.add(services().readmodels.read_of_ratings((player, pool) for player in people_seated(state.seats)))
    losses = batch.add(services().incidents.read_of_losses(state.match_id))
    seat = state.seat_of(viewer) if viewer else None
    asked = _may_need_goal(state, seat) or is_explained(state, seat)
    finished = batch.add(read_of_finished(viewer)) if viewer is not None and asked else None
    next_match = None if following is None else NextMatch(following, represent_summary(following, persons()))
    present = {rating.player: rating for rating in ratings() if rating is not None}
    newcomer = finished is not None and is_new(state, present.get(viewer or ""), finished())
    return Surroundings(MatchContext(persons(), foreseen()), present, changes, losses(), next_match, newcomer)


def _thinks_until(state: MatchState) -> int | None:
    """Return when the search of an opponent is expected to end, 0 while it waits; None without a long search."""
    mover = to_move(state)
    level = None if mover is None else state.seats[mover].level
    if level is None or not thinks_long(level):
        return None
    thought = read_thought(services().turns, state.match_id)
    return None if thought is None else thought.until


def _spending(state: MatchState, seats: Sequence[SeatView]) -> list[str]:
    """Return the nodes and time that the opponents of a match spend on a move, in sentences."""
    levels = {seat.level: view.player_name for seat, view in zip(state.seats, seats, strict=True) if seat.level}
    return [nodes_sentence(name, state.game, level) for level, name in levels.items()]


def _takeback_request(state: MatchState) -> TakebackRequest | None:
    takeback = state.offers.takeback
    if takeback is None:
        return None
    count = len(state.play.moves) - takeback.ply
    return TakebackRequest(takeback.seat, "the last move" if count == 1 else f"the last {count} moves")
