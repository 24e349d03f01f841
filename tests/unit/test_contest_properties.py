"""Random tournaments: whatever happens in them, the table is what a slow second reading of the rules says."""

from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, strategies as st

from domain.contest.points import PointsRule, points
from domain.contest.schedules import Form
from domain.contest.standings import TieBreak
from domain.contest.starting import next_matches
from domain.contest.tournament import commands as c
from domain.contest.tournament.decide import due
from domain.contest.tournament.state import PairingStatus, TournamentState, TournamentStatus
from domain.contest.tournament.terms import TournamentTerms
from domain.match.refusals import CommandError
from tests.support.draws import draws
from tests.support.slow_table import table_of
from tests.support.tournaments import FOUR_SEATS, TWO_SEATS, PlayedTournament

TERMS = [
    TWO_SEATS,
    replace(TWO_SEATS, form=Form.SHIFTED, least=5, most=12),
    FOUR_SEATS,
    replace(FOUR_SEATS, points=PointsRule.WINNER),
    replace(FOUR_SEATS, form=Form.PERFECT, most=9),
    replace(FOUR_SEATS, form=Form.WHIST, least=8, most=12),
]
TWO_SCORES = [(1.0, 0.0), (0.0, 1.0), (0.5, 0.5)]
FOUR_SCORES = [
    (1.0, 2 / 3, 1 / 3, 0.0), (0.0, 1.0, 2 / 3, 1 / 3), (0.8333, 0.8333, 0.1667, 0.1667), (0.5, 0.5, 0.5, 0.5),
    (1.0, 0.3333, 0.3333, 0.3333),
]  # fmt: skip


def random_tournament(terms: TournamentTerms, random: Random) -> PlayedTournament:
    """Return a tournament in which people enter, play, lose on time, leave, and whose matches are annulled at times."""
    tournament = PlayedTournament(terms, tie_breaks=tuple(random.sample(list(TieBreak), random.randint(0, 5))))
    tournament.begin(*(f"p{number}" for number in range(random.randint(terms.least, terms.most + 4))))
    scores = TWO_SCORES if terms.seats == 2 else FOUR_SCORES
    version = 10
    for _ in range(random.randint(1, 120)):
        state = tournament.state
        chance, version = random.random(), version + 1
        if chance < 0.03 and state.status == TournamentStatus.RUNNING:
            playing = [entrant.player for entrant in state.entrants if entrant.left_at is None]
            if playing:
                tournament.do(c.LeaveTournament(player=random.choice(playing)))
        elif chance < 0.06 and state.numbers(PairingStatus.FINISHED):
            number = random.choice(state.numbers(PairingStatus.FINISHED))
            tournament.record(number, None, version=version, ended=True, annulled=random.random() < 0.5)
        elif chance < 0.08 and state.numbers(PairingStatus.FINISHED):
            number = random.choice(state.numbers(PairingStatus.FINISHED))
            tournament.record(number, None, version=version, ended=False)
        elif chance < 0.5:
            room = {entrant.player: random.randint(0, 3) for entrant in state.entrants}
            for number in next_matches(state, room).starting:
                tournament.start(number)
        elif chance < 0.52 and state.status == TournamentStatus.RUNNING and random.random() < 0.2:
            tournament.now = max(tournament.now, state.terms.latest_end)
            if command := due(state, tournament.now):
                tournament.do(command)
        elif state.numbers(PairingStatus.RUNNING):
            number = random.choice(state.numbers(PairingStatus.RUNNING))
            result = random.choice(scores)
            flags = (result.index(min(result)),) if random.random() < 0.2 else ()
            forfeit = random.randrange(terms.seats) if random.random() < 0.05 else None
            tournament.record(number, result, version=version, flags=flags, forfeit=forfeit)
    return tournament


