"""Accounts, sessions, tokens, roles and their log."""
