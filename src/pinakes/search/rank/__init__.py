"""Rank: the lists become one order, and what surrounds a passage has its say."""
