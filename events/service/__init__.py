"""What executes commands and keeps time."""
