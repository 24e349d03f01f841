"""The style sheets, scripts and pictures of the pages, at addresses that contain their common version.

Scripts import each other by relative addresses, so that all of them have the version that the page names.
"""

import json
import mimetypes
import re
from functools import cache
from hashlib import sha256
from pathlib import Path

from flask import Response, abort

from api.http.compression import COMPRESSIBLE, accepted_coding, compressed
from api.pages.layout import blueprint
from api.services import services
from domain.match.event_types import TYPES

STATIC = Path(__file__).with_name("static")

IMMUTABLE = "max-age=31536000, immutable"
REVALIDATED = "no-cache"
DAILY = "public, max-age=86400"

NOT_COLLECTED = ("/api/", "/feeds/", "/matches", "/notices", "/players/", "/settings", "/sign-in", "/sign-up")
"""The beginnings of the addresses that search engines are asked to leave alone."""


def files_of(directory: Path) -> dict[str, Path]:
    """Return the files in ``directory`` and in its folders, by their paths from there."""
    return {str(path.relative_to(directory)): path for path in sorted(directory.rglob("*")) if path.is_file()}


def version_of(directory: Path) -> str:
    """Return a short digest of the names and contents of all files in ``directory`` and in its folders."""
    digest = sha256()
    for name, path in files_of(directory).items():
        digest.update(f"{name}\n{path.stat().st_size}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def trim(filename: str, content: bytes) -> bytes:
    """Return a file as it is sent: scripts and style sheets without indentation and comment lines.

    They contain no multi-line strings.
    """
    if filename.endswith(".css"):
        content = re.sub(rb"/\*.*?\*/", b"", content, flags=re.DOTALL)
    elif not filename.endswith(".js"):
        return content
    lines = (line.strip() for line in content.splitlines())
    return b"\n".join(line for line in lines if line and not line.startswith(b"//"))


_IMPORT = re.compile(rb'^import [^;]*? from "\./([^"]+)";$', re.MULTILINE)

_EVENT_TYPES = " ".join(TYPES).encode()
VERSION = sha256(version_of(STATIC).encode() + _EVENT_TYPES).hexdigest()[:12]
CONTENTS = {name: trim(name, path.read_bytes()) for name, path in files_of(STATIC).items()}
"""The files as they are sent, by their paths."""
CONTENTS["live.js"] = CONTENTS["live.js"].replace(b"the types of events", _EVENT_TYPES)


@blueprint.app_template_global()
@cache
def static_url(filename: str) -> str:
    """Return the address of a file of the pages, with the present version."""
    return f"/static/{VERSION}/{filename}"


@blueprint.app_template_global()
@cache
def modules_of(script: str) -> tuple[str, ...]:
    """Return all modules that a script imports, directly or indirectly, so that a page can preload them."""
    modules: set[str] = set()
    pending = [script]
    while pending:
        importing = pending.pop()
        folder = importing[: importing.rfind("/") + 1]
        imported = {folder + name.decode() for name in _IMPORT.findall(CONTENTS[importing])}
        pending += imported - modules
        modules |= imported
    return tuple(sorted(modules))


@blueprint.get("/static/<version>/<path:filename>", endpoint="static")
def static_file(version: str, filename: str) -> Response:
    """Return a file of the pages.

    During an update a page may name another version: it gets the present file, without permanent caching.
    """
    if filename not in CONTENTS:
        abort(404)
    media_type = mimetypes.guess_type(filename)[0] or "application/octet-stream"
    coding = accepted_coding() if media_type in COMPRESSIBLE else None
    response = Response(_encoded(filename, coding), content_type=media_type)  # pages declare UTF-8
    response.headers["Cache-Control"] = IMMUTABLE if version == VERSION else REVALIDATED
    if coding is not None:
        response.headers["Content-Encoding"] = coding
    return response


@blueprint.get("/service-worker.js")
def service_worker() -> Response:
    """Return the service worker, whose scope are all pages, or the one that removes it where it is switched off.

    Browsers look for a new one before they use it.
    """
    served = "service-worker.js" if services().settings.page_worker else "worker-off.js"
    response = Response(CONTENTS[served], content_type="text/javascript")
    response.headers["Cache-Control"] = REVALIDATED
    return response


@blueprint.get("/favicon.ico")
def favicon() -> Response:
    """Return the icon for programs that ask for it at this address; pages name a drawing."""
    response = Response(CONTENTS["favicon.ico"], content_type="image/x-icon")
    response.headers["Cache-Control"] = DAILY
    return response


@blueprint.get("/robots.txt")
def robots() -> Response:
    """Return which pages programs may collect (RFC 9309): those that present the games, not matches and people."""
    lines = ("User-agent: *", *(f"Disallow: {path}" for path in NOT_COLLECTED), "")
    response = Response("\n".join(lines), content_type="text/plain")
    response.headers["Cache-Control"] = DAILY
    return response


@blueprint.get("/manifest.webmanifest")
def manifest() -> Response:
    """Return the manifest that makes an application of pages on a home screen: Apple's phones need it for notices."""
    icon = {"src": static_url("rook.svg"), "sizes": "any", "type": "image/svg+xml"}
    described = {"name": "Rookery", "start_url": "/", "scope": "/", "display": "standalone", "icons": [icon]}
    response = Response(json.dumps(described), content_type="application/manifest+json")
    response.headers["Cache-Control"] = REVALIDATED
    return response


@cache
def _encoded(filename: str, coding: str | None) -> bytes:
    """Return a file of the pages in a content coding (None: uncompressed), computed once."""
    content = CONTENTS[filename]
    return content if coding is None else compressed(content, coding, thoroughly=True)
