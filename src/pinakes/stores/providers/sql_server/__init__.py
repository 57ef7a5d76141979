"""SQL Server and Azure SQL."""
