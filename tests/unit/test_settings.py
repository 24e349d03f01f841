"""Settings from the environment, the URLs in them, and the connections and stores that are made of them."""

import re
from inspect import getsource
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from environs import EnvError

from deploy.cli import main
from events.runtime import settings
from events.runtime.connections import CLUSTER, SENTINEL, SINGLE, blocking_client, connect, read_place
from events.runtime.errors import StoreUnavailableError
from events.runtime.settings import MailSettings, Settings, next_database
from events.store.archive.store import make_store
from tests.support.tables import table
from workers.celery_app import make_app

BULLETS = re.findall(r"^    - (\w+) \((.*?)\): (.*?)\.$", str(Settings.__doc__), re.MULTILINE | re.DOTALL)
"""The variables of the settings, each with its default and its meaning."""

OF_SUPERVISOR = "ROOKERY_IMPAIRED"


@pytest.fixture(autouse=True)
def _empty_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, _, _ in BULLETS:
        monkeypatch.delenv(name, raising=False)


def test_an_empty_environment_means_one_server_on_this_machine() -> None:
    assert Settings.from_environment() == Settings(
        redis_url="redis://127.0.0.1:6379/0", broker_url="redis://127.0.0.1:6379/1", prefix="rk:",
        stream_url="http://127.0.0.1:8001", secure_cookies=False, shards=None, page_url="http://127.0.0.1:8000",
        key_file=None, trusted_proxies=0, impairments_file=None,
    )  # fmt: skip


def test_every_setting_can_be_given(monkeypatch: pytest.MonkeyPatch) -> None:
    values = (
        "redis://store/3", "amqp://broker", "test:", "https://live.example", "https://rookery.example", "true", "2",
        "/keys/at-rest.key", "mailto:operator@rookery.example", "32", "2", "s3://bucket/rookery", "7",
        "http://collector:4318", "/srv/guard", "https://timestamps.example/tsr", "/srv/mark.json",
        "10.0.0.0/8,127.0.0.1/32", "/run/impaired.json", "smtp://rookery:secret@relay.example:587", "Rookery.example",
        "mx.rookery.example", "false",
    )  # fmt: skip
    for (name, _, _), value in zip(BULLETS, values, strict=True):
        monkeypatch.setenv(name, value)
    assert Settings.from_environment() == (
        *values[:4], True, 32, values[4], Path(values[7]), 2, Path(values[18]),
        MailSettings(values[19], "rookery.example", values[21]), ("10.0.0.0/8", "127.0.0.1/32"), values[8],
        values[13], 2, values[11], 7, values[14], values[15], Path(values[16]), False,
    )  # fmt: skip


@pytest.mark.parametrize(("name", "value"), [("ROOKERY_SHARDS", "many"), ("ROOKERY_SECURE_COOKIES", "perhaps")])
def test_a_value_that_cannot_be_read_is_named(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(EnvError, match=name):
        Settings.from_environment()


@pytest.mark.parametrize(("name", "value", "reason"), table(__file__, "a value that cannot be used is refused"))
def test_a_value_that_cannot_be_used_is_refused_with_its_name_and_the_reason_but_no_password(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, reason: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(EnvError, match=name) as refused:
        Settings.from_environment()
    assert reason in str(refused.value)
    assert "pass" not in str(refused.value).replace("password", "")


@pytest.mark.parametrize("proxies", ["-1", "some"])
def test_a_number_of_proxies_that_is_none_is_named(monkeypatch: pytest.MonkeyPatch, proxies: str) -> None:
    monkeypatch.setenv("ROOKERY_TRUSTED_PROXIES", proxies)
    with pytest.raises(EnvError, match="ROOKERY_TRUSTED_PROXIES"):
        Settings.from_environment()


@pytest.mark.parametrize("shards", ["0", "-1", "1000000"])
def test_a_senseless_number_of_shards_is_refused(monkeypatch: pytest.MonkeyPatch, shards: str) -> None:
    monkeypatch.setenv("ROOKERY_SHARDS", shards)
    with pytest.raises(EnvError, match="ROOKERY_SHARDS"):
        Settings.from_environment()


@pytest.mark.parametrize(("url", "following"), table(__file__, "the broker is the next database of the same server"))
def test_the_broker_is_the_next_database_of_the_same_server(url: str, following: str) -> None:
    assert next_database(url) == following


def test_a_blocking_client_waits_longer_than_the_server_blocks() -> None:
    assert blocking_client("redis://h/0", 20_000).connection_pool.connection_kwargs["socket_timeout"] > 20
    assert connect("redis://h/0").connection_pool.connection_kwargs["socket_timeout"] == 5


def test_a_client_for_a_unix_socket_is_made_too() -> None:
    connection: Any = connect("unix:///run/redis.sock?db=2").connection_pool.make_connection()
    assert (connection.path, connection.db) == ("/run/redis.sock", 2)


def test_the_store_of_the_settings_does_not_connect_before_it_is_used() -> None:
    store = make_store(Settings.from_environment()._replace(redis_url="redis://127.0.0.1:1/0", prefix="x:"))
    assert store.prefix == "x:"


@pytest.mark.parametrize("command", [["relay"], ["verify"], ["rebuild"], ["people", "roles"], ["audit", "all"]])
def test_every_command_names_an_invalid_setting(monkeypatch: pytest.MonkeyPatch, command: list[str]) -> None:
    monkeypatch.setenv("REDIS_URL", "localhost")
    answer = CliRunner().invoke(main, command)
    assert answer.exit_code == 1, answer.exception
    assert 'Environment variable "REDIS_URL" invalid' in answer.output
    assert "Traceback" not in answer.output


def test_a_cluster_needs_a_broker_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", "redis+cluster://:pass@one:7000")
    with pytest.raises(EnvError, match="BROKER_URL must name a broker") as refused:
        Settings.from_environment()
    assert "pass" not in str(refused.value)
    monkeypatch.setenv("BROKER_URL", "amqp://broker")
    assert Settings.from_environment().broker_url == "amqp://broker"


def test_celery_is_told_what_sentinels_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", "redis+sentinel://one,two/rookery/0")
    app = make_app(Settings.from_environment())
    assert app.conf.broker_url == "sentinel://one:26379/1;sentinel://two:26379/1"
    assert app.conf.broker_transport_options["master_name"] == "rookery"


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


@pytest.mark.parametrize(("url", "reason"), table(__file__, "what cannot be read is refused without the url"))
def test_what_cannot_be_read_is_refused_without_the_url(url: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        read_place(url)


def test_a_cluster_that_does_not_answer_is_away_for_now() -> None:
    with pytest.raises(StoreUnavailableError, match=r"now: no server of the cluster answers: Error 111 connecting to"):
        connect("redis+cluster://127.0.0.1:1").get("key")


def test_the_manual_repeats_each_setting_with_its_default() -> None:
    """The table of the manual is made of the docstring: paste what this test expects."""
    rows = [f"| `{name}` | {default} | {meaning} |" for name, default, meaning in BULLETS if name != OF_SUPERVISOR]
    expected = [re.sub(r"\s+", " ", row).replace("``", "`") for row in rows]
    manual = (Path(__file__).parents[2] / "docs" / "operators.md").read_text(encoding="utf-8")
    table = manual.partition("| variable | default | meaning |\n|---|---|---|\n")[2].partition("\n\n")[0]
    assert table.splitlines() == expected


def test_each_variable_that_is_read_is_documented() -> None:
    assert {name for name, _, _ in BULLETS} == set(re.findall(r'env\.\w+\(\s*"(\w+)"', getsource(settings)))
