"""The names that events are stored under. One that has been stored is never reused for something else."""

from domain.match import events as e

TYPES: dict[str, type[e.Event]] = {
    "match-created": e.MatchCreated,
    "player-joined": e.PlayerJoined,
    "match-started": e.MatchStarted,
    "move-submitted": e.MoveSubmitted,
    "draw-offered": e.DrawOffered,
    "draw-accepted": e.DrawAccepted,
    "draw-declined": e.DrawDeclined,
    "player-resigned": e.PlayerResigned,
    "match-aborted": e.MatchAborted,
    "match-finished": e.MatchFinished,
    "clock-paused": e.ClockPaused,
    "clock-resumed": e.ClockResumed,
    "time-corrected": e.TimeCorrected,
    "time-given": e.TimeGiven,
    "flag-fell": e.FlagFell,
    "flag-forgiven": e.FlagForgiven,
    "takeback-requested": e.TakebackRequested,
    "takeback-accepted": e.TakebackAccepted,
    "takeback-declined": e.TakebackDeclined,
    "moves-taken-back": e.MovesTakenBack,
    "seed-drawn": e.SeedDrawn,
    "dispute-raised": e.DisputeRaised,
    "statement-filed": e.StatementFiled,
    "match-frozen": e.MatchFrozen,
    "match-unfrozen": e.MatchUnfrozen,
    "ruling-made": e.RulingMade,
    "ruling-appealed": e.RulingAppealed,
    "case-reopened": e.CaseReopened,
    "clocks-adjusted": e.ClocksAdjusted,
    "match-annulled": e.MatchAnnulled,
    "match-restored": e.MatchRestored,
    "ruleset-proposed": e.RulesetProposed,
    "ruleset-accepted": e.RulesetAccepted,
    "ruleset-declined": e.RulesetDeclined,
    "ruleset-changed": e.RulesetChanged,
}

SEEDS = frozenset({"match-created", "seed-drawn"})
"""The stored types whose ``seed`` is that of a match: the last of them decides what its opponents will play."""
