"""What the URL of a store names, and what is refused."""

import pytest

from events.runtime.connections import CLUSTER, SENTINEL, SINGLE, connect, read_place
from events.runtime.errors import StoreUnavailableError


def test_a_plain_url_names_one_server() -> None:
    place = read_place("redis://:secret@store.example:6380/3")
    assert (place.kind, place.options["db"], place.options["password"]) == (SINGLE, 3, "secret")


def test_sentinels_are_named_with_the_service_that_they_watch() -> None:
    place = read_place("redis+sentinel://player:p%40ss@one.example:26380,two.example,[::1]:3/rookery/2")
    assert place.kind == SENTINEL
    assert place.addresses == (("one.example", 26380), ("two.example", 26379), ("::1", 3))
    assert place.service == "rookery"
    assert place.options == {"username": "player", "password": "p@ss", "db": 2}


def test_sentinels_may_have_a_password_of_their_own() -> None:
    place = read_place("redis+sentinel://one/rookery?sentinel_password=watch&ssl_ca_certs=/ca")
    assert place.sentinel_options == {"password": "watch"}
    assert place.options == {"ssl_ca_certs": "/ca", "db": 0}


def test_some_servers_of_a_cluster_are_named() -> None:
    place = read_place("redis+cluster://:secret@one:7000,two")
    assert (place.kind, place.addresses) == (CLUSTER, (("one", 7000), ("two", 6379)))
    assert place.options == {"password": "secret"}


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://host", "must begin with"),
        ("redis+cluster://host/1", "only database 0"),
        ("redis+cluster://host/x", "not a number"),
        ("redis+cluster://one,,two", "empty one"),
        ("redis+cluster://one:port", "cannot be read"),
        ("redis+sentinel://one", "SERVICE"),
        ("redis+sentinel://one/rookery/first", "not a number"),
    ],
)
def test_what_cannot_be_read_is_refused_without_the_url(url: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        read_place(url)


def test_a_cluster_that_does_not_answer_is_away_for_now() -> None:
    with pytest.raises(StoreUnavailableError, match=r"now: no server of the cluster answers: Error 111 connecting to"):
        connect("redis+cluster://127.0.0.1:1").get("key")
