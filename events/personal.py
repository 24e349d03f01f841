"""All that is kept about a person: handed out as one archive, and erased.

The streams of matches carry opaque ids and stay as they are: every chain is as valid after an erasure as before it.
What is erased lies beside them in ordinary keys. Administrative acts stay on record, by id.
"""

import io
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import structlog

from domain.match.commands import AbortMatch, Command, Resign
from domain.match.lines import Orders
from domain.match.refusals import Refused
from domain.match.state import OPEN
from events.administration import Administration
from events.chats import Chats
from events.codec import content_shown
from events.diaries import Diaries
from events.envelope import Envelope
from events.matches import Matches
from events.notebooks import Notebooks
from events.orders import lines_shown, unpacked
from events.people import People, Person
from events.shapes import written
from events.statements import Statements
from events.store import EventStore, Request
from events.timekeeper import unavailable

_EXPLAINED = """This is all that Rookery keeps about you.

person.json      your account, roles, tokens (never their secrets), calendar, vacations and preferences
matches/<id>.json  each match that you have a part in: its events as everybody who may see it can read them, and what
                 only you have: conditional lines, notes, your tree of moves
chats.json       what you said in chats, by match
statements.json  what you wrote in cases, by match: statements, and as an arbiter reasons of rulings and of proposals;
                 with the random salts by which the digests in the events can be computed again
administration.json  what the log of administration says of you: roles you got, and what you did with them

Instants are milliseconds since 1970 UTC. Passwords are kept as argon2 hashes and are not part of this archive.
"""

PAGE = 500

log = structlog.get_logger("personal")


class Holdings(NamedTuple):
    """Where things about people are kept, and the matches that a person has a part in."""

    people: People
    administration: Administration
    statements: Statements
    diaries: Diaries
    notebooks: Notebooks
    chats: Chats
    matches: Matches
    store: EventStore
    matches_of: Callable[[str], Iterable[str]]


def archive_of(holdings: Holdings, person: Person) -> bytes:
    """Return a ZIP archive of all that is kept about ``person``; raises redis errors and StoreUnavailable."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as files:
        _write(files, "README.txt", _EXPLAINED)
        _write(files, "person.json", _json(_account(holdings, person)))
        said = {match: list(_said(holdings.chats, match, person.id)) for match in holdings.chats.joined(person.id)}
        _write(files, "chats.json", _json(said))
        _write(files, "statements.json", _json(_stated(holdings.statements, person)))
        _write(files, "administration.json", _json(list(_acts_about(holdings.administration, person))))
        for match in holdings.matches_of(person.id):
            _write(files, f"matches/{match}.json", _json(_part_in(holdings, person, match)))
    return archive.getvalue()


def erase(holdings: Holdings, person: Person) -> None:
    """Take ``person`` out of all matches that are not over and forget all that is kept about the person.

    Killed midway, doing it again does the rest: the account, by which it is asked for, goes last. Raises redis errors
    and StoreUnavailable.
    """
    holdings.administration.record("person-erased", person.id, {"person": person.id})
    for match in holdings.matches_of(person.id):
        try:
            _leave(holdings.matches, match, person)
        except Exception as error:
            if unavailable(error):
                raise
            # A match that cannot be read, or is not there any more, must not keep anybody from being erased.
            log.error("a match cannot be left", match=match, error=str(error))
    holdings.chats.erase(person.id)
    holdings.statements.erase(person.id)
    for role in holdings.administration.roles_of(person.id):
        holdings.administration.revoke(person.id, role, person.id)
    holdings.notebooks.erase(person.id)
    holdings.diaries.erase(person.id)
    holdings.people.erase(person)


def _leave(matches: Matches, match: str, person: Person) -> None:
    loaded = matches.load(match)
    state, seat = loaded.state, loaded.state.seat_of(person.id)
    if seat in loaded.orders:
        matches.lay_down(match, person.id, lambda *_: Orders())
    if state.ended:
        return
    command: Command = AbortMatch(person.id) if state.status == OPEN else Resign(person.id)
    try:
        matches.execute(match, command, person.id, Request(f"erasure:{person.id}", ""))
    except Refused:
        # Frozen, broken, or left already: time or an arbiter will end it without the person.
        return


def _account(holdings: Holdings, person: Person) -> dict[str, Any]:
    diary = holdings.diaries.read([person.id])[person.id]
    return {
        **person._asdict(),
        "roles": sorted(holdings.administration.roles_of(person.id)),
        "tokens": [token._asdict() for token in holdings.people.tokens(person)],
        "diary": written(diary),
    }


def _part_in(holdings: Holdings, person: Person, match: str) -> dict[str, Any]:
    # Without a replay: whoever has played a thousand matches gets them in seconds, and a broken one like any other.
    opened = holdings.store.open(match)
    seat = _seat_in(opened.events, person)
    orders = Orders() if seat is None else unpacked(opened.orders).get(seat, Orders())
    return {
        "match": match,
        "events": [
            {
                **envelope._asdict(),
                "data": {name: value for name, value in content_shown(envelope).items() if name != "seed"},
            }
            for envelope in opened.events
        ],
        "lines": [] if orders.lines is None else lines_shown(orders.lines.first),
        "forced": orders.forced,
        "notes": holdings.notebooks.notes(person.id, match),
        "exploration": holdings.notebooks.exploration(person.id, match),
    }


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
