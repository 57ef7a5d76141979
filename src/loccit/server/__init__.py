"""The servers: MCP tools for agents, and the HTTP application that carries them."""
