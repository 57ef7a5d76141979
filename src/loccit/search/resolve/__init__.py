"""Resolve: which place or document a reference, a name or a link means."""
