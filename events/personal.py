"""All that is kept about a person: handed out as one archive, and erased.

The streams of matches carry opaque ids and stay as they are: every chain is as valid after an erasure as before it.
What is erased lies beside them in ordinary keys. Administrative acts stay on record, by id.
"""

import io
import json
import zipfile
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from domain.match.commands import AbortMatch, Command, Resign
from domain.match.lines import Orders
from domain.match.refusals import Refused
from domain.match.state import OPEN, MatchState
from events.administration import Administration
from events.chats import Chats
from events.diaries import Diaries
from events.matches import Matches
from events.notebooks import Notebooks
from events.orders import lines_shown
from events.people import People, Person
from events.shapes import written
from events.statements import Statements
from events.store import EventStore, Request

_EXPLAINED = """This is all that Rookery keeps about you.

person.json      your account, roles, tokens (never their secrets), calendar, vacations and preferences
matches/<id>.json  each match that you have a part in: its events as everybody who may see it can read them, and what
                 only you have: conditional lines, notes, your tree of moves, what you said in chat and in cases

Instants are milliseconds since 1970 UTC. Passwords are kept as argon2 hashes and are not part of this archive.
"""

PAGE = 500


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
        loaded = holdings.matches.load(match)
        _leave(holdings.matches, loaded.state, person)
        if loaded.state.seat_of(person.id) is not None:
            holdings.matches.lay_down(match, person.id, lambda *_: Orders())
        holdings.statements.erase(match, person.id)
        holdings.chats.erase(match, person.id)
    for role in holdings.administration.roles_of(person.id):
        holdings.administration.revoke(person.id, role, person.id)
    holdings.notebooks.erase(person.id)
    holdings.diaries.erase(person.id)
    holdings.people.erase(person)


def _leave(matches: Matches, state: MatchState, person: Person) -> None:
    if state.ended:
        return
    command: Command = AbortMatch(person.id) if state.status == OPEN else Resign(person.id)
    try:
        matches.execute(state.match, command, person.id, Request(f"erasure:{person.id}", ""))
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
    loaded = holdings.matches.load(match)
    seat = loaded.state.seat_of(person.id)
    orders = Orders() if seat is None else loaded.orders.get(seat, Orders())
    said = (statement for statement in holdings.statements.of_match(match).values() if statement.author == person.id)
    return {
        "match": match,
        "events": [
            {**envelope._asdict(), "data": {name: value for name, value in envelope.data.items() if name != "seed"}}
            for envelope in holdings.store.read(match)
        ],
        "lines": [] if orders.lines is None else lines_shown(orders.lines.first),
        "forced": orders.forced,
        "notes": holdings.notebooks.notes(person.id, match),
        "exploration": holdings.notebooks.exploration(person.id, match),
        "chat": list(_said(holdings.chats, match, person.id)),
        "statements": [statement.text for statement in said],
    }


def _said(chats: Chats, match: str, author: str) -> Iterable[dict[str, Any]]:
    after = 0
    while page := chats.read(match, after, PAGE):
        yield from (message._asdict() for message in page if message.author == author)
        after = page[-1].number


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)


def _write(files: zipfile.ZipFile, name: str, text: str) -> None:
    # A fixed date: the archive depends on what is kept, not on when it was asked for.
    files.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), text.encode(), zipfile.ZIP_DEFLATED)
