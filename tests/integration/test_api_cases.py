"""Cases through the API: disputes, statements, rulings and appeals, with roles, and a log of what arbiters do."""

from hashlib import sha256
from typing import Any

import pytest
from flask import Flask

from api.services import Services
from domain.games import GAMES
from domain.match.events import MoveSubmitted
from events.store.codec import draft_of
from events.store.contract import Request
from tests.support.callers import ME, Caller, invited, opponent, started
from tests.support.draws import sampled
from tests.support.projected import project
from tests.support.rulesets import register, variant

REASON = {"reason": "So the record says.", "rule": "BA-02"}


@pytest.fixture
def match_id(anna: Caller, boris: Caller) -> str:
    """Return a match of anna and boris in which two plies were played."""
    match = started(anna, boris)
    anna.move(match)
    boris.move(match)
    return match


@pytest.fixture
def arbiter(app: Flask, services: Services) -> Caller:
    caller = Caller(app).sign_up("carla")
    services.administration.grant(caller.id, "arbiter", "console")
    return caller


def dispute(caller: Caller, match_id: str, statement: str = "He moved twice.", ground: str = "clock") -> None:
    """Raise a dispute about the last ply."""
    raised = caller.post(f"/matches/{match_id}/disputes", {"ply": 2, "ground": ground, "statement": statement})
    assert raised.status_code == 201, raised.text


def test_a_dispute_is_stated_ruled_and_appealed_and_its_words_are_for_the_parties(
    app: Flask, anna: Caller, boris: Caller, arbiter: Caller, services: Services, stranger: Caller, match_id: str
) -> None:
    dispute(boris, match_id)
    assert anna.move(match_id, "d4-c5").json["code"] == "match-frozen"
    assert anna.post(f"/matches/{match_id}/statements", {"statement": "I did not."}).status_code == 201
    assert [each["id"] for each in _cases(services, arbiter)] == [match_id]
    ruled = arbiter.post(f"/matches/{match_id}/rulings", {"ruling": "take-back", "ply": 1, **REASON})
    assert [event["type"] for event in ruled.json["events"]] == ["ruling-made", "moves-taken-back"]
    assert anna.get(f"/matches/{match_id}").json["ply"] == 1
    assert _cases(services, arbiter) == []
    assert anna.post(f"/matches/{match_id}/appeals", {"statement": "I really did not."}).status_code == 201
    assert arbiter.post(f"/matches/{match_id}/rulings", {"ruling": "let-stand", **REASON}).json["code"] == "own-ruling"
    other = Caller(app).sign_up("dora")
    services.administration.grant(other.id, "arbiter", "console")
    assert other.post(f"/matches/{match_id}/rulings", {"ruling": "let-stand", **REASON}).status_code == 201
    texts = [
        [
            statement["text"]
            for statement in caller.get(f"/matches/{match_id}/disputes").json["disputes"][0]["statements"]
        ]
        for caller in (anna, other, stranger)
    ]
    said = ["He moved twice.", "I did not.", "I really did not."]
    assert texts == [said, said, [None, None, None]]
    (case,) = anna.get(f"/matches/{match_id}/disputes").json["disputes"]
    for each in case["statements"]:
        assert each["sha256"] == sha256((each["salt"] + each["text"]).encode()).hexdigest()
    events = stranger.get(f"/matches/{match_id}/events").text
    assert not any(sha256(text.encode()).hexdigest() in events for text in said)
    assert not any(text in events for text in said)
    (case,) = stranger.get(f"/matches/{match_id}/disputes").json["disputes"]
    assert [(ruling["arbiter"]["name"], ruling["appeal"]) for ruling in case["rulings"]] == [
        ("carla", False),
        ("dora", True),
    ]


def _cases(services: Services, arbiter: Caller) -> list[dict[str, object]]:
    project(services)
    items: list[dict[str, object]] = arbiter.get("/cases").json["items"]
    return items


