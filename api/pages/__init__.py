"""The pages: server-rendered, with small scripts that act through the API."""

from api.pages import (
    api_page,
    board_steps,
    case_page,
    feeds,
    home,
    learning,
    list_pages,
    match_page,
    move_reasons,
    new_match,
    notice_settings,
    people_page,
    pictures,
    player_page,
    record_page,
    rules,
    seek_pages,
    settings_page,
    shared_pictures,
    static_files,
    tournament_feeds,
    tournament_pages,
    verify_page,
)
from api.pages.layout import blueprint

__all__ = ["blueprint"]
