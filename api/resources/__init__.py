"""The resources of the API, one module each, with the schemas of what they read and answer beside them."""

from flask_smorest import Blueprint

from api.resources import (
    blocks,
    calendars,
    cases,
    chat,
    commands,
    compositions,
    games,
    jobs,
    lines,
    matches,
    notes,
    people,
    personal,
    players,
    positions,
    proofs,
    rematches,
    reports,
    terms,
)

BLUEPRINTS: tuple[Blueprint, ...] = (
    people.blueprint,
    games.blueprint,
    terms.blueprint,
    matches.blueprint,
    compositions.blueprint,
    positions.blueprint,
    commands.blueprint,
    rematches.blueprint,
    lines.blueprint,
    notes.blueprint,
    chat.blueprint,
    blocks.blueprint,
    reports.blueprint,
    calendars.blueprint,
    cases.blueprint,
    personal.blueprint,
    players.blueprint,
    jobs.blueprint,
    proofs.blueprint,
    proofs.well_known,
)
