"""The archive of a person: everything that Rookery stores about the person, as one ZIP file."""

import io
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import orjson

from domain.match.lines import ConditionalMoves
from events.installation import Installation
from events.notify.inbox import MAX_MAILS
from events.notify.ledger import MAX_NOTICES
from events.people.administration import Administration
from events.people.chats import Chats
from events.people.conditional_moves import lines_shown, unpacked
from events.people.notebooks import Notebook
from events.people.person import Person
from events.people.statements import Statements
from events.store.codec import content_shown
from events.store.converter import write_value
from events.store.envelope import Envelope

PAGE_SIZE = 500

COMPRESSION_LEVEL = 3
"""Of zlib: a third of the processor time of the default 6 for archives that are 8 % larger."""

_README = """This is everything that Rookery stores about you.

person.json      your account, roles, sessions and tokens (never their secrets), the public parts of the keys with
                 which you sign, and whether you want to be asked to, calendar, vacations and preferences,
                 what a bot takes on, how many matches may begin by themselves, whom you block, mute and
                 follow, whether you can be found and the day of your last visit, the
                 matches in whose chats you want others to join in,
                 messages that you reported and no arbiter has dealt with, the browsers that get push notices (never
                 their secrets), and when the address of your feeds was made (the store does not have the address
                 itself)
matches/<id>.json  each match that you have a part in: its events as everybody who may see it can read them, and what
                 only you have: conditional moves, notes, your tree of moves,
                 and the one you have published
contests/<id>.json  each seek and tournament that you have a part in: its events
cases/<id>.json  what you did as an arbiter in a match of other players
mail.json        your mail address, what is counted about mail that came back, and who may write for you by mail
chats.json       what you wrote in chats, by match
notices.json     what you were told or not, when, how and why; what is still to be sent; how you want to be told, and
                 which matches you had open in the last minutes
incoming-mail.json  the mails that were sent to your addresses: from whom, when, the subject and what became of them
ratings.json     your ratings, and what each rated match has changed
puzzles.json     your attempts at puzzles, and your ratings as a solver
statements.json  what you wrote in cases, by match: statements, and as an arbiter reasons of rulings and of proposals;
                 with the random salts by which the digests in the events can be recomputed
webhooks.json    where you have webhooks sent, and what was sent there lately and answered, without the secrets
administration.json  what the log of administration has about you: roles that you were granted, and what you did in them

Instants are milliseconds since 1970 UTC. Passwords are stored as argon2 hashes and are not part of this archive.
Counters of how often you did something expire within an hour, a note of mails that were refused as well, and a note of
each mail that was sent, under a digest, within a week; how many bytes you store is counted, too. Lists of matches and
results between players are computed from the events above.
"""


