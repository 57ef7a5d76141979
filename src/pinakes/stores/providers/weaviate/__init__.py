"""Weaviate."""
