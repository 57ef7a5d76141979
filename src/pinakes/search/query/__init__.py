"""Query: what a question names, asks for and leaves out, before anything is looked up."""
