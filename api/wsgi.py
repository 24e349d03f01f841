"""The API and the pages under a WSGI server: ``gunicorn api.wsgi:app``, settings from the environment."""

from flask import Flask

from api.access.proxies import behind_proxies
from api.app import create_app
from events.runtime.logs import configure
from events.runtime.settings import Settings


def _app() -> Flask:
    configure()
    settings = Settings.from_environment()
    return behind_proxies(create_app(settings), settings.trusted_proxies)


app = _app()
