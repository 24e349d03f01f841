"""The payloads of webhooks and their answers for the OpenAPI document; ``events.notify.webhooks`` makes them."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from api.http.answers import Answer, Instant, one_of
from api.http.conditions import VersionTagText
from api.representations.boards import Composition, Draft
from domain.match.enums import Status
from events.notify.endpoints import PayloadForm
from events.notify.webhooks.answers import ANSWERS
from events.notify.webhooks.payload import TEST_TYPE, TYPES


class WebhookGame(Answer):
    """The game of the match."""

    id: str
    ruleset: int


class WebhookPlayer(Answer):
    """Who has a seat."""

    id: str
    name: Annotated[str | None, Meta(description="null: erased, or blocked by the receiver's account")]
    kind: str


class WebhookSeat(Answer):
    """A seat of the match."""

    seat: int
    name: str
    joined: bool
    player: WebhookPlayer | None


class WebhookResult(Answer):
    """How the match has ended; no scores: it was cancelled."""

    scores: Sequence[float] | None
    reason: str


class WebhookTerms(Answer):
    """The time control; durations are seconds."""

    control: str
    bank: int
    increment: int
    cap: int
    ceiling: int | None
    first_move: int
    words: Sequence[str]


class WebhookTakeback(Answer):
    """A request to take moves back."""

    ply: Annotated[int, Meta(description="The match would go on after this many plies")]


class WebhookLinks(Answer):
    """Addresses on this server."""

    page: str
    match: str | UnsetType = UNSET
    legal_moves: str | UnsetType = UNSET
    moves: str | UnsetType = UNSET


class WebhookContent(Answer):
    """The match as it stands when the webhook is sent; without it where the notice is about no match.

    The members from ``position`` on are those of the form "full".
    """

    player: Annotated[str, Meta(description="The account that the webhook belongs to")]
    summary: str
    match: str | UnsetType | None = UNSET
    form: Annotated[str, one_of(PayloadForm)] | UnsetType = UNSET
    game: WebhookGame | UnsetType = UNSET
    setup: str | UnsetType = UNSET
    version: int | UnsetType = UNSET
    version_tag: VersionTagText | UnsetType = UNSET
    status: Annotated[str, one_of(Status)] | UnsetType = UNSET
    rated: bool | UnsetType = UNSET
    private: bool | UnsetType = UNSET
    seat: Annotated[int | None, Meta(description="The account's seat, of several the one to move")] | UnsetType = UNSET
    seats: Sequence[WebhookSeat] | UnsetType = UNSET
    to_move: int | UnsetType | None = UNSET
    ply: int | UnsetType = UNSET
    last_move: str | UnsetType | None = UNSET
    draw_agreed: Sequence[int] | UnsetType = UNSET
    takeback: WebhookTakeback | UnsetType | None = UNSET
    result: WebhookResult | UnsetType | None = UNSET
    deadline: Instant | UnsetType | None = UNSET
    terms: WebhookTerms | UnsetType | None = UNSET
    answers: Annotated[Sequence[str], Meta(description="What the response may ask for")] | UnsetType = UNSET
    links: WebhookLinks | UnsetType = UNSET
    position: str | UnsetType = UNSET
    diagram: str | UnsetType = UNSET
    legal_moves: Annotated[Sequence[str], Meta(description="Empty unless it is the account's turn")] | UnsetType = UNSET
    compositions: Sequence[Composition] | UnsetType = UNSET
    draft: Draft | UnsetType | None = UNSET


class SentWebhook(Answer):
    """The body of a webhook."""

    type: Annotated[str, one_of([*TYPES.values(), TEST_TYPE])]
    timestamp: Instant
    data: WebhookContent


class WebhookAnswer(Answer):
    """The request in a response with status 200: exactly one of the members beside ``version`` and ``offer_draw``."""

    version: Annotated[int, Meta(description="That of the webhook")]
    move: str | UnsetType = UNSET
    moves: Annotated[Sequence[str], Meta(min_length=1)] | UnsetType = UNSET
    offer_draw: bool | UnsetType = UNSET
    resign: bool | UnsetType = UNSET
    accept: bool | UnsetType = UNSET
    decline: bool | UnsetType = UNSET


def webhook_operations() -> Mapping[str, tuple[str, type[Answer] | None]]:
    """Return for each type of webhook a summary and the schema of its answer, None where nothing is asked."""
    described: dict[str, tuple[str, Any]] = {
        type: (f"A notice of the kind {kind}", WebhookAnswer if kind in ANSWERS else None)
        for kind, type in TYPES.items()
    }
    return {**described, TEST_TYPE: ("A test that the owner of the webhook has asked for", None)}
