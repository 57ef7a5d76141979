"""Reading text: search terms, languages, sentences, labels."""
