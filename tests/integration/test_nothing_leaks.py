"""What a player lays down, notes, tries out and says is seen by nobody else: every output and every key is searched."""

import io
import zipfile
from collections.abc import Iterator

import pytest
from flask import Flask
from werkzeug.routing import Rule
from werkzeug.test import TestResponse

from api.live.stream_hub import message_of
from api.services import EXTENSION, Services
from events.readmodels.projector import Projector
from events.runtime.connections import StoreClient
from events.service.matches import CachedSummaries, Matches
from tests.support.callers import API, Caller, started
from tests.support.stored import stored

NOTE, WORD = "kilimanjaro", "okapi"
FIRST_REPLY, SECOND_REPLY = "g3-h4", "h2-g3"
"""Replies that are not legal where they are laid down, so that no list of legal moves names them."""

LATER = [{"move": "b6-a5", "next": [{"move": SECOND_REPLY}]}]
LINES = [{"move": "h6-g5", "next": [{"move": FIRST_REPLY, "next": LATER}]}]

STATIC = ("/static/", "/games/<game_id>/rules", "/openapi.json", "/docs/api")
"""Files, rules and the description of the API: the same whatever is played, with moves of their own as examples."""


def addresses(app: Flask, match_id: str) -> Iterator[str]:
    """Yield every address of ``app`` that can be looked at, with the names of what there is."""
    names = {
        "match": match_id,
        "player": "anna",
        "other": "boris",
        "game": "bashni",
        "pool": "bashni-2",
        "code": "chat-closed",
    }
    names |= {"match_id": match_id, "game_id": "bashni"}
    rule: Rule
    for rule in app.url_map.iter_rules():
        if rule.methods and "GET" in rule.methods and not rule.rule.startswith(STATIC):
            values = {name: names.get(name, "1") for name in rule.arguments}
            yield app.url_map.bind("").build(rule.endpoint, values)


def outputs(app: Flask, match_id: str, others: list[Caller]) -> Iterator[tuple[str, str]]:
    """Yield every address as each of ``others`` sees it, and what acting on the match tells them."""
    for address in addresses(app, match_id):
        for other in others:
            yield f"{address} for {other.name}", told(other.client.get(address))
    for other in others:
        for act, body in (
            ("moves", {"move": "castle"}),
            ("compositions", {"kind": "multi", "parts": []}),
            ("joins", {}),
        ):
            yield f"{act} of {other.name}", other.post(f"/matches/{match_id}/{act}", body).text


def told(answer: TestResponse) -> str:
    """Return what an answer says, all files of it when it is an archive."""
    if answer.mimetype != "application/zip":
        return answer.get_data().decode(errors="replace")  # pictures are no text
    with zipfile.ZipFile(io.BytesIO(answer.data)) as files:
        return "".join(files.read(name).decode() for name in files.namelist())


class Scenario:
    """An installation with a match, searched for what nobody but its author may see."""

    def __init__(self, app: Flask, redis: StoreClient, capfd: pytest.CaptureFixture[str]) -> None:
        self.services: Services = app.extensions[EXTENSION]
        self.anna, self.boris, self.clara = (Caller(app).sign_up(name) for name in ("anna", "boris", "clara"))
        self.match = started(self.anna, self.boris)
        self._app, self._redis, self._capfd = app, redis, capfd

    def outputs_with(self, *secrets: str) -> set[str]:
        """Return the outputs, but for anna's own, that any of ``secrets`` is in."""
        fresh = Matches(self.services.store, self.services.now)
        summaries = CachedSummaries(fresh, self.services.store)
        Projector(self.services.store.client, self.services.readmodels.keys, summaries).project([self.match])
        seen = dict(outputs(self._app, self.match, [self.boris, self.clara, Caller(self._app)]))
        seen["stream"] = "".join(message_of(envelope).text for envelope in self.services.store.read(self.match))
        seen["log"] = "".join(self._capfd.readouterr())
        assert len(seen) > 100
        assert "move-submitted" in seen["stream"]
        return {where for where, text in seen.items() if any(secret in text for secret in secrets)}

    def keys_with(self, *secrets: str) -> set[str]:
        """Return the keys of the store, without its prefix, that hold any of ``secrets``."""
        found = dict(stored(self._redis))
        assert any(self.match.encode() in content for content in found.values())
        prefix = self.services.store.prefix
        return {
            key.removeprefix(prefix)
            for key, content in found.items()
            if any(secret.encode() in content for secret in secrets)
        }

    @property
    def orders(self) -> str:
        """The key of what is laid down in the match, without the prefix."""
        return f"{{s{self.services.store.shard_of(self.match):02d}}}:m:{self.match}:o"


def test_nothing_private_leaves_its_authors_hands(
    capfd: pytest.CaptureFixture[str], redis: StoreClient, app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("events.service.matches.SNAPSHOT_EVERY", 1)
    scenario = Scenario(app, redis, capfd)
    match_id, anna, boris = scenario.match, scenario.anna, scenario.boris
    assert anna.move(match_id, "c3-d4").status_code == 201
    assert anna.put(f"/matches/{match_id}/lines", {"lines": LINES, "forced": True}).status_code == 200
    assert anna.put(f"/matches/{match_id}/notes", {"text": NOTE}).status_code == 200
    assert anna.put(f"/matches/{match_id}/exploration", {"ply": 1, "tree": LINES}).status_code == 200
    assert anna.post(f"/matches/{match_id}/chat", {"text": WORD}).status_code == 201
    notebooks = [f"{{people}}:{kind}:{anna.id}" for kind in ("notes", "explorations")]

    assert scenario.outputs_with(FIRST_REPLY, SECOND_REPLY, NOTE) == set()
    assert scenario.keys_with(FIRST_REPLY, SECOND_REPLY, NOTE) == {scenario.orders, *notebooks}
    assert scenario.outputs_with(WORD) == {f"{API}/matches/{match_id}/chat for boris"}
    assert scenario.keys_with(WORD) == {f"chat:{{{match_id}}}"}

    fired, again = (boris.move(match_id, "h6-g5", Idempotency_Key="k") for _ in range(2))
    assert FIRST_REPLY in fired.text
    assert again.json == fired.json
    assert SECOND_REPLY not in again.text
    assert scenario.outputs_with(SECOND_REPLY, NOTE) == set()
    assert scenario.keys_with(SECOND_REPLY) == {scenario.orders, notebooks[1]}
    assert redis.exists(f"{scenario.services.store.prefix}{scenario.orders.removesuffix('o')}s"), (
        "a snapshot was searched too"
    )
