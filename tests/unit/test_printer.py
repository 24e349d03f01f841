"""What the command line says while it runs: it never holds up what runs."""

import os

from deploy.cli.up import MAX_QUEUED_LINES, Printer


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
