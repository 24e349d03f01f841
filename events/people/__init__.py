"""Accounts, sessions, tokens, roles and their log; and private writing of players, which can be erased.

- People: ``person``, ``names``, ``accounts``, ``passwords``, ``credentials``, ``player_keys``, ``blocks``, ``follows``,
  the ``directory``; ``bots``
  with their ``capacity``, ``places`` of new matches; roles in ``administration``.
- Private: ``conditional_moves``, ``notebooks``, ``chats`` and their ``reports``, ``statements``, ``availability``;
  ``puzzle_attempts``, at the ``puzzles`` that reviews have yielded and at others.
"""
