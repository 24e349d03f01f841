"""What webhooks say: how a match stands, what can be played, and nothing private."""

import json
from typing import Any

import msgspec
import pytest

from api.representations.webhooks import SentWebhook
from domain.games import GAMES
from domain.match.commands import AcceptDraw, JoinMatch, OfferDraw, Resign
from domain.match.state import Seat
from events.notices.notice import Notice, NoticeKind, notice_id
from events.people.person import Person
from events.store.contract import VersionTag
from events.webhooks import payload
from events.webhooks.payload import MAX_PAYLOAD_BYTES, TYPES, Standing, notice_payload, trial_payload
from tests.support.matches import FOUR, T0, PlayedMatch, creation, started, started_by_four

PAGE_URL = "https://rookery.example/"


def notice(kind: NoticeKind = NoticeKind.TURN, player: str = "alice", match: str | None = "m") -> Notice:
    return Notice(
        id=notice_id("fact", player),
        player=player,
        kind=kind,
        match=match,
        version=3,
        fact="fact",
        summary="It is your turn.",
        reason="You want to be told.",
        at=T0,
        decided_at=T0,
    )


def standing(match: PlayedMatch, deadline: int | None = None) -> Standing:
    people = {name: Person(name, name.title(), "person", T0) for name in ("alice", "bob", *FOUR)}
    return Standing(match.state, VersionTag(match.state.version, "0123456789abcdef"), deadline, people)


def told(match: PlayedMatch, full: bool = True, **facts: Any) -> Any:
    body = notice_payload(notice(**facts), standing(match, T0 + 86_400_000), full=full, page_url=PAGE_URL)
    assert len(body) <= MAX_PAYLOAD_BYTES
    return json.loads(body)


def test_a_full_payload_is_all_that_a_stateless_bot_needs() -> None:
    match = started()
    sent = told(match)
    assert (sent["type"], sent["timestamp"]) == ("match.turn", "2023-11-14T22:13:20.000Z")
    data = sent["data"]
    assert data["legal_moves"] == match.legal_moves()
    assert data["position"] == GAMES["bashni"].format_position(match.state.play.position)
    assert (data["seat"], data["to_move"], data["ply"], data["form"]) == (0, 0, 0, "full")
    assert (data["version"], data["version_tag"]) == (match.state.version, f"{match.state.version}-0123456789abcdef")
    assert data["deadline"] == "2023-11-15T22:13:20.000Z"
    assert data["seats"][1]["player"] == {"id": "bob", "name": "Bob", "kind": "person"}
    assert data["terms"]["bank"] == 10 * 86_400
    assert data["links"]["page"] == "https://rookery.example/matches/m"
    assert data["links"]["moves"] == "https://rookery.example/api/v1/matches/m/moves"
    assert data["answers"] == ["move", "moves", "resign"]


@pytest.mark.parametrize(("kind", "full"), [(NoticeKind.TURN, True), (NoticeKind.ENDED, False)])
def test_a_payload_is_what_the_document_describes(kind: NoticeKind, full: bool) -> None:
    msgspec.convert(told(started(), full=full, kind=kind), SentWebhook)
    msgspec.json.decode(trial_payload("alice", T0, PAGE_URL), type=SentWebhook)


def test_a_thin_payload_has_no_board() -> None:
    data = told(started(), full=False)["data"]
    assert data["form"] == "thin"
    assert not {"position", "diagram", "legal_moves", "compositions", "draft"} & set(data)


def test_who_is_not_to_move_gets_no_moves() -> None:
    data = told(started(), player="bob", kind=NoticeKind.STARTED)["data"]
    assert (data["legal_moves"], data["seat"], data["to_move"]) == ([], 1, 0)
    assert data["position"]


def test_a_payload_that_would_be_too_large_is_thin(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = told(started())
    monkeypatch.setattr(payload, "MAX_PAYLOAD_BYTES", len(json.dumps(whole, separators=(",", ":"))) - 1)
    assert told(started())["data"]["form"] == "thin"


@pytest.mark.parametrize("game", list(GAMES))
def test_every_game_and_setup_fits_into_a_full_payload(game: str) -> None:
    for setup in GAMES[game].setups.values():
        others = FOUR[: len(setup.seat_names) - 1]
        match = PlayedMatch(creation(Seat.taken("alice"), *(Seat.open() for _ in others), game=game, setup=setup.name))
        for other in others:
            match.do(JoinMatch(player=other))
        data = told(match)["data"]
        assert data["form"] == "full"
        assert bool(data["draft"]) == (GAMES[game].draft(match.state.play.position) is not None)


def test_an_army_that_is_set_up_can_be_answered_from_the_payload() -> None:
    match = started_by_four(game="fourplay", setup="draft")
    data = told(match, player=FOUR[0])["data"]
    match.move(FOUR[0], *data["draft"]["ready"], data["draft"]["done"])
    assert match.state.play.plies == len(data["draft"]["ready"]) + 1


def test_an_ended_match_tells_its_result() -> None:
    match = started()
    match.do(Resign(player="bob"))
    data = told(match, kind=NoticeKind.ENDED)["data"]
    assert (data["status"], data["to_move"], data["legal_moves"]) == ("finished", None, [])
    assert data["result"] == {"scores": [1.0, 0.0], "reason": "resignation"}
    assert data["answers"] == []


def test_an_offer_tells_who_has_agreed() -> None:
    match = started()
    match.do(OfferDraw(player="bob"))
    data = told(match, kind=NoticeKind.OFFER)["data"]
    assert (data["draw_agreed"], data["answers"]) == ([1], ["accept", "decline"])
    match.do(AcceptDraw(player="alice"))
    assert told(match, kind=NoticeKind.ENDED)["data"]["result"]["reason"] == "draw-agreed"


def test_every_kind_has_a_type_of_its_own() -> None:
    assert set(TYPES) == set(NoticeKind)
    assert len(set(TYPES.values())) == len(NoticeKind)


def test_a_notice_about_a_match_that_cannot_be_read_is_told_all_the_same() -> None:
    sent = json.loads(notice_payload(notice(), None, full=True, page_url=PAGE_URL))
    assert sent["data"] == {"player": "alice", "summary": "It is your turn.", "match": "m", "form": "thin"}


def test_a_trial_says_that_it_is_one() -> None:
    sent = json.loads(trial_payload("alice", T0, PAGE_URL))
    assert sent["type"] == "test"
    assert "test" in sent["data"]["summary"]
