"""Milvus: a server, or Milvus Lite in a file."""
