"""FAISS: files beside the record."""
