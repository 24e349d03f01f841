"""The two apps that the submission benchmark serves: the product, and a minimal Flask app."""

from flask import Flask, Response, jsonify, request

from api.access.limits import Limits
from api.app import create_app
from events.runtime.settings import Settings

UNLIMITED = "1000000000/minute"


def product() -> Flask:
    """Return the product with a limit on writes that is counted as usual but never reached."""
    return create_app(Settings.from_environment(), rates=Limits(*[UNLIMITED] * len(Limits._fields)))


def bare() -> Flask:
    """Return an app that reads a JSON body and answers with one of the size of the answer to a move."""
    app = Flask("bare")

    @app.post("/api/v1/matches/<match_id>/moves")
    def moves(match_id: str) -> tuple[Response, int]:
        content = {"seat": 0, "ply": 1, **request.get_json()}
        envelope = {"id": "0" * 64, "version": 3, "type": "move-submitted", "at": "2026-01-01T00:00:00.000Z"}
        return jsonify(
            {"match": match_id, "version": 3, "events": [{**envelope, "actor": match_id, "data": content}]}
        ), 201

    return app