def test_only_arbiters_rule_and_all_that_they_do_is_in_the_log(
    anna: Caller, boris: Caller, arbiter: Caller, services: Services, match_id: str
) -> None:
    dispute(boris, match_id, ground="conduct")
    for path, body in (
        ("rulings", {"ruling": "annul", **REASON}),
        ("freezing", {"frozen": True}),
        ("cases", {"ply": 1, "ground": "clock", "statement": "Look."}),
        ("ruleset-proposals", {"ruleset": 2, "reason": "It is newer."}),
    ):
        refused = anna.post(f"/matches/{match_id}/{path}", body)
        assert (refused.status_code, refused.json["code"]) == (403, "role-required")
    assert anna.get("/cases").json["code"] == "role-required"
    assert anna.get("/administration/log").json["code"] == "role-required"
    assert arbiter.post(f"/matches/{match_id}/freezing", {"frozen": True}).status_code == 201
    assert arbiter.post(f"/matches/{match_id}/rulings", {"ruling": "annul", **REASON}).status_code == 201
    shown = anna.get(f"/matches/{match_id}").json
    assert (shown["status"], shown["result"]) == ("aborted", None)
    log = arbiter.get("/administration/log").json
    assert [(act["act"], act["actor"]) for act in log["items"]] == [
        ("role-granted", "console"),
        ("match-frozen", arbiter.id),
        ("ruling-made", arbiter.id),
    ]
    (made,) = (event for event in services.store.read(match_id) if event.type == "ruling-made")
    named = {"match": match_id, "version": made.version, "digest": made.id}
    assert log["items"][2]["facts"] == {**named, "ruling": "annul", "appeal": False}
    assert services.administration.verify() == 3


def test_a_private_match_is_closed_to_arbiters_without_a_case(anna: Caller, boris: Caller, arbiter: Caller) -> None:
    match_id = anna.create(ME, invited("boris"), private=True)
    boris.post(f"/matches/{match_id}/joins")
    assert arbiter.get(f"/matches/{match_id}").status_code == 404
    body = {"ply": 0, "ground": "conduct", "statement": "Rude."}
    assert arbiter.post(f"/matches/{match_id}/disputes", body).status_code == 404
    assert boris.post(f"/matches/{match_id}/disputes", body).status_code == 201
    assert arbiter.get(f"/matches/{match_id}").status_code == 200


def test_a_ruling_with_missing_or_needless_fields_is_refused(boris: Caller, arbiter: Caller, match_id: str) -> None:
    dispute(boris, match_id)
    before = boris.get(f"/matches/{match_id}/events").json
    for body, place in (
        ({"ruling": "annul", "reason": "", "rule": "x"}, "reason"),
        ({"ruling": "annul", "rule": "x"}, "reason"),
        ({"ruling": "take-back", **REASON}, "ply"),
        ({"ruling": "decide", "scores": [1, 1], **REASON}, "scores"),
        ({"ruling": "decide", "scores": [2, -1], **REASON}, "scores.0"),
        ({"ruling": "decide", "scores": ["1", 0], **REASON}, "scores.0"),
        ({"ruling": "adjust-clocks", "remaining": [1], **REASON}, "remaining"),
        ({"ruling": "annul", "ply": 1, **REASON}, "ply"),
    ):
        refused = arbiter.post(f"/matches/{match_id}/rulings", body)
        assert refused.status_code == 422, refused.text
        assert place in refused.json["errors"]
    assert boris.get(f"/matches/{match_id}/events").json == before


def test_a_match_that_the_rules_cannot_follow_is_shown_disputed_and_decided(
    anna: Caller, boris: Caller, arbiter: Caller, services: Services, match_id: str
) -> None:
    loaded = services.matches.load(match_id)
    bad = MoveSubmitted(at=loaded.state.updated_at, seat=0, ply=3, move="z9-z8")
    services.store.append(match_id, loaded.head, [draft_of(bad, anna.id)], Request("a fault", ""))
    shown = anna.get(f"/matches/{match_id}").json
    assert shown["broken"].startswith("ply 3, z9-z8: ")
    assert shown["ply"] == 2
    assert anna.move(match_id, "d4-c5").json["code"] == "broken-match"
    assert anna.get(f"/matches/{match_id}/legal-moves").json["legal_moves"] == []
    dispute(anna, match_id, ground="illegal-move")
    body = {"ruling": "decide", "scores": [0.5, 0.5], **REASON}
    assert arbiter.post(f"/matches/{match_id}/rulings", body).status_code == 201
    assert anna.get(f"/matches/{match_id}").json["result"] == {"scores": [0.5, 0.5], "reason": "ruling"}


