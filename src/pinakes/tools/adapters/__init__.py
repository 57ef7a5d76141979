"""Document tools in the shapes that agent frameworks expect; each module needs the package it is named after."""
