"""Guessing passwords is slow for strangers, whatever addresses they have, and does not hold others up."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from queue import Queue
from typing import Any

import pytest
from argon2 import PasswordHasher
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api.access.auth import DEVICE_COOKIE
from api.access.limits import SITE_SHARE, Limits, networks
from api.http.schemas import PresentPassword
from api.services import MAX_DELAY_S, MAX_FREE_ATTEMPTS, Services
from events.people.accounts import People
from events.people.passwords import MAX_HASHES_AT_ONCE, MAX_WAITING_FOR_A_HASH, Passwords, TooManySignInsError
from tests.integration.test_who_may_what import TABLE
from tests.support.callers import API, Caller, app_on
from tests.support.server import RealServer
from tests.support.tables import table

WRONG = "not the secret"


def sign_in_from(app: Flask, address: str, name: str, password: str) -> TestResponse:
    credentials = {"name": name, "password": password}
    return app.test_client().post("/api/v1/sessions", json=credentials, environ_base={"REMOTE_ADDR": address})


class HeldHasher(PasswordHasher):
    """Checks passwords only when it is let go, and keeps them in the order in which their turn has come."""

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)
        self.let_go = threading.Event()
        self.begun: list[str | bytes] = []

    def verify(self, hash: str | bytes, password: str | bytes) -> Any:
        self.begun.append(password)
        self.let_go.wait(60)
        return super().verify(hash, password)


def test_who_cannot_wait_for_a_hash_is_refused_at_once(app: Flask, services: Services, anna: Caller) -> None:
    hasher = HeldHasher()
    services.people = People(services.store.client, "rk:", services.now, Passwords(hasher))
    answers: Queue[int] = Queue()

    def attempt(name: str) -> None:
        answers.put(sign_in_from(app, "192.0.2.1", name, WRONG).status_code)

    admitted = MAX_HASHES_AT_ONCE + MAX_WAITING_FOR_A_HASH
    threads = [threading.Thread(target=attempt, args=(f"name{number}",)) for number in range(admitted + 3)]
    try:
        for thread in threads:
            thread.start()
        assert [answers.get(timeout=60) for _ in range(3)] == [503, 503, 503], "the others wait for their turn"
        refused = sign_in_from(app, "192.0.2.1", "one-more", WRONG)
        assert (refused.status_code, refused.json and refused.json["code"]) == (503, "sign-in-busy")
        assert refused.headers["Retry-After"] == "2"
        assert anna.get("/me").status_code == 200, "everything else is served meanwhile"
    finally:
        hasher.let_go.set()
        for thread in threads:
            thread.join()
    assert [answers.get_nowait() for _ in range(admitted)] == [401] * admitted


def test_known_people_pass_the_queue_of_sign_ins() -> None:
    hasher = HeldHasher()
    passwords, refused = Passwords(hasher), Queue[str]()

    def attempt(password: str, first: bool) -> None:
        try:
            passwords.matches(None, password, first=first)
        except TooManySignInsError:
            refused.put(password)

    def crowd(password: str, size: int, first: bool) -> list[threading.Thread]:
        """Return threads, started, one more than can be admitted: when one is refused the others wait."""
        threads = [threading.Thread(target=attempt, args=(password, first)) for _ in range(size + 1)]
        for thread in threads:
            thread.start()
        assert refused.get(timeout=60) == password
        return threads

    threads = []
    try:
        threads += crowd("stranger", MAX_HASHES_AT_ONCE + MAX_WAITING_FOR_A_HASH, first=False)
        threads += crowd("known", MAX_WAITING_FOR_A_HASH, first=True)
    finally:
        hasher.let_go.set()
        for thread in threads:
            thread.join()
    expected = ["stranger"] * MAX_HASHES_AT_ONCE + ["known"] * MAX_WAITING_FOR_A_HASH
    assert hasher.begun == expected + ["stranger"] * MAX_WAITING_FOR_A_HASH


def test_a_name_waits_longer_after_each_wrong_password_from_whatever_address(app: Flask, anna: Caller) -> None:
    free = [sign_in_from(app, f"192.0.2.{number}", "Anna", WRONG) for number in range(MAX_FREE_ATTEMPTS)]
    assert {answer.status_code for answer in free} == {401}
    assert sign_in_from(app, "192.0.2.77", "anna", WRONG).status_code == 401, "the first that makes the next one wait"
    refused = sign_in_from(app, "192.0.2.78", "anna", "the secret of anna")
    assert (refused.status_code, refused.json and refused.json["code"]) == (429, "too-many-requests")
    assert 0 < int(refused.headers["Retry-After"]) <= 2
    assert sign_in_from(app, "192.0.2.78", "boris", WRONG).status_code == 401, "other names do not wait"


CHOSEN = {"POST /players password", "PUT /me/password password", "PUT /password-resets password"}
"""Passwords that are chosen, and the fields of their requests; all others are asked for."""


def passwords_asked(app: Flask) -> Iterator[tuple[str, str, bool]]:
    """Yield each operation of the API that asks for a password, the field, and whether the caller is signed in."""
    for rule in app.url_map.iter_rules():
        endpoint = getattr(app.view_functions[rule.endpoint], "endpoint", None)
        fields = endpoint.body().fields if endpoint is not None and endpoint.body is not None else {}
        method = next(iter((rule.methods or set()) - {"HEAD", "OPTIONS"}))
        for name, field in fields.items():
            operation = f"{method} {rule.rule.removeprefix(API)}"
            is_password = isinstance(field, PresentPassword) or "password" in name
            if is_password and f"{operation} {name}" not in CHOSEN:
                yield operation, name, endpoint.signed_in


def test_every_operation_that_asks_for_a_password_delays_the_attempts_after_wrong_ones(app: Flask) -> None:
    bodies = {operation: body for operation, *_, body in TABLE}
    asked = list(passwords_asked(app))
    assert len(asked) >= 4
    for number, (operation, field, signed_in) in enumerate(asked):
        person = Caller(app).sign_up(f"nora-{'abcdefgh'[number]}")
        client = person.client if signed_in else app.test_client()
        method, path = operation.split()
        body = {**bodies[operation], **({} if signed_in else {"name": person.name}), field: WRONG}

        def attempt(
            attempts: int, client: FlaskClient = client, method: str = method, path: str = path, body: Any = body
        ) -> int:
            source = {"REMOTE_ADDR": f"198.51.100.{attempts}"}
            return client.open(API + path, method=method, json=body, environ_base=source).status_code

        refusals = {attempt(attempts) for attempts in range(MAX_FREE_ATTEMPTS + 1)}
        assert refusals == {422 if signed_in else 401}, operation
        assert attempt(MAX_FREE_ATTEMPTS + 1) == 429, operation


def test_who_is_signed_in_does_not_wait_for_what_strangers_have_tried(app: Flask, anna: Caller) -> None:
    for number in range(MAX_FREE_ATTEMPTS + 1):
        sign_in_from(app, f"198.51.100.{number}", "anna", WRONG)
    chosen = {"current": "the secret of anna", "password": "another secret"}
    assert anna.put("/me/password", chosen).status_code == 204
    assert anna.put("/me/password", {**chosen, "current": "another secret"}).status_code == 204


def test_the_delay_doubles_up_to_its_maximum(services: Services, app: Flask) -> None:
    client, delays = services.store.client, services.sign_in_delays
    waits = []
    for _ in range(MAX_FREE_ATTEMPTS + 12):
        delays.begin("anna")
        for key in client.scan_iter("rk:{people}:attempts:*:wait"):
            waits.append(client.ttl(key))
            client.delete(key)
    assert [0 < wait <= min(MAX_DELAY_S, 2 ** (number + 1)) for number, wait in enumerate(waits)] == [True] * 12
    assert waits[-1] > MAX_DELAY_S / 2
    delays.succeed("anna")
    assert not list(client.scan_iter("rk:{people}:attempts:*"))


def test_strangers_cannot_lock_a_person_out_of_a_device_they_know(app: Flask, services: Services, anna: Caller) -> None:
    for number in range(MAX_FREE_ATTEMPTS + 1):
        sign_in_from(app, f"198.51.100.{number}", "anna", WRONG)
    assert sign_in_from(app, "198.51.100.99", "anna", "the secret of anna").status_code == 429
    known = anna.post("/sessions", {"name": "anna", "password": "the secret of anna"})
    assert known.status_code == 201


def test_a_device_with_a_mark_of_any_characters_can_sign_in(app: Flask, anna: Caller) -> None:
    client = app.test_client(use_cookies=False)
    secret = {"name": "anna", "password": "the secret of anna"}
    answer = client.post(f"{API}/sessions", json=secret, headers={"Cookie": f"{DEVICE_COOKIE}=caf\u00e9"})
    assert answer.status_code == 201


def test_the_mark_of_a_device_is_worth_nothing_after_a_new_password(services: Services, anna: Caller) -> None:
    people = services.people
    person = people.person(anna.id)
    assert person is not None
    mark = people.mark_device(person)
    assert people.knows_device("Anna", mark)
    assert not people.knows_device("anna", mark[:-1] + "?")
    assert not people.knows_device("nobody", mark)
    people.set_password(person, "another secret")
    assert not people.knows_device("anna", mark)


@pytest.mark.parametrize(("remote", "expected"), table(__file__, "ipv6 addresses count as their networks"))
def test_ipv6_addresses_count_as_their_networks(remote: str, expected: list[str]) -> None:
    assert networks(remote) == expected


def test_an_ipv6_site_has_a_limit_however_many_networks_it_uses(server: RealServer) -> None:
    app = app_on(server.url, Limits(sign_ins="1/hour"))
    within = [sign_in_from(app, f"2001:db8:1:{number:x}::1", "anna", WRONG).status_code for number in range(SITE_SHARE)]
    assert within == [401] * SITE_SHARE
    assert sign_in_from(app, "2001:db8:1:ff::1", "anna", WRONG).status_code == 429
    assert sign_in_from(app, "2001:db8:2::1", "anna", WRONG).status_code == 401, "another site"
    assert sign_in_from(app, "2001:db8:2::2", "anna", WRONG).status_code == 429, "the same network"


MAX_GROWTH_BYTES = 30 * 1024 * 1024
"""Two hashes at once take 38 MiB, which must be returned when they are done."""

EACH_THREAD_HASHES = """
import resource
from threading import Thread
from events.people.passwords import HASHER, Passwords

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()

passwords = Passwords(HASHER)
before = resident()
for _ in range(2):
    # All threads are alive at once, as in a web process, and each has an arena of the allocator.
    threads = [Thread(target=lambda: [passwords.hash("correct horse") for _ in range(2)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
print(resident() - before)
"""


def test_blocks_of_hashed_passwords_are_returned_to_the_system() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    printed = subprocess.run(
        [sys.executable, "-c", EACH_THREAD_HASHES], capture_output=True, check=True, text=True, env=environment
    ).stdout
    assert int(printed) < MAX_GROWTH_BYTES
