"""Take the pictures of the pages that the documents show: ``python -m tests.e2e.screenshots [DIRECTORY]``.

The matches are seeded, so that the boards are the same every time.
"""

import random
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, ViewportSize

from deploy.local.installation import LocalInstallation
from domain.game import AnyGame
from domain.games import GAMES
from domain.scene import Scene
from domain.search import choose
from events.people.administration import ARBITER, Administration
from events.runtime.wall_clock import now_ms
from events.store.archive.store import make_store
from tests.e2e.png import shrunk
from tests.e2e.visitors import Visitor, chromium

DESKTOP = {"width": 1200, "height": 860}
PHONE: ViewportSize = {"width": 390, "height": 844}
WINDOWS = ((380, 800), (1280, 800), (1366, 768), (2560, 1440))
"""The windows in which the board of every game is shown, in pixels."""

LARGE = 2000
"""Wider windows are shown at half their size."""

LEVEL = 2
"""The level of the opponents that play the games of the pictures."""

DAY = 86_400
"""Seconds."""

MAX_PICTURE_BYTES = 200_000
"""The maximum size of a picture in the documents, in bytes."""


def at_random(game: AnyGame, position: Any, history: Sequence[Any], rng: random.Random) -> Any:
    return rng.choice(list(game.legal_moves(position)))


def with_thought(game: AnyGame, position: Any, history: Sequence[Any], rng: random.Random) -> Any:
    return choose(game, position, history, LEVEL, rng.getrandbits(32)).move


def line(
    game_id: str,
    setup: str,
    plies: range,
    fit: Callable[[Scene], float],
    mover: Callable[[AnyGame, Any, Sequence[Any], random.Random], Any] = at_random,
    seeds: int = 250,
) -> list[str]:
    """Return the moves of the seeded game that reaches the best position to show within ``plies``."""
    game = GAMES[game_id]
    best: tuple[float, list[str]] = (float("-inf"), [])
    for seed in range(seeds):
        rng = random.Random(seed)
        positions, moves = [game.initial(setup)], list[str]()
        while len(moves) < plies.stop and any(game.legal_moves(positions[-1])):
            move = mover(game, positions[-1], positions[:-1], rng)
            moves.append(game.format_move(positions[-1], move))
            positions.append(game.play(positions[-1], move))
            position = positions[-1]
            if len(moves) in plies and game.to_move(position) == 0 and any(game.legal_moves(position)):
                best = max(best, (fit(game.scene(position)), list(moves)))
    return best[1]


def tall_columns(scene: Scene) -> float:
    """Return how well a position shows columns: some tall ones, some kings, and both sides with something to move."""
    heights = sorted((len(pieces) for pieces in scene.columns.values()), reverse=True)
    tops = [pieces[-1] for pieces in scene.columns.values()]
    seats = [sum(top.seat == seat for top in tops) for seat in {top.seat for top in tops if top.seat >= 0}]
    kings = sum(top.kind == "king" for top in tops)
    return sum(min(height, 5) for height in heights[:4]) + 2 * min(kings, 2) + 0.5 * min(seats) - 2 * (heights[0] > 7)


def held_castles(scene: Scene) -> float:
    """Return how well a position shows towers: castles that are held, mixed towers, all seats alive."""
    held = sum(pieces[0].kind == "castle" and len(pieces) > 1 for pieces in scene.columns.values())
    mixed = sum(len({piece.seat for piece in pieces}) > 2 for pieces in scene.columns.values())
    tall = sum(len(pieces) >= 4 for pieces in scene.columns.values())
    return 3 * min(held, 2) + mixed + 0.5 * tall


def mixed_levels(scene: Scene) -> float:
    """Return how well a position shows levels: pieces of both seats on those in the middle, some captured already."""
    middle = [pieces[0] for square, pieces in scene.columns.items() if square[-1] in "3456"]
    seats = [sum(piece.seat == seat for piece in middle) for seat in (0, 1)]
    return min(seats) + len({piece.title for piece in middle}) - 0.1 * len(scene.columns)


def frozen_and_attached(scene: Scene) -> float:
    """Return how well a position shows Fourplay: one army frozen, Little Dogs attached, pieces away from home."""
    frozen = {piece.seat for pieces in scene.columns.values() for piece in pieces if piece.frozen}
    return 20 * (len(frozen) == 1) + 4 * min(len(scene.links), 3) - 0.2 * len(scene.columns)


def held_towers(scene: Scene) -> float:
    """Return how well a position shows Four Towers: an own wizard or dragon on a tower, other pieces on the others."""
    held = {note.title for note in scene.notes if note.title.endswith("on a tower")}
    composed = any(note.text.startswith("White may") for note in scene.notes)
    return 10 * composed + 3 * len(held) + len({note.title for note in scene.notes}) + 0.05 * len(scene.columns)


