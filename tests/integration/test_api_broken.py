"""A match under a ruleset that is not installed: whatever is asked about it is answered, and nothing is a mistake."""

import pytest
from flask import Flask

from api.services import EXTENSION, Services
from domain.match.commands import OpenCase, Rule
from domain.match.enums import Ground, RulingKind
from domain.match.events import RulesetChanged
from events.people.statements import Statement
from events.store.codec import draft_of
from events.store.contract import Request
from tests.support.callers import Caller, started
from tests.support.cases import REASON, RULE
from tests.support.timeless import execute

BODIES = {
    "moves": {"move": "c3-d4"}, "positions": {"line": []}, "board.svg": {"line": []},
    "compositions": {"kind": "multi-move", "parts": []},
    "disputes": {"ply": 0, "ground": "clock", "statement": "What now?"}, "statements": {"statement": "What now?"},
    "appeals": {"statement": "What now?"}, "lines": {"lines": [{"move": "c3-d4"}]},
    "exploration": {"ply": 0, "tree": [{"move": "c3-d4"}]}, "time-gifts": {"seat": 1, "time": 86_400},
    "notes": {"text": "What now?"}, "chat": {"text": "What now?"},
}  # fmt: skip


@pytest.fixture
def match_id(app: Flask, anna: Caller, boris: Caller) -> str:
    """Return a match that was moved to a ruleset that is not installed."""
    services: Services = app.extensions[EXTENSION]
    match = started(anna, boris)
    anna.move(match)
    loaded = services.matches.load(match)
    changed = RulesetChanged(at=loaded.state.updated_at, ruleset=99)
    services.store.append(match, loaded.head, [draft_of(changed, anna.id)], Request("a newer server", ""))
    return match


@pytest.mark.parametrize("decided", [False, True])
def test_requests_about_a_match_without_rules(app: Flask, anna: Caller, match_id: str, decided: bool) -> None:
    services: Services = app.extensions[EXTENSION]
    if decided:
        for command in (
            OpenCase(arbiter="carla", ply=1, ground=Ground.ILLEGAL_MOVE, statement=Statement("", "").digest),
            Rule(arbiter="dora", ruling=RulingKind.DECIDE, reason=REASON, rule=RULE, scores=(0.5, 0.5)),
        ):
            execute(services.matches, match_id, command, "carla", Request(command.__class__.__name__, ""))
    asked = set()
    for rule in app.url_map.iter_rules():
        if not rule.arguments & {"match", "match_id"} or "stream" in rule.rule:
            continue
        path = rule.rule.replace("<match>", match_id).replace("<match_id>", match_id)
        for method in (rule.methods or set()) & {"GET", "POST", "PUT"}:
            body = None if method == "GET" else BODIES.get(path.rsplit("/", 1)[1], {})
            answer = anna.client.open(path, method=method, json=body)
            assert answer.status_code < 500, (method, path, answer.text)
            asked.add((method, path.rsplit("/", 1)[1]))
    assert {("GET", "board.svg"), ("POST", "positions"), ("GET", "record"), ("GET", "bundle")} <= asked
    assert anna.get(f"/matches/{match_id}").json["broken"].startswith("ruleset 99: ")
