"""The composition root of the API: settings in, Flask app out."""

from flask import Flask

from api import health, metrics
from api.access import headers, limits, read_limits
from api.access.auth import refuse_other_sites, session_cookie
from api.access.limits import Limits, RateLimits
from api.http import compression, problems
from api.http.bodies import MAX_BODY_BYTES
from api.http.openapi import OpenApi
from api.pages import blueprint as pages
from api.representations.webhooks import SentWebhook, webhook_operations
from api.resources import BLUEPRINTS, log_tiles
from api.services import EXTENSION, Api, Services, refuse_wrong_clock
from events.runtime.settings import Settings


def create_app(settings: Settings) -> Flask:
    """Return the API and the pages as one app; nothing connects before the first request."""
    app = Api("api", static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = MAX_BODY_BYTES
    app.json.sort_keys = False  # type: ignore[attr-defined]
    services = Services(settings)
    app.extensions[EXTENSION] = services
    headers.register_ids(app)
    headers.register_hosts(app)
    compression.register(app)
    headers.register(app)
    health.register(app)
    metrics.register(app)
    limits.install(app, RateLimits(services.store.client, settings.prefix, Limits()))
    app.before_request(refuse_other_sites)
    app.before_request(refuse_wrong_clock)
    read_limits.register(app)
    problems.register(app)
    for blueprint in (*BLUEPRINTS, log_tiles.blueprint, pages):
        app.register_blueprint(blueprint)
    tags = {blueprint.name: title for blueprint, title in BLUEPRINTS.items()}
    OpenApi(app, tags, session_cookie(settings), SentWebhook, webhook_operations())
    return app
