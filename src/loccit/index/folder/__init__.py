"""The store that needs nothing else installed: files in one folder."""
