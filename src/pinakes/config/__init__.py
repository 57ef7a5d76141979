"""Configuration: what a user may change, validated."""

from pinakes.config.settings import IndexSettings, SearchSettings, Settings

__all__ = ["IndexSettings", "SearchSettings", "Settings"]
