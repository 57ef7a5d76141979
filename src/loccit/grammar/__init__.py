"""Grammar: labels, words and languages, read alike in documents and in queries."""
