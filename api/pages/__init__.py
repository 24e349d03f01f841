"""The pages: server-rendered, with small scripts that act through the API."""

from api.pages import (
    api_page,
    auth_pages,
    board_steps,
    case_page,
    home,
    list_pages,
    match_page,
    new_match,
    notice_settings,
    notices_page,
    pictures,
    player_page,
    record_page,
    rules,
    settings_page,
    shared_pictures,
    static_files,
)
from api.pages.layout import blueprint

__all__ = [
    "api_page",
    "auth_pages",
    "blueprint",
    "board_steps",
    "case_page",
    "home",
    "list_pages",
    "match_page",
    "new_match",
    "notice_settings",
    "notices_page",
    "pictures",
    "player_page",
    "record_page",
    "rules",
    "settings_page",
    "shared_pictures",
    "static_files",
]
