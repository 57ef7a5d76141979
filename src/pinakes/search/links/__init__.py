"""Links: what leads from one place to another, and questions about places that are not searches."""
