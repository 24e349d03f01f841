"""Who may open, join and cancel a match."""

from domain.game import AnyGame, Setup
from domain.games import GAMES, UnknownRulesetError, find_ruleset
from domain.match import commands as c, events as e, terms
from domain.match.commands import CreateMatch
from domain.match.enums import Status
from domain.match.guards import refuse_if_ended, refuse_if_not_playing, seat_of
from domain.match.refusals import CommandError
from domain.match.state import MatchState, Seat, is_person
from domain.search.choose import LEVELS, MAX_GUEST_LEVEL

ABORT_BEFORE_PLY = 2
"""A match may be cancelled until its second ply has been played."""


def create_match(command: c.CreateMatch, now: int) -> tuple[e.Event, ...]:
    """Return a new match, those who accept at once on their seats, and its start when all seats are taken."""
    game = GAMES.get(command.game)
    if game is None:
        raise CommandError("unknown-game", f"there is no game {command.game!r}", "game")
    if command.ruleset is not None:
        game = _ruleset(game, command.ruleset)
    setup = _setup(game, command.setup)
    if len(command.seats) != len(setup.seat_names):
        raise CommandError(
            "invalid-seats", f"this setup has {len(setup.seat_names)} seats, not {len(command.seats)}", "seats"
        )
    people = [seat.player for seat in command.seats if seat.player is not None and seat.level is None]
    if len(set(people)) != len(people):
        raise CommandError("invalid-seats", "a player can have one seat of a match only", "seats")
    if not all(map(is_person, (command.creator, *people))):
        raise CommandError(
            "invalid-seats", "people create matches and are seated by their ids, opponents by levels", "seats"
        )
    for seat in command.seats:
        if seat.level is not None and (seat.level not in LEVELS or seat != Seat.opponent(seat.level)):
            raise CommandError("invalid-seats", f"there is no opponent {seat.player} of level {seat.level}", "seats")
    if any(seat.joined and seat.level is None and seat.player != command.creator for seat in command.seats):
        raise CommandError("invalid-seats", "other players must be invited, they cannot be seated by you", "seats")
    if command.rated and command.guest:
        raise CommandError("guests-play-unrated", "guests play unrated: sign up to play for a rating", "rated")
    if command.guest and any(seat.level is not None and seat.level > MAX_GUEST_LEVEL for seat in command.seats):
        words = f"guests play opponents up to level {MAX_GUEST_LEVEL}: sign up to play stronger ones"
        raise CommandError("guests-play-weaker-opponents", words, "seats")
    terms.check(command.terms)
    if command.rated and command.terms.takebacks and sum(seat.level is None for seat in command.seats) < 2:
        # Opponents agree to anything: nobody could lose to them.
        raise CommandError(
            "takebacks-not-allowed", "in a rated match against opponents moves cannot be taken back", "terms.takebacks"
        )
    created = e.MatchCreated(
        at=now,
        creator=command.creator,
        game=game.id,
        ruleset=game.ruleset,
        setup=setup.name,
        seats=command.seats,
        rated=command.rated,
        private=command.private,
        seed=command.seed,
        terms=command.terms,
        rematch_of=command.rematch_of,
        occasion=command.occasion,
    )
    joined = tuple(
        e.PlayerJoined(at=now, seat=number, player=seat.player)
        for number, seat in enumerate(command.seats)
        if seat.player is not None and not seat.joined and seat.player in command.accepting
    )
    if len(joined) + sum(seat.joined for seat in command.seats) == len(command.seats):
        return (created, *joined, e.MatchStarted(at=now))
    return (created, *joined)


def _ruleset(game: AnyGame, ruleset: int) -> AnyGame:
    try:
        return find_ruleset(game.id, ruleset)
    except UnknownRulesetError:
        rulesets = ", ".join(str(other.ruleset) for other in GAMES.rulesets[game.id])
        raise CommandError(
            "unknown-ruleset", f"{game.title} has no ruleset {ruleset}, only {rulesets}", "ruleset"
        ) from None


