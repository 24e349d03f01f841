"""The simulated year in memory and on a real server."""

from click.testing import CliRunner

from events.runtime.connections import StoreClient
from tests.simulation.__main__ import main
from tests.support.server import RealServer


def test_the_same_year_is_played_on_a_real_server_and_in_memory(server: RealServer) -> None:
    result = CliRunner().invoke(main, ["--matches", "2", "--redis", server.url, "--twice"])
    assert result.exit_code == 0, result.output
    assert "every match ended" in result.output
    assert "A second run gave the same events." in result.output, "and what people are told changes none"
    assert "every turn is in the ledger" in result.output
    assert "accepted: mail" in result.output


def test_a_database_that_holds_something_is_left_alone(server: RealServer, redis: StoreClient) -> None:
    redis.set("mine", "1")
    result = CliRunner().invoke(main, ["--matches", "1", "--redis", server.url])
    assert result.exit_code == 1
    assert "not empty" in result.output
    assert redis.keys("*") == [b"mine"]
