"""The pages: server-rendered, with small scripts that act through the API."""

from api.pages import (
    api_page,
    case_page,
    entrance,
    lists,
    match_page,
    pictures,
    plies,
    record_page,
    rules,
    settings_page,
    shared_pictures,
    static_files,
)
from api.pages.frame import blueprint

__all__ = [
    "api_page",
    "blueprint",
    "case_page",
    "entrance",
    "lists",
    "match_page",
    "pictures",
    "plies",
    "record_page",
    "rules",
    "settings_page",
    "shared_pictures",
    "static_files",
]
