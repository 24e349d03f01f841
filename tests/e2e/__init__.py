"""The pages in a real browser, on a whole installation."""
