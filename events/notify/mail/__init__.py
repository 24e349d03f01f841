"""Mail: its text, and the commands that are read from answers to it. Nothing here connects to a mail server."""
