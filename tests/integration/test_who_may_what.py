"""Every operation of the API, called by everybody there is, about a private match of two others with an open case."""

import json
from typing import Any

import pytest
from flask import Flask

from api.access.auth import COOKIE
from api.services import EXTENSION, Services
from tests.support.callers import API, REQUEST_ID, Caller, started

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
    "401": "not-signed-in",
    "bad": "invalid-token",
    "404": "no-such-match",
    "muted": "chat-closed",
    "seat": "not-your-seat",
    "session": "session-required",
    "role": "role-required",
    "own": "conflict-of-interest",
}

SAID = {"ply": 1, "ground": "clock", "statement": "More."}
NEW = {"game": "bashni", "setup": "start", "seats": [{"kind": "me"}, {"kind": "open"}]}
SUBSCRIPTION = {"endpoint": "https://evil.example/1", "keys": {"p256dh": "B" + "A" * 86, "auth": "A" * 22}}
PUBLIC = {"crv": "P-256", "kty": "EC", "x": "A" * 43, "y": "A" * 43}
KEY = {"name": "A key", "password": "not the secret", "nonce": "A" * 43, "key": PUBLIC, "signature": "00" * 64}
RULING = {"ruling": "take-back", "reason": "So be it.", "rule": "12", "ply": 99}

