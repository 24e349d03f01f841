"""All that is kept about a person: handed out as one archive, and erased.

The streams of matches carry opaque ids and stay as they are: every chain is as valid after an erasure as before it.
What is erased lies beside them in ordinary keys. Administrative acts stay on record, by id. So do the moves, results
and instants of matches, and the ratings that follow from them.
"""

import io
import json
import zipfile
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import structlog

from domain.match.commands import AbortMatch, Command, Resign
from domain.match.enums import Channel, Status
from domain.match.lines import Orders
from domain.match.refusals import Refused
from events.people.accounts import People
from events.people.administration import Administration
from events.people.blocks import Blocks
from events.people.person import NoSuchPerson, Person
from events.private.availability import AvailabilityStore
from events.private.chats import Chats
from events.private.conditional_moves import lines_shown, unpacked
from events.private.notebooks import Notebooks
from events.private.reports import Reports
from events.private.statements import Statements
from events.readmodels import ReadModels
from events.runtime import beats
from events.service.jobs import Jobs
from events.service.match_service import MatchService
from events.service.matches import Matches
from events.service.timekeeper import is_transient
from events.store.codec import content_shown
from events.store.contract import DamagedStream, EventStore, Request
from events.store.converter import write_value
from events.store.envelope import Envelope
from events.store.rewriting import Rewriting

_EXPLAINED = """This is all that Rookery keeps about you.

person.json      your account, roles, sessions and tokens (never their secrets), calendar, vacations and preferences,
                 whom you block and mute, the matches in whose chats you want others to join in, and messages that
                 you reported and no arbiter has dealt with
matches/<id>.json  each match that you have a part in: its events as everybody who may see it can read them, and what
                 only you have: conditional lines, notes, your tree of moves
cases/<id>.json  what you did as an arbiter in a match of others
chats.json       what you said in chats, by match
ratings.json     your ratings, and what each rated match has changed
statements.json  what you wrote in cases, by match: statements, and as an arbiter reasons of rulings and of proposals;
                 with the random salts by which the digests in the events can be computed again
administration.json  what the log of administration says of you: roles you got, and what you did with them

Instants are milliseconds since 1970 UTC. Passwords are kept as argon2 hashes and are not part of this archive. Counters
of how often you did something go away by themselves within an hour; how many bytes you keep is counted, too. Lists of
matches and results between players are computed from the events above.
"""

PAGE = 500

MAX_MATCHES_AT_ONCE = 40
MAX_RECORDS_AT_ONCE = 1200
"""Of events, messages and entries of the log of administration. What is kept about a person with more takes long."""

log = structlog.get_logger("personal")


class PersonalDataStores(NamedTuple):
    """Where things about people are kept, and the matches that a person has a part in."""

    people: People
    administration: Administration
    statements: Statements
    availability: AvailabilityStore
    notebooks: Notebooks
    chats: Chats
    blocks: Blocks
    reports: Reports
    matches: Matches
    match_service: MatchService
    store: EventStore
    readmodels: ReadModels
    rewriting: Rewriting
    jobs: Jobs


def keep_house(stores: PersonalDataStores) -> None:
    """Take the next step of erasures that are not complete, and discard texts that no event names.

    Raises redis errors and StoreUnavailable.
    """
    stores.rewriting.follow_up(partial(forget, stores))
    stores.statements.discard_unnamed(partial(_events_read, stores.store))


def _events_read(store: EventStore, match: str) -> list[Envelope] | None:
    try:
        return store.read(match)
    except DamagedStream:
        return None


def takes_long(stores: PersonalDataStores, person: Person) -> bool:
    """Tell whether so much is kept about ``person`` that to collect it, or to erase it, is no work for a request.

    Raises redis errors and StoreUnavailable.
    """
    matches = list(stores.readmodels.matches_of(person.id))
    talked = stores.chats.joined(person.id)
    if max(len(matches), len(talked)) > MAX_MATCHES_AT_ONCE:
        return True
    try:
        events = sum(head.version for head in stores.store.heads(matches))
    except DamagedStream:
        return True
    messages = sum(stores.chats.length(match) for match in talked)
    return events + messages + stores.administration.last().version > MAX_RECORDS_AT_ONCE


