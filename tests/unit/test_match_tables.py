"""The tables of commands and events leave none out."""

from typing import get_args

from domain.match import commands, decide, events, evolve, reconstruction


def test_every_command_is_decided() -> None:
    assert decide._DECISIONS.keys() == set(get_args(commands.PlainCommand))


def test_every_event_evolves_the_match() -> None:
    assert evolve._EVOLUTIONS.keys() == set(get_args(events.Event))


def test_every_event_follows_from_a_command_or_from_another_event() -> None:
    behind = [*reconstruction._COMMANDS, *reconstruction.FOLLOWING]
    assert len(behind) == len(set(behind))
    assert set(behind) == set(get_args(events.Event))
