"""Qdrant: a server, a cluster, or a folder."""