def archive_of(stores: PersonalDataStores, person: Person) -> bytes:
    """Return a ZIP archive of all that is kept about ``person``; raises redis errors and StoreUnavailable."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as files:
        _write(files, "README.txt", _EXPLAINED)
        _write(files, "person.json", _json(_account(stores, person)))
        said = {match: list(_said(stores.chats, match, person.id)) for match in stores.chats.joined(person.id)}
        _write(files, "chats.json", _json(said))
        _write(files, "statements.json", _json(_stated(stores.statements, person)))
        _write(files, "ratings.json", _json(_ratings(stores.readmodels, person)))
        _write(files, "administration.json", _json(list(_acts_about(stores.administration, person))))
        own = stores.readmodels.matches_of(person.id)
        for match in own:
            _write(files, f"matches/{match}.json", _json(_part_in(stores, person, match)))
        for match in sorted(_judged(stores, person).difference(own)):
            acts = [_shown(envelope) for envelope in stores.store.read(match) if envelope.actor == person.id]
            _write(files, f"cases/{match}.json", _json(acts))
    return archive.getvalue()


class Erased(NamedTuple):
    """What becomes of the store's files (one of ``rewriting.FILES``), and whether a relay does the rest."""

    files: str
    deferred: bool


def erase(stores: PersonalDataStores, person: Person) -> Erased:
    """Take ``person`` out of all matches that are not over and forget all that is kept about the person.

    When that ``takes_long``, the account goes at once and a relay does the rest.

    The files of the store, in which all of it still stands, are to be rewritten. Raises NoSuchPerson for somebody who
    has another name by now or is not there, redis errors and StoreUnavailable.

    Crash-safe: killed midway, doing it again does the rest, for the account, by which it is asked for, goes last; a
    relay does it too, from the note that is made first.
    """
    if not stores.people.begin_erasure(person):
        raise NoSuchPerson(person.id)
    stores.rewriting.note(person.id)
    deferred = takes_long(stores, person)
    if deferred:
        # A relay does the rest. With the account gone nothing can be done meanwhile in the person's name.
        stores.people.erase(person)
    else:
        forget(stores, person.id)
    # Once more: what requests still under way leave behind is erased some time after the account is gone.
    return Erased(stores.rewriting.note(person.id), deferred)


def forget(stores: PersonalDataStores, id: str) -> None:
    """Do all that the erasure of the person with this id does, or what is left to be done of it; raises like it."""
    person = stores.people.person(id) or Person(id, "", "person", 0)
    for match in stores.readmodels.matches_of(person.id):
        beats.beat()
        try:
            _leave(stores, match, person)
        except Exception as error:
            if is_transient(error):
                raise
            # A match that cannot be read, or is not there any more, must not keep anybody from being erased.
            log.error("a match cannot be left", match=match, error=str(error))
    stores.jobs.erase(person.id)
    stores.chats.erase(person.id)
    stores.reports.erase(person.id)
    stores.blocks.erase(person.id)
    stores.statements.erase(person.id)
    for role in stores.administration.roles_of(person.id):
        stores.administration.revoke(person.id, role, person.id)
    stores.notebooks.erase(person.id)
    stores.availability.erase(person.id)
    stores.administration.record("person-erased", person.id, {"person": person.id}, f"erased:{person.id}")
    if person.name:
        stores.people.erase(person)


def _leave(stores: PersonalDataStores, match: str, person: Person) -> None:
    loaded = stores.matches.load(match)
    state, seat = loaded.state, loaded.state.seat_of(person.id)
    if seat in loaded.orders:
        stores.matches.lay_down(match, person.id, lambda *_: Orders())
    if state.ended:
        return
    command: Command = (
        AbortMatch(player=person.id)
        if state.status == Status.OPEN
        else Resign(player=person.id, channel=Channel.ERASURE)
    )
    try:
        stores.match_service.execute(match, command, person.id, Request(f"erasure:{person.id}", ""))
    except Refused:
        # Broken, or left already: time or an arbiter will end it without the person.
        return


