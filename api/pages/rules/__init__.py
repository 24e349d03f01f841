"""The rules of every game as pages for players: prose in templates, figures that the rules themselves check."""

from api.pages.rules.pages import rules_url

__all__ = ["rules_url"]
