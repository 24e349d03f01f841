"""The two apps that the submission of moves is measured on: the product's, and the least that Flask can do."""

from flask import Flask, Response, jsonify, request

from api.access.limits import Limits
from api.app import create_app
from events.runtime.settings import Settings

WITHOUT_END = "1000000000/minute"


def product() -> Flask:
    """Return the product's app, whose limit of writes is counted as ever but never reached."""
    return create_app(Settings.from_environment(), rates=Limits(*[WITHOUT_END] * len(Limits._fields)))


def bare() -> Flask:
    """Return an app that reads a JSON body and answers with one of the size that a submitted move is answered with."""
    app = Flask("bare")

    @app.post("/api/v1/matches/<match>/moves")
    def moves(match: str) -> tuple[Response, int]:
        content = {"seat": 0, "ply": 1, **request.get_json()}
        envelope = {"id": "0" * 64, "version": 3, "type": "move-submitted", "at": "2026-01-01T00:00:00.000Z"}
        return jsonify({"match": match, "version": 3, "events": [{**envelope, "actor": match, "data": content}]}), 201

    return app
