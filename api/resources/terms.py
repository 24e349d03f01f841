"""The terms of matches to choose from."""

from collections.abc import Sequence

from flask import Blueprint

from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import Answer
from api.representations.clocks import Terms, represent_terms
from domain.match.terms import PRESETS

blueprint = Blueprint("terms", __name__, url_prefix=PREFIX)


class Preset(Answer):
    title: str
    terms: Terms


class PresetList(Answer):
    items: Sequence[Preset]


@blueprint.get("/terms")
@endpoint(answer=PresetList)
def list_terms() -> PresetList:
    """List terms to choose from

    A new match takes one of these or any others, and the first when none are sent.
    """
    return PresetList(items=[Preset(title=title, terms=represent_terms(terms)) for title, terms in PRESETS.items()])
