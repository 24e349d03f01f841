"""The parts of an installation that mail needs, and a match as an answer shows it."""

from collections.abc import Callable
from dataclasses import dataclass

from domain.match.lines import ConditionalMoves
from events.mail.transcript import View
from events.notices.addresses import AddressStore
from events.notices.scheduled_checks import ScheduledChecks
from events.people.accounts import People
from events.people.blocks import Blocks
from events.private.availability import AvailabilityStore
from events.private.chats import Chats
from events.private.notebooks import Notebooks
from events.proof.receipts import ReceiptSigner
from events.service.bot_admission import BotAdmission
from events.service.match_service import MatchService
from events.service.matches import Matches
from events.service.names import blocked_by, names_of_others, people_seated
from events.store.contract import EventReader


@dataclass(frozen=True, slots=True)
class MailParts:
    """The parts of an installation that commands by mail need."""

    matches: Matches
    match_service: MatchService
    events: EventReader
    people: People
    blocks: Blocks
    bot_admission: BotAdmission
    notebooks: Notebooks
    chats: Chats
    checks: ScheduledChecks
    availability: AvailabilityStore
    addresses: AddressStore
    receipts: ReceiptSigner
    now: Callable[[], int]


def view_of(parts: MailParts, match_id: str, seat: int, url: str) -> View:
    """Return the match as it stands, for the answer to the player of ``seat``."""
    loaded = parts.matches.load(match_id)
    seats, player = loaded.state.seats, loaded.state.seats[seat].player or ""
    zone = parts.availability.read([player])[player].zone
    persons = parts.people.persons(people_seated(seats))
    others = names_of_others(seats, player, persons, blocked_by(parts.blocks, player))
    orders = loaded.orders.get(seat, ConditionalMoves())
    return View(state=loaded.state, seat=seat, orders=orders, now=parts.now(), zone=zone, url=url, others=others)
