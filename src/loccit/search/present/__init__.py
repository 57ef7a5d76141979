"""Present: candidates become results, with their places, passages and notes."""
