"""Pinecone."""
