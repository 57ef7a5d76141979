"""Query: what a query names, asks for and excludes, before anything is looked up."""
