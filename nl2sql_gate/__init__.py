"""Stops a pull request from making a team's natural-language-to-SQL worse."""

__version__ = "0.1.0"
