"""Azure AI Search."""
