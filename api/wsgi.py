"""The API and the pages under a WSGI server: ``gunicorn api.wsgi:app``, settings from the environment."""

from flask import Flask

from api.app import create_app
from api.proxies import behind_proxies
from events.logs import configure
from events.settings import Settings


def _app() -> Flask:
    configure()
    return behind_proxies(create_app(Settings.from_environment()))


app = _app()