def _setup(game: AnyGame, name: str | None) -> Setup:
    if name is None and len(game.setups) == 1:
        return next(iter(game.setups.values()))
    if name is None:
        *others, last = game.setups
        raise CommandError("unknown-setup", f"say which setup of {game.title}: {', '.join(others)} or {last}", "setup")
    if name not in game.setups:
        setups = ", ".join(game.setups)
        raise CommandError("unknown-setup", f"{game.title} has no setup {name!r}, only {setups}", "setup")
    return game.setups[name]


def join_match(state: MatchState, command: c.JoinMatch, now: int) -> tuple[e.Event, ...]:
    """Return the player on a seat, and the start when it was the last one."""
    refuse_if_ended(state)
    if state.status != Status.OPEN:
        raise CommandError("seats-taken", "all seats of this match are taken")
    if not is_person(command.player):
        raise CommandError(
            "invalid-seats", "only people join matches: opponents are seated when a match is created", "seat"
        )
    own = state.seat_of(command.player)
    if own is not None and state.seats[own].joined:
        raise CommandError("already-seated", "you have a seat in this match already")
    if state.rated and command.guest:
        raise CommandError("guests-play-unrated", "this match is rated and guests play unrated: sign up to join it")
    if own is not None:
        seat = own
    elif command.seat is None:
        free = [number for number, seat in enumerate(state.seats) if seat.player is None]
        if not free:
            raise CommandError("seats-taken", "the free seats of this match are kept for invited players")
        seat = free[0]
    else:
        seat = command.seat
    if command.seat is not None and command.seat != seat:
        raise CommandError("seat-taken", "you are invited to another seat of this match", "seat")
    if not 0 <= seat < len(state.seats):
        raise CommandError("invalid-seats", f"this match has seats 0 to {len(state.seats) - 1}", "seat")
    if state.seats[seat].player not in (None, command.player):
        raise CommandError("seat-taken", "that seat is taken or kept for somebody else", "seat")
    joined = e.PlayerJoined(at=now, seat=seat, player=command.player)
    if all(other.joined for number, other in enumerate(state.seats) if number != seat):
        return (joined, e.MatchStarted(at=now))
    return (joined,)


def abort_match(state: MatchState, command: c.AbortMatch, now: int) -> tuple[e.Event, ...]:
    """Return the match cancelled."""
    if command.player != state.creator:
        seat_of(state, command.player)
    refuse_if_ended(state)
    if state.play.plies >= ABORT_BEFORE_PLY:
        raise CommandError("too-late-to-abort", "two moves have been played: the match can be resigned, not cancelled")
    if state.status == Status.PLAYING:
        # Moves that were taken back leave a match that can be aborted and yet be lost on time.
        refuse_if_not_playing(state, now)
    return (e.MatchAborted(at=now, player=command.player),)


_REMATCH_OF_FOUR = (2, 0, 3, 1)
"""Who has each seat in a rematch of four, by the seats before. In any four matches in a row everybody has each seat
once, and plays directly before each of the others once or twice: moved on by one seat, all would always follow the same
player."""


def rematch(state: MatchState, player: str, match: str, seed: str, guest: bool) -> CreateMatch:
    """Return the creation of ``match``, which follows ``state``, as ``player`` proposes it.

    The same game, ruleset, setup and terms, rated and private as before; everybody moves on by one seat, and among four
    the circle changes. Who proposes it is seated, opponents keep their level, all others are invited. Raises
    CommandError when ``player`` had no seat, the match is not over, or was cancelled before all seats were taken.
    """
    seat_of(state, player)
    if not state.ended:
        raise CommandError("match-not-over", "this match is not over: play it to its end first")
    if not all(seat.joined for seat in state.seats):
        raise CommandError("match-not-started", "this match never began: there is nobody to play again with")
    before = state.seats
    order = _REMATCH_OF_FOUR if len(before) == 4 else (*range(1, len(before)), 0)
    seats = tuple(_kept(before[seat], player) for seat in order)
    return CreateMatch(
        match=match,
        creator=player,
        game=state.game,
        setup=state.setup,
        seats=seats,
        rated=state.rated,
        private=state.private,
        seed=seed,
        guest=guest,
        ruleset=state.ruleset,
        terms=state.terms,
        rematch_of=state.match_id,
    )


def _kept(seat: Seat, player: str) -> Seat:
    return seat if seat.level is not None or seat.player is None or seat.player == player else Seat.invited(seat.player)
