"""The made-up records of the Thistledown Beekeepers' Cooperative, one module a database."""
