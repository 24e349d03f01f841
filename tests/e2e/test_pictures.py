"""Pictures of matches in a real browser: standalone, and small ones in lists."""

from collections.abc import Callable

from tests.e2e.png import colours_in
from tests.e2e.visitors import Visitor
from tests.support.eventually import eventually

GROUND, DARK_GROUND, BLACK_FACE = (0xF7, 0xF2, 0xE7), (0x1A, 0x17, 0x14), (0x3A, 0x33, 0x2D)
LIGHT_SQUARE, DARK_SQUARE = (0xF0, 0xE4, 0xC9), (0xB9, 0x93, 0x66)
WINDOW = {"width": 320, "height": 568}


def test_a_standalone_picture_has_its_colours_and_lists_show_small_boards_on_a_phone(
    visit: Callable[..., Visitor], pair: tuple[Visitor, Visitor, str]
) -> None:
    white, black, match_id = pair
    white.move(match_id, "c3-d4")
    black.move(match_id, "b6-a5")
    page = visit(viewport=WINDOW).page

    page.goto(f"/matches/{match_id}/board.svg")
    seen = colours_in(page.screenshot(clip={"x": 0, "y": 0, "width": 320, "height": 240}))
    assert len(seen) > 50
    assert min(seen[GROUND], seen[BLACK_FACE]) > 1000
    page.emulate_media(color_scheme="dark")
    assert colours_in(page.screenshot(clip={"x": 0, "y": 0, "width": 320, "height": 100}))[DARK_GROUND] > 1000

    page.emulate_media(color_scheme="light")
    row = page.locator(".rows li", has=page.locator(f"a[href='/matches/{match_id}']"))
    eventually(
        lambda: page.goto("/lobby?view=recent") and "the last b6-a5" in "".join(row.all_text_contents()),
        "the last move in the lobby",
    )
    small = row.locator("img")
    small.scroll_into_view_if_needed()
    eventually(lambda: small.evaluate("picture => picture.complete && picture.naturalWidth > 0"), "the small board")
    seen = colours_in(small.screenshot())
    assert len(seen) > 50
    assert min(seen[LIGHT_SQUARE], seen[DARK_SQUARE]) > 500
    assert page.evaluate("document.documentElement.scrollWidth") == WINDOW["width"]
