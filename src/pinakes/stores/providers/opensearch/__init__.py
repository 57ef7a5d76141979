"""OpenSearch, and Elasticsearch where the calls are the same."""
