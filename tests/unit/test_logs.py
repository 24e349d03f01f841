"""Logs: a line that cannot be written does no harm, and the next one says that it is missing."""

import json

import pytest
import structlog

from events.runtime.logs import LOST, configure
from tests.support.full_disk import full_log

log = structlog.get_logger("test")


@pytest.fixture(autouse=True)
def nothing_lost() -> None:
    configure()
    LOST.take()


def test_a_full_disk_raises_nothing_and_the_next_line_counts_the_lost(capsys: pytest.CaptureFixture[str]) -> None:
    with full_log():
        log.info("nobody reads this")
        try:
            raise RuntimeError("out of order")
        except RuntimeError:
            log.exception("nor this")
    log.info("first")
    log.info("second")
    first, second = (json.loads(line) for line in capsys.readouterr().err.splitlines())
    assert (first["event"], first["lines_lost"]) == ("first", 2)
    assert "lines_lost" not in second


def test_a_field_that_cannot_be_shown_raises_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    class Unshowable:
        def __repr__(self) -> str:
            raise ValueError("no words for it")

    log.info("lost", field=Unshowable())
    log.info("told")
    (told,) = (json.loads(line) for line in capsys.readouterr().err.splitlines())
    assert told["lines_lost"] == 1