def test_players_can_agree_on_another_ruleset(anna: Caller, boris: Caller, arbiter: Caller, match_id: str) -> None:
    assert (
        arbiter.post(f"/matches/{match_id}/ruleset-proposals", {"ruleset": 2, "reason": "A fault."}).status_code == 201
    )
    assert anna.post(f"/matches/{match_id}/ruleset-acceptance").status_code == 201
    changed = boris.post(f"/matches/{match_id}/ruleset-acceptance")
    assert [event["type"] for event in changed.json["events"]] == ["ruleset-accepted", "ruleset-changed"]
    assert anna.get(f"/matches/{match_id}").json["game"]["ruleset"] == 2
    assert anna.move(match_id).status_code == 201


def test_a_declined_ruleset_is_not_taken(anna: Caller, boris: Caller, arbiter: Caller, match_id: str) -> None:
    arbiter.post(f"/matches/{match_id}/ruleset-proposals", {"ruleset": 2, "reason": "A fault."})
    declined = boris.post(f"/matches/{match_id}/ruleset-refusal")
    assert [event["type"] for event in declined.json["events"]] == ["ruleset-declined"]
    assert anna.post(f"/matches/{match_id}/ruleset-acceptance").json["code"] == "no-proposal"
    assert anna.get(f"/matches/{match_id}").json["game"]["ruleset"] == 1


def test_moves_of_the_earlier_ruleset_are_shown_after_the_change(anna: Caller, boris: Caller, arbiter: Caller) -> None:
    match_id = started(anna, boris)
    # Ruleset 2 would have the last capture go on.
    moves = ["c3-b4", "b6-c5", "b4-a5", "c7-b6", "a5xc7xe5", "f6xd4", "e3-f4", "b8-c7", "f4xd6xb8"]
    for number, move in enumerate(moves):
        assert (anna, boris)[number % 2].move(match_id, move).status_code == 201
    dispute(anna, match_id)
    assert arbiter.post(f"/matches/{match_id}/rulings", {"ruling": "let-stand", **REASON}).status_code == 201
    arbiter.post(f"/matches/{match_id}/ruleset-proposals", {"ruleset": 2, "reason": "A fault."})
    for player in (anna, boris):
        assert player.post(f"/matches/{match_id}/ruleset-acceptance").status_code == 201
    shown = anna.get(f"/matches/{match_id}").json
    assert shown["game"]["ruleset"] == 2
    assert shown["spelled"] == moves
    for page in ("", "/case", "/record"):
        assert anna.client.get(f"/matches/{match_id}{page}").status_code == 200
    assert boris.move(match_id).status_code == 201


