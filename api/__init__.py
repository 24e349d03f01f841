"""The HTTP side: resources, authentication, live stream, web pages. Apps are made by ``api.app`` and ``api.wsgi``."""
