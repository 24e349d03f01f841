"""Requests that come twice or at the same moment: one acts, and everybody hears what came of it."""

import threading

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from tests.support.callers import ME, OPEN, Caller, started


@pytest.fixture
def match_id(anna: Caller, boris: Caller) -> str:
    """Return a match of anna (to move) and boris that has just started."""
    return started(anna, boris)


def test_a_repeated_request_gets_the_first_answer_byte_for_byte(anna: Caller, boris: Caller, match_id: str) -> None:
    move = anna.legal_move(match_id)
    first = anna.move(match_id, move, Idempotency_Key="k1")
    boris.move(match_id)
    again = anna.move(match_id, move, Idempotency_Key="k1")
    assert (again.status_code, again.data, again.headers["ETag"]) == (201, first.data, first.headers["ETag"])
    assert "Idempotency-Replayed" not in first.headers
    assert again.headers["Idempotency-Replayed"] == "true"
    assert boris.get(f"/matches/{match_id}").json["ply"] == 2


def test_a_repeated_creation_gets_the_first_answer_byte_for_byte(anna: Caller, boris: Caller) -> None:
    body = {"game": "bashni", "setup": "start", "seats": [ME, OPEN]}
    first = anna.post("/matches", body, Idempotency_Key="k1")
    boris.post(f"/matches/{first.json['id']}/joins")
    again = anna.post("/matches", body, Idempotency_Key="k1")
    assert (again.status_code, again.data) == (201, first.data)
    assert again.headers["Location"] == first.headers["Location"]
    assert boris.post("/matches", body, Idempotency_Key="k1").json["id"] != first.json["id"]
    other = anna.post("/matches", {**body, "private": True}, Idempotency_Key="k1")
    assert (other.status_code, other.json["code"]) == (422, "idempotency-key-reused")


def test_the_same_body_written_in_another_way_is_the_same_request(anna: Caller, match_id: str) -> None:
    move = anna.legal_move(match_id)
    path = f"/api/v1/matches/{match_id}/moves"
    sent = [b'{"move":"%s"}' % move.encode(), b'  { "move" :  "\\u%04x%s" } ' % (ord(move[0]), move[1:].encode())]
    answers = [
        anna.client.post(path, data=body, content_type="application/json", headers={"Idempotency-Key": "k1"})
        for body in sent
    ]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].data == answers[1].data


def test_of_fifty_who_submit_at_once_one_is_first_and_others_hear_it(app: Flask, anna: Caller, match_id: str) -> None:
    move, token = anna.legal_move(match_id), anna.token()
    etag = anna.get(f"/matches/{match_id}").headers["ETag"]
    callers = [Caller(app) for _ in range(50)]
    start = threading.Barrier(len(callers))
    answers: list[TestResponse] = []

    def submit(caller: Caller) -> None:
        start.wait()
        answers.append(caller.move(match_id, move, If_Match=etag, Authorization=token))

    threads = [threading.Thread(target=submit, args=(caller,)) for caller in callers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    statuses = sorted(answer.status_code for answer in answers)
    assert statuses == [201] + [409] * 49
    late = [answer.json for answer in answers if answer.status_code == 409]
    assert {(each["code"], each["current_version"]) for each in late} == {("stale-version", 4)}
    assert anna.get(f"/matches/{match_id}").json["moves"] == [move]


def test_of_fifty_repetitions_one_acts_and_all_hear_the_same(app: Flask, anna: Caller, match_id: str) -> None:
    move, token = anna.legal_move(match_id), anna.token()
    answers: list[TestResponse] = []

    def submit() -> None:
        answers.append(Caller(app).move(match_id, move, Idempotency_Key="k1", Authorization=token))

    threads = [threading.Thread(target=submit) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {(answer.status_code, answer.data) for answer in answers} == {(201, answers[0].data)}
    assert sum("Idempotency-Replayed" not in answer.headers for answer in answers) == 1
    assert anna.get(f"/matches/{match_id}").json["moves"] == [move]
