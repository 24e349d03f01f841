"""The pages besides the board: accounts, new matches, lists, errors."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import ViewportSize, expect

from domain.games import GAMES
from tests.e2e.visitors import DESK, OVERFLOW, PHONE, Visitor
from tests.support.callers import app_on
from tests.support.eventually import eventually


def test_a_guest_plays_an_opponent_that_answers_automatically(visit: Callable[..., Visitor]) -> None:
    guest = visit()
    page = guest.page
    page.goto("/")
    page.get_by_role("button", name="Play as a guest").click()
    expect(page.get_by_role("heading", name="New match")).to_be_visible()
    page.wait_for_load_state()
    expect(page.get_by_label("Rated")).to_be_disabled()
    page.get_by_label("Level of Black").locator("visible=true").select_option("1")
    page.get_by_role("button", name="Begin").click()
    expect(page.locator("#standing")).to_contain_text("Your move: you play White")
    guest.submit("c3", "d4")
    expect(page.locator("#shown")).to_have_text("2 / 2")
    expect(page.locator("#standing")).to_contain_text("Your move")
    page.goto("/matches")
    expect(page.get_by_role("link", name="Computer, level 1")).to_be_visible()
    expect(page.locator("section", has_text="Waiting for you")).to_contain_text("Your move")


@pytest.mark.thorough
def test_signing_up_out_and_in_leads_back_to_the_previous_page(visit: Callable[..., Visitor]) -> None:
    person = visit()
    page = person.page
    page.goto("/matches/new")
    page.wait_for_url(re.compile("/sign-in"))
    page.locator("main").get_by_role("link", name="Sign up").click()
    page.wait_for_url(re.compile("/sign-up"))
    page.get_by_label("Name").fill("x")
    page.get_by_label("Password").fill("a tower of words")
    page.locator("main").get_by_role("button", name="Sign up").click()
    expect(page.locator("#name-error")).to_contain_text("3 to 24")
    expect(page.get_by_label("Name")).to_be_focused()
    name = f"Visitor_{person.page.evaluate('crypto.getRandomValues(new Uint32Array(1))[0]')}"
    page.get_by_label("Name").fill(name)
    page.locator("main").get_by_role("button", name="Sign up").click()
    expect(page.get_by_role("heading", name="New match")).to_be_visible()
    page.wait_for_load_state()
    page.locator("#menu summary").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("link", name="Sign in")).to_be_visible()
    page.goto("/sign-in")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill("not the password")
    page.locator("main").get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_label("Password").fill("a tower of words")
    page.locator("main").get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="My matches")).to_be_visible()


def test_a_guest_signs_up_and_continues_the_match_in_the_time_zone_of_the_browser(
    visit: Callable[..., Visitor],
) -> None:
    guest = visit(timezone_id="Asia/Tokyo")
    page = guest.page
    page.goto("/")
    page.get_by_role("button", name="Play as a guest").click()
    expect(page.get_by_role("heading", name="New match")).to_be_visible()
    assert guest.call("GET", "/me/calendar")["time_zone"] == "Asia/Tokyo"
    match_id = guest.create("bashni", "start", [{"kind": "me"}, {"kind": "open"}])
    page.goto(f"/sign-up?next=/matches/{match_id}")
    expect(page.locator("main")).to_contain_text("You keep everything when you sign up")
    expect(page.locator("[name='time_zone']")).to_have_value("Asia/Tokyo")
    name = f"greta-{match_id[-8:]}"
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill("a tower of words")
    page.locator("main").get_by_role("button", name="Sign up").click()
    expect(page.locator("#seats")).to_contain_text(name)
    expect(page.locator("header").get_by_role("link", name=name)).to_be_visible()


def test_signing_in_never_leads_to_another_site(visit: Callable[..., Visitor]) -> None:
    person = visit().sign_up()
    person.page.goto("/sign-in?next=//example.org/")
    expect(person.page).to_have_url(re.compile(r"/matches$"))


def wait_for_list(visitor: Visitor, match_id: str) -> None:
    """Wait until the match is in the list of open matches."""

    def is_listed() -> bool:
        return match_id in {match["id"] for match in visitor.call("GET", "/matches?view=open")["items"]}

    eventually(is_listed, "the open match in the list")


@pytest.mark.parametrize(("window", "has_touch"), [(PHONE, True), (DESK, False)])
def test_a_free_seat_is_taken_in_the_lobby_but_a_rated_one_not_by_a_guest(
    visit: Callable[..., Visitor], window: ViewportSize, has_touch: bool
) -> None:
    host, guest = visit().sign_up(), visit(viewport=window, has_touch=has_touch, color_scheme="dark").be_guest()
    rated = host.create("towers", "two-player", [{"kind": "me"}, {"kind": "open"}], rated=True)
    match_id = host.create("towers", "two-player", [{"kind": "open"}, {"kind": "me"}])
    wait_for_list(guest, match_id)
    host.open(match_id)
    expect(host.page.locator("#standing")).to_contain_text("Waiting for someone to play White")
    page = guest.page
    page.goto("/lobby?game=towers")
    row = page.locator("li", has=page.locator(f"a[href='/matches/{match_id}']"))
    expect(row).to_contain_text("10 days, 1 day more for every move")
    expect(row.locator(".seat-name")).to_have_text("White")
    rated_row = page.locator("li", has=page.locator(f"a[href='/matches/{rated}']"))
    expect(rated_row.get_by_role("link", name="Rated: sign up")).to_be_visible()
    expect(rated_row.get_by_role("button")).to_have_count(0)
    assert page.evaluate(OVERFLOW) <= 0
    row.get_by_role("button", name="Join as White").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/matches/*")
    expect(page.locator("#standing")).to_contain_text("Your move: you play White")
    expect(host.page.locator("#standing")).to_contain_text(f"Waiting for {guest.name} (White)")
    guest.open(rated)
    expect(page.get_by_role("button", name="Join as")).to_have_count(0)
    expect(page.get_by_role("link", name="Sign up to join this rated match")).to_be_visible()


@pytest.mark.parametrize(("window", "has_touch"), [(PHONE, True), (DESK, False)])
def test_the_page_of_a_game_begins_with_what_it_is_like_and_leads_to_play(
    visit: Callable[..., Visitor], window: ViewportSize, has_touch: bool
) -> None:
    host, newcomer = visit().be_guest(), visit(viewport=window, has_touch=has_touch)
    match_id = host.create(
        "fourplay", "standard", [{"kind": "open"}, {"kind": "me"}, {"kind": "open"}, {"kind": "open"}]
    )
    wait_for_list(newcomer, match_id)
    page = newcomer.page
    page.goto("/games/fourplay")
    expect(page.locator(".in-short dd").first).to_have_text(GAMES["fourplay"].goal)
    for words in ("Difficulty", "Duration", "Seats"):
        expect(page.locator(".in-short")).to_contain_text(words)
    expect(page.get_by_role("link", name="First steps")).to_be_visible()
    page.get_by_text("Open seats").scroll_into_view_if_needed()
    row = page.locator("li", has=page.locator(f"a[href='/matches/{match_id}']"))
    expect(row.locator(".seat-name")).to_have_text(["Red", "Yellow", "Green"])
    assert page.evaluate(OVERFLOW) <= 0
    assert page.evaluate("document.body.innerText.indexOf('Setups') > document.body.innerText.indexOf('Open seats')")
    page.get_by_role("button", name="Play as a guest").press("Enter")
    page.wait_for_url("**/matches/new?game=fourplay")
    expect(page.get_by_role("radio", name=re.compile("^Fourplay"))).to_be_checked()


def test_an_invitation_to_a_private_match_is_accepted_and_strangers_see_nothing(visit: Callable[..., Visitor]) -> None:
    host, invited, stranger = visit().be_guest(), visit().be_guest(), visit().be_guest()
    page = host.page
    page.goto(f"/matches/new?game=bashni&invite={invited.name}")
    page.get_by_label(re.compile("Private")).check()
    page.get_by_role("radio", name=re.compile("^Ruleset 2")).check()
    page.get_by_role("button", name="Begin").click()
    expect(page.locator(".match > header")).to_contain_text(re.compile("private.*ruleset 2"))
    match_id = page.url.rsplit("/", 1)[1]
    invited.page.goto("/matches")
    invited.page.get_by_role("link", name=host.name).click()
    invited.page.wait_for_url("**/matches/*")
    invited.page.get_by_role("button", name="Accept the invitation").click()
    expect(invited.page.locator("#standing")).to_contain_text(f"Waiting for {host.name}")
    stranger.page.goto(f"/matches/{match_id}")
    expect(stranger.page.get_by_role("heading", name="There is no such match")).to_be_visible()


@pytest.mark.thorough
def test_an_unknown_name_is_reported_at_the_seat(visit: Callable[..., Visitor]) -> None:
    page = visit().be_guest().page
    page.goto("/matches/new?invite=nobody-at-all")
    page.get_by_role("button", name="Begin").click()
    expect(page.locator("[data-seat='1']").locator("visible=true").locator(".error")).to_contain_text(
        "nobody has this name", ignore_case=True
    )
    expect(page.get_by_label("Name of the player for Black").locator("visible=true")).to_have_attribute(
        "aria-invalid", "true"
    )


@pytest.mark.parametrize(("window", "has_touch"), [(PHONE, True), (DESK, False)])
def test_a_match_can_be_begun_without_scrolling_and_the_form_follows_the_choices(
    visit: Callable[..., Visitor], window: ViewportSize, has_touch: bool
) -> None:
    page = visit(viewport=window, has_touch=has_touch, color_scheme="dark").sign_up().page
    page.goto("/matches/new")
    begin, rated = page.get_by_role("button", name="Begin"), page.get_by_label("Rated")
    expect(begin).to_be_in_viewport(ratio=1)
    expect(rated).not_to_be_checked()  # one of the first matches, against the computer
    page.get_by_label("Who plays Black").locator("visible=true").select_option("open")
    expect(rated).to_be_checked()
    page.get_by_role("radio", name=re.compile("^Fourplay")).focus()
    page.keyboard.press("Space")
    expect(page.get_by_role("radio", name="Draft: everybody buys an army")).to_be_visible()
    expect(rated).not_to_be_checked()
    rated.check()
    page.get_by_label("Who plays Blue").locator("visible=true").select_option("me")
    expect(rated).to_be_checked()
    assert page.evaluate(OVERFLOW) <= 0
    expect(begin).to_be_in_viewport(ratio=1)
    rated.focus()
    assert page.evaluate("document.activeElement.getBoundingClientRect().bottom") <= begin.evaluate(
        "button => button.parentElement.getBoundingClientRect().top"
    )


def test_a_match_of_four_is_created_with_the_seats_of_its_setup(visit: Callable[..., Visitor]) -> None:
    person = visit().sign_up()
    page = person.page
    page.goto("/matches/new")
    expect(page.get_by_role("radio", name=re.compile("^Ruleset"))).to_have_count(2)
    page.get_by_role("radio", name=re.compile("^Towers")).check()
    page.get_by_role("radio", name="Four players", exact=True).check()
    expect(page.get_by_role("radio", name=re.compile("^Ruleset"))).to_have_count(0)
    page.get_by_label("Who plays Blue").locator("visible=true").select_option("open")
    page.get_by_label(re.compile("Random order")).check()
    page.get_by_role("button", name="Begin").click()
    expect(page.locator("#seats > li")).to_have_count(4)
    expect(page.locator("#seats")).to_contain_text("Open seat")
    match = person.call("GET", f"/matches/{re.split('[/?]', page.url)[4]}")
    assert sorted(seat["state"] for seat in match["seats"]) == ["open", "taken", "taken", "taken"]


def test_the_page_of_a_finished_rated_match_shows_the_rating_changes(visit: Callable[..., Visitor]) -> None:
    white, black = visit().sign_up(), visit().sign_up()
    seats = [{"kind": "me"}, {"kind": "player", "name": black.name}]
    match_id = white.create("bashni", "start", seats, rated=True)
    black.call("POST", f"/matches/{match_id}/joins", {})
    white.move(match_id, "c3-d4")
    black.move(match_id, "b6-a5")
    white.open(match_id)
    black.call("POST", f"/matches/{match_id}/resignation", {})
    expect(white.page.locator(".result")).to_contain_text("White has won")
    expect(white.page.locator(".result")).to_contain_text(re.compile(r"now \d+\?"))
    white.page.goto(f"/players/{black.name}")
    expect(white.page.locator("main")).to_contain_text(f"You and {black.name}")
    expect(white.page.get_by_role("row", name=re.compile("^Bashni 1 0 0"))).to_be_visible()
    white.page.locator("main").get_by_role("link", name="Bashni", exact=True).first.click()
    expect(white.page.get_by_role("link", name=black.name).last).to_be_visible()
    expect(white.page.get_by_role("row", name=re.compile(f"^{white.name} .* 0.50 0 1"))).to_be_visible()
    white.page.goto("/leaderboards?pool=bashni-2")
    expect(white.page.locator("main")).to_contain_text("Nobody has three rated matches yet")


@pytest.mark.thorough
def test_a_rated_match_that_was_too_short_says_that_it_does_not_count(visit: Callable[..., Visitor]) -> None:
    white, black = visit().sign_up(), visit().sign_up()
    seats = [{"kind": "me"}, {"kind": "player", "name": black.name}]
    match_id = white.create("bashni", "start", seats, rated=True)
    black.call("POST", f"/matches/{match_id}/joins", {})
    black.call("POST", f"/matches/{match_id}/resignation", {})
    white.open(match_id)
    expect(white.page.locator(".result")).to_contain_text("too short to count for the ratings")


@pytest.mark.parametrize(
    "path", ["/matches/nothing-here", "/nothing/at/all", "/players/nobody-of-this-name", "/lobby?cursor=broken"]
)
def test_a_missing_page_is_answered_by_a_friendly_page(visit: Callable[..., Visitor], path: str) -> None:
    person = visit()
    answer = person.page.goto(path)
    assert answer is not None
    assert answer.status == 404
    expect(person.page.get_by_role("link", name="To the home page")).to_be_visible()


def test_while_the_store_is_unreachable_a_page_says_so_and_when_to_retry() -> None:
    visitor = app_on("redis://127.0.0.1:1/0").test_client()
    answer = visitor.get("/lobby", headers={"Accept": "text/html"})
    assert answer.status_code == 503
    assert answer.headers["Retry-After"]
    assert "The store cannot be reached" in answer.text
    assert "Try again" in answer.text


@pytest.mark.thorough
def test_erasing_an_account_explains_what_happens_to_the_files_of_the_store(visit: Callable[..., Visitor]) -> None:
    visitor = visit().sign_up()
    page = visitor.page
    page.goto("/settings")
    page.get_by_text("Erase your account").click()
    page.get_by_label("Your name, to confirm").fill(visitor.name)
    page.get_by_role("button", name="Erase my account").click()
    expect(page.get_by_text("Your data is erased. The files of the store")).to_be_visible()
    page.get_by_role("link", name="Continue").click()
    expect(page.get_by_role("link", name="Sign in").first).to_be_visible()


@pytest.mark.thorough
def test_an_account_is_made_a_bot_in_its_settings_and_chosen_for_a_new_match(visit: Callable[..., Visitor]) -> None:
    owner, person = visit().sign_up(), visit().sign_up()
    page = owner.page
    page.goto("/settings")
    section = page.locator("#bot")
    section.locator("summary").click()
    section.get_by_role("button", name="Make it a bot").wait_for()
    section.get_by_label("Matches at once").fill("-1")
    section.get_by_role("button", name="Make it a bot").click()
    expect(section).to_contain_text("Must be 0 to 1000")
    section.get_by_label("Games").select_option(["bashni", "towers/two-player"])
    section.get_by_label("Matches at once").fill("3")
    section.get_by_label("Seconds needed for every move").fill("3600")
    section.get_by_label("Accept invitations at once").check()
    section.get_by_role("button", name="Make it a bot").click()
    expect(section.get_by_role("button", name="Save")).to_be_visible()
    bot = owner.call("GET", "/me/bot")
    declared = bot["capacity"]
    assert (declared["games"], declared["concurrent"]) == (["bashni", "towers/two-player"], 3)
    assert (declared["min_move_time"], declared["max_move_time"]) == (3600, None)
    page = person.page
    page.goto(f"/players/{bot['player']['name']}")
    expect(page.locator("main")).to_contain_text("It plays 3 matches at once, and can begin 3 now.")
    page.get_by_role("link", name="Invite").click()
    page.get_by_role("button", name="Begin").click()
    expect(page.locator("#seats")).to_contain_text("bot")
    expect(page.locator("#standing")).to_contain_text("Your move: you play White")
