"""Retrieve: every way of searching is asked, and gives a ranked list."""
