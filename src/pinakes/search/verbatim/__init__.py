"""Verbatim: what is asked about the very words of documents: where they stand, if quoted rightly, what changed."""
