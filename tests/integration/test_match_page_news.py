"""What the page of a match tells beside its board: news since it was shown, rematches, frozen matches, conditions."""

import re
from html import unescape

import pytest
from flask import Flask

from api.services import services as current_services
from tests.support.callers import ME, OPEN, Caller, invited, started
from tests.support.lost_tail import lose_tail

DISPUTE = {"ply": 1, "ground": "clock", "statement": "It ran too fast."}


def page(caller: Caller, path: str) -> str:
    answer = caller.client.get(path, headers={"Accept": "text/html"})
    assert answer.status_code == 200, answer.text
    return unescape(" ".join(answer.text.split()))


def shown(caller: Caller, match_id: str, name: str, since: str = "") -> str:
    """Return what the page of a match has in the attribute ``name``, when it was last shown at ``since``."""
    found = re.search(rf' data-{name}="([^"]*)"', page(caller, f"/matches/{match_id}?since={since}"))
    assert found is not None
    return found[1]


def title(caller: Caller, match_id: str) -> str:
    return re.search("<title>(.*?)</title>", page(caller, f"/matches/{match_id}"))[1]


def test_a_page_is_told_once_what_happened_since(anna: Caller, boris: Caller, stranger: Caller) -> None:
    match = started(anna, boris)
    mark = shown(anna, match, "mark")
    assert shown(anna, match, "news") == ""
    assert shown(anna, match, "news", mark) == ""
    anna.move(match, "c3-d4")
    boris.move(match, "b6-a5")
    assert shown(anna, match, "news", mark) == "You played c3-d4. boris played b6-a5. It is your turn."
    assert shown(boris, match, "news", mark) == "anna played c3-d4. You played b6-a5."
    assert shown(stranger, match, "news", mark) == "anna played c3-d4. boris played b6-a5."
    assert shown(anna, match, "news", shown(anna, match, "mark")) == ""
    assert shown(anna, match, "last-move") == "boris played b6-a5."
    begun = "You created the match. boris joined as Black. The match has begun. You played c3-d4. boris played b6-a5."
    assert shown(anna, match, "news", "0") == f"{begun} It is your turn."
    assert shown(anna, match, "news", "nonsense") == ""


def test_a_page_that_slept_is_told_the_latest(anna: Caller, boris: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.pages.match_news.MAX_EVENTS_DESCRIBED", 2)
    match = started(anna, boris)
    mark = shown(anna, match, "mark")
    for each in (anna, boris, anna):
        each.move(match)
    news = shown(boris, match, "news", mark)
    assert re.fullmatch(r"More has happened before that\. You played \S+\. anna played \S+\. It is your turn\.", news)


def test_a_page_whose_last_event_was_lost_is_told_so(app: Flask, anna: Caller, boris: Caller) -> None:
    match = started(anna, boris)
    anna.move(match, "c3-d4")
    mark = shown(boris, match, "mark")
    with app.app_context():
        lose_tail(current_services().store, match, 3)
    lost = "Part of this match was lost. The page shows what is left."
    assert shown(boris, match, "news", mark) == lost
    anna.move(match, "g3-h4")
    assert shown(boris, match, "news", mark) == lost


def test_a_rematch_is_told_and_answered_on_the_earlier_page(anna: Caller, boris: Caller, stranger: Caller) -> None:
    match_id = started(anna, boris)
    boris.post(f"/matches/{match_id}/resignation")
    mark = shown(anna, match_id, "mark")
    assert boris.post(f"/matches/{match_id}/rematches").status_code == 201
    assert shown(anna, match_id, "news", mark) == "boris proposes a rematch."
    assert shown(anna, match_id, "news", shown(anna, match_id, "mark")) == ""
    assert "boris proposes a rematch.</strong> You would play Black." in page(anna, f"/matches/{match_id}")
    assert title(anna, match_id).startswith("● Rematch proposed")
    assert "You proposed a rematch.</strong> It begins when all players have accepted it." in page(
        boris, f"/matches/{match_id}"
    )
    for other in (boris, stranger):
        assert "Accept the rematch" not in page(other, f"/matches/{match_id}")
        assert "●" not in title(other, match_id)
    rematch = boris.get(f"/matches/{match_id}").json["rematch"]
    assert anna.post(f"/matches/{rematch}/abortion").status_code == 201
    assert shown(boris, match_id, "news", mark) == "You proposed a rematch. anna declined the rematch."
    declined = page(boris, f"/matches/{match_id}")
    assert "The rematch was cancelled." in declined
    assert "To the rematch" not in declined
    assert "Propose a rematch" not in declined


def test_a_frozen_match_is_nobodys_move_on_its_page_nor_in_lists(anna: Caller, boris: Caller) -> None:
    match_id = started(anna, boris)
    anna.move(match_id, "c3-d4")
    assert title(boris, match_id).startswith("● Your move")
    mark = shown(boris, match_id, "mark")
    assert anna.post(f"/matches/{match_id}/disputes", DISPUTE).status_code == 201
    frozen = page(boris, f"/matches/{match_id}")
    assert "The match is frozen: it continues when an arbiter has ruled." in frozen
    assert "Your move" not in re.sub(r'<section class="confirm".*?</section>', "", frozen)
    assert "to move</span>" not in frozen
    assert shown(boris, match_id, "mine") == ""
    assert re.search(r'<form class="type-move"[^>]* hidden>', frozen)
    assert shown(boris, match_id, "news", mark) == (
        "anna raised a dispute: the clock. The match is frozen until an arbiter has ruled."
    )
    assert "Your move" not in page(boris, "/matches")


def test_the_question_whether_to_decline_says_which_conditional_move_follows(anna: Caller, boris: Caller) -> None:
    match_id = started(anna, boris)
    lines = [{"move": "c3-d4", "next": [{"move": "b6-a5"}]}]
    assert boris.put(f"/matches/{match_id}/lines", {"lines": lines}).status_code == 200
    anna.post(f"/matches/{match_id}/moves", {"move": "c3-d4", "offer_draw": True})
    question = 'data-ask="Decline the draw?" data-consequence="Your conditional move b6-a5 is then played."'
    assert f'data-act="draw-refusal" {question}' in page(boris, f"/matches/{match_id}")
    assert title(boris, match_id).startswith("● Your move")
    boris.post(f"/matches/{match_id}/draw-refusal")
    assert boris.get(f"/matches/{match_id}").json["moves"] == ["c3-d4", "b6-a5"]


def test_a_refusal_that_sets_nothing_off_is_not_asked_about(anna: Caller, boris: Caller) -> None:
    match_id = started(anna, boris)
    anna.post(f"/matches/{match_id}/draw-offers")
    assert 'data-act="draw-refusal">Decline' in page(boris, f"/matches/{match_id}")
    assert title(boris, match_id).startswith("● Draw offered")


def test_who_looks_on_while_a_seat_is_free_is_told_who_takes_it(anna: Caller, boris: Caller) -> None:
    match_id = anna.create(ME, OPEN)
    mark = shown(anna, match_id, "mark")
    boris.post(f"/matches/{match_id}/joins")
    assert shown(anna, match_id, "news", mark) == "boris joined as Black. The match has begun. It is your turn."
    other = anna.create(ME, invited("boris"))
    assert title(boris, other).startswith("● Invitation")
