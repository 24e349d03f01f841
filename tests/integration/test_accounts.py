"""What operators do with accounts on the command line, and names that can be taken for one another."""

from collections.abc import Callable

import pytest
from click.testing import CliRunner, Result
from flask import Flask

from api.services import Services
from deploy.cli import main
from events.people.accounts import NameTakenError
from tests.support.callers import Caller
from tests.support.server import RealServer

Run = Callable[..., Result]


@pytest.fixture
def run(server: RealServer, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return what runs ``rookery people`` on the store of the app."""
    monkeypatch.setenv("REDIS_URL", server.url)

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(main, ["people", *arguments])

    return run


def sign_in(app: Flask, name: str, password: str) -> tuple[int, Caller]:
    caller = Caller(app)
    return caller.post("/sessions", {"name": name, "password": password}).status_code, caller


def acts(services: Services) -> list[str]:
    return [act.act for act in services.administration.acts()]


def test_who_is_suspended_can_only_read(app: Flask, services: Services, anna: Caller, boris: Caller, run: Run) -> None:
    token = anna.token()
    done = run("suspend", "anna", "--reason", "Insults in the chat", "--until", "2199-01-31T12:00Z")
    assert (done.exit_code, done.stdout) == (0, "anna is suspended until 2199-01-31T12:00:00.000Z\n")
    assert anna.get("/me").status_code == 401, "the session has ended"
    refused = Caller(app).post("/sessions", {"name": "anna", "password": "the secret of anna"})
    assert (refused.status_code, refused.json["code"]) == (403, "suspended")
    assert "Insults in the chat" in refused.json["detail"]
    assert "2199-01-31" in refused.json["detail"]
    assert Caller(app).get("/me", Authorization=token).status_code == 200
    acting = Caller(app).post("/matches/m/moves", {"move": "x"}, Authorization=token)
    assert (acting.status_code, acting.json["code"]) == (403, "suspended")
    assert boris.get("/me").status_code == 200
    assert acts(services)[-1:] == ["person-suspended"]


def test_a_suspension_ends_when_taken_back_or_over(app: Flask, services: Services, anna: Caller, run: Run) -> None:
    assert run("suspend", "anna", "--reason", "x").exit_code == 0
    assert run("restore", "anna").stdout == "anna may act again\n"
    assert sign_in(app, "anna", "the secret of anna")[0] == 201
    again = run("restore", "anna")
    assert (again.exit_code, again.stderr.splitlines()[-1]) == (1, "anna is not suspended")
    assert run("suspend", "anna", "--reason", "x", "--until", "2000-01-01").exit_code == 1
    assert run("suspend", "anna", "--reason", "x", "--until", "soon").exit_code == 1
    assert run("suspend", "nobody", "--reason", "x").exit_code == 1
    assert acts(services) == ["person-suspended", "person-restored"], "what was refused did not happen"


def test_a_wrong_password_does_not_tell_who_is_suspended(app: Flask, anna: Caller, run: Run) -> None:
    assert run("suspend", "anna", "--reason", "x").exit_code == 0
    assert sign_in(app, "anna", "not the secret")[0] == 401


def test_a_rename_keeps_the_sign_ins(app: Flask, services: Services, anna: Caller, boris: Caller, run: Run) -> None:
    token = anna.token()
    assert run("rename", "anna", "Annabel").stdout == "anna is now Annabel\n"
    assert anna.get("/me").json["name"] == "Annabel"
    assert Caller(app).get("/me", Authorization=token).json["name"] == "Annabel"
    assert sign_in(app, "annabel", "the secret of anna")[0] == 201
    assert sign_in(app, "anna", "the secret of anna")[0] == 401
    assert Caller(app).sign_up("anna").id != anna.id, "the old name is free again"
    assert [run("rename", "boris", name).exit_code for name in ("annabel", "Annabe1", "the-arbiter", "x")] == [1] * 4
    assert boris.get("/me").json["name"] == "boris"
    assert acts(services) == ["person-renamed"]


def test_a_reset_password_is_shown_once(app: Flask, services: Services, anna: Caller, run: Run) -> None:
    drawn = run("reset-password", "anna").stdout.splitlines()[-1]
    assert anna.get("/me").status_code == 401
    assert sign_in(app, "anna", "the secret of anna")[0] == 401
    assert sign_in(app, "anna", drawn)[0] == 201
    assert acts(services) == ["password-reset"]
    assert drawn not in str(services.administration.acts())


def test_a_name_that_is_easily_taken_for_another_is_taken(app: Flask, anna: Caller) -> None:
    for name in ("4nna", "an-na", "ANNA"):
        refused = Caller(app).post("/players", {"name": name, "password": "a tower of words"})
        assert (refused.status_code, refused.json["code"]) == (409, "name-taken"), name


def test_the_look_of_a_name_is_free_again_with_the_name(services: Services, anna: Caller) -> None:
    people = services.people
    person = people.person(anna.id)
    assert person is not None
    people.erase(person)
    assert people.sign_up("4nna", "a tower of words").name == "4nna"
    with pytest.raises(NameTakenError):
        people.sign_up("anna", "a tower of words")


@pytest.mark.parametrize("password", ["password1", "Stormpawn"])
def test_a_password_that_anybody_would_guess_is_refused_with_the_reason(app: Flask, password: str) -> None:
    refused = Caller(app).post("/players", {"name": "stormpawn", "password": password})
    assert (refused.status_code, refused.json["code"]) == (422, "invalid-fields")
    assert list(refused.json["errors"]) == ["password"]
