"""Every command is decided and every event evolved: the tables of both leave none out."""

from typing import get_args

from domain.match import commands, decide, events, evolve


def test_every_command_is_decided() -> None:
    assert decide._DECISIONS.keys() == set(get_args(commands.PlainCommand))


def test_every_event_evolves_the_match() -> None:
    assert evolve._EVOLUTIONS.keys() == set(get_args(events.Event))
