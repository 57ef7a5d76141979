"""The small library of another folder."""

from tests.library.conftest import folder, library

__all__ = ["folder", "library"]
