"""MongoDB with Atlas Search, and what Azure Cosmos DB for MongoDB shares with it."""
