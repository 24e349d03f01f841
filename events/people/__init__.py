"""Accounts, sessions, tokens, roles and their log; and what players keep for themselves, which can be erased."""