def _account(stores: PersonalDataStores, person: Person) -> dict[str, Any]:
    availability = stores.availability.read([person.id])[person.id]
    return {
        **person._asdict(),
        "roles": sorted(stores.administration.roles_of(person.id)),
        "sessions": [session._asdict() for session in stores.people.sessions.of(person)],
        "tokens": [token._asdict() for token in stores.people.tokens.of(person)],
        "diary": write_value(availability),
        "blocks": stores.blocks.of(person.id),
        "chats_opened": [
            match for match in stores.chats.joined(person.id) if person.id in stores.chats.wanting_others(match)
        ],
        "reports": [report._asdict() for report in stores.reports.by(person.id)],
    }


def _ratings(readmodels: ReadModels, person: Person) -> dict[str, Any]:
    ratings = readmodels.ratings(person.id)
    return {
        rating.pool: {
            **rating._asdict(),
            "changes": [change._asdict() for change in readmodels.rating_history(person.id, rating.pool)],
        }
        for rating in ratings
    }


def _part_in(stores: PersonalDataStores, person: Person, match: str) -> dict[str, Any]:
    # Without a replay: whoever has played a thousand matches gets them in seconds, and a broken one like any other.
    opened = stores.store.open(match)
    seat = _seat_in(opened.events, person)
    orders = Orders() if seat is None else unpacked(opened.conditional_moves).get(seat, Orders())
    return {
        "match": match,
        "events": [_shown(envelope) for envelope in opened.events],
        "lines": [] if orders.lines is None else lines_shown(orders.lines.first),
        "forced": orders.forced,
        "notes": stores.notebooks.notes(person.id, match),
        "exploration": stores.notebooks.exploration(person.id, match),
    }


def _shown(envelope: Envelope) -> dict[str, Any]:
    content = {name: value for name, value in content_shown(envelope).items() if name != "seed"}
    return {**envelope._asdict(), "data": content}


def _judged(stores: PersonalDataStores, person: Person) -> set[str]:
    """Return the matches in which ``person`` has acted as an arbiter."""
    logged = (act["facts"].get("match") for act in _acts_about(stores.administration, person))
    return {match for match in logged if isinstance(match, str)}.union(stores.statements.of_author(person.id))


def _seat_in(envelopes: Iterable[Envelope], person: Person) -> int | None:
    """Return the seat that ``person`` was given when the match was created, or took later."""
    for envelope in envelopes:
        if envelope.type == "match-created":
            for number, seat in enumerate(envelope.data["seats"]):
                if seat["player"] == person.id:
                    return number
        elif envelope.type == "player-joined" and envelope.data["player"] == person.id:
            return int(envelope.data["seat"])
    return None


def _acts_about(administration: Administration, person: Person) -> Iterator[dict[str, Any]]:
    after = 0
    while page := administration.acts(after, PAGE):
        for act in page:
            if person.id in (act.actor, act.facts.get("person")):
                yield {**act._asdict(), "facts": dict(act.facts)}
        after = page[-1].number


def _said(chats: Chats, match: str, author: str) -> Iterable[dict[str, Any]]:
    after = 0
    while page := chats.read(match, after, PAGE):
        yield from (message._asdict() for message in page if message.author == author)
        after = page[-1].number


def _stated(statements: Statements, person: Person) -> dict[str, list[dict[str, str]]]:
    return {
        match: [{"text": said.text, "salt": said.salt, "sha256": said.digest} for said in texts]
        for match, texts in statements.of_author(person.id).items()
    }


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)


def _write(files: zipfile.ZipFile, name: str, text: str) -> None:
    # A fixed date: the archive depends on what is kept, not on when it was asked for.
    files.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), text.encode(), zipfile.ZIP_DEFLATED)
