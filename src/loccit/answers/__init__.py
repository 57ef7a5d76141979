"""Links: what connects places, and questions about places that are not searches."""
