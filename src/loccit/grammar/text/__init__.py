"""Text analysis: search terms, languages, sentences, keys."""
