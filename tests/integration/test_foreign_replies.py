"""A client of the store that mixes replies up: nobody is taken for somebody else."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from flask import Flask

from api.services import Services
from events.people.credentials import ForeignReplyError, Tickets
from events.people.person import Person, UnknownPersonError
from events.runtime.connections import StoreClient
from events.runtime.keys import PeopleKeys
from tests.support.callers import Caller


@contextmanager
def shifted_replies() -> Iterator[None]:
    """Answer each command of the block but the first with the reply to the one before it."""
    execute: Callable[..., Any] = StoreClient.execute_command
    replies: list[Any] = []

    def shifted(self: StoreClient, *args: Any, **options: Any) -> Any:
        replies.append(execute(self, *args, **options))
        return replies[max(0, len(replies) - 2)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StoreClient, "execute_command", shifted)
        yield


def person(services: Services, caller: Caller) -> Person:
    found = services.people.person(caller.id)
    assert found is not None
    return found


@pytest.mark.parametrize("credential", ["session", "token"])
def test_no_request_gets_the_account_of_another(app: Flask, anna: Caller, boris: Caller, credential: str) -> None:
    callers = [(each, {"Authorization": each.token()} if credential == "token" else {}) for each in (anna, boris)]
    with shifted_replies():
        answers = [(caller, caller.get("/me", **headers)) for _ in range(6) for caller, headers in callers]
    assert all(answer.json["name"] == caller.name for caller, answer in answers if answer.status_code == 200)
    assert {answer.status_code for _, answer in answers} <= {200, 500, 503}
    assert any(answer.status_code == 503 for _, answer in answers)


def test_nobody_acts_with_the_credential_of_another(services: Services, anna: Caller, boris: Caller) -> None:
    credentials, sessions = services.people.credentials, services.people.sessions
    secrets = [sessions.open(person(services, caller), 60) for caller in (anna, boris)]
    with shifted_replies():
        assert (first := credentials.admit("session", secrets[0], 60))
        assert first.person.id == anna.id
        with pytest.raises(ForeignReplyError):
            credentials.admit("session", secrets[1], 60)
    keys = [credentials.key("session", secret) for secret in secrets]
    with shifted_replies():
        assert (owner := credentials.person_of(keys[0]))
        assert owner.id == anna.id
        with pytest.raises(ForeignReplyError):
            credentials.person_of(keys[1])


def test_no_ticket_is_redeemed_for_the_credential_of_another(services: Services) -> None:
    tickets = Tickets(services.client, services.prefix)
    issued = [tickets.issue("credential of anna"), tickets.issue("credential of boris")]
    with shifted_replies():
        assert tickets.redeem(issued[0]) == "credential of anna"
        with pytest.raises(ForeignReplyError):
            tickets.redeem(issued[1])


def test_a_password_is_not_compared_with_that_of_another(services: Services) -> None:
    people = services.people
    anna, boris = people.sign_up("Anna", "the word of Anna"), people.sign_up("Boris", "the word of Boris")
    assert people.sign_in("Boris", "the word of Boris") == boris
    with shifted_replies():
        assert people._hash_of(anna)
        with pytest.raises(ForeignReplyError):
            people._hash_of(boris)
    with shifted_replies():
        people._client.get(people._keys.name("Anna"))
        with pytest.raises(ForeignReplyError):
            people.sign_in("Boris", "the word of Anna")


def test_a_session_or_token_of_an_account_that_is_gone_is_nobodys(services: Services, anna: Caller) -> None:
    people, owner = services.people, person(services, anna)
    secrets = {"session": people.sessions.open(owner, 60), "token": people.tokens.create(owner, "a program")[1]}
    services.client.delete(PeopleKeys(services.prefix).account(owner.id))
    assert [people.credentials.admit(kind, secret, 60) for kind, secret in secrets.items()] == [None, None]
    for late in (lambda: people.sessions.open(owner, 60), lambda: people.tokens.create(owner, "another")):
        with pytest.raises(UnknownPersonError):
            late()
