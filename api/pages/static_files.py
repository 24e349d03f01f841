"""The styles, scripts and pictures of the pages, at addresses that change whenever one of them does.

Scripts import each other by relative addresses, so that all of them are of the version that the page names. A browser
keeps them and does not ask for them again.
"""

import mimetypes
import re
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from flask import Response, abort

from api.http.compression import COMPRESSIBLE, accepted_coding, compressed
from api.pages.layout import blueprint

STATIC = Path(__file__).with_name("static")

KEPT = "public, max-age=31536000, immutable"
NOT_KEPT = "no-cache"


def version_of(directory: Path) -> str:
    """Return a short digest of the names and contents of all files in ``directory``."""
    digest = sha256()
    for path in sorted(directory.iterdir()):
        digest.update(f"{path.name}\n{path.stat().st_size}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def trim(filename: str, content: bytes) -> bytes:
    """Return what a browser needs of a file: scripts and style sheets without indentation and lines of comment.

    No text in them goes on over several lines.
    """
    if filename.endswith(".css"):
        content = re.sub(rb"/\*.*?\*/", b"", content, flags=re.DOTALL)
    elif not filename.endswith(".js"):
        return content
    lines = (line.strip() for line in content.splitlines())
    return b"\n".join(line for line in lines if line and not line.startswith(b"//"))


_IMPORT = re.compile(rb'^import .*? from "\./([^"]+)";$', re.MULTILINE)

VERSION = version_of(STATIC)
_CONTENTS = {path.name: trim(path.name, path.read_bytes()) for path in STATIC.iterdir()}


@blueprint.app_template_global()
@cache
def modules_of(script: str) -> tuple[str, ...]:
    """Return the modules that a script imports, and those that these import: a page names them all at once."""
    found: dict[str, None] = {}
    left = [script]
    while left:
        for name in _IMPORT.findall(_CONTENTS[left.pop()]):
            module = name.decode()
            if module not in found:
                found[module] = None
                left.append(module)
    return tuple(sorted(found))


@blueprint.get("/static/<version>/<filename>", endpoint="static")
def static_file(version: str, filename: str) -> Response:
    """Return a file of the pages.

    A page of another version, as there are while an installation is updated, gets the file as it is here, and keeps it
    no longer than the page.
    """
    if filename not in _CONTENTS:
        abort(404)
    media_type = mimetypes.guess_type(filename)[0] or "application/octet-stream"
    coding = accepted_coding() if media_type in COMPRESSIBLE else None
    response = Response(_encoded(filename, coding), content_type=media_type)  # pages say that all is UTF-8
    response.headers["Cache-Control"] = KEPT if version == VERSION else NOT_KEPT
    if coding is not None:
        response.headers["Content-Encoding"] = coding
    return response


@cache
def _encoded(filename: str, coding: str | None) -> bytes:
    """Return a file of the pages in a content coding (None: as it is), which takes work the first time only."""
    content = _CONTENTS[filename]
    return content if coding is None else compressed(content, coding, thoroughly=True)


@blueprint.url_defaults
def _name_version(endpoint: str, values: dict[str, Any]) -> None:
    if endpoint == "web.static":
        values.setdefault("version", VERSION)
