"""Figures: how fast the parts are, each beside something known that is measured in the same run."""
