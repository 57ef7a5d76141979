"""Rank: the lists are fused into one order, and a passage's surroundings are taken into account."""
