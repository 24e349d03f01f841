"""The operations that need all other rooms: backups, personal data, archiving, and the figures that operators see.

``backup``, ``archiving`` of matches, ``figures``; ``personal_data`` finds and erases it, ``personal_archive`` packs it.
"""
