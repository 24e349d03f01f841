"""Matches as callers see them, with receipts."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from flask import request
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import asdict

from api.access.headers import stream_origin
from api.addresses import PREFIX, rematch_id
from api.http.answers import Answer, Instant, Next, instant, one_of
from api.http.conditions import VersionTagText
from api.representations.boards import Outcome
from api.representations.clocks import Clock, FallenFlag, Terms, represent_clock, represent_fallen_flag, represent_terms
from api.representations.players import Player, represent_player
from api.services import services
from domain.games import GAMES
from domain.match.enums import EndReason, Status
from domain.match.event_types import SEEDS
from domain.match.guards import rules_of
from domain.match.state import MatchState
from events.matches.readmodels import Summary, summarise
from events.people.person import Person
from events.proof.receipts import ReceiptSigner
from events.runtime.reads import ReadBatch
from events.runtime.wall_clock import rfc3339
from events.store.codec import content_shown
from events.store.contract import Head
from events.store.envelope import Envelope


class Event(Answer):
    """An event of a match."""

    id: Annotated[str, Meta(description="The hash of this event and all before it")]
    version: int
    type: str
    at: Instant
    actor: str
    data: Annotated[
        Mapping[str, Any],
        Meta(description="As it was recorded: instants in milliseconds since 1970 UTC, durations in milliseconds"),
    ]


def represent_event(envelope: Envelope) -> Event:
    """Return an event with its content in the order of names: the same bytes whenever it is read.

    The content has the present schema: texts that an older one recorded, and that may have to be erased, are left out.
    So is the seed of a match: with it, players could compute the moves of their opponents beforehand.
    """
    hidden = "seed" if envelope.type in SEEDS else None
    return Event(
        id=envelope.id,
        version=envelope.version,
        type=envelope.type,
        at=rfc3339(envelope.at),
        actor=envelope.actor,
        data={name: value for name, value in sorted(content_shown(envelope).items()) if name != hidden},
    )


class Receipt(Answer):
    """What the server has signed about the match: keep it, and compare it with a bundle (rookery audit receipt).

    Written without white space, with the members in this order and a line feed, it is the document that is compared.
    """

    digest: Annotated[str, Meta(description="The hash of the last event of the act and all before it")]
    format: int
    installation: Annotated[str, Meta(description="The id of the server, which checkpoints have as their origin")]
    key: Annotated[str, Meta(description="The id of the key that has signed")]
    match: str
    signature: Annotated[str, Meta(description="Ed25519, hexadecimal")]
    signed_at: Annotated[int, Meta(description="In milliseconds since 1970 UTC")]
    version: int


ReceiptField = Annotated[
    Receipt | UnsetType,
    Meta(
        description="Missing only when the server could not use its key: GET /matches/{match_id}/receipt has it later"
    ),
]


def represent_receipt(signer: ReceiptSigner, match_id: str, head: Head, at: int) -> Receipt | UnsetType:
    """Return the receipt for an act after which the match had ``head``; its last event is dated ``at``."""
    receipt = signer.sign_act(match_id, head, at)
    return msgspec.UNSET if receipt is None else Receipt(**receipt._asdict())


class MatchGame(Answer):
    """The game of a match."""

    id: str
    title: str
    ruleset: int


class Seat(Answer):
    """A seat of a match."""

    seat: int
    name: str
    state: Literal["open", "invited", "taken"]
    player: Player | None


class MatchSummary(Answer):
    """A match as lists show it."""

    id: str
    version: int
    game: MatchGame
    setup: str
    rated: bool
    private: bool
    status: Annotated[str, one_of(Status)]
    creator: Player
    seats: Sequence[Seat]
    to_move: int | None
    ply: int
    draw_agreed: Annotated[Sequence[int], Meta(description="Seats that agree to the draw on offer")]
    result: Outcome | None
    annulled: Annotated[bool, Meta(description="Whether an arbiter has ruled that it counts for nothing")]
    created_at: Instant
    updated_at: Instant
    deadline: Annotated[
        Instant | None,
        Meta(description="When the time of the player to move is up, or an open match is cancelled; null: never"),
    ]
    terms: Terms


class MatchPage(Answer):
    """A page of a list of matches."""

    items: Sequence[MatchSummary]
    next: Next
    incomplete: Annotated[bool, Meta(description="Archived matches are missing: the archive cannot be reached now")]


class Takeback(Answer):
    """A request to take moves back."""

    seat: Annotated[int, Meta(description="Who asks")]
    ply: Annotated[int, Meta(description="The match would go on after this many plies")]
    agreed: Annotated[Sequence[int], Meta(description="Seats that agree so far")]


class Match(MatchSummary):
    """A match with a position and its clocks."""

    version_tag: VersionTagText
    frozen: Annotated[bool, Meta(description="Nothing goes on until an arbiter has ruled")]
    broken: Annotated[str | None, Meta(description="Why the match cannot be replayed; mostly null")]
    shown_ply: Annotated[int, Meta(description="The ply after which position and diagram are")]
    position: str
    diagram: str
    moves: Sequence[str]
    spelled: Annotated[
        Sequence[str],
        Meta(description="The moves as players like to read them: + follows one that gives check, # a mate"),
    ]
    channels: Annotated[
        Sequence[str | None],
        Meta(
            description="How each move came: web, api, mail, webhook, opponent, conditional, forced; null: not recorded"
        ),
    ]
    clock: Clock
    takeback: Annotated[Takeback | None, Meta(description="The request to take moves back that stands")]
    fallen: Annotated[FallenFlag | None, Meta(description="The flag that fell last")]
    rematch_of: Annotated[str | None, Meta(description="The match before this one")]
    rematch: Annotated[str | None, Meta(description="The match after this one, once it is proposed")]
    stream_url: str


def represent_summaries(summaries: Iterable[Summary]) -> list[MatchSummary]:
    """Return matches as lists show them, with the deadlines that are foreseen for them."""
    foreseen, persons = foresee_deadlines(list(summaries))
    return [represent_summary(summary, persons) for summary in foreseen]


def represent_summary(summary: Summary, persons: Mapping[str, Person]) -> MatchSummary:
    """Return a match as lists show it; ``persons`` are the people in it."""
    game = GAMES.get(summary.game)
    names = game.setups[summary.setup].seat_names if game and summary.setup in game.setups else ()
    return MatchSummary(
        id=summary.match,
        version=summary.version,
        game=MatchGame(id=summary.game, title=game.title if game else summary.game, ruleset=summary.ruleset),
        setup=summary.setup,
        rated=summary.rated,
        private=summary.private,
        status=summary.status,
        creator=represent_player(summary.creator, persons),
        seats=[
            Seat(
                seat=number,
                name=names[number] if number < len(names) else f"Seat {number + 1}",
                state="open" if seat.player is None else "taken" if seat.joined else "invited",
                player=None if seat.player is None else represent_player(seat.player, persons),
            )
            for number, seat in enumerate(summary.seats)
        ],
        to_move=summary.to_move,
        ply=summary.ply,
        draw_agreed=summary.draw_agreed,
        result=None if summary.scores is None else Outcome(scores=summary.scores, reason=summary.reason or ""),
        annulled=summary.reason == EndReason.ANNULLED,
        created_at=rfc3339(summary.created_at),
        updated_at=rfc3339(summary.updated_at),
        deadline=instant(summary.deadline),
        terms=represent_terms(summary.terms),
    )


class MatchWithReceipt(Match):
    """A match right after an act, with the receipt for it."""

    receipt: ReceiptField = UNSET


def with_receipt(match: Match, receipt: Receipt | UnsetType) -> MatchWithReceipt:
    """Return ``match`` with the receipt for the act of the caller."""
    return MatchWithReceipt(**asdict(match), receipt=receipt)


class ShownPosition(NamedTuple):
    """A position as its canonical string and as a drawing of characters."""

    position: str
    diagram: str


def show_position(state: MatchState, ply: int) -> ShownPosition:
    """Return the position after ``ply`` plies; empty where the ruleset of the match is not installed."""
    position = state.play.position_after(ply)
    if position is None:
        return ShownPosition("", "")
    game = rules_of(state)
    return ShownPosition(game.format_position(position), game.diagram(position))


class MatchContext(NamedTuple):
    """The context that a match is shown with: the people in it, its state with all their absences ahead, the board.

    The board is made when it is None.
    """

    persons: Mapping[str, Person]
    foreseen: MatchState
    shown: ShownPosition | None = None


def read_context(state: MatchState) -> MatchContext:
    """Return the context of a match, in one round trip."""
    batch = ReadBatch(services().client)
    persons = batch.add(services().people.read_of(ids_in([summarise(state)])))
    foreseen = batch.add(services().timekeeper.read_of_foreseen(state))
    return MatchContext(persons(), foreseen())


def represent_match(
    state: MatchState, head: Head, ply: int | None = None, now: int | None = None, context: MatchContext | None = None
) -> Match:
    """Return a match at ``head`` with the position after ``ply`` plies (None: as it stands), which it must have.

    Its clocks are shown as they are at ``now``, milliseconds since 1970 UTC (None: the present instant). Without
    a ``context`` it is read.
    """
    summary = summarise(state)
    persons, foreseen, shown = context or read_context(state)
    shown_ply = len(state.play.moves) if ply is None else ply
    shown = shown or show_position(state, shown_ply)
    takeback = state.offers.takeback
    streams = stream_origin(services().settings.stream_url, request.host)
    return Match(
        **asdict(represent_summary(summary, persons)) | {"ply": len(state.play.moves)},
        version_tag=str(head.tag),
        frozen=state.cases.frozen,
        broken=state.play.broken,
        shown_ply=shown_ply,
        position=shown.position,
        diagram=shown.diagram,
        moves=tuple(state.play.moves),
        spelled=spelled_moves(state),
        channels=tuple(state.play.channels),
        clock=represent_clock(foreseen, services().now() if now is None else now),
        takeback=None if takeback is None else Takeback(seat=takeback.seat, ply=takeback.ply, agreed=takeback.agreed),
        fallen=represent_fallen_flag(state),
        rematch_of=state.rematch_of,
        rematch=rematch_of(state),
        stream_url=f"{streams}{PREFIX}/matches/{state.match_id}/stream",
    )


def spelled_moves(state: MatchState) -> Sequence[str]:
    """Return the moves of a match as players of the game like to read them."""
    return state.play.history.display_moves(state.play.moves) if state.play.history else ()


def rematch_of(state: MatchState) -> str | None:
    """Return the id of the match that follows this one, None while there is none."""
    if not state.ended:
        return None
    following = rematch_id(state.match_id)
    return following if services().store.head(following).version else None


def foresee_deadlines(
    listed: Sequence[Summary], batch: ReadBatch | None = None
) -> tuple[list[Summary], dict[str, Person]]:
    """Return summaries with the deadlines that result from known free days and vacations ahead, and their people.

    All is read in one round trip, with the other reads of ``batch``, unless there are vacations or free days.
    """
    waiting = {
        summary.match: player
        for summary in listed
        if summary.status == Status.PLAYING and summary.deadline is not None and summary.to_move is not None
        for player in [summary.seats[summary.to_move].player]
        if player is not None
    }
    batch = batch or ReadBatch(services().client)
    persons = batch.add(services().people.read_of(ids_in(listed)))
    deadlines = batch.add(services().timekeeper.read_of_deadlines(waiting))()
    foreseen = [summary._replace(deadline=deadlines.get(summary.match, summary.deadline)) for summary in listed]
    return foreseen, persons()


def people_in(summaries: Iterable[Summary]) -> dict[str, Person]:
    """Return all people who created the matches or sit in them, in one round trip."""
    return services().people.persons(ids_in(summaries))


def ids_in(summaries: Iterable[Summary]) -> Iterable[str]:
    """Return the ids of all people who created the matches or sit in them."""
    ids: dict[str, None] = {}
    for summary in summaries:
        ids[summary.creator] = None
        ids.update((seat.player, None) for seat in summary.seats if seat.player is not None and seat.level is None)
    return ids
