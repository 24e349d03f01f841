"""The API and the pages under a WSGI server: ``gunicorn "api.wsgi:create_app()"``, settings from the environment."""

from flask import Flask

from api import app
from api.access.headers import behind_proxies
from api.pages import verify_page
from events.runtime.logs import configure
from events.runtime.settings import Settings


def create_app() -> Flask:
    """Return the app with the settings of the environment."""
    configure()
    verify_page.prepare()
    settings = Settings.from_environment()
    return behind_proxies(app.create_app(settings), settings.trusted_proxies)
