"""The register of all games and their rulesets: the only place that knows which exist."""

from collections.abc import Iterator, Mapping

from domain import bashni, four_towers, fourplay, tower_game, towers
from domain.game import AnyGame


class UnknownRulesetError(LookupError):
    """A game, or a version of its rules, that this installation does not have."""


class Register(Mapping[str, AnyGame]):
    """The games by id, each with the ruleset that a new match gets when none is asked for."""

    def __init__(self, *games: tuple[AnyGame, ...]) -> None:
        self.rulesets: dict[str, tuple[AnyGame, ...]] = {rulesets[0].id: rulesets for rulesets in games}
        """All rulesets of every game; the first is the one that a new match gets."""

    def __getitem__(self, game_id: str) -> AnyGame:
        return self.rulesets[game_id][0]

    def __iter__(self) -> Iterator[str]:
        return iter(self.rulesets)

    def __len__(self) -> int:
        return len(self.rulesets)


GAMES = Register(bashni.RULESETS, (towers.GAME,), (tower_game.GAME,), (fourplay.GAME,), (four_towers.GAME,))


def find_ruleset(game_id: str, ruleset: int) -> AnyGame:
    """Return the game with the rules of version ``ruleset``; raises UnknownRulesetError."""
    for game in GAMES.rulesets.get(game_id, ()):
        if game.ruleset == ruleset:
            return game
    raise UnknownRulesetError(f"this installation does not know ruleset {ruleset} of {game_id!r}")
