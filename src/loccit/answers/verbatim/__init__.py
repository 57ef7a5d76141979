"""Verbatim: the exact words of documents: where they occur, whether quotations are right, what changed."""
