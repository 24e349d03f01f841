"""The HTTP side: resources and schemas, authentication, live stream, web pages."""

from api.app import create_app

__all__ = ["create_app"]