def test_a_case_file_needs_no_board(anna: Caller, match_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    dispute(anna, match_id)
    assert "<svg" in anna.client.get(f"/matches/{match_id}/case").text.split("<main")[1]

    def at_fault(_: object) -> None:
        raise ZeroDivisionError

    register(monkeypatch, variant(GAMES["bashni"], scene=at_fault))
    shown = anna.client.get(f"/matches/{match_id}/case")
    assert shown.status_code == 200
    assert "He moved twice." in shown.text


def test_a_match_against_an_opponent_can_be_disputed(anna: Caller, arbiter: Caller) -> None:
    match_id = anna.create(ME, opponent(1))
    anna.move(match_id)
    body = {"ply": 1, "ground": "clock", "statement": "It is slow."}
    assert anna.post(f"/matches/{match_id}/disputes", body).status_code == 201
    assert arbiter.post(f"/matches/{match_id}/rulings", {"ruling": "let-stand", **REASON}).status_code == 201


def texts_kept(services: Services, match_id: str) -> list[str]:
    """Return all texts that are kept of the cases of a match, whether an event names them or not."""
    return [said.text for said in services.statements.of_match(match_id).values()]


def test_no_text_is_kept_of_a_refused_statement(anna: Caller, boris: Caller, services: Services, match_id: str) -> None:
    body = {"ply": 2, "ground": "clock", "statement": "He moved twice."}
    key = {"Idempotency-Key": "once"}
    first = boris.post(f"/matches/{match_id}/disputes", body, **key)
    assert first.status_code == 201
    again = boris.post(f"/matches/{match_id}/disputes", body, **key)
    assert (again.status_code, again.json, again.headers["Idempotency-Replayed"]) == (201, first.json, "true")
    other = {**body, "statement": "And once more."}
    assert anna.post(f"/matches/{match_id}/disputes", other).json["code"] == "dispute-open"
    assert (
        boris.post(f"/matches/{match_id}/statements", {"statement": "And more."}).json["code"]
        == "statement-already-filed"
    )
    assert texts_kept(services, match_id) == ["He moved twice."]


def test_arbiters_act_signed_in_and_not_with_a_token(boris: Caller, arbiter: Caller, app: Flask, match_id: str) -> None:
    dispute(boris, match_id)
    authorization = arbiter.token()
    bearer = Caller(app)
    assert bearer.get("/cases", Authorization=authorization).status_code == 200
    for path, body in (
        ("rulings", {"ruling": "annul", **REASON}),
        ("freezing", {"frozen": False}),
        ("cases", {"ply": 1, "ground": "clock", "statement": "Look."}),
        ("ruleset-proposals", {"ruleset": 2, "reason": "It is newer."}),
    ):
        refused = bearer.post(f"/matches/{match_id}/{path}", body, Authorization=authorization)
        assert (refused.status_code, refused.json["code"]) == (403, "session-required")
    assert boris.get(f"/matches/{match_id}").json["frozen"]


def test_opening_a_case_opens_nothing_private(anna: Caller, boris: Caller, arbiter: Caller, services: Services) -> None:
    match_id = started(anna, boris, private=True)
    case = {"ply": 0, "ground": "conduct", "statement": "Let me see."}
    proposal = {"ruleset": 2, "reason": "Let me see."}
    for path, body in (("cases", case), ("ruleset-proposals", proposal)):
        assert arbiter.post(f"/matches/{match_id}/{path}", body).json["code"] == "no-such-match"
    assert texts_kept(services, match_id) == []
    assert [act.act for act in services.administration.acts()] == ["role-granted"]


RULINGS: dict[str, dict[str, Any]] = {
    "let-stand": {},
    "take-back": {"ply": 1},
    "decide": {"scores": [0, 1]},
    "annul": {},
}


@pytest.mark.parametrize("ruling", RULINGS)
@sampled("before", ["running", "finished", "aborted", "broken"])
def test_every_page_of_a_match_is_there_after_every_ruling(
    anna: Caller, boris: Caller, arbiter: Caller, services: Services, before: str, ruling: str
) -> None:
    match_id = started(anna, boris)
    anna.move(match_id)
    if before == "aborted":
        assert anna.post(f"/matches/{match_id}/abortion").status_code == 201
    else:
        boris.move(match_id)
    if before == "finished":
        assert boris.post(f"/matches/{match_id}/resignation").status_code == 201
    if before == "broken":
        loaded = services.matches.load(match_id)
        bad = MoveSubmitted(at=loaded.state.updated_at, seat=0, ply=3, move="z9-z8")
        services.store.append(match_id, loaded.head, [draft_of(bad, anna.id)], Request("a fault", ""))
    raised = {"ply": 1, "ground": "wrong-result", "statement": "<script>alert(1)</script>"}
    assert boris.post(f"/matches/{match_id}/disputes", raised).status_code == 201
    ruled = arbiter.post(f"/matches/{match_id}/rulings", {"ruling": ruling, **RULINGS[ruling], **REASON})
    assert ruled.status_code == 201, ruled.text
    for page in ("", "/case", "/record", "?ply=1"):
        shown = boris.client.get(f"/matches/{match_id}{page}")
        assert shown.status_code == 200, page
        assert "<script>alert(1)" not in shown.text
    assert "&lt;script&gt;alert(1)" in boris.client.get(f"/matches/{match_id}/case").text
    assert boris.get(f"/matches/{match_id}/bundle").status_code == 200
    _cases(services, arbiter)
    met = boris.get(f"/players/{boris.id}/head-to-head/{anna.id}").json["items"]
    listed = boris.get("/me/matches?view=finished").json["items"]
    over = boris.get(f"/matches/{match_id}").json
    assert over["annulled"] == (ruling == "annul")
    if ruling == "annul":
        assert "Annulled" in boris.client.get(f"/matches/{match_id}").text
    scored = [(each["wins"], each["losses"]) for each in met]
    assert scored == ([(1, 0)] if ruling == "decide" else [(0, 1)] if over["status"] == "finished" else [])
    assert [each["id"] for each in listed] == ([match_id] if over["status"] in ("finished", "aborted") else [])


def test_the_arbiter_who_opened_a_case_rules_on_it_only_while_no_other_could(
    app: Flask, boris: Caller, arbiter: Caller, services: Services, match_id: str
) -> None:
    def page() -> str:
        return arbiter.client.get(f"/matches/{match_id}/case").text

    other, ruling = Caller(app).sign_up("dora"), {"ruling": "let-stand", **REASON}
    for judge in (other, boris):
        services.administration.grant(judge.id, "arbiter", "console")
    opened = {"ply": 1, "ground": "conduct", "statement": "Look."}
    assert arbiter.post(f"/matches/{match_id}/cases", opened).status_code == 201
    refused = arbiter.post(f"/matches/{match_id}/rulings", ruling)
    assert (refused.status_code, refused.json["code"]) == (403, "own-case")
    assert "You opened this case" in page()
    services.administration.revoke(other.id, "arbiter", "console")
    assert f"POST /api/v1/matches/{match_id}/rulings" in page()
    assert arbiter.post(f"/matches/{match_id}/rulings", ruling).status_code == 201, "boris plays in the match"
    (case,) = arbiter.get(f"/matches/{match_id}/disputes").json["disputes"]
    assert [made["sole_arbiter"] for made in case["rulings"]] == [True]
    assert "there was no other arbiter who could" in page()
    assert services.administration.acts()[-1].facts["sole_arbiter"] is True


def test_the_case_page_offers_what_is_accepted_now(anna: Caller, boris: Caller, arbiter: Caller, match_id: str) -> None:
    def offered(caller: Caller) -> set[str]:
        page = caller.client.get(f"/matches/{match_id}/case").text
        acts = ("disputes", "statements", "appeals", "cases", "rulings", "freezing", "ruleset-acceptance")
        return {act for act in acts if f"POST /api/v1/matches/{match_id}/{act}" in page}

    assert (offered(anna), offered(arbiter)) == ({"disputes"}, {"cases"})
    dispute(boris, match_id)
    assert (offered(anna), offered(boris), offered(arbiter)) == ({"statements"}, set(), {"rulings", "freezing"})
    arbiter.post(f"/matches/{match_id}/rulings", {"ruling": "let-stand", **REASON})
    assert offered(anna) == {"disputes", "appeals"}
    arbiter.post(f"/matches/{match_id}/ruleset-proposals", {"ruleset": 2, "reason": "It is newer."})
    assert offered(anna) == {"disputes", "appeals", "ruleset-acceptance"}
    anna.post(f"/matches/{match_id}/resignation")
    assert offered(boris) == {"disputes", "appeals"}


def test_what_an_appeal_has_settled_only_its_arbiter_or_an_operator_reopens(
    app: Flask, anna: Caller, boris: Caller, arbiter: Caller, services: Services, match_id: str
) -> None:
    dispute(boris, match_id)
    decided = {"ruling": "decide", "scores": [1, 0], **REASON}
    assert arbiter.post(f"/matches/{match_id}/rulings", decided).status_code == 201
    assert boris.post(f"/matches/{match_id}/appeals", {"statement": "Look again."}).status_code == 201
    dora, otto = (Caller(app).sign_up(name) for name in ("dora", "otto"))
    services.administration.grant(dora.id, "arbiter", "console")
    services.administration.grant(otto.id, "operator", "console")
    taken_back = {"ruling": "take-back", "ply": 1, **REASON}
    assert dora.post(f"/matches/{match_id}/rulings", taken_back).status_code == 201
    again = {"ply": 1, "ground": "clock", "statement": "Once more."}
    refused = anna.post(f"/matches/{match_id}/disputes", again)
    assert (refused.status_code, refused.json["code"], list(refused.json["errors"])) == (
        409,
        "already-settled",
        ["ply"],
    )
    assert "settled on appeal" in refused.json["detail"]
    assert arbiter.post(f"/matches/{match_id}/cases", again).json["code"] == "already-settled"
    reopening = {"dispute": 1, "statement": "There is new evidence."}
    both = [caller.post(f"/matches/{match_id}/reopenings", reopening) for caller in (anna, arbiter)]
    assert [(each.status_code, each.json["code"]) for each in both] == [(403, "role-required"), (403, "not-your-case")]
    (case,) = anna.get(f"/matches/{match_id}/disputes").json["disputes"]
    assert (case["open"], case["settled"]) == (False, 1)
    reopened = otto.post(f"/matches/{match_id}/reopenings", reopening)
    (event,) = reopened.json["events"]
    assert (event["type"], event["data"]["operator"]) == ("case-reopened", True)
    assert ("case-reopened", otto.id) in [
        (act["act"], act["actor"]) for act in arbiter.get("/administration/log").json["items"]
    ]
    (case,) = anna.get(f"/matches/{match_id}/disputes").json["disputes"]
    assert (case["open"], case["settled"]) == (True, None)
    assert case["statements"][-1]["text"] == "There is new evidence."
    assert arbiter.post(f"/matches/{match_id}/rulings", decided).json["code"] == "own-ruling"
    assert dora.post(f"/matches/{match_id}/rulings", decided).status_code == 201


def test_the_case_page_says_what_is_settled_and_who_reopens_it(
    app: Flask, boris: Caller, arbiter: Caller, services: Services, match_id: str
) -> None:
    dispute(boris, match_id)
    arbiter.post(f"/matches/{match_id}/rulings", {"ruling": "let-stand", **REASON})
    boris.post(f"/matches/{match_id}/appeals", {"statement": "Look again."})
    dora = Caller(app).sign_up("dora")
    services.administration.grant(dora.id, "arbiter", "console")
    page = f"/matches/{match_id}/case"
    assert "another arbiter has to rule now" in arbiter.client.get(page).text
    assert "Give a ruling" in dora.client.get(page).text
    dora.post(f"/matches/{match_id}/rulings", {"ruling": "let-stand", **REASON})
    told = {name: caller.client.get(page).text for name, caller in (("b", boris), ("a", arbiter), ("d", dora))}
    assert all("The appeal has settled the match up to move 2." in text for text in told.values())
    assert ["Reopen case 1" in told[name] for name in "bad"] == [False, False, True]
    assert ["Raise a dispute" in told[name] for name in "bad"] == [False, False, False]


def test_scores_that_no_ruling_has_are_refused_unchanged(boris: Caller, arbiter: Caller, match_id: str) -> None:
    dispute(boris, match_id)
    before = boris.get(f"/matches/{match_id}/events").json
    for scores, places in (
        ([1e-7, 0.9999999], ["scores.0", "scores.1"]),
        ([0.12345, 0.877], ["scores.0"]),
        ([0.5, 0.4999], ["scores.1"]),
    ):
        refused = arbiter.post(f"/matches/{match_id}/rulings", {"ruling": "decide", "scores": scores, **REASON})
        assert (refused.status_code, list(refused.json["errors"])) == (422, places)
        assert "must have at most 3 decimals" in refused.text
    assert boris.get(f"/matches/{match_id}/events").json == before
    third = {"ruling": "decide", "scores": [0.333, 0.667], **REASON}
    assert arbiter.post(f"/matches/{match_id}/rulings", third).status_code == 201
