"""Every operation of the API, called by everybody there is, about a private match of two others with an open case."""

import json
from typing import Any

import pytest
from flask import Flask

from api.access.auth import COOKIE
from api.services import EXTENSION, Services
from tests.support.callers import API, REQUEST_ID, Caller, started
from tests.support.tables import table

HEARD = """
            nobody  gone  revoked  stranger  bot      operator  arbiter  judge  player  own-bot
  anybody   *       *     *        *         *        *         *        *      *       *
  visitor   *       *     bad      *         *        *         *        *      *       *
  viewer    404     404   bad      404       404      404       *        *      *       *
  listener  404     404   bad      404       404      404       muted    *      *       *
  speaker   401     401   bad      404       404      404       muted    *      *       *
  actor     401     401   bad      404       404      404       *        *      *       *
  seat      401     401   bad      404       404      404       seat     *      *       *
  person    401     401   bad      *         *        *         *        *      *       *
  session   401     401   bad      *         session  *         *        *      *       session
  arbiter   401     401   bad      role      role     role      *        *      role    role
  office    401     401   bad      role      role     *         *        *      role    role
  judge     401     401   bad      role      role     role      *        own    role    role
  reopener  401     401   bad      role      role     404       *        own    role    role
"""
"""What each caller hears, by the kind of the operation; * is the answer that stands with the operation.

They are: nobody; the session of an erased person; a token that was revoked; somebody without a part in the match, and
a token of theirs; an operator; an arbiter; an arbiter who plays in this match; the other player, and a token of theirs.
"""

REFUSED = {
    "401": "not-signed-in", "bad": "invalid-token", "404": "no-such-match", "muted": "chat-closed",
    "seat": "not-your-seat", "session": "session-required", "role": "role-required", "own": "conflict-of-interest",
}  # fmt: skip

SAID = {"ply": 1, "ground": "clock", "statement": "More."}
TABLE: list[tuple[str, str, str, Any]] = table(__file__, "operations")
"""Operation, kind, the status or refusal that stands for *, and the body that is sent."""

ENTITLED = {
    "THE NOTE": {"player", "own-bot"}, "d4-e5": {"player", "own-bot"}, "THE TOKEN": {"player", "own-bot"},
    "THE CHAT": {"player", "own-bot", "judge"}, "THE CASE": {"player", "own-bot", "judge", "arbiter"},
}  # fmt: skip
"""Who may read what: a note, a conditional line, the label of a token, the chat, the statements."""


