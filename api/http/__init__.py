"""Shapes of requests and answers, and problems."""
