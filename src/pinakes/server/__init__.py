"""Pinakes over the wire: tools for agents through MCP, and the HTTP application that carries them."""
