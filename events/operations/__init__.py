"""The operations that need all other rooms: backups, personal data, archiving, and the figures that operators see."""
