"""The resources of the API, one module each, with the schemas of what they read and answer beside them."""

from flask_smorest import Blueprint

from api.resources import commands, compositions, games, matches, people, players

BLUEPRINTS: tuple[Blueprint, ...] = (
    people.blueprint,
    games.blueprint,
    matches.blueprint,
    compositions.blueprint,
    commands.blueprint,
    players.blueprint,
)