TABLE: list[tuple[str, str, str, Any]] = [
    ("GET /games", "anybody", "200", None),
    ("GET /games/{game}", "anybody", "200", None),
    ("GET /games/{game}/positions?position=x", "anybody", "malformed-position", None),
    ("GET /terms", "anybody", "200", None),
    ("GET /matches", "anybody", "200", None),
    ("GET /players/{player}", "anybody", "200", None),
    ("GET /players/{player}/ratings", "anybody", "200", None),
    ("GET /players/{player}/ratings/{pool}/history", "visitor", "200", None),
    ("GET /players/{player}/ratings/{pool}/matches", "visitor", "200", None),
    ("GET /players/{player}/ratings/{pool}/unrated-matches", "anybody", "200", None),
    ("GET /players/{player}/matches", "anybody", "200", None),
    ("GET /players/{player}/head-to-head/{other}", "visitor", "200", None),
    ("GET /leaderboards", "anybody", "200", None),
    ("GET /leaderboards/{pool}", "anybody", "not-found", None),
    ("GET /schemas/bundle-1", "anybody", "200", None),
    ("GET /checkpoints", "anybody", "200", None),
    ("GET /checkpoints/consistency?first=0&second=0", "anybody", "200", None),
    ("GET /checkpoints/leaves", "anybody", "200", None),
    ("GET /checkpoints/{day}", "anybody", "no-such-checkpoint", None),
    ("GET /checkpoints/{day}/timestamp", "anybody", "no-such-checkpoint", None),
    ("GET /.well-known/rookery-keys.json", "anybody", "200", None),
    ("GET /matches/{match}", "viewer", "200", None),
    ("GET /matches/{match}/legal-moves", "viewer", "200", None),
    ("GET /matches/{match}/squares/{square}", "viewer", "200", None),
    ("GET /matches/{match}/events", "viewer", "200", None),
    ("GET /matches/{match}/stream", "viewer", "307", None),
    ("GET /matches/{match}/bundle", "viewer", "200", None),
    ("POST /matches/{match}/bundle", "viewer", "202", {}),
    ("GET /matches/{match}/tlog-proof", "viewer", "no-such-checkpoint", None),
    ("GET /matches/{match}/receipt", "viewer", "200", None),
    ("POST /matches/{match}/recomputations", "viewer", "not-recomputable", {"version": 1}),
    ("GET /matches/{match}/recomputations/{version}", "viewer", "not-recomputable", None),
    ("GET /matches/{match}/disputes", "viewer", "200", None),
    ("POST /matches/{match}/compositions", "viewer", "malformed-move", {"kind": "multi", "parts": []}),
    ("POST /matches/{match}/positions", "viewer", "200", {"line": []}),
    ("GET /matches/{match}/chat", "listener", "200", None),
    ("POST /matches/{match}/chat", "speaker", "201", {"text": "THE CHAT"}),
    ("GET /reports", "arbiter", "200", None),
    ("POST /matches/{match}/chat/{number}/reports", "speaker", "204", {"reason": "Not nice."}),
    ("POST /matches/{match}/chat/{number}/hiding", "judge", "204", {}),
    ("POST /matches/{match}/chat/{number}/showing", "judge", "204", {}),
    ("PUT /matches/{match}/chat/openness", "seat", "204", {}),
    ("DELETE /matches/{match}/chat/openness", "seat", "204", None),
    ("POST /matches/{match}/moves", "actor", "match-frozen", {"move": "b6-a5"}),
    ("POST /matches/{match}/joins", "actor", "seats-taken", {}),
    ("POST /matches/{match}/time-gifts", "seat", "match-frozen", {"seat": 0, "seconds": 86400}),
    ("POST /matches/{match}/resignation", "seat", "match-frozen", {}),
    ("POST /matches/{match}/abortion", "seat", "match-frozen", {}),
    ("POST /matches/{match}/draw-offers", "seat", "match-frozen", {}),
    ("POST /matches/{match}/draw-acceptance", "seat", "match-frozen", {}),
    ("POST /matches/{match}/draw-refusal", "seat", "match-frozen", {}),
    ("POST /matches/{match}/takeback-requests", "seat", "match-frozen", {}),
    ("POST /matches/{match}/takeback-acceptance", "seat", "match-frozen", {}),
    ("POST /matches/{match}/takeback-refusal", "seat", "match-frozen", {}),
    ("POST /matches/{match}/time-claims", "seat", "time-not-up", {}),
    ("POST /matches/{match}/forgiveness", "seat", "nothing-to-forgive", {}),
    ("POST /matches/{match}/rematches", "seat", "match-not-over", {}),
    ("GET /matches/{match}/lines", "seat", "200", None),
    ("PUT /matches/{match}/lines", "seat", "200", {"forced": False}),
    ("DELETE /matches/{match}/lines", "seat", "204", None),
    ("GET /matches/{match}/notes", "seat", "200", None),
    ("PUT /matches/{match}/notes", "seat", "200", {"text": "Noted."}),
    ("GET /matches/{match}/exploration", "seat", "200", None),
    ("PUT /matches/{match}/exploration", "seat", "200", {"ply": 0, "tree": []}),
    ("POST /matches/{match}/disputes", "seat", "dispute-open", SAID),
    ("POST /matches/{match}/statements", "seat", "statement-already-filed", {"statement": "More."}),
    ("POST /matches/{match}/appeals", "seat", "nothing-to-appeal", {"statement": "More."}),
    ("POST /matches/{match}/ruleset-acceptance", "seat", "no-proposal", {}),
    ("POST /matches/{match}/ruleset-refusal", "seat", "no-proposal", {}),
    ("POST /matches/{match}/cases", "judge", "dispute-open", SAID),
    ("POST /matches/{match}/freezing", "judge", "nothing-to-freeze", {"frozen": True}),
    ("POST /matches/{match}/rulings", "judge", "invalid-ruling", RULING),
    ("POST /matches/{match}/reopenings", "reopener", "nothing-to-reopen", {"dispute": 1, "statement": "More."}),
    ("POST /matches/{match}/ruleset-proposals", "judge", "invalid-ruleset", {"ruleset": 99, "reason": "Why not."}),
    ("GET /cases", "arbiter", "200", None),
    ("GET /administration/log", "office", "200", None),
    ("GET /me", "person", "200", None),
    ("GET /bots", "anybody", "200", None),
    ("GET /me/bot", "person", "not-a-bot", None),
    ("PUT /me/bot", "session", "invalid-fields", {}),
    ("DELETE /me/bot", "session", "not-a-bot", None),
    ("GET /me/tokens", "person", "200", None),
    ("GET /me/blocks", "person", "200", None),
    ("PUT /me/blocks/{player}", "person", "invalid-fields", {"more": 1}),
    ("PUT /me/mutes/{player}", "person", "invalid-fields", {"more": 1}),
    ("DELETE /me/blocks/{player}", "person", "not-blocked", None),
    ("GET /me/matches", "person", "200", None),
    ("GET /me/pending", "person", "200", None),
    ("GET /me/stream", "person", "307", None),
    ("GET /me/queue", "person", "200", None),
    ("GET /me/notices", "person", "200", None),
    ("GET /me/notices/{notice}", "person", "no-such-notice", None),
    ("POST /me/notices/{notice}/deliveries", "person", "no-such-notice", {"channel": "mail"}),
    ("DELETE /me/notices", "person", "200", None),
    ("GET /me/notice-settings", "person", "200", None),
    ("PUT /me/notice-settings", "person", "invalid-fields", {}),
    ("PUT /me/presence", "person", "204", {"match": "m", "visible": False}),
    ("GET /me/incoming-mail", "session", "200", None),
    ("GET /me/calendar", "person", "200", None),
    ("PUT /me/calendar", "person", "invalid-fields", {}),
    ("GET /me/vacations", "person", "200", None),
    ("POST /me/vacations", "person", "invalid-fields", {}),
    ("DELETE /me/vacations/current", "person", "no-vacation", None),
    ("DELETE /me/vacations/{since}", "person", "no-vacation", None),
    ("GET /push-key", "anybody", "200", None),
    ("GET /me/push-subscriptions", "person", "200", None),
    ("POST /me/push-subscriptions", "session", "invalid-subscription", SUBSCRIPTION),
    ("DELETE /me/push-subscriptions/{subscription}", "session", "no-such-subscription", None),
    ("POST /me/push-subscriptions/{subscription}/tests", "person", "no-such-subscription", {}),
    ("GET /me/feed-address", "person", "200", None),
    ("DELETE /me/feed-address", "session", "no-feed-address", None),
    ("POST /me/feed-address", "session", "201", {}),
    ("POST /matches", "person", "201", NEW),
    ("POST /me/tokens", "session", "201", {"label": "another"}),
    ("DELETE /me/tokens/{token}", "session", "no-such-token", None),
    ("GET /me/player-keys", "person", "200", None),
    ("POST /me/player-key-nonces", "session", "201", {}),
    ("POST /me/player-keys", "session", "invalid-fields", KEY),
    ("DELETE /me/player-keys/{key}", "session", "no-such-player-key", None),
    ("GET /me/webhooks", "person", "200", None),
    ("POST /me/webhooks", "session", "invalid-fields", {"url": "https://hooks.example/"}),
    ("GET /me/webhooks/{webhook}", "person", "no-such-webhook", None),
    ("PUT /me/webhooks/{webhook}", "session", "invalid-fields", {"url": "https://hooks.example/"}),
    ("DELETE /me/webhooks/{webhook}", "session", "no-such-webhook", None),
    ("POST /me/webhooks/{webhook}/secrets", "session", "no-such-webhook", {}),
    ("POST /me/webhooks/{webhook}/tests", "person", "no-such-webhook", {}),
    ("GET /me/webhooks/{webhook}/deliveries", "person", "no-such-webhook", None),
    ("POST /me/webhooks/{webhook}/deliveries/{delivery}/attempts", "person", "no-such-webhook", {}),
    ("GET /me/archive", "session", "200", None),
    ("POST /me/archive", "session", "202", {}),
    ("POST /me/erasure", "session", "invalid-fields", {"name": "Somebody-Else"}),
    ("PUT /me/password", "session", "invalid-fields", {"current": "not the secret", "password": "another secret"}),
    ("GET /me/mail-address", "session", "200", None),
    ("PUT /me/mail-address", "session", "invalid-fields", {"address": "anna@players.test", "password": "not it"}),
    ("DELETE /me/mail-address", "session", "204", None),
    ("POST /me/mail-address/confirmations", "session", "no-mail-address", {}),
    ("PUT /me/mail-address/who-may-write", "session", "200", {"who_may_write": "token-and-from"}),
    ("POST /me/mail-address/resumption", "session", "201", {}),
    ("POST /me/mail-address/secrets", "session", "204", {}),
    ("POST /mail-confirmations", "anybody", "invalid-link", {"token": "pa.1.x"}),
    ("POST /mail-refusals/{token}", "anybody", "invalid-link", None),
    ("GET /mail-refusals/{token}", "anybody", "307", None),
    ("POST /password-resets", "anybody", "202", {"name": "anna"}),
    ("PUT /password-resets", "anybody", "invalid-link", {"token": "pa.1.x", "password": "another secret"}),
    ("POST /players", "anybody", "name-taken", {"name": "anna", "password": "not the secret"}),
    ("POST /sessions", "anybody", "wrong-password", {"name": "anna", "password": "not the secret"}),
    ("DELETE /sessions", "session", "204", None),
    ("POST /guests", "anybody", "201", {}),
    ("DELETE /sessions/current", "anybody", "204", None),
]
"""Operation, kind, the status or refusal that stands for *, and the body that is sent."""

ENTITLED = {
    "THE NOTE": {"player", "own-bot"},
    "d4-e5": {"player", "own-bot"},
    "THE TOKEN": {"player", "own-bot"},
    "THE CHAT": {"player", "own-bot", "judge"},
    "THE CASE": {"player", "own-bot", "judge", "arbiter"},
}
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
            "version": "1",
            "day": "latest",
            "token": "t",
            "webhook": "w",
            "delivery": "d",
            "subscription": "a" * 24,
            "notice": "none",
            "number": "1",
            "since": "2030-01-01T00:00:00Z",
            "square": "a1",
        }


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