class World:
    """An installation with the match, and the credentials of all callers."""

    def __init__(self, app: Flask) -> None:
        self.app = app
        services: Services = app.extensions[EXTENSION]
        self.anna, boris, clara, dora, otto, egon = (
            Caller(app).sign_up(name) for name in ("anna", "boris", "clara", "dora", "otto", "egon")
        )
        for person, role in ((boris, "arbiter"), (dora, "arbiter"), (otto, "operator")):
            services.administration.grant(person.id, role, "console")
        self.match = started(self.anna, boris, private=True)
        made = [
            self.anna.move(self.match, "c3-d4"),
            self.anna.put(f"/matches/{self.match}/notes", {"text": "THE NOTE"}),
            self.anna.put(f"/matches/{self.match}/lines", {"lines": [{"move": "b6-a5", "next": [{"move": "d4-e5"}]}]}),
            self.anna.post(f"/matches/{self.match}/chat", {"text": "THE CHAT"}),
            self.anna.post(f"/matches/{self.match}/disputes", {**SAID, "statement": "THE CASE"}),
            boris.post(f"/matches/{self.match}/statements", {"statement": "THE CASE"}),
            self.anna.post("/me/tokens", {"label": "THE TOKEN"}),
        ]
        assert {answer.status_code for answer in made} <= {200, 201}, [answer.text for answer in made]
        services.projector.project([self.match])
        revoked = clara.post("/me/tokens", {"label": "revoked"}).json
        clara.delete(f"/me/tokens/{revoked['id']}")
        people = {"gone": egon, "stranger": clara, "operator": otto, "arbiter": dora, "judge": boris}
        self.credentials = {name: session_of(person) for name, person in {**people, "player": self.anna}.items()}
        self.credentials |= {
            "nobody": {},
            "revoked": {"Authorization": f"Bearer {revoked['secret']}"},
            "bot": {"Authorization": clara.token()},
            "own-bot": {"Authorization": f"Bearer {made[-1].json['secret']}"},
        }
        assert egon.post("/me/erasure", {"name": "egon"}).status_code == 200

    def ask(
        self, operation: str, body: Any, caller: str, match_id: str | None = None, expected: str | None = None
    ) -> tuple[str, str]:
        """Return the code of the refusal, or else the status, that ``caller`` hears, and the whole answer.

        ``match`` is another match than that of the world, ``expected`` the version that it must be at. All requests
        have the same id, which is part of the answers.
        """
        method, path = operation.split(" ")
        for name, known in {**self.names, "match": match_id or self.match}.items():
            path = path.replace(f"{{{name}}}", known)
        path = path if path.startswith("/.well-known/") else API + path
        sent = {} if body is None else {"json": body}
        answer = self.app.test_client(use_cookies=False).open(
            path,
            method=method,
            headers=self.credentials[caller] | REQUEST_ID | ({"If-Match": expected} if expected else {}),
            **sent,
        )
        told = answer.get_data().decode(errors="replace")
        return json.loads(told)["code"] if answer.status_code >= 400 else str(answer.status_code), told

    @property
    def names(self) -> dict[str, str]:
        named = {"match": self.match, "player": "anna", "other": "boris", "game": "bashni", "pool": "bashni-2"}
        return named | {
            "version": "1", "day": "latest", "token": "t", "webhook": "w", "delivery": "d", "subscription": "a" * 24,
            "notice": "none", "seek": "seek-none", "number": "1", "since": "2030-01-01T00:00:00Z", "square": "a1",
            "puzzle": "none",
        }  # fmt: skip


def session_of(person: Caller) -> dict[str, str]:
    """Return the header that shows the session of ``person``."""
    cookie = person.client.get_cookie(COOKIE)
    assert cookie is not None
    return {"Cookie": f"{COOKIE}={cookie.value}"}


def test_everybody_hears_what_the_table_says_and_nothing_private_of_others(app: Flask) -> None:
    world = World(app)
    callers, *kinds = (line.split() for line in HEARD.strip().splitlines())
    answers = {kind: dict(zip(callers, codes, strict=True)) for kind, *codes in kinds}
    wrong, leaked = {}, []
    for operation, kind, allowed, body in TABLE:
        for caller, answer in answers[kind].items():
            code, told = world.ask(operation, body, caller)
            if code != REFUSED.get(answer, allowed):
                wrong[operation, caller] = code
            leaked += [
                (operation, caller, secret) for secret in ENTITLED if secret in told and caller not in ENTITLED[secret]
            ]
    assert wrong == {}
    assert leaked == []


@pytest.mark.parametrize("expected", [None, '"1-0123456789abcdef"'])
def test_a_private_match_of_others_is_answered_like_one_that_does_not_exist(app: Flask, expected: str | None) -> None:
    world = World(app)
    answers = {
        (operation, caller, match): world.ask(operation, body, caller, match, expected)
        for operation, _, _, body in TABLE
        if "{match}" in operation
        for caller in ("nobody", "gone", "stranger", "bot", "operator")
        for match in (world.match, "mdoesnotexist")
    }
    assert len(answers) > 400
    for (operation, caller, match), answer in answers.items():
        assert answer == answers[operation, caller, "mdoesnotexist"], (operation, caller, match)
        assert answer[0] in ("no-such-match", "not-signed-in", "role-required"), (operation, caller, match)


def test_the_table_knows_every_operation_of_the_document(stranger: Caller) -> None:
    paths = stranger.client.get("/openapi.json").json["paths"]
    documented = {
        f"{method.upper()} {path.removeprefix(API)}"
        for path, operations in paths.items()
        for method in operations
        if method != "parameters"
    }
    assert {operation.partition("?")[0] for operation, *_ in TABLE} == documented
