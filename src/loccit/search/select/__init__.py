"""Select: from the ranked candidates to those shown."""