def replies(moves: Sequence[str]) -> tuple[list[dict[str, Any]], str]:
    """Return lines for two moves that Black may play in a game of Bashni after ``moves``, and a move they leave out."""
    game = GAMES["bashni"]
    position = game.initial("start")
    for text in moves:
        position = game.play(position, game.parse_move(position, text))
    *_, left_out = likely = game.order(position, game.legal_moves(position))
    lines = [{"move": game.format_move(position, move), "next": answer(game, position, move, 3)} for move in likely[:2]]
    return lines, game.format_move(position, left_out)


def answer(game: AnyGame, position: Any, move: Any, depth: int) -> list[dict[str, Any]]:
    """Return a line of ``depth`` moves after ``move``, each the opponent's choice."""
    if not depth:
        return []
    after = game.play(position, move)
    best = with_thought(game, after, (), random.Random(depth))
    return [{"move": game.format_move(after, best), "next": answer(game, after, best, depth - 1)}]


def play(match_id: str, seated: Sequence[Visitor], game_id: str, setup: str, moves: Sequence[str]) -> None:
    game = GAMES[game_id]
    position = game.initial(setup)
    for text in moves:
        seated[game.to_move(position)].move(match_id, text)
        position = game.play(position, game.parse_move(position, text))


def match_of(seated: Sequence[Visitor], game_id: str, setup: str, moves: Sequence[str], **terms: Any) -> str:
    """Return a match between ``seated`` after ``moves``."""
    host = seated[-1]
    seats: list[dict[str, Any]] = [{"kind": "player", "name": one.name} for one in seated[:-1]]
    match_id = host.create(game_id, setup, [*seats, {"kind": "me"}], **terms)
    for guest in seated[:-1]:
        guest.call("POST", f"/matches/{match_id}/joins", {})
    play(match_id, seated, game_id, setup, moves)
    return match_id


def scenes(
    browser: Browser, installation: LocalInstallation, options: Mapping[str, Any]
) -> tuple[list[Visitor], dict[str, str]]:
    """Return Anna and her friends, and their matches by name."""
    people = [Visitor(browser, installation, **options).sign_up(name) for name in ("Anna", "Boris", "Clara", "Dmitri")]
    anna, boris, clara, _ = people
    opening = line("bashni", "start", range(12, 13), tall_columns)
    for _ in range(2):
        finished = match_of([anna, boris], "bashni", "start", opening, rated=True)
        boris.call("POST", f"/matches/{finished}/resignation", {})
    bashni = match_of(
        [anna, boris], "bashni", "start", line("bashni", "start", range(30, 52), tall_columns), rated=True
    )
    towers = match_of(people, "towers", "four-player", line("towers", "four-player", range(90, 150), held_castles))
    tower_game = match_of(
        [anna, boris],
        "tower-game",
        "original",
        line("tower-game", "original", range(60, 90), mixed_levels, with_thought, 3),
    )
    fourplay = match_of(
        people,
        "fourplay",
        "standard",
        line("fourplay", "standard", range(40, 90), frozen_and_attached, with_thought, 8),
    )
    four_towers = match_of(
        [anna, boris],
        "four-towers",
        "standard",
        line("four-towers", "standard", range(24, 60), held_towers, with_thought, 6),
    )
    draft = match_of(people, "fourplay", "draft", [])
    match_of([clara, anna], "towers", "two-player", line("towers", "two-player", range(30, 31), held_castles))
    match_of([anna, clara], "bashni", "start", opening[:3], private=True)
    anna.create("bashni", "start", [{"kind": "open"}, {"kind": "me"}])
    clara.create("towers", "two-player", [{"kind": "player", "name": "Anna"}, {"kind": "me"}])
    lines = match_of([anna, boris], "bashni", "start", opening[:7], terms={"control": "days-per-move", "bank": 3 * DAY})
    boris.call("POST", f"/matches/{lines}/chat", {"text": "A quiet opening. I shall take my time."})
    case = match_of([anna, boris], "bashni", "start", opening[:6], rated=True)
    said = "My man on b4 was taken although nobody had jumped it. I noticed it only today."
    boris.call("POST", f"/matches/{case}/disputes", {"ply": 5, "ground": "illegal-move", "statement": said})
    anna.call("POST", f"/matches/{case}/statements", {"statement": "It was jumped from f4 by way of d6."})
    return people, {
        "case": case, "lines": lines, "bashni": bashni, "towers": towers, "tower-game": tower_game,
        "fourplay": fourplay, "four-towers": four_towers, "draft": draft,
    }  # fmt: skip


def mixed_column(page: Page) -> str | None:
    """Return the square of the most mixed column, the tallest of these; None without columns."""
    found: str | None = page.locator("#board .parts").evaluate(
        """columns => [...columns.querySelectorAll(".column")].map((column) => {
          const faces = [...column.querySelectorAll("use")].map((use) => use.getAttribute("href"));
          return [new Set(faces).size * 10 + faces.length, faces.length > 1 ? column.dataset.square : null];
        }).sort((a, b) => b[0] - a[0])[0][1]"""
    )
    return found


