"""A server that hangs and goes on, and connections that break: late replies answer no other command."""

import signal
from functools import partial

import pytest

from events.runtime import connections
from events.runtime.connections import connect
from tests.support.pauses import check_lost_watch, check_messages, check_replies
from tests.support.server import RealServer
from tests.support.stepped_installation import SteppedInstallation


def test_late_replies_of_a_server_answer_nothing_else(server: RealServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "ANSWER_TIMEOUT_S", 1.0)
    client = connect(server.url)
    check_replies(client, partial(server.send, signal.SIGSTOP), partial(server.send, signal.SIGCONT))


def test_late_replies_of_a_broker_that_hung_answer_no_other_command(server: RealServer) -> None:
    settings = SteppedInstallation(server.url).settings
    check_messages(settings, partial(server.send, signal.SIGSTOP), partial(server.send, signal.SIGCONT))


def test_a_watch_that_a_broken_connection_takes_away_is_noticed(server: RealServer) -> None:
    admin = server.client()
    check_lost_watch(
        connect(server.url), connect(server.url), partial(admin.client_kill_filter, _type="normal", skipme=True)
    )
