"""Select: from the ranked candidates to those that are shown."""