@pytest.mark.parametrize("terms", TERMS, ids=lambda terms: f"{terms.form}-{terms.seats}-{terms.points}")
@draws(60)
@given(random=st.randoms(use_true_random=False))
def test_the_table_is_what_a_slow_second_reading_of_the_events_says(terms: TournamentTerms, random: Random) -> None:
    tournament = random_tournament(terms, random)
    state = tournament.state
    expected = table_of(
        tournament.events,
        terms.seats,
        terms.points == PointsRule.WINNER,
        [str(name) for name in state.terms.tie_breaks],
    )
    table = [(state.entrants[row.entrant].player, *row.places, row.points) for row in state.rows()]
    assert sorted(table) == sorted(expected)
    assert [line[1:] for line in table] == [line[1:] for line in expected]
    if state.status == TournamentStatus.ENDED:
        assert [(line.player, line.place, line.points) for line in state.table] == [
            (player, first, total) for player, first, _, total in table
        ]


@draws(60)
@given(terms=st.sampled_from(TERMS), random=st.randoms(use_true_random=False))
def test_nobody_plays_more_at_once_than_the_terms_and_the_room_allow(terms: TournamentTerms, random: Random) -> None:
    state = random_tournament(terms, random).state
    room = {entrant.player: random.randint(0, 5) for entrant in state.entrants}
    running = Counter(
        one for pairing in state.pairings if pairing.status == PairingStatus.RUNNING for one in pairing.entrants
    )
    following = next_matches(state, room)
    starting = Counter(one for number in following.starting for one in state.pairings[number - 1].entrants)
    for one, count in starting.items():
        assert running[one] + count <= max(terms.at_once, running[one])
        assert count <= room[state.entrants[one].player]
    assert sorted([*following.starting, *(waits.pairing for waits in following.waiting)]) == list(
        state.numbers(PairingStatus.WAITING)
    )
    assert is_maximal(state, following.starting, room)


def is_maximal(state: TournamentState, starting: tuple[int, ...], room: dict[str, int]) -> bool:
    """Return whether no further pairing could start beside those that start."""
    playing = [state.pairings[number - 1].entrants for number in (*state.numbers(PairingStatus.RUNNING), *starting)]
    for number in set(state.numbers(PairingStatus.WAITING)) - set(starting):
        entrants = state.pairings[number - 1].entrants
        new = [one for n in starting for one in state.pairings[n - 1].entrants]
        if (
            all(sum(one in others for others in playing) < state.terms.at_once for one in entrants)
            and all(new.count(one) < room[state.entrants[one].player] for one in entrants)
            and not (len(entrants) == 2 and any(set(entrants) == set(others) for others in playing))
        ):
            return False
    return True


@draws(60)
@given(terms=st.sampled_from(TERMS), random=st.randoms(use_true_random=False))
def test_a_tournament_always_comes_to_its_end(terms: TournamentTerms, random: Random) -> None:
    tournament = random_tournament(terms, random)
    tournament.now = max(tournament.now, terms.latest_end)
    if command := due(tournament.state, tournament.now):
        tournament.do(command)
    for number in tournament.state.numbers(PairingStatus.RUNNING):
        tournament.record(number, TWO_SCORES[0] if terms.seats == 2 else FOUR_SCORES[0], version=1000)
    assert tournament.state.status == TournamentStatus.ENDED
    with pytest.raises(CommandError, match="over"):
        tournament.enter("late")


@given(
    st.sampled_from(PointsRule),
    st.lists(st.sampled_from([0.0, 1 / 3, 0.5, 2 / 3, 1.0]), min_size=4, max_size=4)
    | st.sampled_from([[1.0, 0.0], [0.5, 0.5]]),
)
def test_the_points_of_a_match_add_up_and_a_better_place_never_has_fewer(rule: PointsRule, scores: list[float]) -> None:
    given = points(rule, scores)
    assert sum(given) == (2 if len(scores) == 2 else 12)
    best_first = sorted(zip(scores, given, strict=True), reverse=True)
    assert [gained for _, gained in best_first] == sorted(given, reverse=True)
