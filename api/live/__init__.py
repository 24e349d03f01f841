"""The live streams."""
