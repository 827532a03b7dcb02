"""The commands of the command line, one module each: they put the parts together."""
