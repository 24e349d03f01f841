"""Logs and lines of commands that cannot be written do no harm; programs that tests miss are named."""

import json
import os

import pytest
import structlog

from deploy.cli.up import MAX_QUEUED_LINES, Printer
from events.runtime.logs import LOST, configure
from tests.support.full_disk import full_log
from tests.support.programs import find_program

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


def test_a_reader_that_has_gone_costs_lines_which_the_next_reader_is_told_of() -> None:
    (gone, unread), (reader, read) = os.pipe(), os.pipe()
    os.close(gone)
    printer = Printer()
    printer.print("nobody reads this", unread)
    printer.print("nor this", unread)
    printer.print("at last", read)
    printer.close()
    assert os.read(reader, 1000).decode() == "(2 lines could not be printed)\nat last\n"
    for descriptor in (unread, reader, read):
        os.close(descriptor)


def test_a_reader_that_has_stopped_does_not_block() -> None:
    reader, stuck = os.pipe()
    printer = Printer()
    for _ in range(2 * MAX_QUEUED_LINES):
        printer.print("x" * 999, stuck)  # more than the pipe holds
    os.close(reader)  # the printing thread gives the line up that it is at
    os.close(stuck)
    printer.close()


def test_a_missing_program_is_named_with_how_to_install_it() -> None:
    with pytest.raises(FileNotFoundError, match=r"no-such-program .* `make programs`.*`apt-get install its-package`"):
        find_program(["no-such-program"], "its-package", path="/usr/sbin")
