"""Twelve research tasks, done through the MCP tools by a scripted agent, with answers made by reading the documents."""