def make_archive(parts: Installation, person: Person) -> bytes:
    """Return a ZIP archive of everything that is stored about ``person``; raises StoreUnavailableError."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as files:
        _write(files, "README.txt", _README.encode())
        _write(files, "person.json", _json(_account(parts, person)))
        chats = {
            joined: list(_messages(parts.chats, joined, person.id)) for joined in parts.chats.matches_of(person.id)
        }
        _write(files, "chats.json", _json(chats))
        _write(files, "mail.json", _json(write_value(replace(parts.addresses.read(person.id), secret=None))))
        _write(files, "statements.json", _json(_texts(parts.statements, person)))
        _write(files, "notices.json", _json(_notices(parts, person)))
        mails = parts.inbox.recent(person.id, MAX_MAILS)
        _write(files, "incoming-mail.json", _json([write_value(mail) for mail in mails]))
        _write(files, "ratings.json", _json(_ratings(parts, person)))
        puzzles = {name: write_value(of) for name, of in parts.puzzle_attempts.exported(person.id).items()}
        _write(files, "puzzles.json", _json(puzzles))
        _write(files, "webhooks.json", _json(parts.endpoints.exported(person.id)))
        _write(files, "administration.json", _json(list(_acts_concerning(parts.administration, person))))
        own, notebook = parts.readmodels.matches_of(person.id), parts.notebooks.read(person.id)
        for match_id in own:
            _write(files, f"matches/{match_id}.json", _json(_match(parts, person, match_id, notebook)))
        for contest in parts.contest_lists.oldest(f"of:{person.id}"):
            _write(files, f"contests/{contest}.json", _json([_event(event) for event in parts.store.read(contest)]))
        for match_id in sorted(_judged_matches(parts, person).difference(own)):
            acts = [_event(envelope) for envelope in parts.store.read(match_id) if envelope.actor == person.id]
            _write(files, f"cases/{match_id}.json", _json(acts))
    return archive.getvalue()


def _account(parts: Installation, person: Person) -> dict[str, Any]:
    availability = parts.availability.read([person.id])[person.id]
    feed_address = parts.feed_addresses.of(person.id)
    return {
        **person._asdict(),
        "roles": sorted(parts.administration.roles_of(person.id)),
        "sessions": [session._asdict() for session in parts.people.sessions.of(person)],
        "tokens": [token._asdict() for token in parts.people.tokens.of(person)],
        "player_keys": write_value(parts.player_keys.of(person.id)),
        "diary": write_value(availability),
        "bot": {bot.id: write_value(bot.capacity) for bot in parts.bots.among([person.id]).values()}.get(person.id),
        "room": write_value(parts.places.limits_of([person.id])[person.id]),
        "blocks": parts.blocks.of(person.id),
        "follows": list(parts.follows.of(person.id)),
        "listed": parts.directory.is_listed(person.id),
        "seen": parts.directory.seen([person.id]).get(person.id),
        "chats_opened": [
            match_id
            for match_id in parts.chats.matches_of(person.id)
            if person.id in parts.chats.players_open_to_others(match_id)
        ],
        "push_subscriptions": [
            {name: value for name, value in subscription._asdict().items() if name not in ("secret", "session")}
            for subscription in parts.subscriptions.of(person.id)
        ],
        "feed_address": None if feed_address is None else {"created_at": feed_address.created_at},
        "reports": [report._asdict() for report in parts.reports.by(person.id)],
    }


def _notices(parts: Installation, person: Person) -> dict[str, Any]:
    return {
        "ledger": [write_value(notice) for notice in parts.ledger.page(person.id, limit=MAX_NOTICES).notices],
        "outbox": [write_value(dispatch) for dispatch in parts.outbox.of(person.id)],
        "preferences": write_value(parts.preferences.read(person.id)),
        "presence": parts.presence.matches_of(person.id),
    }


def _ratings(parts: Installation, person: Person) -> dict[str, Any]:
    readmodels = parts.readmodels
    return {
        rating.pool: {
            **rating._asdict(),
            "changes": [change._asdict() for change in readmodels.rating_history(person.id, rating.pool)],
        }
        for rating in readmodels.ratings(person.id)
    }


def _match(parts: Installation, person: Person, match_id: str, notebook: Notebook) -> dict[str, Any]:
    # Without a replay: a thousand matches take seconds, and a broken one is like any other.
    opened = parts.store.open(match_id)
    seat = _seat_of(opened.events, person)
    orders = ConditionalMoves() if seat is None else unpacked(opened.conditional_moves).get(seat, ConditionalMoves())
    return {
        "match": match_id,
        "events": [_event(envelope) for envelope in opened.events],
        "lines": [] if orders.lines is None else lines_shown(orders.lines.first),
        "forced": orders.forced,
        "notes": notebook.notes.get(match_id, ""),
        "exploration": notebook.explorations.get(match_id, ""),
        "published_exploration": notebook.publications.get(match_id, ""),
    }


def _event(envelope: Envelope) -> dict[str, Any]:
    content = {name: value for name, value in content_shown(envelope).items() if name != "seed"}
    return {**envelope._asdict(), "data": content}


def _judged_matches(parts: Installation, person: Person) -> set[str]:
    logged = (act["facts"].get("match") for act in _acts_concerning(parts.administration, person))
    return {match_id for match_id in logged if isinstance(match_id, str)}.union(parts.statements.of_author(person.id))


def _seat_of(envelopes: Iterable[Envelope], person: Person) -> int | None:
    for envelope in envelopes:
        if envelope.type == "match-created":
            for number, seat in enumerate(envelope.data["seats"]):
                if seat["player"] == person.id:
                    return number
        elif envelope.type == "player-joined" and envelope.data["player"] == person.id:
            return int(envelope.data["seat"])
    return None


def _acts_concerning(administration: Administration, person: Person) -> Iterator[dict[str, Any]]:
    after = 0
    while page := administration.acts(after, PAGE_SIZE):
        for act in page:
            if person.id in (act.actor, act.facts.get("person")):
                yield {**act._asdict(), "facts": dict(act.facts)}
        after = page[-1].number


def _messages(chats: Chats, match_id: str, author: str) -> Iterable[dict[str, Any]]:
    after = 0
    while page := chats.read(match_id, after, PAGE_SIZE):
        yield from (message._asdict() for message in page if message.author == author)
        after = page[-1].number


def _texts(statements: Statements, person: Person) -> dict[str, list[dict[str, str]]]:
    return {
        match_id: [{"text": text.text, "salt": text.salt, "sha256": text.digest} for text in texts]
        for match_id, texts in statements.of_author(person.id).items()
    }


def _json(value: Any) -> bytes:
    return orjson.dumps(value, default=list, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS)


def _write(files: zipfile.ZipFile, name: str, content: bytes) -> None:
    # A fixed date: the archive depends on its content, not on the time of the request.
    files.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED, COMPRESSION_LEVEL)