def most_mobile(visitor: Visitor, match_id: str) -> str:
    hints: dict[str, list[Any]] = visitor.call("GET", f"/matches/{match_id}/legal-moves")["hints"]
    return max(hints, key=lambda square: (len({tuple(hint["path"]) for hint in hints[square]}), square))


def take(target: Path) -> None:
    """Write all pictures to ``target``; raises ValueError if one is too large for the documents."""
    target.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as var,
        LocalInstallation(Path(var) / "var") as installation,
        chromium() as browser,
    ):
        people, matches = scenes(browser, installation, {"viewport": DESKTOP})
        anna = people[0]
        near, from_afar = (
            Visitor(browser, installation, device_scale_factor=scale).sign_in(anna.name) for scale in (1, 0.5)
        )

        def picture(name: str, path: str) -> None:
            anna.page.goto(path)
            keep(name)

        def board(name: str, match_id: str) -> None:
            page = anna.open(match_id)
            page.locator("#board .can-begin").first.wait_for(state="attached")
            column = mixed_column(page)
            if column is None:
                anna.square(most_mobile(anna, match_id)).click()
            else:
                anna.square(column).hover()
            keep(name)

        def keep(name: str) -> None:
            (target / f"{name}.png").write_bytes(shrunk(anna.page.screenshot(full_page=True)))

        def composing(name: str, match_id: str) -> None:
            page = anna.open(match_id)
            page.locator("#compositions button").first.click()
            for piece in range(2):
                page.locator("#board .can-begin").nth(piece).click()
                with page.expect_response("**/compositions"):
                    page.locator("#board .is-target").last.click()
            if further := page.locator("#board .can-begin").all():
                further[0].click()
            keep(name)

        def lines(match_id: str) -> None:
            laid, left_out = replies(anna.call("GET", f"/matches/{match_id}")["moves"])
            anna.call("PUT", f"/matches/{match_id}/lines", {"lines": laid})
            page = anna.open(match_id)
            page.get_by_role("button", name="Change them").click()
            page.locator("#analysis .tree button").nth(2).click()
            page.locator("#analysis").get_by_role("button", name="Accept a draw").wait_for()
            keep("lines")
            people[1].move(match_id, left_out)
            anna.open(match_id).locator("#lines .tag.dead").wait_for()
            keep("lines-dead")

        def on_record(match_id: str) -> None:
            arbiter = Visitor(browser, installation, viewport=DESKTOP).sign_up("Elena")
            roles = Administration(make_store(installation.settings).client, installation.settings.prefix, now_ms)
            roles.grant(arbiter.call("GET", "/me")["id"], ARBITER, "console")
            page = arbiter.page
            page.goto(f"/matches/{match_id}/case")
            page.get_by_role("img", name="Case 1").wait_for()
            (target / "case-file.png").write_bytes(shrunk(page.screenshot()))
            page.goto(f"/matches/{match_id}/record")
            page.locator("#v8").get_by_text("Positions and boards").click()
            page.evaluate("document.getElementById('v7').scrollIntoView()")
            (target / "record.png").write_bytes(shrunk(page.screenshot()))

        def drafting(match_id: str) -> None:
            page = anna.open(match_id)
            page.get_by_role("button", name="Ready-made army").click()
            page.locator("#draft [data-draft-act=submit]:enabled").wait_for()
            keep("fourplay-draft")

        def windows(name: str, match_id: str) -> None:
            for width, height in WINDOWS:
                page = (from_afar if width > LARGE else near).open(match_id)
                page.locator("#board .can-begin").first.wait_for(state="attached")
                page.set_viewport_size({"width": width, "height": height})
                place = target / "windows" / f"{name}-{width}x{height}.png"
                place.parent.mkdir(exist_ok=True)
                place.write_bytes(shrunk(page.screenshot()))

        on_record(matches.pop("case"))
        lines(matches.pop("lines"))
        drafting(matches.pop("draft"))
        for name, match_id in matches.items():
            board(name, match_id)
            windows(name, match_id)
        composing("four-towers-rearrangement", matches["four-towers"])
        picture("my-matches", "/matches")
        picture("lobby", "/lobby")
        picture("new-match", "/matches/new?game=towers&setup=four-player")
        picture("game", "/games/fourplay")
        anna.page.set_viewport_size(PHONE)
        picture("phone-my-matches", "/matches")
        board("phone-fourplay", matches["fourplay"])
        anna.page.emulate_media(color_scheme="dark")
        board("phone-bashni", matches["bashni"])
    for file in sorted(target.rglob("*.png")):
        if file.stat().st_size > MAX_PICTURE_BYTES:
            raise ValueError(f"{file} has {file.stat().st_size} bytes, more than {MAX_PICTURE_BYTES}")


if __name__ == "__main__":
    take(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/screenshots"))
