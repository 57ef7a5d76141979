"""The HTTP API: the library as JSON, for the page and for programs."""
