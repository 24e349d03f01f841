"""An app served over real HTTP by the test process itself."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

from flask import Flask
from werkzeug.serving import WSGIRequestHandler, make_server


class _SilentHandler(WSGIRequestHandler):
    def log(self, type: str, message: str, *args: object) -> None:
        """Write nothing to the output of the tests."""


@contextmanager
def served(app: Flask) -> Iterator[str]:
    """Serve ``app`` on a free port while the block runs; yield its address."""
    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=_SilentHandler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
