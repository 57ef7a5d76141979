"""Azure Cosmos DB for NoSQL."""
