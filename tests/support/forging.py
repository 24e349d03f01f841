"""Bundles of which every digest and the signature fit, by the server's own key, made of changed events."""

from collections.abc import Callable
from typing import Any

from domain.match.events import Event
from events.proof.bundle import make_bundle
from events.store.codec import draft_of
from events.store.contract import GENESIS
from events.store.envelope import Draft, seal
from tests.support.bundles import KEY, SIGNED_AT, envelopes
from tests.support.matches import PlayedMatch

Forgery = Callable[[list[Draft]], Any]


def forged(match: PlayedMatch, *forgeries: Forgery) -> bytes:
    """Return the bundle of ``match`` after ``forgeries`` to its events."""
    drafts = [envelope.draft for envelope in envelopes(match.events, match.name)]
    for forgery in forgeries:
        forgery(drafts)
    stored = [sealed.envelope for sealed in seal(drafts, match.name, 0, GENESIS)]
    return make_bundle(match.name, stored, KEY, max(SIGNED_AT, match.now), None)


def by(version: int, actor: str) -> Forgery:
    """Return the forgery by which ``actor`` did what ``version`` says."""
    return lambda drafts: drafts.__setitem__(version - 1, drafts[version - 1]._replace(actor=actor))


def saying(version: int, **content: Any) -> Forgery:
    """Return the forgery by which the event ``version`` has other content."""

    def forge(drafts: list[Draft]) -> None:
        draft = drafts[version - 1]
        drafts[version - 1] = draft._replace(data={**draft.data, **content})

    return forge


def adding(version: int, event: Event, actor: str) -> Forgery:
    """Return the forgery that puts ``event`` by ``actor`` in the place of ``version``, before what was there."""
    return lambda drafts: drafts.insert(version - 1, draft_of(event, actor))


def without(version: int) -> Forgery:
    """Return the forgery that leaves the event ``version`` out."""
    return lambda drafts: drafts.pop(version - 1)


def dated(change: Callable[[int], int], since: int = 1) -> Forgery:
    """Return the forgery that changes the instants of all events from the version ``since`` on."""

    def forge(drafts: list[Draft]) -> None:
        for place in range(since - 1, len(drafts)):
            drafts[place] = drafts[place]._replace(at=change(drafts[place].at))

    return forge


def read_forgery(verb: str, version: int, *what: Any) -> Forgery:
    """Return the forgery that a row of a table names: by, saying, adding (type, instant, content, actor), without."""
    match verb:
        case "by":
            return by(version, *what)
        case "saying":
            return saying(version, **what[0])
        case "adding":
            kind, at, content, actor = what
            return lambda drafts: drafts.insert(version - 1, Draft(kind, 1, at, actor, content))
    return without(version)
