"""Retrieve: every leg of a search returns a ranked list."""
